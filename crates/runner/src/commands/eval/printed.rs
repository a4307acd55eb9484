//! Scores as they are printed and written: as the official scorer does, or as a table.

use super::EvalArgs;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print as print_text, print_all};
use crate::settings::Settings;
use clariq_collections::evaluation::{EvalResult, FigureFormat, ResultCell, ResultTable};
use clariq_core::{RequestId, Result};
use clariq_eval::Column;
use clariq_files::{Target, python_float};
use std::io::{self, Write};

pub(super) fn print(
    settings: &Settings,
    arguments: &EvalArgs,
    kind: &str,
    result: &EvalResult,
) -> Result<Outcome> {
    settings.warn(&result.warnings);
    result.notes.iter().for_each(|note| settings.note(note));
    let shown = &arguments.shown.options;
    let out_file = shown.out_file.as_ref().filter(|_| kind != "need");
    if out_file.is_none() && shown.out_file.is_some() {
        settings.note(
            "note: --out-file: nothing is written for clarification need, as in the official scorer",
        );
    }
    if !result.tables.is_empty() {
        let sheets: Vec<_> =
            result.tables.iter().map(|table| (table.name, own_sheet(table))).collect();
        let outcome = print_all(&sheets, settings.format)?;
        result.legend.iter().for_each(|legend| settings.note(legend));
        return Ok(outcome);
    }
    if let Some(highest) = &result.highest {
        let mut sheet = Sheet::new(&["measure", "lowest", "highest"]);
        for ((name, lowest), highest) in result.figures.iter().zip(highest) {
            let figures = [*lowest, *highest].map(|figure| Cell::Figure(figure, 6));
            sheet.row([vec![Cell::text(name)], figures.to_vec()].concat());
        }
        return sheet.print(settings.format);
    }
    if let Some(out) = out_file {
        let target = Target::new(out);
        target.write(|file| write_per_topic(result, file))?;
        if target.is_stream() {
            return Ok(Outcome::Done);
        }
    }
    if let Some(text) = &result.text {
        return print_text(|out| writeln!(out, "{text}"));
    }
    if let (FigureFormat::Lines(line), None) = (result.form, settings.format) {
        return print_text(|out| {
            result
                .figures
                .iter()
                .try_for_each(|(name, mean)| writeln!(out, "{}", line(name, *mean)))
        });
    }
    sheet(result, shown.per_topic).print(settings.format)
}

fn own_sheet(table: &ResultTable) -> Sheet {
    let mut sheet = Sheet::new(&table.header);
    for row in &table.rows {
        let cells = row.iter().map(|cell| match cell {
            ResultCell::Text(text) => Cell::text(text),
            ResultCell::Count(count) => Cell::count(*count),
            ResultCell::Figure(figure, digits) => Cell::Figure(*figure, *digits),
            ResultCell::Empty => Cell::Nothing,
        });
        sheet.row(cells.collect());
    }
    sheet
}

/// A row per measure. With `per_topic`, rows per topic and measure come first, as `trec_eval -q`
/// prints them.
fn sheet(result: &EvalResult, per_topic: bool) -> Sheet {
    if !matches!(result.form, FigureFormat::Topics) {
        let mut sheet = Sheet::new(&["measure", "value"]);
        for (name, figure) in &result.figures {
            sheet.row(vec![Cell::text(name), mean_cell(result, name, *figure)]);
        }
        return sheet;
    }
    let mut sheet = Sheet::new(&["measure", "topic", "value"]);
    let mut add = |name: &str, topic: &str, value: Cell| {
        sheet.row(vec![Cell::text(name), Cell::text(topic), value]);
    };
    let first = result.topics.first().filter(|_| per_topic);
    for topic in 0..first.map_or(0, |column| column.values.len()) {
        for ((name, _), Column { values, .. }) in result.figures.iter().zip(&result.topics) {
            add(name, values[topic].0.as_str(), Cell::Figure(values[topic].1, 6));
        }
    }
    for (name, mean) in &result.figures {
        add(name, "all", mean_cell(result, name, *mean));
    }
    sheet
}

/// A mean, with a mark if its cut-off is beyond the depth of the run.
fn mean_cell(result: &EvalResult, name: &str, mean: f64) -> Cell {
    let is_short = result.short.iter().any(|short| short == name);
    if is_short { Cell::Short(mean, 6) } else { Cell::Figure(mean, 6) }
}

/// `{"Recall5": {"101": 0.2, …}, …}`, spaced as Python's `json.dump` does.
fn write_per_topic(result: &EvalResult, out: &mut dyn Write) -> io::Result<()> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let metrics = result.figures.iter().zip(&result.topics).map(|((name, _), column)| {
        let figure = |(id, figure): &(RequestId, f64)| {
            format!("{}: {}", quoted(id.as_str()), python_float(*figure))
        };
        let figures = column.values.iter().map(figure);
        format!("{}: {{{}}}", quoted(name), figures.collect::<Vec<_>>().join(", "))
    });
    write!(out, "{{{}}}", metrics.collect::<Vec<_>>().join(", "))
}
