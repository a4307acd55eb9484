//! Tab-separated tables with a header.
//!
//! Tables are CSV with tabs: a quoted field may contain tabs, line ends and doubled quotes.
//! Columns are found by name, so their order does not matter and further columns are ignored.

#[cfg(test)]
mod tests;

use crate::records::Records;
use crate::sink::{
    MOST_LINES, Sink, has_few_lines, not_utf8, quoted, shorten, until_too_many_errors,
};
use crate::source::FileContent;
use clariq_core::{Problem, ProblemKind, problem};
use std::ops::ControlFlow;
use std::str;

/// A column by its names: the first is the usual one, the others occur in released files.
pub type ColumnNames = &'static [&'static str];

/// A row with the requested columns, in the requested order.
pub struct Row<'a> {
    /// The fields of the wanted columns, in their order.
    pub fields: Vec<&'a str>,
    at: (&'a str, u64),
}

impl Row<'_> {
    /// The line on which the row starts.
    pub fn line(&self) -> u64 {
        self.at.1
    }

    /// Refuses an id that is empty or contains a blank: run files separate ids by blanks.
    pub fn check_id(&self, column: &str, id: &str) -> Result<(), Box<Problem>> {
        // Nearly all ids are of letters and digits.
        if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(());
        }
        let found = match id {
            "" => "an empty field".to_owned(),
            _ if id.contains(|c: char| c.is_whitespace() || c.is_control()) => quoted(id),
            _ => return Ok(()),
        };
        let hint = "the fields of run files are separated by blanks";
        Err(Box::new(problem!(self.at, "an id without blanks in `{column}`", found, hint)))
    }
}

/// The positions of the wanted columns in a file.
struct ColumnPositions {
    columns: &'static [ColumnNames],
    positions: Vec<usize>,
    width: usize,
}

/// Calls `each` with every row of `input`, and reports rows with problems to `sink`.
pub fn for_each_row(
    input: &FileContent,
    columns: &'static [ColumnNames],
    sink: Sink,
    mut each: impl FnMut(&Row, Sink),
) {
    if !has_few_lines(input, MOST_LINES / 2, sink) {
        return;
    }
    let mut records = Records::new(input, b'\t');
    let Some((at, record)) = records.next() else {
        let names: Vec<_> = columns.iter().map(|names| names[0]).collect();
        let expected = format!("a header with the columns {}", names.join(", "));
        return sink(empty(input, 1, &expected));
    };
    let header = match record.and_then(|header| ColumnPositions::find(columns, &header, at)) {
        Ok(header) => header,
        Err(problem) => return sink(*problem),
    };
    let mut any = false;
    until_too_many_errors(&input.name, sink, |sink| {
        let Some((at, record)) = records.next() else { return ControlFlow::Break(()) };
        any = true;
        match record.and_then(|record| header.pick(&record, at)) {
            Ok(row) => each(&row, sink),
            Err(problem) => sink(*problem),
        }
        ControlFlow::Continue(())
    });
    if !any {
        sink(empty(input, 2, "at least one row below the header"));
    }
}

fn empty(input: &FileContent, line: u64, expected: &str) -> Problem {
    let hint = "the file was probably cut short: fetch it again";
    problem!((&*input.name, line), expected, "nothing", hint).kind(ProblemKind::Empty)
}

impl ColumnPositions {
    fn find(
        columns: &'static [ColumnNames],
        header: &[&[u8]],
        at: (&str, u64),
    ) -> Result<Self, Box<Problem>> {
        let position = |names: &ColumnNames| {
            let mut places = (0..header.len()).filter(|&place| {
                names.contains(&str::from_utf8(header[place]).unwrap_or_default().trim())
            });
            let Some(place) = places.next() else {
                return Err(Box::new(missing_column(header, names, columns, at)));
            };
            if places.next().is_some() {
                let hint = "remove the one that is not meant, or give it another name";
                let problem = problem!(at, (format!("one column `{}`", names[0])), "two", hint);
                return Err(Box::new(problem.kind(ProblemKind::Contradiction)));
            }
            Ok(place)
        };
        let positions = columns.iter().map(position).collect::<Result<_, _>>()?;
        Ok(Self { columns, positions, width: header.len() })
    }

    /// The wanted fields of a record.
    fn pick<'a>(&self, record: &[&'a [u8]], at: (&'a str, u64)) -> Result<Row<'a>, Box<Problem>> {
        let width = self.width;
        let found = record.len();
        if found != width {
            let hint = if found == width + 1 {
                "a field with a tab in it must stand in double quotes; R's `row.names = FALSE` leaves \
                 out names of rows, for which the header has no column"
            } else {
                "a field with a tab or a line end in it must stand in double quotes"
            };
            return Err(Box::new(problem!(
                at,
                "{width} tab-separated fields, as in the header",
                "{found}",
                hint
            )));
        }
        let mut fields = Vec::with_capacity(self.positions.len());
        for (&position, names) in self.positions.iter().zip(self.columns) {
            let bytes = record[position];
            let text = str::from_utf8(bytes);
            fields.push(text.map_err(|_| Box::new(not_utf8(at, names[0], bytes)))?);
        }
        Ok(Row { fields, at })
    }
}

fn missing_column(
    header: &[&[u8]],
    names: ColumnNames,
    columns: &[ColumnNames],
    at: (&str, u64),
) -> Problem {
    let mut found: Vec<_> = header.iter().map(|name| String::from_utf8_lossy(name)).collect();
    // Unknown columns first: one of them may be a misspelling of the missing one.
    found.sort_by_key(|name| columns.concat().contains(&name.trim()));
    let is_for_excel = header.first().is_some_and(|first| first.starts_with(b"sep="));
    let hint = if is_for_excel {
        "the first line is an instruction for Excel: remove it"
    } else if header.len() == 1 {
        "columns are separated by tabs and named in the first line"
    } else {
        "the first line names the columns; the documentation describes the formats (reference, Formats)"
    };
    problem!(at, (format!("a column `{}`", names[0])), (shorten(&found.join(", "))), hint)
        .kind(ProblemKind::MissingColumn)
}
