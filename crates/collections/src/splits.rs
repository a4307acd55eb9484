//! Splits and tasks. A collection makes its own, and finds them by the names that users give:
//! whoever has one need not ask whether it exists.

use clariq_core::SplitRole;
use std::fmt;
use std::ops::Index;

/// A set of requests of a collection: `dev`, `2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Split {
    place: usize,
    name: &'static str,
    role: SplitRole,
}

impl Split {
    /// For the collection that has it, at its place in the collection's list.
    pub const fn new(place: usize, name: &'static str, role: SplitRole) -> Self {
        Self { place, name, role }
    }

    /// The place in the list of its collection.
    pub const fn place(self) -> usize {
        self.place
    }

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The use of its labels.
    pub const fn role(self) -> SplitRole {
        self.role
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// A value for each split of a collection, found by the split's place.
#[derive(Debug, Clone)]
pub struct PerSplit<T>(Vec<(Split, T)>);

impl<T> PerSplit<T> {
    /// The splits with their values, in the order of the collection's list.
    pub fn iter(&self) -> impl Iterator<Item = (Split, &T)> {
        self.0.iter().map(|(split, value)| (*split, value))
    }

    /// The splits, in the order of the collection's list.
    pub fn splits(&self) -> impl Iterator<Item = Split> {
        self.iter().map(|(split, _)| split)
    }
}

impl<T> PerSplit<Option<T>> {
    /// The splits that have a value.
    pub fn available(&self) -> impl Iterator<Item = (Split, &T)> {
        self.iter().filter_map(|(split, value)| Some((split, value.as_ref()?)))
    }
}

impl<T> FromIterator<(Split, T)> for PerSplit<T> {
    /// The splits must come in the order of their list.
    fn from_iter<I: IntoIterator<Item = (Split, T)>>(values: I) -> Self {
        let values: Vec<(Split, T)> = values.into_iter().collect();
        debug_assert!(values.iter().enumerate().all(|(place, (split, _))| place == split.place));
        Self(values)
    }
}

impl<T> Index<Split> for PerSplit<T> {
    type Output = T;

    #[allow(clippy::indexing_slicing, reason = "a collection is asked for its own splits")]
    fn index(&self, split: Split) -> &T {
        let (known, value) = &self.0[split.place];
        debug_assert_eq!(*known, split, "a split of another collection");
        value
    }
}

/// A kind of documents that a collection ranks: `questions`, `statements`, `passages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task(&'static str);

impl Task {
    /// For the collection that has it.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name on the command line and in configurations.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLITS: [Split; 3] = [
        Split::new(0, "train", SplitRole::Learn),
        Split::new(1, "dev", SplitRole::Tune),
        Split::new(2, "test", SplitRole::HeldOut),
    ];

    #[test]
    fn a_value_is_found_by_the_place_of_its_split() {
        let files: PerSplit<Option<&str>> =
            SPLITS.into_iter().zip([Some("train.tsv"), None, Some("test.tsv")]).collect();
        assert_eq!(files[SPLITS[2]], Some("test.tsv"));
        assert_eq!(files[SPLITS[1]], None);
        let available: Vec<Split> = files.available().map(|(split, _)| split).collect();
        assert_eq!(available, [SPLITS[0], SPLITS[2]]);
    }
}
