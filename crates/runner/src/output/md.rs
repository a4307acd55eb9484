//! A Markdown table, for notes and README files.

use super::sheet::{Cell, Sheet};
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let rule = |column: usize| if is_text(sheet, column) { "---" } else { "--:" };
    let rules: Vec<_> = (0..sheet.header.len()).map(rule).collect();
    writeln!(out, "| {} |", sheet.header.join(" | "))?;
    writeln!(out, "|{}|", rules.join("|"))?;
    for row in &sheet.rows {
        let fields: Vec<_> = row.iter().map(|cell| cell.shown().replace('|', "\\|")).collect();
        writeln!(out, "| {} |", fields.join(" | "))?;
    }
    Ok(())
}

fn is_text(sheet: &Sheet, column: usize) -> bool {
    sheet.rows.iter().any(|row| row.get(column).is_some_and(Cell::is_text))
}
