//! A JSON array with an object per row, for programs. Figures keep all digits.

use super::{Cell, Sheet};
use serde_json::{Map, Value};
use std::io::{self, Write};

pub(super) fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Value> = sheet
        .rows
        .iter()
        .map(|row| {
            let pairs = sheet.header.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), value(cell)));
            Value::Object(pairs.collect::<Map<_, _>>())
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &rows)?;
    writeln!(out)
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => Value::from(text.as_str()),
        Cell::Count(count) => Value::from(*count),
        Cell::Figure(figure, _) => Value::from(*figure),
        Cell::Nothing => Value::Null,
    }
}
