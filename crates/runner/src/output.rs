//! Tables of results, and the forms that they are printed in: one exporter per file.

mod delimited;
mod json;
mod latex;
mod narrow;
mod sheet;
mod shorten;
mod table;
pub(crate) mod terminal;

use crate::failure::Outcome;
use clap::ValueEnum;
use clariq_core::{Error, Escaped, IoAction, Result, printable, problem};
pub(crate) use delimited::open as open_delimited;
use serde::Serialize;
pub(crate) use sheet::{Cell, ComparedNumber, Direction, Sheet};
pub(crate) use shorten::shorten_names;
use std::io::{self, BufWriter, IsTerminal, Write};
pub(crate) use terminal::width as terminal_width;

/// Writes a file to standard output, as it is unless a terminal shows it.
pub(crate) fn print_file(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Outcome> {
    if io::stdout().is_terminal() {
        return print(write);
    }
    print_styled(write)
}

/// Writes to standard output. Control characters are escaped, so that the content of a file cannot move
/// the cursor of a terminal.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Outcome> {
    let mut out = Escaped::new(BufWriter::new(io::stdout().lock()));
    write(&mut out).and_then(|()| out.flush()).map_err(refused)?;
    Ok(Outcome::Done)
}

/// Writes to standard output with styles: what files contain is made printable by the caller.
pub(crate) fn print_styled(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Outcome> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(refused)?;
    Ok(Outcome::Done)
}

pub(crate) fn refused(source: io::Error) -> Error {
    let at = "standard output";
    // The reader of a pipe may have closed it early, which is no problem.
    if source.kind() == io::ErrorKind::BrokenPipe {
        return Error::io(IoAction::Write, at)(source);
    }
    let expected = "a terminal, a pipe or a file that can be written";
    problem!(at, expected, (source.to_string()), "check whether the disk is full").into()
}

/// Prints a value as JSON with indents.
pub(crate) fn print_json(value: &impl Serialize) -> Result<Outcome> {
    print(|out| json::write_value(value, out))
}

/// The forms in which a table can be printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for a terminal
    Table,
    /// Tab-separated values with a header
    Tsv,
    /// Comma-separated values with a header
    Csv,
    /// A JSON array with an object per row
    Json,
    /// One JSON object per line
    Jsonl,
    /// A Markdown table
    #[value(alias = "markdown")]
    Md,
    /// A LaTeX table (package booktabs)
    Latex,
    /// A TREC run (`clariq rank` only)
    Trec,
}

impl Format {
    /// True if the form has a single table: a command with several tables prints one of them.
    pub(crate) fn is_one_table(self) -> bool {
        matches!(self, Self::Tsv | Self::Csv)
    }

