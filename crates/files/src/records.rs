//! Records of delimited text with quotes as in CSV (RFC 4180), each with the line on which it
//! starts.
//!
//! The crate `csv` reads them. It takes every text for some table; what it would have to guess is refused here.

use crate::source::FileContent;
use clariq_core::{Problem, problem};
use csv::{ByteRecord, Reader, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr3};

/// Reads the records of an input one after the other. Empty lines are no records.
///
/// A field that begins with a quote ends with one, and then the delimiter, the end of the line or
/// of the file must follow. If something else follows, the closing quote is missing, and what looks
/// like one record may be many rows: that is a problem at the line where the field opens, and
/// reading continues after that line.
pub struct Records<'a> {
    name: &'a str,
    bytes: &'a [u8],
    delimiter: u8,
    /// True if fields may stand in quotes.
    has_quotes: bool,
    reader: Reader<&'a [u8]>,
    /// The place where `reader` began.
    start: usize,
    /// The place and the line behind the last record.
    at: usize,
    line: u64,
    record: ByteRecord,
}

/// The fields of a record, or the problem of one.
type RecordFields<'r> = Result<Vec<&'r [u8]>, Box<Problem>>;

impl<'a> Records<'a> {
    /// Begins at the start of the input.
    pub fn new(input: &'a FileContent, delimiter: u8) -> Self {
        let bytes = &*input.bytes;
        Self {
            name: &input.name,
            bytes,
            delimiter,
            has_quotes: true,
            reader: reader(bytes, delimiter),
            start: 0,
            at: 0,
            line: 1,
            record: ByteRecord::new(),
        }
    }

    /// Begins at the start of a table of documents, requests, judgements or a run. Many programs write tabs
    /// between texts as they are: where the quotes of such a table are not those of CSV, it has none, and a
    /// line is a record.
    pub fn of_table(input: &'a FileContent, delimiter: u8) -> Self {
        let mut records = Self::new(input, delimiter);
        if delimiter == b'\t' && has_open_quote(input, delimiter) {
            records.has_quotes = false;
            let mut builder = builder(delimiter);
            records.reader = builder.quoting(false).from_reader(&input.bytes);
        }
        records
    }

    /// The fields of the next record, with the file and the line where it starts; a problem if a
    /// quote is not closed.
    #[expect(clippy::should_implement_trait, reason = "the fields are lent")]
    pub fn next(&mut self) -> Option<((&'a str, u64), RecordFields<'_>)> {
        while let Some(byte @ (b'\r' | b'\n')) = self.bytes.get(self.at) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        // Bytes in memory are always read.
        if self.at == self.bytes.len() || !self.reader.read_byte_record(&mut self.record).ok()? {
            return None;
        }
        let location = (self.name, self.line);
        let end = self.start + self.reader.position().byte() as usize;
        let text = &self.bytes[self.at..end];
        if self.has_quotes
            && let Some(open) = open_quote(text, self.delimiter)
        {
            return Some((location, Err(Box::new(self.skip_open_quote(open)))));
        }
        self.line += memchr_iter(b'\n', text).count() as u64;
        self.at = end;
        Some((location, Ok(self.record.iter().collect())))
    }

    /// Passes over the line on which a field opens with a quote, `open` bytes behind the start of its record.
    fn skip_open_quote(&mut self, open: usize) -> Problem {
        let before = &self.bytes[self.at..self.at + open];
        self.line += memchr_iter(b'\n', before).count() as u64;
        self.at += open;
        let rest = &self.bytes[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
        self.start = self.at;
        self.reader = reader(&self.bytes[self.start..], self.delimiter);
        problem!(
            (self.name, self.line),
            "a quoted field that ends with a quote, before a delimiter or the line's end",
            "a quote that opens a field and does not close it",
            "a quote inside a field is doubled, and the field stands in quotes"
        )
    }
}

fn reader(bytes: &[u8], delimiter: u8) -> Reader<&[u8]> {
    builder(delimiter).from_reader(bytes)
}

fn builder(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).flexible(true);
    builder
}

/// True if a field opens with a quote and does not close it.
fn has_open_quote(input: &FileContent, delimiter: u8) -> bool {
    if memchr(b'"', &input.bytes).is_none() {
        return false;
    }
    let mut records = Records::new(input, delimiter);
    while let Some((_, record)) = records.next() {
        if record.is_err() {
            return true;
        }
    }
    false
}

/// The place of a quote that opens a field of a record and does not close it.
fn open_quote(text: &[u8], delimiter: u8) -> Option<usize> {
    memchr(b'"', text)?;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += if rest.first() == Some(&b'"') {
            let Some(length) = quoted_length(rest, delimiter) else { return Some(at) };
            length
        } else {
            memchr3(delimiter, b'\n', b'\r', rest).unwrap_or(rest.len())
        };
        if text.get(at) != Some(&delimiter) {
            return None;
        }
        at += 1;
    }
}

