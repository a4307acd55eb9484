//! Documents as CSV with a header, as spreadsheets and pandas write it.

use super::form::{DocumentForm, NAMES_HINT};
use super::{Passage, PassageSink, passage, whole};
use clariq_core::{Error, Problem, problem};
use clariq_files::columns::TextColumns;
use clariq_files::records::Records;
use clariq_files::{FileContent, not_utf8, shorten};
use memchr::memchr_iter;
use std::io::Read;

/// Reads the rows of a file.
pub(super) fn read(
    name: &str,
    content: &mut dyn Read,
    form: &DocumentForm,
    each: PassageSink,
) -> Result<(), Error> {
    let input = whole(name, content, "CSV", "write JSON lines")?;
    let mut records = Records::new(&input, delimiter(&input.bytes));
    let mut columns: Option<TextColumns> = None;
    while let Some((at, record)) = records.next() {
        let document = match (record, &columns) {
            (Err(problem), _) => Err(problem),
            (Ok(record), Some(columns)) => row(columns, at, &record),
            (Ok(record), None) => {
                columns = Some(header(form, at, &record)?);
                continue;
            }
        };
        if each(document.map_err(Error::Problem))?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// The sign between columns: the one that the header has most of.
fn delimiter(bytes: &[u8]) -> u8 {
    let first = bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let count = |sign: &u8| memchr_iter(*sign, first.unwrap_or_default()).count();
    // Of equal numbers, the last is taken: a comma.
    *[b'\t', b';', b','].iter().max_by_key(|sign| count(sign)).unwrap_or(&b',')
}

/// The columns that the first record names.
pub(super) fn header(
    form: &DocumentForm,
    at: (&str, u64),
    record: &[&[u8]],
) -> Result<TextColumns, Box<Problem>> {
    let fields: Vec<String> =
        record.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
    form.columns(at, &fields)?.ok_or_else(|| {
        let found = format!("`{}`", shorten(&fields.join("`, `")));
        let expected = "a first line that names the columns of the id and of the text";
        Box::new(problem!(at, expected, found, NAMES_HINT))
    })
}

/// True if a file begins with a header of documents.
pub(super) fn has_header(form: &DocumentForm, input: &FileContent) -> bool {
    let mut records = Records::new(input, delimiter(&input.bytes));
    let Some((at, Ok(record))) = records.next() else { return false };
    header(form, at, &record).is_ok()
}

fn row(columns: &TextColumns, at: (&str, u64), record: &[&[u8]]) -> Result<Passage, Box<Problem>> {
    if record.len() != columns.width() {
        let expected = format!("{} columns, as in the header", columns.width());
        let hint = "a text with a comma or a line end in it stands in double quotes";
        return Err(Box::new(problem!(at, expected, (record.len().to_string()), hint)));
    }
    let mut fields = Vec::with_capacity(record.len());
    for bytes in record {
        fields.push(str::from_utf8(bytes).map_err(|_| Box::new(not_utf8(at, "document", bytes)))?);
    }
    match columns.pick(&fields) {
        Some((id, text)) => passage(at, id.trim().to_owned(), &text),
        None => Err(Box::new(problem!(at, "an id and a text", "a row without them"))),
    }
}
