use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::analysis::fixtures::{Tape, plan};
use crate::model::estimate::Quantity;
use crate::model::interval::SampleTally;
use crate::model::profile::Profile;
use crate::model::units::Nanos;

fn tally() -> impl Strategy<Value = SampleTally> {
    let ios = prop_oneof![Just(0_u64), 1_u64..10, 1_u64..1_000_000, Just(1_000_000_000)];
    (ios, 0_u64..1 << 24, 0_u64..u64::MAX).prop_map(|(ios, bs, ns)| SampleTally {
        ios,
        bytes: Bytes(ios.saturating_mul(bs)),
        p50: Nanos(ns / 2),
        p99: Nanos(ns),
        max: Nanos(ns),
    })
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let one = (
        0_u32..30,
        tally(),
        tally(),
        prop_oneof![Just(0_u64), Just(1_000_000_000), 0_u64..5_000_000_000],
        any::<bool>(),
    );
    prop::collection::vec(one, 0..200).prop_map(|made| {
        let mut t = Nanos(0);
        made.into_iter()
            .zip(1..)
            .map(|((phase, read, write, ns, spoilt), seq)| {
                t = t + Nanos(ns);
                Sample { seq, phase, t, duration: Nanos(ns), read, write, errors: 0, ramp: false, spoilt }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_a_run_brought_its_figures_are_numbers_in_order_and_read_back(samples in samples()) {
        for profile in Profile::ALL.into_iter().filter(|profile| !matches!(profile, Profile::Zones | Profile::Replay)) {
            let parameters = if profile == Profile::Custom { json!({ "rw": "randwrite", "runtime_s": 60 }) } else { json!({}) };
            let plan = plan(profile, parameters);
            for figure in estimates(&plan, &samples, &[]) {
                prop_assert!(figure.low.is_none_or(|low| low <= figure.value), "{figure:?}");
                prop_assert!(figure.high.is_none_or(|high| figure.value <= high), "{figure:?}");
                let text = serde_json::to_string(&figure).unwrap();
                prop_assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap().name, figure.name);
            }
        }
    }
}

#[test]
fn a_week_of_samples_has_its_cliff() {
    let plan = plan(Profile::Custom, json!({ "rw": "randwrite", "bs": "4k", "iodepth": 1, "runtime_s": 604_800 }));
    let mut tape = Tape::default();
    tape.writes(0, 130, 2_930, 4096, 340).writes(0, 604_000, 9, 4096, 110_000);
    let figures = estimates(&plan, &tape.samples, &[]);
    assert!(figures.iter().any(|figure| figure.name == Quantity::CliffIos));
}

#[test]
fn a_run_that_did_nothing_has_no_figures() {
    for profile in [Profile::SmrQuick, Profile::Inspect, Profile::BlockSizeSweep] {
        assert_eq!(estimates(&plan(profile, json!({})), &[], &[]), []);
    }
}