/// The length of the field in quotes at the start of a text; `None` if it does not end with a quote.
fn quoted_length(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut start = 1;
    loop {
        let end = start + memchr(b'"', &text[start..])?;
        match text.get(end + 1) {
            Some(b'"') => start = end + 2,
            Some(&byte) if byte != delimiter && !matches!(byte, b'\r' | b'\n') => return None,
            _ => return Some(end + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines and fields of well-formed text, or the line of the first problem.
    #[expect(clippy::type_complexity, reason = "lines with their fields")]
    fn read(text: &[u8]) -> Result<Vec<(u64, Vec<Vec<u8>>)>, u64> {
        let input = FileContent { name: "t".to_owned(), bytes: text.to_vec().into() };
        let mut records = Records::new(&input, b'\t');
        let mut all = Vec::new();
        while let Some(((_, line), record)) = records.next() {
            match record {
                Ok(fields) => {
                    all.push((line, fields.into_iter().map(<[u8]>::to_vec).collect()));
                }
                Err(problem) => return Err(problem.at.line.unwrap()),
            }
        }
        Ok(all)
    }

    #[test]
    fn a_table_with_tabs_whose_quotes_are_not_those_of_csv_has_none() {
        let read = |text: &str, delimiter| -> Vec<(u64, Option<Vec<String>>)> {
            let input =
                FileContent { name: "t".to_owned(), bytes: text.as_bytes().to_vec().into() };
            let mut records = Records::of_table(&input, delimiter);
            let mut all = Vec::new();
            while let Some(((_, line), record)) = records.next() {
                let text = |field: &&[u8]| String::from_utf8_lossy(field).into_owned();
                all.push((line, record.ok().map(|record| record.iter().map(text).collect())));
            }
            all
        };
        let fields = |fields: [&str; 2]| Some(fields.map(str::to_owned).to_vec());
        let plain = "1\t\"a\"\n\n2\t\"b \"\"c\"\"\nd\"\n";
        assert_eq!(read(plain, b'\t'), [(1, fields(["1", "a"])), (3, fields(["2", "b \"c\"\nd"]))]);
        let raw = "1\t\"a\"\n\n2\t\"b\" c\n3\t\"d\n4\te\"\n";
        let expected = [
            (1, fields(["1", "\"a\""])),
            (3, fields(["2", "\"b\" c"])),
            (4, fields(["3", "\"d"])),
            (5, fields(["4", "e\""])),
        ];
        assert_eq!(read(raw, b'\t'), expected);
        assert_eq!(read(&raw.replace('\t', ","), b',')[1], (3, None));
    }

    #[test]
    fn lines_are_counted_through_quotes_and_carriage_returns() {
        let found = read(b"a\r\n\r\n\"b\nc\"\td\r\ne\n").unwrap();
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(read(b"\na\t\"b\nc\n\"d"), Err(2));
        assert_eq!(read(b"\"a\nb\"\t\"c"), Err(2));
        assert_eq!(read(b"\"a\"\nb\tc\n\"d\"\te\n\tf\n\"g\"x\n"), Err(5));
    }

    #[test]
    fn reading_continues_after_the_line_of_an_open_quote() {
        let text = b"a\n\"b\"c\td\ne\t\"f\ng\n";
        let input = FileContent { name: "t".to_owned(), bytes: text.to_vec().into() };
        let mut records = Records::new(&input, b'\t');
        let mut found = Vec::new();
        while let Some(((_, line), record)) = records.next() {
            found.push((line, record.map(|fields| fields[0].to_vec()).ok()));
        }
        let expected = [(1, Some(b"a".to_vec())), (2, None), (3, None), (4, Some(b"g".to_vec()))];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn quoted_fields_are_read_back(fields in prop::collection::vec("[ab\"\t\n]{0,8}", 1..20)) {
            let quoted: Vec<_> =
                fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let found = read(quoted.join("\t").as_bytes()).unwrap();
            prop_assert_eq!(found.len(), 1);
            let expected: Vec<_> = fields.iter().map(|field| field.as_bytes().to_vec()).collect();
            prop_assert_eq!(&found[0].1, &expected);
        }

        #[test]
        fn any_text_is_read_or_refused_line_by_line(text in "[ab\"\t\r\n]{0,60}") {
            let lines = text.matches('\n').count() as u64 + 1;
            match read(text.as_bytes()) {
                Ok(found) => {
                    prop_assert!(found.is_sorted_by_key(|(line, _)| *line));
                    prop_assert!(found.last().is_none_or(|(line, _)| *line <= lines));
                }
                Err(line) => prop_assert!(line <= lines),
            }
        }
    }
}
