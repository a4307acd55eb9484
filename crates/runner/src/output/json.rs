//! A JSON array with an object per row, for programs. Figures keep all digits.

use super::sheet::{Cell, Sheet, without_sign};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    write_value(&rows(sheet), out)
}

pub(super) fn write_value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// Each row as a line of its own.
pub(super) fn write_lines(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    rows(sheet).iter().try_for_each(|row| writeln!(out, "{row}"))
}

/// An object that holds each table by its name.
pub(super) fn write_all(sheets: &[(&str, Sheet)], out: &mut dyn Write) -> io::Result<()> {
    let tables: Map<_, _> =
        sheets.iter().map(|(name, sheet)| ((*name).to_owned(), rows(sheet).into())).collect();
    write_value(&tables, out)
}

/// Each row of each table as a line, which names its table.
pub(super) fn write_all_lines(sheets: &[(&str, Sheet)], out: &mut dyn Write) -> io::Result<()> {
    for (name, sheet) in sheets {
        for mut row in rows(sheet) {
            row["table"] = Value::from(*name);
            writeln!(out, "{row}")?;
        }
    }
    Ok(())
}

fn rows(sheet: &Sheet) -> Vec<Value> {
    let object = |row: &Vec<Cell>| {
        let pairs = sheet.header.iter().zip(row).map(|(name, cell)| (name.clone(), value(cell)));
        Value::Object(pairs.collect())
    };
    sheet.rows.iter().map(object).collect()
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => Value::from(text.as_str()),
        Cell::Count(count) => Value::from(*count),
        Cell::Compared(figure) => Value::from(without_sign(figure.value)),
        Cell::Number(figure, _) | Cell::Short(figure, _) | Cell::Probability(figure) => {
            Value::from(without_sign(*figure))
        }
        Cell::Between(ends, _) => Value::from(ends.map(without_sign).to_vec()),
        Cell::Mark(marked) => Value::from(*marked),
        Cell::Nothing => Value::Null,
    }
}
