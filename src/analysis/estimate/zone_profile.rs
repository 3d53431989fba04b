//! Rates of ordered reads from the outer edge to the inner: a disk of constant rotation holds more on its outer tracks.
//!
//! Places are made to fall inward (isotonic regression by pooling neighbours that do not: it needs no form of the curve). The
//! second differences from place to place, which a smooth fall has none of, give the interval. Where bits are equally dense, radii are as the rates. A drive whose outermost places are all
//! equally fast is held back by something else: the way to it.

use super::super::measured::falling_share;
use super::super::words::percent;
use super::Input;
use super::resample::Z95;
use crate::model::approx::f64_of_len;
use crate::model::estimate::{Estimate, Quantity};
use crate::model::plan::PhaseRole;

/// Fewer places are no profile.
const FEWEST: usize = 5;
/// Share of pairs that fall inward on a disk.
const FALLS: f64 = 0.7;
/// Places within this of their mean are equally fast: a place is read for two seconds, and getting there takes up to 2 % of it.
const EQUAL: f64 = 0.02;
/// So many equal ones at the outer edge, and this share of all, are a cap and no broad zone.
const FEWEST_EQUAL: usize = 4;
const LEAST_SHARE_EQUAL: f64 = 0.2;

/// Places in order, outer edge first: share of the region, and bytes per second.
type Places = [(f64, f64)];

pub fn estimate(input: &Input<'_>) -> Vec<Estimate> {
    let places = input.measured.zone_profile(input.plan);
    let falls = falling_share(&places).unwrap_or(0.0);
    if places.len() < FEWEST {
        return Vec::new();
    }
    if input.measured.is_still() == Some(true) {
        let how = "Bytes over time of all places. No head moved: flash, or blocks that were never written.";
        let value = mean(&places);
        let reach = value * (Z95 * unrest(&places)).exp_m1();
        let figure = Estimate::new(Quantity::MeanReadBytesPerS, (value, value - reach, value + reach), how);
        return figure.map(|figure| figure.from_phases(["read-at-*"])).into_iter().collect();
    }
    let whole = input.plan.phases.iter().filter(|phase| phase.role == PhaseRole::ZoneProfile).count();
    if places.len() < whole {
        // The inner edge was not reached.
        return Vec::new();
    }
    let smooth = falling(&places);
    let capped = capped(&places);
    let error = Z95 * unrest(&places);
    // The first read of a place has a way to go, which belongs to no rate: the true one may be higher by as much.
    let way = way_there(input);
    let around = |value: f64| (value, value * (-error).exp(), value * error.exp() / (1.0 - way));
    let (Some(outer), Some(inner)) = (smooth.first().copied(), smooth.last().copied()) else { return Vec::new() };
    let how = format!(
        "{} places made to fall inward; the interval is the unrest from place to place, and the way to each. {} of pairs of places fall.",
        places.len(),
        percent(falls)
    );
    let mean = mean(&places);
    let mut list = Vec::new();
    match capped {
        // The platter may turn up more than comes through.
        Some(count) => {
            let cap = around(mean_of(&places[..count]));
            let cap_how = format!(
                "The {count} outermost places are equally fast, and further in it falls: that is not the platter."
            );
            list.push(Estimate::new(Quantity::TransportBytesPerS, cap, cap_how));
            list.push(Estimate::bounded(Quantity::OuterBytesPerS, outer, Some(around(outer).1), None, how.clone()));
        }
        None => list.push(Estimate::new(Quantity::OuterBytesPerS, around(outer), how.clone())),
    }
    list.push(Estimate::new(Quantity::InnerBytesPerS, around(inner), how));
    let mean_how = "Bytes over time if all of the region were read in order, linear between the places.";
    list.push(Estimate::new(Quantity::MeanReadBytesPerS, around(mean), mean_how));
    if falls >= FALLS {
        let ratio = inner / outer;
        let reach = 2_f64.sqrt() * (error + way);
        let radius_how = "Inner rate against outer: with equally dense bits, radii are as rates.";
        // Behind a cap the true outer rate is higher, and the ratio lower.
        let low = capped.is_none().then_some(ratio * (-reach).exp());
        let high = Some((ratio * reach.exp()).min(1.0));
        list.push(Estimate::bounded(Quantity::RadiusRatio, ratio, low, high, radius_how));
    }
    list.into_iter().flatten().map(|figure| figure.from_phases(["read-at-*"])).collect()
}

