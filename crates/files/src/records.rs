//! Records of delimited text with CSV quoting (RFC 4180), each with the line on which it starts.

use crate::file_line::FileLine;
use crate::source::Input;
use clariq_core::{Location, Problem, ProblemKind};
use memchr::{memchr, memchr3};
use std::borrow::Cow;

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
}

impl<'a> Records<'a> {
    /// Begins at the start of the input.
    pub fn new(input: &'a Input, delimiter: u8) -> Self {
        Self {
            name: &input.name,
            bytes: &input.bytes,
            delimiter,
            at: 0,
            line: 1,
            fields: Vec::new(),
        }
    }

    /// The next record and where it starts; a problem where a quote is not closed.
    #[expect(clippy::should_implement_trait, reason = "the fields are lent")]
    #[expect(clippy::type_complexity, reason = "a place, and fields or what is wrong with them")]
    pub fn next(&mut self) -> Option<(FileLine<'a>, Result<&[Cow<'a, [u8]>], Box<Problem>>)> {
        while let Some(byte @ (b'\r' | b'\n')) = self.bytes.get(self.at) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        if self.at == self.bytes.len() {
            return None;
        }
        let place = FileLine { file: self.name, line: self.line };
        self.fields.clear();
        loop {
            let field = if self.bytes.get(self.at) == Some(&b'"') {
                let Some(field) = self.quoted() else {
                    return Some((place, Err(Box::new(self.open_quote()))));
                };
                field
            } else {
                self.plain()
            };
            self.fields.push(field);
            if self.bytes.get(self.at) != Some(&self.delimiter) {
                return Some((place, Ok(&self.fields)));
            }
            self.at += 1;
        }
    }

    /// The field up to the next delimiter or line end.
    fn plain(&mut self) -> Cow<'a, [u8]> {
        let rest = &self.bytes[self.at..];
        let length = memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
        self.at += length;
        Cow::Borrowed(&rest[..length])
    }

    /// The field between two quotes; `None` if the second one is missing.
    fn quoted(&mut self) -> Option<Cow<'a, [u8]>> {
        let rest = &self.bytes[self.at + 1..];
        let (mut end, mut doubled) = (0, false);
        loop {
            end += memchr(b'"', &rest[end..])?;
            match rest.get(end + 1) {
                Some(b'"') => (end, doubled) = (end + 2, true),
                None | Some(b'\r' | b'\n') => break,
                Some(byte) if *byte == self.delimiter => break,
                Some(_) => return None,
            }
        }
        self.at += end + 2;
        let content = &rest[..end];
        self.line += newlines(content);
        Some(if doubled { Cow::Owned(without_doubled(content)) } else { Cow::Borrowed(content) })
    }

    /// Reports a field that opens here, and continues behind its line.
    fn open_quote(&mut self) -> Problem {
        let rest = &self.bytes[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
        let expected =
            "a quoted field that ends with a quote, before a delimiter or the line's end";
        let found = "a quote that opens a field and does not close it";
        Problem::new(Location::line(self.name, self.line), ProblemKind::Quotes, expected, found)
            .hint("a quote inside a field is doubled, and the field stands in quotes")
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn without_doubled(content: &[u8]) -> Vec<u8> {
    let mut field = Vec::with_capacity(content.len());
    let mut quoted = false;
    for &byte in content {
        quoted = byte == b'"' && !quoted;
        if !quoted {
            field.push(byte);
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines and fields of sound text, or the line of the first problem.
    #[expect(clippy::type_complexity, reason = "lines with their fields")]
    fn own(text: &[u8]) -> Result<Vec<(u64, Vec<Vec<u8>>)>, u64> {
        let input = Input { name: "t".to_owned(), bytes: text.to_vec().into() };
        let mut records = Records::new(&input, b'\t');
        let mut all = Vec::new();
        while let Some((place, fields)) = records.next() {
            match fields {
                Ok(fields) => {
                    all.push((place.line, fields.iter().map(|field| field.to_vec()).collect()));
                }
                Err(problem) => return Err(problem.at.line.unwrap()),
            }
        }
        Ok(all)
    }

    fn of_the_csv_crate(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.delimiter(b'\t').has_headers(false).flexible(true).from_reader(text);
        let fields = |record: csv::ByteRecord| record.iter().map(<[u8]>::to_vec).collect();
        reader.into_byte_records().map(|record| fields(record.unwrap())).collect()
    }

    #[test]
    fn lines_are_counted_through_quotes_and_carriage_returns() {
        let found = own(b"a\r\n\r\n\"b\nc\"\td\r\ne\n").unwrap();
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(own(b"\na\t\"b\nc\n\"d"), Err(2));
        assert_eq!(own(b"\"a\nb\"\t\"c"), Err(2));
    }

    proptest! {
        #[test]
        fn sound_text_is_read_as_the_csv_crate_reads_it(text in "[ab\"\t\r\n]{0,60}") {
            if let Ok(found) = own(text.as_bytes()) {
                let found: Vec<_> = found.into_iter().map(|(_, fields)| fields).collect();
                prop_assert_eq!(found, of_the_csv_crate(text.as_bytes()));
            }
        }

        #[test]
        fn quoted_fields_are_sound(fields in prop::collection::vec("[ab\"\t\n]{0,8}", 1..20)) {
            let quoted: Vec<_> =
                fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let found = own(quoted.join("\t").as_bytes()).unwrap();
            prop_assert_eq!(found.len(), 1);
            let expected: Vec<_> = fields.iter().map(|field| field.as_bytes().to_vec()).collect();
            prop_assert_eq!(&found[0].1, &expected);
        }
    }
}
