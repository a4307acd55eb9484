//! Where a score comes from: a tree of values, each made of the ones below it.

use crate::printable::fixed;
use serde::Serialize;
use std::fmt;

/// One value and what it was made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The value.
    pub value: f64,
    /// What it is, with the formula where there is one.
    pub what: String,
    /// The values that went into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Explanation>,
}

impl Explanation {
    /// A value made of nothing else.
    pub fn value(value: f64, what: impl Into<String>) -> Self {
        Self { value, what: what.into(), parts: Vec::new() }
    }

    /// A value made of others.
    pub fn of(value: f64, what: impl Into<String>, parts: Vec<Self>) -> Self {
        Self { value, what: what.into(), parts }
    }

    /// The sum of others.
    pub fn sum(what: impl Into<String>, parts: Vec<Self>) -> Self {
        Self::of(parts.iter().map(|part| part.value).sum(), what, parts)
    }

    /// The same without what lies deeper than so many levels below it.
    #[must_use]
    pub fn cut(&self, levels: usize) -> Self {
        let below = levels.checked_sub(1);
        let parts = below.map(|below| self.parts.iter().map(|part| part.cut(below)).collect());
        Self { value: self.value, what: self.what.clone(), parts: parts.unwrap_or_default() }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        // Counts as counts: `4` and not `4.000000`.
        let digits = if self.value.fract() == 0.0 && self.value != 0.0 { 0 } else { 6 };
        let value = fixed(self.value, digits);
        writeln!(f, "{:indent$}{value:<10} {}", "", self.what, indent = depth * 2)?;
        self.parts.iter().try_for_each(|part| part.write(f, depth + 1))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
