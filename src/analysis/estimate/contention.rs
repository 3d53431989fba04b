//! What the host spoilt: intervals whose threads waited for a CPU for more than a tenth of them (`model/seen`). Such intervals
//! are no evidence against the drive; this says how much of the run they are.

use super::Input;
use crate::model::estimate::{Estimate, Quantity};

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let counted = input.samples.iter().filter(|sample| !sample.ramp);
    let (mut all, mut spoilt) = (0.0, 0.0);
    let mut phases: Vec<String> = Vec::new();
    for sample in counted {
        let seconds = sample.duration.as_secs_f64();
        all += seconds;
        if sample.spoilt {
            spoilt += seconds;
            let phase = usize::try_from(sample.phase).ok().and_then(|index| input.plan.phases.get(index));
            let name = phase.map(|phase| phase.name.clone()).unwrap_or_default();
            if !phases.contains(&name) {
                phases.push(name);
            }
        }
    }
    // Nothing spoilt is nothing to tell; where nobody watched, nothing is known.
    if spoilt <= 0.0 {
        return Vec::new();
    }
    let share = spoilt / all;
    let how = "Time of intervals in which the probe's threads waited for a CPU for more than a tenth; counted, not estimated.";
    let figure = Estimate::new(Quantity::ContentionRatio, (share, share, share), how);
    figure.map(|figure| figure.from_phases(phases)).into_iter().collect()
}