fn mean_of(places: &Places) -> f64 {
    places.iter().map(|(_, rate)| rate).sum::<f64>() / f64_of_len(places.len().max(1))
}

/// Standard deviation of ln(rate) of one place: of second differences, whose variance is six times its own.
fn unrest(places: &Places) -> f64 {
    let logs: Vec<f64> = places.iter().map(|(_, rate)| rate.max(1.0).ln()).collect();
    let bends: Vec<f64> = logs.windows(3).map(|three| (three[0] - 2.0 * three[1] + three[2]).powi(2)).collect();
    (bends.iter().sum::<f64>() / f64_of_len(bends.len().max(1)) / 6.0).sqrt()
}

/// The largest share of a place's time that its slowest read took.
fn way_there(input: &Input<'_>) -> f64 {
    let places = input.phases().filter(|(_, facts, _)| facts.phase.role == PhaseRole::ZoneProfile);
    places.map(|(_, facts, _)| facts.reads.max.as_secs_f64() / facts.seconds).fold(0.0, f64::max).min(0.5)
}

/// How many places at the outer edge are equally fast by something else than the platter.
fn capped(places: &Places) -> Option<usize> {
    let fastest = places.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let count = places.iter().take_while(|(_, rate)| *rate >= fastest * (1.0 - 2.0 * EQUAL)).count();
    let level = mean_of(&places[..count]);
    let equal = places[..count].iter().all(|(_, rate)| (rate / level - 1.0).abs() <= EQUAL);
    // All places equal, and it may be flash.
    let share = f64_of_len(count) / f64_of_len(places.len());
    (equal && count >= FEWEST_EQUAL && count < places.len() && share >= LEAST_SHARE_EQUAL).then_some(count)
}

/// The rates, changed as little as can be so that none is faster than one further out.
fn falling(places: &Places) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (_, rate) in places {
        let mut pool = (*rate, 1);
        while let Some((sum, count)) = pools.last().copied() {
            if sum / f64_of_len(count) >= pool.0 / f64_of_len(pool.1) {
                break;
            }
            pools.pop();
            pool = (pool.0 + sum, pool.1 + count);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / f64_of_len(count), count)).collect()
}

/// Bytes over time from one edge to the other: time is the mean of 1/rate.
fn mean(places: &Places) -> f64 {
    let (mut time, mut length) = (0.0, 0.0);
    for pair in places.windows(2) {
        let ((from, outer), (to, inner)) = (pair[0], pair[1]);
        time += (to - from) * (1.0 / outer + 1.0 / inner) / 2.0;
        length += to - from;
    }
    length / time.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(rates: &[f64]) -> Vec<(f64, f64)> {
        let last = f64_of_len(rates.len() - 1);
        rates.iter().enumerate().map(|(index, rate)| (f64_of_len(index) / last, rate * 1e6)).collect()
    }

    #[test]
    fn a_level_outer_half_is_a_cap_and_a_steady_fall_is_not() {
        let usb = places(&[164.0, 164.3, 163.9, 164.1, 164.0, 150.0, 138.0, 125.0, 112.0, 100.0]);
        assert_eq!(capped(&usb), Some(5));
        let sata = places(&[211.0, 200.0, 189.0, 178.0, 166.0, 155.0, 144.0, 133.0, 122.0, 100.0]);
        assert_eq!(capped(&sata), None);
        assert_eq!(capped(&places(&[500.0; 10])), None, "as fast everywhere: no platter at all");
    }

    #[test]
    fn a_place_out_of_order_is_pooled_with_its_neighbours() {
        let smooth = falling(&places(&[200.0, 180.0, 190.0, 150.0]));
        assert_eq!(smooth, [200e6, 185e6, 185e6, 150e6]);
    }

    #[test]
    fn the_mean_is_taken_over_time() {
        // Half at 200 and half at 100 take as long as all at 133.
        let mean = mean(&[(0.0, 200e6), (0.5, 200e6), (0.5, 100e6), (1.0, 100e6)]);
        assert!((mean / 133.3e6 - 1.0).abs() < 0.01, "{mean}");
    }
}
