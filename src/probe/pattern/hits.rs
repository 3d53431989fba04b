//! How skewed a distribution is, as a table: `genzipf` of fio, in the way that its users know it.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::skewed::Skewed;
use crate::model::approx::f64_of;
use crate::model::workload::Distribution;

/// One row: of the units that were hit at all, the hottest first, the next equal part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HitRow {
    /// This row and those above, percent of all units that were hit.
    pub units_percent: f64,
    /// Percent of all hits that fell on this row.
    pub hits_percent: f64,
    /// Percent of all hits that fell on this row and those above.
    pub sum_percent: f64,
}

/// Counts hits as `genzipf` does: as many draws as there are units, and the rows divide *the units that were hit*, not
/// all of them. So the figures depend on the number of units, hence on the size of a unit: over 400 GiB (`-g 400`),
/// zipf 1.1 gives the hottest tenth 82.86 % in units of 1 000 000 bytes (`-b 1000000`, the table of the Ceph list, 2015)
/// but 90.2 % in units of 4 KiB.
///
/// Takes memory for every unit that is hit: meant for up to some millions.
#[must_use]
pub fn hit_table(distribution: &Distribution, units: u64, rows: usize, seed: u64) -> Vec<HitRow> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let Some(skewed) = Skewed::new(distribution, units, &mut rng) else { return Vec::new() };
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for _ in 0..units {
        *counts.entry(skewed.next_block(&mut rng)).or_default() += 1;
    }
    let mut hits: Vec<u64> = counts.into_values().collect();
    hits.sort_unstable_by(|a, b| b.cmp(a));
    let rows = rows.clamp(1, hits.len().max(1));
    let mut sum = 0;
    let row = |nth: usize| {
        let part = hits.len() * nth / rows..hits.len() * (nth + 1) / rows;
        let here: u64 = hits[part].iter().sum();
        sum += here;
        let percent = |hits: u64| f64_of(hits) / f64_of(units.max(1)) * 100.0;
        let units_percent = f64_of(u64::try_from(nth + 1).unwrap_or(u64::MAX)) * 100.0
            / f64_of(u64::try_from(rows).unwrap_or(u64::MAX));
        HitRow { units_percent, hits_percent: percent(here), sum_percent: percent(sum) }
    };
    (0..rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_1_1_over_400_gb_gives_the_table_of_the_ceph_list_within_one_percent() {
        let units = (400 << 30) / 1_000_000;
        let table = hit_table(&Distribution::Zipf(1.1), units, 10, 1);
        let near = |got: f64, published: f64| {
            assert!((got / published - 1.0).abs() < 0.01, "{got:.2} against {published}: {table:#?}");
        };
        for (row, published) in table.iter().zip([82.86, 86.99, 89.85, 91.43, 92.86]) {
            near(row.sum_percent, published);
        }
        for row in &table[5..] {
            near(row.hits_percent, 1.43);
        }
        assert!((table[9].sum_percent - 100.0).abs() < 1e-6);
    }

    #[test]
    fn a_uniform_distribution_has_no_hot_part_and_few_units_no_empty_rows() {
        assert!(hit_table(&Distribution::Random, 1_000, 10, 1).is_empty());
        assert!(hit_table(&Distribution::Zipf(1.1), 3, 10, 1).len() <= 3);
    }
}
