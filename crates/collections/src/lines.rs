//! Lines of a file that may be longer than memory.

use clariq_core::{Error, Location, Problem, problem};
use clariq_files::archive::Archive;
use clariq_files::{BoundedLines, not_utf8};
use std::io::{BufReader, Read};

/// The lines of an archive, one at a time.
pub struct ArchiveLines<'a> {
    archive: &'a Archive,
    reader: BoundedLines<'a>,
}

impl<'a> ArchiveLines<'a> {
    /// Reads lines of at most `most` bytes.
    pub fn new(archive: &'a Archive, content: &'a mut dyn Read, most: u64) -> Self {
        let content = BufReader::with_capacity(1 << 17, content);
        Self { archive, reader: BoundedLines::new(archive.name(), content, most) }
    }

    /// The next line without its end and a byte order mark, or `None` at the end of the file. A line
    /// that is not UTF-8 is returned as a problem; `what` is the content of a line, for messages.
    pub fn next(&mut self, what: &str) -> Result<Option<Result<&str, Box<Problem>>>, Error> {
        let Some((number, line)) = self.reader.next_bytes()? else { return Ok(None) };
        let at = (self.archive.name(), number);
        Ok(Some(str::from_utf8(line).map_err(|_| Box::new(not_utf8(at, what, line)))))
    }

    /// The number of the line that was read last.
    pub fn number(&self) -> u64 {
        self.reader.number()
    }

    /// The location of the line that was read last.
    pub fn at(&self) -> Location {
        self.reader.location()
    }

    /// A problem of the line that was read last.
    pub fn problem(&self, expected: impl Into<String>, found: impl Into<String>) -> Problem {
        problem!(self.at(), (expected.into()), (found.into()), (self.archive.form().hint))
    }
}
