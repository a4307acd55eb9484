//! Records of delimited text with CSV quoting, each with the line on which it starts.

use crate::source::Input;
use crate::table::Place;
use clariq_core::{Location, Problem, ProblemKind};

/// Reads the records of an input one after the other.
pub struct Records<'a> {
    input: &'a Input,
    delimiter: u8,
    reader: csv::Reader<&'a [u8]>,
    record: csv::ByteRecord,
    lines: LineCounter<'a>,
}

impl<'a> Records<'a> {
    /// Begins at the start of the input.
    pub fn new(input: &'a Input, delimiter: u8) -> Self {
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(input.bytes.as_ref());
        let (record, lines) = (csv::ByteRecord::new(), LineCounter::new(&input.bytes));
        Self { input, delimiter, reader, record, lines }
    }

    /// The next record and where it starts; a problem where a quote opens a field and does not close it.
    #[expect(clippy::should_implement_trait, reason = "the record is lent and not given")]
    pub fn next(&mut self) -> Option<(Place<'a>, Result<&csv::ByteRecord, Box<Problem>>)> {
        // Reading from memory cannot fail, and a flexible reader accepts every record.
        let Ok(true) = self.reader.read_byte_record(&mut self.record) else { return None };
        let start = self.record.position().map_or(0, csv::Position::byte) as usize;
        let end = self.reader.position().byte() as usize;
        let place = Place { file: &self.input.name, line: self.lines.line_at(start) };
        let bytes = &self.input.bytes[self.lines.offset.min(end)..end];
        Some((
            place,
            match open_quote(bytes, self.delimiter) {
                Some(at) => Err(Box::new(self.bad_quotes(place, &bytes[..at]))),
                None => Ok(&self.record),
            },
        ))
    }

    fn bad_quotes(&self, place: Place, before: &[u8]) -> Problem {
        let line = place.line + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let at = Location::line(&self.input.name, line);
        let expected = "a quoted field that ends with a quote before the next delimiter";
        Problem::new(
            at,
            ProblemKind::Quotes,
            expected,
            "a quote that opens a field and does not close it",
        )
        .hint(
            "a quote inside a quoted field is doubled; a field that begins with one must be quoted",
        )
    }
}

/// The offset of a quote that opens a field of this record and does not close it: the file ends inside the field, or
/// more text follows the closing quote, so that what was read as one record may be many.
fn open_quote(record: &[u8], delimiter: u8) -> Option<usize> {
    memchr::memchr(b'"', record)?;
    let mut start = 0;
    loop {
        let mut end = start;
        if record.get(start) == Some(&b'"') {
            let Some(after) = end_of_quoted(record, start + 1) else { return Some(start) };
            let ends = |byte: &u8| *byte == delimiter || matches!(byte, b'\r' | b'\n');
            if !record.get(after).is_none_or(ends) {
                return Some(start);
            }
            end = after;
        }
        start = end + memchr::memchr(delimiter, &record[end..])? + 1;
    }
}

/// The offset behind the quote that closes a field; a doubled quote closes nothing.
fn end_of_quoted(record: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr(b'"', &record[at..])? + 1;
        if record.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

/// The csv crate counts a CRLF as a line end followed by an empty rest, which puts its line numbers one too low.
pub struct LineCounter<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    /// Counts the lines of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0, line: 1 }
    }

    /// The line of a record that starts at this byte; records are asked for in order.
    pub fn line_at(&mut self, start: usize) -> u64 {
        let rest = &self.bytes[start.min(self.bytes.len())..];
        let start = start + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += self.bytes[self.offset..start].split(|&byte| byte == b'\n').count() as u64 - 1;
        self.offset = start;
        self.line
    }
}
