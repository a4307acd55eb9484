//! Records of delimited text with CSV quoting (RFC 4180), each with the line on which it starts.

use crate::source::Input;
use clariq_core::{Problem, problem};
use csv::{ByteRecord, Position, Reader, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr2, memchr3};
use std::borrow::Cow;
use std::io::Cursor;

/// Reads the records of an input one after the other. Empty lines are no records.
///
/// A field that begins with a quote ends with one, and then the delimiter, the end of the line or
/// of the file must follow. Where it does not, the closing quote is missing, and what looks like
/// one record may be many rows: that is a problem at the line where the field opens, and reading
/// continues behind that line.
pub struct Records<'a> {
    name: &'a str,
    bytes: &'a [u8],
    delimiter: u8,
    at: usize,
    line: u64,
    fields: Vec<Cow<'a, [u8]>>,
    /// Reads the records with quotes; all others are cut at their delimiters, which is faster.
    quoted: Reader<Cursor<&'a [u8]>>,
    record: ByteRecord,
}

impl<'a> Records<'a> {
    /// Begins at the start of the input.
    pub fn new(input: &'a Input, delimiter: u8) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(true).buffer_capacity(1 << 12);
        Self {
            name: &input.name,
            bytes: &input.bytes,
            delimiter,
            at: 0,
            line: 1,
            quoted: builder.from_reader(Cursor::new(&*input.bytes)),
            record: ByteRecord::new(),
            fields: Vec::new(),
        }
    }

    /// The fields of the next record, with the file and the line where it starts; a problem where a
    /// quote is not closed.
    #[expect(clippy::should_implement_trait, reason = "the fields are lent")]
    #[expect(clippy::type_complexity, reason = "a location, and fields or what is wrong with them")]
    pub fn next(&mut self) -> Option<((&'a str, u64), Result<&[Cow<'a, [u8]>], Box<Problem>>)> {
        while let Some(byte @ (b'\r' | b'\n')) = self.bytes.get(self.at) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        if self.at == self.bytes.len() {
            return None;
        }
        let (at, start) = ((self.name, self.line), self.at);
        self.fields.clear();
        loop {
            let rest = &self.bytes[self.at..];
            if rest.first() == Some(&b'"') {
                self.at = start;
                return Some((at, self.read_quoted().map(|()| &*self.fields)));
            }
            let length = memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
            self.fields.push(Cow::Borrowed(&rest[..length]));
            self.at += length;
            if rest.get(length) != Some(&self.delimiter) {
                return Some((at, Ok(&self.fields)));
            }
            self.at += 1;
        }
    }

    /// Reads a record with a field in quotes.
    fn read_quoted(&mut self) -> Result<(), Box<Problem>> {
        let unreadable = |error: csv::Error| problem!(self.name, "a record", (error.to_string()));
        let start = self.at as u64;
        if self.quoted.position().byte() != start {
            let mut position = Position::new();
            position.set_byte(start);
            self.quoted.seek(position).map_err(|error| Box::new(unreadable(error)))?;
        }
        self.quoted
            .read_byte_record(&mut self.record)
            .map_err(|error| Box::new(unreadable(error)))?;
        let raw = &self.bytes[self.at..self.quoted.position().byte() as usize];
        if let Some(open) = find_open_quote(raw, self.delimiter) {
            self.line += count_line_ends(&raw[..open]);
            self.at += open;
            let rest = &self.bytes[self.at..];
            self.at += memchr(b'\n', rest).unwrap_or(rest.len());
            return Err(Box::new(problem!(
                (self.name, self.line),
                "a quoted field that ends with a quote, before a delimiter or the line's end",
                "a quote that opens a field and does not close it",
                "a quote inside a field is doubled, and the field stands in quotes"
            )));
        }
        self.fields.clear();
        self.fields.extend(self.record.iter().map(|field| Cow::Owned(field.to_vec())));
        self.at += raw.len();
        self.line += count_line_ends(raw);
        Ok(())
    }
}

/// Where the first field of a record begins with a quote and does not end with one, which the
/// `csv` crate lets pass.
fn find_open_quote(record: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let start = at;
        if record.get(at) == Some(&b'"') {
            at += 1;
            loop {
                let Some(quote) = memchr(b'"', &record[at..]) else { return Some(start) };
                at += quote + 1;
                match record.get(at) {
                    Some(b'"') => at += 1,
                    Some(&byte) if byte != delimiter && !matches!(byte, b'\r' | b'\n') => {
                        return Some(start);
                    }
                    _ => break,
                }
            }
        } else {
            let rest = &record[at..];
            at += memchr2(delimiter, b'\n', rest).unwrap_or(rest.len());
        }
        if record.get(at) != Some(&delimiter) {
            return None;
        }
        at += 1;
    }
}

fn count_line_ends(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines and fields of sound text, or the line of the first problem.
    #[expect(clippy::type_complexity, reason = "lines with their fields")]
    fn read(text: &[u8]) -> Result<Vec<(u64, Vec<Vec<u8>>)>, u64> {
        let input = Input { name: "t".to_owned(), bytes: text.to_vec().into() };
        let mut records = Records::new(&input, b'\t');
        let mut all = Vec::new();
        while let Some(((_, line), record)) = records.next() {
            match record {
                Ok(fields) => {
                    all.push((line, fields.iter().map(|field| field.to_vec()).collect()));
                }
                Err(problem) => return Err(problem.at.line.unwrap()),
            }
        }
        Ok(all)
    }

    fn read_with_csv(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut builder = ReaderBuilder::new();
        let reader = builder.delimiter(b'\t').has_headers(false).flexible(true).from_reader(text);
        let fields = |record: ByteRecord| record.iter().map(<[u8]>::to_vec).collect();
        reader.into_byte_records().map(|record| fields(record.unwrap())).collect()
    }

    #[test]
    fn lines_are_counted_through_quotes_and_carriage_returns() {
        let found = read(b"a\r\n\r\n\"b\nc\"\td\r\ne\n").unwrap();
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(read(b"\na\t\"b\nc\n\"d"), Err(2));
        assert_eq!(read(b"\"a\nb\"\t\"c"), Err(2));
        assert_eq!(read(b"\"a\"\nb\tc\n\"d\"\te\n\tf\n\"g\"x\n"), Err(5));
    }

    proptest! {
        #[test]
        fn sound_text_is_read_as_the_csv_crate_reads_it(text in "[ab\"\t\r\n]{0,60}") {
            if let Ok(found) = read(text.as_bytes()) {
                let found: Vec<_> = found.into_iter().map(|(_, fields)| fields).collect();
                prop_assert_eq!(found, read_with_csv(text.as_bytes()));
            }
        }

        #[test]
        fn quoted_fields_are_sound(fields in prop::collection::vec("[ab\"\t\n]{0,8}", 1..20)) {
            let quoted: Vec<_> =
                fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let found = read(quoted.join("\t").as_bytes()).unwrap();
            prop_assert_eq!(found.len(), 1);
            let expected: Vec<_> = fields.iter().map(|field| field.as_bytes().to_vec()).collect();
            prop_assert_eq!(&found[0].1, &expected);
        }
    }
}
