//! Records of delimited text with quotes as in CSV (RFC 4180), each with the line on which it
//! starts.

use crate::source::FileContent;
use clariq_core::{Problem, problem};
use memchr::{memchr, memchr_iter, memchr3};
use std::borrow::Cow;

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
    at: usize,
    line: u64,
    fields: Vec<Cow<'a, [u8]>>,
}

/// The fields of a record, or the problem of one.
type RecordFields<'r, 'a> = Result<&'r [Cow<'a, [u8]>], Box<Problem>>;

impl<'a> Records<'a> {
    /// Begins at the start of the input.
    pub fn new(input: &'a FileContent, delimiter: u8) -> Self {
        Self {
            name: &input.name,
            bytes: &input.bytes,
            delimiter,
            at: 0,
            line: 1,
            fields: Vec::new(),
        }
    }

    /// The fields of the next record, with the file and the line where it starts; a problem if a
    /// quote is not closed.
    #[expect(clippy::should_implement_trait, reason = "the fields are lent")]
    pub fn next(&mut self) -> Option<((&'a str, u64), RecordFields<'_, 'a>)> {
        while let Some(byte @ (b'\r' | b'\n')) = self.bytes.get(self.at) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        if self.at == self.bytes.len() {
            return None;
        }
        let location = (self.name, self.line);
        self.fields.clear();
        loop {
            let rest = &self.bytes[self.at..];
            let length = if rest.first() == Some(&b'"') {
                let Some((length, field)) = quoted_field(rest, self.delimiter) else {
                    return Some((location, Err(Box::new(self.skip_open_quote()))));
                };
                self.line += memchr_iter(b'\n', &rest[..length]).count() as u64;
                self.fields.push(field);
                length
            } else {
                let length = memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
                self.fields.push(Cow::Borrowed(&rest[..length]));
                length
            };
            self.at += length;
            if rest.get(length) != Some(&self.delimiter) {
                return Some((location, Ok(&self.fields)));
            }
            self.at += 1;
        }
    }

    /// Passes over the line on which a field opens with a quote.
    fn skip_open_quote(&mut self) -> Problem {
        let rest = &self.bytes[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
        problem!(
            (self.name, self.line),
            "a quoted field that ends with a quote, before a delimiter or the line's end",
            "a quote that opens a field and does not close it",
            "a quote inside a field is doubled, and the field stands in quotes"
        )
    }
}

/// The field in quotes at the start of a text, with its length there; `None` if it does not end
/// with a quote.
fn quoted_field(text: &[u8], delimiter: u8) -> Option<(usize, Cow<'_, [u8]>)> {
    let mut field: Cow<[u8]> = Cow::Borrowed(b"");
    let mut start = 1;
    loop {
        let end = start + memchr(b'"', &text[start..])?;
        match text.get(end + 1) {
            Some(b'"') => {
                // A doubled quote is one quote of the field.
                field.to_mut().extend(&text[start..=end]);
                start = end + 2;
            }
            Some(&byte) if byte != delimiter && !matches!(byte, b'\r' | b'\n') => return None,
            _ => {
                let rest = &text[start..end];
                if field.is_empty() {
                    field = Cow::Borrowed(rest);
                } else {
                    field.to_mut().extend(rest);
                }
                return Some((end + 1, field));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use csv::{ByteRecord, ReaderBuilder};
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
        fn well_formed_text_is_read_as_the_csv_crate_reads_it(text in "[ab\"\t\r\n]{0,60}") {
            if let Ok(found) = read(text.as_bytes()) {
                let found: Vec<_> = found.into_iter().map(|(_, fields)| fields).collect();
                prop_assert_eq!(found, read_with_csv(text.as_bytes()));
            }
        }

        #[test]
        fn quoted_fields_are_well_formed(fields in prop::collection::vec("[ab\"\t\n]{0,8}", 1..20)) {
            let quoted: Vec<_> =
                fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let found = read(quoted.join("\t").as_bytes()).unwrap();
            prop_assert_eq!(found.len(), 1);
            let expected: Vec<_> = fields.iter().map(|field| field.as_bytes().to_vec()).collect();
            prop_assert_eq!(&found[0].1, &expected);
        }
    }
}
