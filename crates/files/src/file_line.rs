//! Lines of files, by name and number.

use clariq_core::Location;

/// A line of a file. A [`Location`] owns the name of its file, so one is made only where a problem
/// needs it.
#[derive(Clone, Copy)]
pub struct FileLine<'a> {
    /// The file as the user named it.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u64,
}

impl FileLine<'_> {
    /// The same as a location.
    pub fn location(self) -> Location {
        Location::line(self.file, self.line)
    }
}
