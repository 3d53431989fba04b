//! Every block once, in random order, without remembering which.

/// Enough for the order to pass as random; two rounds would show stripes.
const ROUNDS: u64 = 6;

/// A bijection of `0..blocks` onto itself in constant memory: 24 TB of 4 KiB blocks would need 730 MB as a bitmap.
///
/// A Feistel network over the smallest power of two that holds `blocks`; an image past the end is permuted again
/// until it falls inside ("cycle walking", Black and Rogaway 2002: fewer than two steps in the mean, as less than half
/// of the numbers lie outside). Each half of the number is changed by a function of the other only, so every
/// round can be undone, and so each number is reached exactly once.
#[derive(Debug, Clone)]
pub struct Permutation {
    blocks: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    seed: u64,
    pass: u64,
    next: u64,
}

impl Permutation {
    /// An order of `0..blocks` that `seed` decides.
    #[must_use]
    pub fn new(blocks: u64, seed: u64) -> Self {
        let blocks = blocks.max(1);
        let bits = (u64::BITS - (blocks - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mask = |bits: u32| (1_u64 << bits) - 1;
        Self { blocks, low_bits, low_mask: mask(low_bits), high_mask: mask(bits - low_bits), seed, pass: 0, next: 0 }
    }

    /// The next block. After the last one another order begins.
    pub fn next_block(&mut self) -> u64 {
        let block = self.image(self.next);
        self.next += 1;
        if self.next == self.blocks {
            self.next = 0;
            self.pass = self.pass.wrapping_add(1);
        }
        block
    }

    /// Goes on as if so many blocks had been given already.
    pub fn skip_to(&mut self, given: u64) {
        self.pass = given / self.blocks;
        self.next = given % self.blocks;
    }

    fn image(&self, index: u64) -> u64 {
        let mut at = index;
        loop {
            at = self.once(at);
            if at < self.blocks {
                return at;
            }
        }
    }

    fn once(&self, at: u64) -> u64 {
        let (mut low, mut high) = (at & self.low_mask, at >> self.low_bits);
        for round in 0..ROUNDS {
            let key = mixed(self.seed ^ mixed(self.pass.wrapping_mul(ROUNDS).wrapping_add(round)));
            if round % 2 == 0 {
                low ^= mixed(high ^ key) & self.low_mask;
            } else {
                high ^= mixed(low ^ key) & self.high_mask;
            }
        }
        (high << self.low_bits) | low
    }
}

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014): every bit of the input changes half of the output's.
pub fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn every_block_comes_exactly_once_a_pass(blocks in 1_u64..3_000, seed: u64) {
            let mut order = Permutation::new(blocks, seed);
            for _ in 0..2 {
                let mut seen = vec![false; usize::try_from(blocks).unwrap()];
                for _ in 0..blocks {
                    let block = usize::try_from(order.next_block()).unwrap();
                    prop_assert!(!seen[block], "block {block} twice");
                    seen[block] = true;
                }
            }
        }

        #[test]
        fn beyond_two_to_the_thirty_second_block_none_repeats_and_none_lies_outside(
            blocks in (1_u64 << 32)..(1 << 50), seed: u64
        ) {
            let mut order = Permutation::new(blocks, seed);
            let mut seen = HashSet::new();
            for _ in 0..2_000 {
                let block = order.next_block();
                prop_assert!(block < blocks);
                prop_assert!(seen.insert(block));
            }
        }
    }

    #[test]
    fn the_order_of_a_second_pass_is_another_and_neither_is_in_order() {
        let mut order = Permutation::new(1_000, 1);
        let mut pass = || (0..1_000).map(|_| order.next_block()).collect::<Vec<_>>();
        let (first, second) = (pass(), pass());
        assert_ne!(first, second);
        let neighbours = first.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(neighbours < 10, "{neighbours} neighbours of 999");
    }

    #[test]
    fn the_blocks_of_any_stretch_lie_all_over() {
        let blocks = 5_859_442_688; // 24 TB of 4 KiB
        let mut order = Permutation::new(blocks, 9);
        let mut tenths = [0_u32; 10];
        for _ in 0..10_000 {
            tenths[usize::try_from(order.next_block() / blocks.div_ceil(10)).unwrap()] += 1;
        }
        assert!(tenths.iter().all(|count| (850..1_150).contains(count)), "{tenths:?}");
    }
}
