//! Tab-separated values, for spreadsheets and shell tools. Figures keep all digits; nothing is an
//! empty field.

use super::sheet::{Cell, Sheet, without_sign};
use clariq_core::printable;
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", sheet.header.join("\t"))?;
    for row in &sheet.rows {
        let fields: Vec<String> = row.iter().map(field).collect();
        writeln!(out, "{}", fields.join("\t"))?;
    }
    Ok(())
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => printable(&text.replace(['\t', '\n'], " "), usize::MAX).into_owned(),
        Cell::Count(count) => count.to_string(),
        Cell::Figure(figure, _) | Cell::Probability(figure) => without_sign(*figure).to_string(),
        Cell::Mark(marked) => marked.to_string(),
        Cell::Nothing => String::new(),
    }
}
