//! Scores as they are printed and written: tables, and the values of every topic as JSON.

use super::EvalArgs;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print_all};
use crate::settings::Settings;
use clariq_collections::evaluation::{Cases, ScoreCell, ScoreTable, warn_of_short};
use clariq_core::{Problem, RequestId, Result, bail};
use clariq_eval::{Aggregate, Score};
use clariq_files::{Target, python_float};
use std::io::{self, Write};

/// Prints the tables of a collection, or scores by measures.
pub(super) fn print_cases(
    settings: &Settings,
    arguments: &EvalArgs,
    cases: Cases,
    with_topics: bool,
) -> Result<Outcome> {
    let is_measured = !arguments.measures.is_empty() || arguments.shown.is_given();
    if !cases.tables.is_empty() && !is_measured {
        settings.warn(&cases.warnings);
        let sheets: Vec<_> = cases.tables.iter().map(|it| (it.name, own_sheet(it))).collect();
        return print_all(&sheets, settings.format);
    }
    let mut scores = cases.scores;
    if is_measured {
        scores.retain(|score| !matches!(score.aggregate, Aggregate::ByClass(_)));
    }
    if scores.is_empty() && !cases.tables.is_empty() {
        refuse_measured(arguments, &cases.tables)?;
    }
    settings.warn(&cases.warnings);
    settings.warn(warn_of_short(&scores, Score::known_as).as_slice());
    if write_topics(arguments, &scores)? {
        return Ok(Outcome::Done);
    }
    let per_topic = arguments.shown.options.per_topic;
    sheet(&scores, with_topics, per_topic).print(settings.format)
}

/// Refuses what applies to measures alone, for a file that is scored by tables, such as a need file.
fn refuse_measured(arguments: &EvalArgs, tables: &[ScoreTable]) -> Result<(), Problem> {
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    let what = format!("the table of {}", names.join(" and of "));
    arguments.shown.refuse(&what)?;
    bail!("-m", "a run", what, "leave -m out: need files are scored as decisions")
}

fn own_sheet(table: &ScoreTable) -> Sheet {
    let mut sheet = Sheet::new(&table.header);
    for row in &table.rows {
        let cells = row.iter().map(|cell| match cell {
            ScoreCell::Text(text) => Cell::text(text),
            ScoreCell::Count(count) => Cell::count(*count),
            ScoreCell::Score(score, digits) => Cell::Number(*score, *digits),
            ScoreCell::Empty => Cell::Nothing,
        });
        sheet.row(cells.collect());
    }
    sheet
}

/// A row per score, `with_topics` with a column of topics, in which `all` is the mean. With `per_topic`,
/// rows per topic and measure come first, as `trec_eval -q` prints them.
pub(super) fn sheet(scores: &[Score], with_topics: bool, per_topic: bool) -> Sheet {
    if scores.iter().any(|score| matches!(score.aggregate, Aggregate::Interval { .. })) {
        return intervals(scores);
    }
    if !with_topics {
        let mut sheet = Sheet::new(&["measure", "value"]);
        for score in scores {
            sheet.row(vec![Cell::text(score.known_as()), value_cell(score)]);
        }
        return sheet;
    }
    let mut sheet = Sheet::new(&["measure", "topic", "value"]);
    let mut add = |score: &Score, topic: &str, value: Cell| {
        sheet.row(vec![Cell::text(score.known_as()), Cell::text(topic), value]);
    };
    let first = scores.first().filter(|_| per_topic);
    for topic in 0..first.map_or(0, |score| score.values.len()) {
        for score in scores {
            let (id, value) = &score.values[topic];
            add(score, id.as_str(), Cell::Number(*value, 6));
        }
    }
    for score in scores {
        add(score, "all", value_cell(score));
    }
    sheet
}

fn intervals(scores: &[Score]) -> Sheet {
    let mut sheet = Sheet::new(&["measure", "lowest", "highest"]);
    for score in scores {
        if let Aggregate::Interval { lowest, highest } = score.aggregate {
            let bounds = [lowest, highest].map(|bound| Cell::Number(bound, 6));
            sheet.row([vec![Cell::text(score.known_as())], bounds.to_vec()].concat());
        }
    }
    sheet
}

/// A score, with a mark if its cut-off is beyond the depth of the run.
fn value_cell(score: &Score) -> Cell {
    let value = score.value();
    if score.short_of.is_some() { Cell::Short(value, 6) } else { Cell::Number(value, 6) }
}

/// Writes the values of every topic to the file that was named; true if that is standard output.
pub(super) fn write_topics(arguments: &EvalArgs, scores: &[Score]) -> Result<bool> {
    let Some(out) = &arguments.shown.options.out_file else { return Ok(false) };
    let target = Target::new(out);
    target.write(|file| put_topics(scores, file))?;
    Ok(target.is_stream())
}

/// `{"Recall5": {"101": 0.2, …}, …}`, spaced as Python's `json.dump` does.
fn put_topics(scores: &[Score], out: &mut dyn Write) -> io::Result<()> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let measures = scores.iter().map(|score| {
        let value = |(id, value): &(RequestId, f64)| {
            format!("{}: {}", quoted(id.as_str()), python_float(*value))
        };
        let values = score.values.iter().map(value);
        format!("{}: {{{}}}", quoted(&score.known_as()), values.collect::<Vec<_>>().join(", "))
    });
    write!(out, "{{{}}}", measures.collect::<Vec<_>>().join(", "))
}
