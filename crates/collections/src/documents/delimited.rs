//! Documents as CSV with a header, as spreadsheets and pandas write it.

use super::form::{DocumentForm, NAMES_HINT};
use super::{Passage, PassageSink, passage, whole};
use clariq_core::{Error, Problem, problem};
use clariq_files::columns::TextColumns;
use clariq_files::records::Records;
use clariq_files::{FileContent, not_utf8, quoted};
use memchr::memchr_iter;
use std::io::Read;

/// Reads the rows of a file.
pub(super) fn read(
    name: &str,
    content: &mut dyn Read,
    form: &DocumentForm,
    each: PassageSink,
) -> Result<(), Error> {
    let input = whole(name, content, "tables with a header", "write JSON lines")?;
    let HeadedTable { mut records, columns } = HeadedTable::of(&input, form)?;
    while let Some((at, record)) = records.next() {
        let document = record.and_then(|record| row(&columns, at, &record));
        if each(document.map_err(Error::Problem))?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// A table whose first record names its columns.
pub(super) struct HeadedTable<'a> {
    /// The records below the header.
    records: Records<'a>,
    columns: TextColumns,
}

impl<'a> HeadedTable<'a> {
    /// Reads the header.
    pub(super) fn of(input: &'a FileContent, form: &DocumentForm) -> Result<Self, Box<Problem>> {
        let mut records = Records::of_table(input, delimiter(&input.bytes));
        let (at, fields) = match records.next() {
            None => ((&*input.name, 1), Vec::new()),
            Some((at, record)) => {
                let field = |field: &&[u8]| String::from_utf8_lossy(field).trim().to_owned();
                (at, record?.iter().map(field).collect())
            }
        };
        let columns = form.columns(at, &fields)?.ok_or_else(|| {
            let found = match &fields[..] {
                [] => "nothing".to_owned(),
                fields => quoted(&fields.join("`, `")),
            };
            let expected = "a first line that names the columns of the id and of the text";
            Box::new(problem!(at, expected, found, NAMES_HINT))
        })?;
        Ok(Self { records, columns })
    }
}

/// The sign between columns: the one that the header has most of.
fn delimiter(bytes: &[u8]) -> u8 {
    let first = bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let count = |sign: &u8| memchr_iter(*sign, first.unwrap_or_default()).count();
    // Of equal numbers, the last is taken: a comma.
    *[b'\t', b';', b','].iter().max_by_key(|sign| count(sign)).unwrap_or(&b',')
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
