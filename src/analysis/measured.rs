//! What a run has measured so far: one accumulator for the run under way and for the verdict after it.

use super::cliff::{Cliff, Detector};
use super::rho::{CONVENTIONAL_AT_LEAST, Point, Rho, SHINGLED_AT_MOST, mean_rate, rho};
use crate::model::approx::{f64_of, f64_of_len};
use crate::model::interval::Sample;
use crate::model::plan::{Action, Phase, PhaseRole, Plan};
use crate::model::units::MIB;
use crate::model::workload::{Rw, Workload};
use crate::model::{Bytes, Nanos};

/// After a fall the rate is watched for at least so long before anything is said of it, seconds.
pub const WATCH_S: f64 = 60.0;

/// A floor where none was measured: 40 random reads of 4 KiB a second, less than any disk of science's
/// tables (66 to 81), so that ρ is not made to look small; and a rate of 60 MB/s.
const ASSUMED_POSITIONING_S: f64 = 0.025;
const ASSUMED_RATE: f64 = 60e6;
/// Rate by which a 4 KiB floor is carried over to a larger block where the run measured none: near the inner edge.
const CARRIED_RATE: f64 = 100e6;

/// So many times as long as the longest read must the longest write of most seconds be to count as a stall. Cleaning a band
/// takes 0.16 to 1.8 s ("Skylight", csurbhi, Canvio), the longest of eight queued movements 0.1 to 0.25 s.
const STALLED_BY: u64 = 2;

/// A median random read below this, one at a time, and no head has moved: an eighth of the fastest revolution.
pub const HEAD_MOVES_NS: u64 = 1_000_000;

/// How the floor of a write phase is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorKind {
    /// Random reads of the same block size at the same queue depth.
    Same,
    /// Carried over from another block size or queue depth.
    Carried,
    /// Not measured, or measured where no head moved: a slow disk is assumed.
    Assumed,
}

/// One phase as measured.
#[derive(Debug, Clone)]
pub struct PhaseFacts {
    /// As planned.
    pub phase: Phase,
    /// Read completions, their bytes, and the longest latency.
    pub reads: Totals,
    /// Write completions, their bytes, and the longest latency.
    pub writes: Totals,
    /// I/Os that failed.
    pub errors: u64,
    /// Seconds measured.
    pub seconds: f64,
    /// `(median of a sample, I/Os of it)` of reads.
    read_p50: Vec<(Nanos, u64)>,
    read_points: Vec<Point>,
    /// Longest latency of each sample's reads, where there were any.
    read_longest: Vec<Nanos>,
    /// Longest latency of each sample's writes; 0 where none ended.
    write_longest: Vec<Nanos>,
    detector: Detector,
    /// When a fall is judged next, seconds after it.
    judge_at_s: f64,
}

/// Sums of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Completions.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Longest latency.
    pub max: Nanos,
}

impl PhaseFacts {
    fn new(phase: &Phase) -> Self {
        Self {
            phase: phase.clone(),
            reads: Totals::default(),
            writes: Totals::default(),
            errors: 0,
            seconds: 0.0,
            read_p50: Vec::new(),
            read_points: Vec::new(),
            read_longest: Vec::new(),
            write_longest: Vec::new(),
            detector: Detector::new(),
            judge_at_s: WATCH_S,
        }
    }

    /// Its workload, if it does I/O.
    #[must_use]
    pub fn workload(&self) -> Option<&Workload> {
        match &self.phase.action {
            Action::Io(workload) => Some(workload),
            Action::Idle { .. } => None,
        }
    }

