//! Splits and tasks. A collection makes its own, and finds them by the names that users give:
//! whoever has one need not ask whether it exists.

use clariq_core::SplitRole;
use std::fmt;

/// A set of requests of a collection: `dev`, `2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Split {
    name: &'static str,
    role: SplitRole,
}

impl Split {
    /// For the collection that has it.
    pub const fn new(name: &'static str, role: SplitRole) -> Self {
        Self { name, role }
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
