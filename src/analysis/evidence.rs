//! Short ways to write down a piece of evidence.

use crate::model::recording::{Basis, Evidence, Points};

/// One piece; expectations and the number come with the methods of [`Told`].
pub fn told(basis: Basis, name: &str, value: impl Into<String>, source: impl Into<String>) -> Evidence {
    Evidence {
        name: name.to_owned(),
        basis,
        value: value.into(),
        number: None,
        unit: None,
        source: source.into(),
        if_conventional: None,
        if_shingled: None,
        points: Points::Neither,
        weight: 0.0,
    }
}

/// What else a piece of evidence carries.
pub trait Told {
    /// Which way it points and how much it counts, 0 to 1.
    fn points(self, points: Points, weight: f64) -> Self;
    /// What would be seen either way.
    fn expecting(self, if_conventional: &str, if_shingled: &str) -> Self;
    /// The value as a number with its unit.
    fn number(self, number: f64, unit: &str) -> Self;
}

impl Told for Evidence {
    fn points(mut self, points: Points, weight: f64) -> Self {
        self.points = points;
        self.weight = weight;
        self
    }

    fn expecting(mut self, if_conventional: &str, if_shingled: &str) -> Self {
        self.if_conventional = Some(if_conventional.to_owned());
        self.if_shingled = Some(if_shingled.to_owned());
        self
    }

    fn number(mut self, number: f64, unit: &str) -> Self {
        self.number = Some(number);
        self.unit = Some(unit.to_owned());
        self
    }
}