    /// Whether random writes of this phase are watched for a collapse.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        let role = matches!(self.phase.role, PhaseRole::RandomSmall | PhaseRole::RandomLarge | PhaseRole::Custom);
        role && self.workload().is_some_and(|workload| workload.rw == Rw::RandWrite)
    }

    /// Median latency of its reads: the median sample's, each sample weighing as much as it has I/Os.
    #[must_use]
    pub fn read_p50(&self) -> Option<Nanos> {
        let mut medians = self.read_p50.clone();
        medians.sort_unstable();
        let half = self.reads.ios.div_ceil(2);
        let mut seen = 0;
        medians.into_iter().find_map(|(p50, ios)| {
            seen += ios;
            (seen >= half && seen > 0).then_some(p50)
        })
    }

    /// Reads per second.
    #[must_use]
    pub fn reads_per_s(&self) -> f64 {
        mean_rate(&self.read_points)
    }

    /// Its reads, sample by sample.
    #[must_use]
    pub fn read_points(&self) -> &[Point] {
        &self.read_points
    }

    /// Its writes, sample by sample.
    #[must_use]
    pub fn write_points(&self) -> &[Point] {
        self.detector.points()
    }

    /// Its writes once they had settled: after a fall of the rate, else the second half.
    #[must_use]
    pub fn settled_writes(&self) -> &[Point] {
        let level = self.detector.level();
        if self.detector.fall().is_some() { level } else { &level[level.len() / 2..] }
    }

    /// Bytes read per second.
    #[must_use]
    pub fn read_bytes_per_s(&self) -> f64 {
        if self.seconds > 0.0 { f64_of(self.reads.bytes.0) / self.seconds } else { 0.0 }
    }

    /// Writes per second of the second half: without the burst that a DRAM cache takes at once.
    #[must_use]
    pub fn settled_writes_per_s(&self) -> f64 {
        let points = self.detector.points();
        mean_rate(&points[points.len() / 2..])
    }

    /// How much of it was done, 0 to 1, by whichever of its limits came first.
    #[must_use]
    pub fn share_done(&self) -> f64 {
        let Some(workload) = self.workload() else { return 0.0 };
        let ios = self.reads.ios + self.writes.ios;
        let bytes = self.reads.bytes.0 + self.writes.bytes.0;
        let of = |done: f64, limit: Option<u64>| limit.map(|limit| done / f64_of(limit.max(1)));
        [
            of(f64_of(ios), workload.number_ios),
            of(f64_of(bytes), workload.io_size_bytes.map(|bytes| bytes.0)),
            of(self.seconds, workload.runtime_s),
        ]
        .into_iter()
        .flatten()
        .fold(0.0, f64::max)
        .min(1.0)
    }
}

/// Everything measured in a run.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The phases, as planned, with what was measured in each.
    pub phases: Vec<PhaseFacts>,
    /// Index of the phase in which a shingling cliff was found, the cliff and its ρ.
    found: Option<usize>,
    seed: u64,
}

/// A fall of the rate to below what the head can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// In which phase.
    pub phase: usize,
    /// Where.
    pub cliff: Cliff,
    /// How slow it is after it.
    pub rho: Rho,
}

