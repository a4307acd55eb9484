//! Aligned columns, for a terminal: text to the left, numbers to the right, two spaces between; and
//! Markdown, for notes.

use super::narrow::{GAP, TextGrid};
use super::sheet::Sheet;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    write_grid(&TextGrid::of(sheet), None, out)
}

/// The same in lines of at most `width` columns.
pub(super) fn write_within(sheet: &Sheet, width: usize, out: &mut dyn Write) -> io::Result<()> {
    for (index, grid) in TextGrid::of(sheet).within(width).iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_grid(grid, Some(width), out)?;
    }
    Ok(())
}

fn write_grid(grid: &TextGrid, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    table.set_header(&grid.header);
    for row in &grid.rows {
        table.add_row(row);
    }
    let columns = grid.header.len();
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 == columns { 0 } else { GAP }));
        if grid.is_text[index] {
            column.set_cell_alignment(CellAlignment::Left);
        } else {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

pub(super) fn write_markdown(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let columns = 0..sheet.header.len();
    let rules: Vec<_> =
        columns.map(|column| if sheet.is_text(column) { "---" } else { "--:" }).collect();
    writeln!(out, "| {} |", sheet.header.join(" | "))?;
    writeln!(out, "|{}|", rules.join("|"))?;
    for row in &sheet.rows {
        let fields: Vec<_> = row.iter().map(|cell| cell.shown().replace('|', "\\|")).collect();
        writeln!(out, "| {} |", fields.join(" | "))?;
    }
    Ok(())
}
