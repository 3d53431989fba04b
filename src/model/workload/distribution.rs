//! fio's `random_distribution`: which blocks are asked for more often than others.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::skew::{Pareto, Zipf};
use crate::model::approx::u64_of;

/// How random offsets are spread over the region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Distribution {
    /// Every block alike.
    #[default]
    Random,
    /// `zipf:θ`. The hot blocks are scattered over the region by fio's hash.
    Zipf(f64),
    /// `pareto:h`. Scattered likewise.
    Pareto(f64),
    /// `normal:d`: around the middle of the region, `d` percent of its length as standard deviation.
    /// Not scattered: that would undo it.
    Normal(f64),
    /// `zoned:a/s:a/s…`: so many percent of the accesses go to the next so many percent of the region.
    Zoned(Vec<Zone>),
}

/// One part of a zoned distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zone {
    /// Percent of all accesses.
    pub accesses: f64,
    /// Percent of the region.
    pub size: f64,
}

/// Most zones that fio takes.
const MAX_ZONES: usize = 256;
const EXPECTED: &str = "must be random, zipf:θ (0.01 to 20, not 1), pareto:h (0.01 to 0.99), normal:percent (0.1 to 100) or \
                        zoned:accesses/size:… with both in percent and 100 in all";

impl Distribution {
    /// Whether every block is asked for alike.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        *self == Self::Random
    }

    /// What it means for `blocks` blocks, for a person; nothing for a uniform one.
    #[must_use]
    pub fn in_words(&self, blocks: u64) -> Option<String> {
        let percent = |share: f64| u64_of(share * 100.0);
        match self {
            Self::Random => None,
            Self::Zipf(theta) => Some(format!(
                "the hottest tenth of the blocks takes {} % of the I/Os, the hottest half {} %",
                percent(Zipf::new(blocks, *theta).hits_of_hottest(0.1)),
                percent(Zipf::new(blocks, *theta).hits_of_hottest(0.5)),
            )),
            Self::Pareto(h) => Some(format!(
                "the hottest tenth of the blocks takes {} % of the I/Os, the hottest half {} %",
                percent(Pareto::new(blocks, *h).hits_of_hottest(0.1)),
                percent(Pareto::new(blocks, *h).hits_of_hottest(0.5)),
            )),
            Self::Normal(deviation) => {
                Some(format!("around the middle, {deviation} % of the region as standard deviation"))
            }
            Self::Zoned(zones) => {
                let parts: Vec<_> = zones
                    .iter()
                    .map(|zone| format!("{} % of the I/Os in {} % of the region", zone.accesses, zone.size))
                    .collect();
                Some(parts.join(", then "))
            }
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::Pareto(h) => write!(f, "pareto:{h}"),
            Self::Normal(deviation) => write!(f, "normal:{deviation}"),
            Self::Zoned(zones) => {
                f.write_str("zoned")?;
                zones.iter().try_for_each(|zone| write!(f, ":{}/{}", zone.accesses, zone.size))
            }
        }
    }
}

impl From<Distribution> for String {
    fn from(distribution: Distribution) -> Self {
        distribution.to_string()
    }
}

impl TryFrom<String> for Distribution {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("is {text:?}; {EXPECTED}");
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |low: f64, high: f64| match rest.parse::<f64>() {
            Ok(number) if number >= low && number <= high => Ok(number),
            _ => Err(wrong()),
        };
        match name {
            "random" if rest.is_empty() => Ok(Self::Random),
            "zipf" => number(0.01, 20.0).and_then(|theta| {
                // At 1 the formula divides by zero; fio refuses it too.
                if (theta - 1.0).abs() < 1e-6 { Err(wrong()) } else { Ok(Self::Zipf(theta)) }
            }),
            "pareto" => number(0.01, 0.99).map(Self::Pareto),
            "normal" => number(0.1, 100.0).map(Self::Normal),
            "zoned" if !rest.is_empty() => zones(rest).map(Self::Zoned).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }
}

/// As in fio, a last part without figures takes what is left of both.
fn zones(text: &str) -> Option<Vec<Zone>> {
    let mut zones: Vec<Zone> = Vec::new();
    let left = |zones: &[Zone], of: fn(&Zone) -> f64| 100.0 - zones.iter().map(of).sum::<f64>();
    for part in text.trim_end_matches(':').split(':') {
        let (accesses, size) = part.split_once('/').unwrap_or((part, ""));
        let or_left = |text: &str, left: f64| if text.is_empty() { Some(left) } else { text.parse::<f64>().ok() };
        let zone = Zone {
            accesses: or_left(accesses, left(&zones, |zone| zone.accesses))?,
            size: or_left(size, left(&zones, |zone| zone.size))?,
        };
        let fits = zone.accesses.is_finite() && zone.accesses >= 0.0 && zone.size.is_finite() && zone.size > 0.0;
        if !fits || zones.len() == MAX_ZONES {
            return None;
        }
        zones.push(zone);
    }
    let whole = |of: fn(&Zone) -> f64| left(&zones, of).abs() < 0.01;
    (whole(|zone| zone.accesses) && whole(|zone| zone.size)).then_some(zones)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back_as_it_was_written() {
        for text in ["random", "zipf:1.1", "pareto:0.2", "normal:10", "zoned:50/5:30/15:20/80"] {
            let read: Distribution = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(serde_json::to_value(&read).unwrap(), text);
        }
        // The last part may be left open, as in fio.
        assert_eq!("zoned:50/5:30/15:20/".parse::<Distribution>().unwrap().to_string(), "zoned:50/5:30/15:20/80");
    }

    #[test]
    fn nonsense_is_refused_with_what_would_be_right() {
        for text in [
            "",
            "zipf",
            "zipf:",
            "zipf:1",
            "zipf:1.0",
            "zipf:0",
            "zipf:-1",
            "zipf:nan",
            "zipf:inf",
            "zipf:1e9",
            "pareto:1",
            "pareto:0",
            "normal:0",
            "normal:101",
            "zoned:",
            "zoned:50/50",
            "zoned:50/50:60/50",
            "zoned:50/0:50/100",
            "zoned:a/b",
            "random:1",
            "poisson:3",
        ] {
            let answer = text.parse::<Distribution>();
            assert!(answer.as_ref().is_err_and(|why| why.contains("zipf:θ")), "{text}: {answer:?}");
        }
    }

    #[test]
    fn it_says_in_words_how_skewed_it_is() {
        let words = Distribution::Pareto(0.2).in_words(1 << 30).unwrap();
        assert_eq!(words, "the hottest tenth of the blocks takes 73 % of the I/Os, the hottest half 91 %");
        assert!(Distribution::Random.in_words(9).is_none());
    }
}