impl Measured {
    /// Nothing yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { phases: plan.phases.iter().map(PhaseFacts::new).collect(), found: None, seed: plan.randseed }
    }

    /// Takes one sample. Says whether a window of the collapse detector was closed by it.
    pub fn observe(&mut self, sample: &Sample) -> bool {
        let index = usize::try_from(sample.phase).unwrap_or(usize::MAX);
        let Some(facts) = self.phases.get_mut(index) else { return false };
        if sample.ramp {
            return false;
        }
        for (totals, tally) in [(&mut facts.reads, &sample.read), (&mut facts.writes, &sample.write)] {
            totals.ios += tally.ios;
            totals.bytes += tally.bytes;
            totals.max = totals.max.max(tally.max);
        }
        facts.errors += sample.errors;
        facts.seconds += sample.duration.as_secs_f64();
        if sample.read.ios > 0 {
            facts.read_p50.push((sample.read.p50, sample.read.ios));
            facts.read_longest.push(sample.read.max);
        }
        facts.write_longest.push(sample.write.max);
        facts.read_points.push(Point::reads(sample));
        let closed = facts.detector.push(sample.t, Point::writes(sample), sample.write.bytes, sample.spoilt);
        if closed && facts.is_watched() {
            self.judge(index);
        }
        closed && self.phases[index].is_watched()
    }

    /// No more samples will come: what stands in half-filled windows counts too.
    pub fn finish(&mut self) {
        for index in 0..self.phases.len() {
            self.phases[index].detector.finish();
            if self.phases[index].is_watched() {
                self.judge(index);
            }
        }
    }

    /// A fall that was watched long enough: below the floor it is a cliff; above it, a cache that has
    /// filled or a stall that has passed, and the watch goes on.
    fn judge(&mut self, index: usize) {
        let watched = self.seconds_after_fall(index);
        if watched < self.phases[index].judge_at_s || self.found.is_some_and(|found| found != index) {
            return;
        }
        // A bootstrap over all that follows, ever more rarely: a run may last weeks.
        self.phases[index].judge_at_s = watched * 1.1;
        let Some(rho) = self.rho_of(index) else { return };
        if rho.high <= SHINGLED_AT_MOST || (rho.high < CONVENTIONAL_AT_LEAST && self.stalls(index).is_some()) {
            self.found = Some(index);
            return;
        }
        self.found = None;
        if rho.low > SHINGLED_AT_MOST {
            self.phases[index].detector.settle();
            self.phases[index].judge_at_s = WATCH_S;
        }
    }

    /// The cliff that was found, with its figures as known by now.
    #[must_use]
    pub fn found(&self) -> Option<Found> {
        let phase = self.found?;
        Some(Found { phase, cliff: self.phases[phase].detector.fall()?, rho: self.rho_of(phase)? })
    }

    /// A fall that is not (yet) known to be a cliff.
    #[must_use]
    pub fn unjudged_fall(&self, phase: usize) -> Option<Cliff> {
        if self.found.is_some() { None } else { self.phases.get(phase)?.detector.fall() }
    }

    /// Seconds measured since the rate of `phase` fell; 0 if it did not.
    #[must_use]
    pub fn seconds_after_fall(&self, phase: usize) -> f64 {
        self.phases.get(phase).and_then(|facts| facts.detector.seconds_after_fall()).unwrap_or(0.0)
    }

    /// ρ of a write phase: of what came after a fall, else of its second half, when any cache has had time to fill.
    #[must_use]
    pub fn rho_of(&self, phase: usize) -> Option<Rho> {
        let facts = self.phases.get(phase)?;
        let settled = facts.settled_writes();
        let (floor, scale, _) = self.floor_of(phase)?;
        rho(settled, &floor, scale, self.seed)
    }

    /// Whether writes stall again and again since the rate fell, for longer than any movement of the head takes: a band is
    /// being cleaned. A small drive cleans so many blocks with each band that its mean rate alone does not tell.
    #[must_use]
    pub fn stalls(&self, phase: usize) -> Option<Stalls> {
        let facts = self.phases.get(phase)?;
        let (from, split) = facts.detector.fell_at()?;
        let workload = facts.workload()?;
        let floors = self.phases.iter().filter(|floor| {
            let alike = |other: &Workload| other.bs == workload.bs && other.iodepth == workload.iodepth;
            matches!(floor.phase.role, PhaseRole::Floor | PhaseRole::FloorDeep) && floor.workload().is_some_and(alike)
        });
        let floor = floors.filter_map(|floor| median(&floor.read_longest)).max()?;
        let before = median(facts.write_longest.get(from..split)?)?;
        let after = median(facts.write_longest.get(split..)?)?;
        let stalls = after.0 >= STALLED_BY.saturating_mul(floor.0) && after.0 >= STALLED_BY.saturating_mul(before.0);
        stalls.then_some(Stalls { before, after, floor })
    }

    /// Random reads to hold a write phase against: samples, a factor to their rate, and how they are known.
    #[must_use]
    pub fn floor_of(&self, phase: usize) -> Option<(Vec<Point>, f64, FloorKind)> {
        let workload = self.phases.get(phase)?.workload()?;
        let bs = f64_of(workload.bs.0);
        // Reads that moved no head are no floor: they came of a cache, or of blocks that were never written.
        let still = self.is_still() == Some(true);
        let floors = self.phases.iter().filter(|facts| {
            !still && matches!(facts.phase.role, PhaseRole::Floor | PhaseRole::FloorDeep) && facts.reads.ios > 0
        });
        let mut nearest: Option<(&PhaseFacts, &Workload)> = None;
        for facts in floors {
            let Some(floor) = facts.workload() else { continue };
            let score = |w: &Workload| (w.bs == workload.bs, w.iodepth == workload.iodepth);
            if nearest.is_none_or(|(_, best)| score(floor) > score(best)) {
                nearest = Some((facts, floor));
            }
        }
        Some(match nearest {
            Some((facts, floor)) if floor.bs == workload.bs => {
                let same = floor.iodepth == workload.iodepth;
                (facts.read_points.clone(), 1.0, if same { FloorKind::Same } else { FloorKind::Carried })
            }
            Some((facts, floor)) => {
                let seconds = 1.0 / mean_rate(&facts.read_points).max(1e-9);
                let carried = seconds + (bs - f64_of(floor.bs.0)).max(0.0) / CARRIED_RATE;
                (facts.read_points.clone(), seconds / carried, FloorKind::Carried)
            }
            None => {
                let per_s = 1.0 / (ASSUMED_POSITIONING_S + bs / ASSUMED_RATE);
                // Ten blocks of the same rate: an assumption has no spread.
                (vec![Point { ios: 1, seconds: 1.0 / per_s }; 10], 1.0, FloorKind::Assumed)
            }
        })
    }

    /// Whether random reads, one at a time, are too fast for any head. `None` where they were not measured.
    #[must_use]
    pub fn is_still(&self) -> Option<bool> {
        Some(self.floor()?.read_p50()?.0 < HEAD_MOVES_NS)
    }

    /// The one-at-a-time floor.
    #[must_use]
    pub fn floor(&self) -> Option<&PhaseFacts> {
        self.phases.iter().find(|facts| {
            facts.phase.role == PhaseRole::Floor
                && facts.reads.ios > 0
                && facts.workload().is_some_and(|workload| workload.iodepth == 1)
        })
    }

    /// Watched write phases in which anything was written.
    pub fn writes(&self) -> impl Iterator<Item = (usize, &PhaseFacts)> {
        self.phases.iter().enumerate().filter(|(_, facts)| facts.is_watched() && facts.writes.ios > 0)
    }

    /// The phase of this role, if anything was measured in it.
    #[must_use]
    pub fn of_role(&self, role: PhaseRole) -> Option<&PhaseFacts> {
        self.phases.iter().find(|facts| facts.phase.role == role && facts.seconds > 0.0)
    }

    /// The phase after the rest, if it wrote blocks of the size that brought the collapse: rates of two sizes say nothing
    /// of each other.
    #[must_use]
    pub fn recovery(&self) -> Option<&PhaseFacts> {
        let collapsed = self.phases.get(self.found?)?.workload()?.bs;
        self.of_role(PhaseRole::Recovery).filter(|facts| facts.workload().is_some_and(|own| own.bs == collapsed))
    }

    /// How fast a region reads after blocks of it were scattered, against before. `None` unless all four steps were
    /// nearly completed over a region that is more than a read-ahead (16 MiB).
    #[must_use]
    pub fn reread(&self) -> Option<Reread> {
        let done = |role| self.of_role(role).filter(|facts| facts.share_done() >= 0.9);
        done(PhaseRole::RegionFill)?;
        let before = done(PhaseRole::RegionReadBefore)?;
        let scatter = done(PhaseRole::RegionScatter)?;
        let after = done(PhaseRole::RegionReadAfter)?;
        let region = after.workload()?.size_bytes;
        let (before, after) = (before.read_bytes_per_s(), after.read_bytes_per_s());
        (region.0 >= 16 * MIB && before > 0.0).then_some(Reread {
            before,
            after,
            ratio: after / before,
            blocks: scatter.writes.ios,
            region,
        })
    }

    /// `(share of the region, bytes per second)` of the sequential reads, outer edge first.
    #[must_use]
    pub fn zone_profile(&self, plan: &Plan) -> Vec<(f64, f64)> {
        let size = f64_of(plan.size_bytes.0.max(1));
        self.phases
            .iter()
            .filter(|facts| facts.phase.role == PhaseRole::ZoneProfile && facts.reads.ios > 0)
            .filter_map(|facts| {
                let at = facts.workload()?.offset_bytes - plan.offset_bytes;
                Some((f64_of(at.0) / size, facts.read_bytes_per_s()))
            })
            .collect()
    }

    /// Failed and all I/Os.
    #[must_use]
    pub fn errors(&self) -> (u64, u64) {
        let errors = self.phases.iter().map(|facts| facts.errors).sum();
        let done: u64 = self.phases.iter().map(|facts| facts.reads.ios + facts.writes.ios).sum();
        (errors, done + errors)
    }
}