    /// The option that asks for it.
    pub(crate) fn option(self) -> String {
        let value = self.to_possible_value();
        format!("--format {}", value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl Sheet {
    pub(crate) fn print(&self, format: Option<Format>) -> Result<Outcome> {
        match format {
            Some(Format::Tsv | Format::Csv) => print_file(|out| self.write(format, out)),
            _ => print(|out| self.write(format, out)),
        }
    }

    fn write(&self, format: Option<Format>, out: &mut dyn Write) -> io::Result<()> {
        let format = format.unwrap_or(Format::Table);
        if let Some(title) = &self.title {
            match format {
                Format::Table => writeln!(out, "{}", wrapped(&printable(title, usize::MAX)))?,
                Format::Md => writeln!(out, "{title}\n")?,
                Format::Latex => writeln!(out, "% {title}")?,
                _ => {}
            }
        }
        match format {
            // `trec` is refused before a table is made.
            Format::Table | Format::Trec if terminal::is_terminal() => {
                table::write_within(self, terminal::width(), out)
            }
            Format::Table | Format::Trec => table::write(self, out),
            Format::Tsv => delimited::write(self, b'\t', out),
            Format::Csv => delimited::write(self, b',', out),
            Format::Json => json::write(self, out),
            Format::Jsonl => json::write_lines(self, out),
            Format::Md => table::write_markdown(self, out),
            Format::Latex => latex::write(self, out),
        }
    }
}

/// A title in lines that fit the terminal.
fn wrapped(title: &str) -> String {
    if terminal::is_terminal() {
        terminal::wrap(title, terminal::width()).join("\n")
    } else {
        title.to_owned()
    }
}

/// Prints tables to standard output, one after the other with an empty line between. As JSON they
/// are one object that holds them by name; as JSON lines, each row names its table.
pub(crate) fn print_all(sheets: &[(&str, Sheet)], format: Option<Format>) -> Result<Outcome> {
    print(|out| match format {
        Some(Format::Json) => json::write_all(sheets, out),
        Some(Format::Jsonl) => json::write_all_lines(sheets, out),
        _ => sheets.iter().enumerate().try_for_each(|(index, (_, sheet))| {
            if index > 0 {
                writeln!(out)?;
            }
            sheet.write(format, out)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(&["system", "topics", "R@5"]);
        sheet.row(vec![Cell::text("bm25"), Cell::count(50), Cell::Number(1.0 / 3.0, 4)]);
        sheet.row(vec![Cell::text("a|b"), Cell::Nothing, Cell::Number(1.0, 4)]);
        sheet
    }

    #[test]
    fn the_title_of_a_sheet_is_left_out_of_machine_readable_forms() {
        let titled = Sheet { title: Some("two runs".to_owned()), ..sheet() };
        let first = |format| {
            let mut bytes = Vec::new();
            titled.write(format, &mut bytes).unwrap();
            String::from_utf8(bytes).unwrap().lines().next().unwrap().to_owned()
        };
        assert_eq!([first(None), first(Some(Format::Md))], ["two runs"; 2]);
        assert_eq!(first(Some(Format::Latex)), "% two runs");
        assert_eq!(first(Some(Format::Tsv)), "system\ttopics\tR@5");
    }

    fn written(write: impl Fn(&Sheet, &mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&sheet(), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn tables_align() {
        assert_eq!(
            written(table::write),
            "system  topics     R@5\nbm25        50  0.3333\na|b          -  1.0000\n"
        );
    }

    #[test]
    fn escapes_of_a_file_do_not_reach_the_terminal() {
        let mut sheet = Sheet::new(&["request"]);
        sheet.row(vec![Cell::text("a\u{1b}[2Jb\u{9b}c\rd")]);
        for format in [Format::Table, Format::Tsv, Format::Csv, Format::Md, Format::Latex] {
            let mut bytes = Vec::new();
            let mut out = Escaped::new(&mut bytes);
            sheet.write(Some(format), &mut out).and_then(|()| out.flush()).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.lines().all(|line| !line.contains(char::is_control)), "{text:?}");
        }
    }

    #[test]
    fn no_form_writes_a_negative_zero() {
        let mut sheet = Sheet::new(&["difference"]);
        sheet.row(vec![Cell::Number(-0.0, 6)]);
        for format in Format::value_variants().iter().copied().filter(|&f| f != Format::Trec) {
            let mut bytes = Vec::new();
            sheet.write(Some(format), &mut bytes).unwrap();
            assert!(!String::from_utf8(bytes).unwrap().contains("-0"));
        }
    }

    #[test]
    fn machine_readable_forms_keep_all_digits() {
        assert_eq!(
            written(|sheet, out| delimited::write(sheet, b'\t', out)),
            "system\ttopics\tR@5\nbm25\t50\t0.3333333333333333\na|b\t\t1\n"
        );
        assert_eq!(
            written(|sheet, out| delimited::write(sheet, b',', out)),
            "system,topics,R@5\nbm25,50,0.3333333333333333\na|b,,1\n"
        );
        let json = written(json::write);
        let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(rows[0]["R@5"], serde_json::json!(1.0 / 3.0));
        assert!(rows[1]["topics"].is_null());
    }

    #[test]
    fn markdown_escapes_bars() {
        let expected = "| system | topics | R@5 |\n|---|--:|--:|\n| bm25 | 50 | 0.3333 |\n| a\\|b | - | 1.0000 |\n";
        assert_eq!(written(table::write_markdown), expected);
    }
}