/// The longest write of a second, as it was half of the time, before and after a fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// Before.
    pub before: Nanos,
    /// After.
    pub after: Nanos,
    /// The same of random reads at that block size and depth, which move nothing but the head.
    pub floor: Nanos,
}

fn median(values: &[Nanos]) -> Option<Nanos> {
    let mut sorted: Vec<Nanos> = values.iter().copied().filter(|value| value.0 > 0).collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// The region that was scattered and read back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reread {
    /// Bytes per second before.
    pub before: f64,
    /// Bytes per second at once after.
    pub after: f64,
    /// After / before.
    pub ratio: f64,
    /// Blocks that were scattered.
    pub blocks: u64,
    /// Bytes of the region.
    pub region: Bytes,
}

/// Share of steps of a profile that go down, 0 to 1; 1 is a monotone fall. `None` for fewer than three places.
#[must_use]
pub fn falling_share(profile: &[(f64, f64)]) -> Option<f64> {
    if profile.len() < 3 {
        return None;
    }
    let mut falling = 0_usize;
    let mut pairs = 0_usize;
    for (index, (_, outer)) in profile.iter().enumerate() {
        for (_, inner) in &profile[index + 1..] {
            pairs += 1;
            falling += usize::from(inner < outer);
        }
    }
    Some(f64_of_len(falling) / f64_of_len(pairs))
}

/// Whether ρ is surely that of a conventional disk.
#[must_use]
pub fn surely_conventional(rho: &Rho) -> bool {
    rho.low >= CONVENTIONAL_AT_LEAST
}
