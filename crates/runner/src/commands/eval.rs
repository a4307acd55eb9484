//! `clariq eval`: a run scored as its collection scores runs, or by measures of the literature.

mod arguments;
mod clariq;
mod scorer;

use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print as print_text, print_all};
use crate::runs::{self, check_origin};
use crate::settings::Settings;
use crate::several::SeveralScores;
use clariq_collections::evaluation::{
    ByQrels, EvalRequest, EvalResult, Evaluation, FigureFormat, ResultCell, ResultTable,
};
use clariq_core::{RequestId, Result};
use clariq_eval::Column;
use clariq_experiment::record;
use clariq_files::{MOST_OF_A_RUN, Source, Target, protect, python_float, refuse_input};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) use arguments::EvalArgs;
use scorer::{BY_NAME, FileScorer};

pub(crate) fn eval(settings: &Settings, arguments: &EvalArgs) -> Result<Outcome> {
    let measures = runs::measures(&arguments.measures)?;
    let request = arguments.request(&measures, settings.format)?;
    protect(&request.file);
    protect(&record::path_of(&request.file));
    for run in record::runs_of_need(&request.file) {
        protect(&record::path_of(&run));
    }
    if let Some(out) = &arguments.out_file {
        refuse_input(out)?;
    }
    if let Some(file) = arguments.judgements(&request) {
        arguments.clariq.refuse_all(BY_NAME)?;
        arguments.refuse_answers(BY_NAME)?;
        let request = EvalRequest { qrels: None, ..request };
        let judged = ByQrels::read(&Source::new(file))?;
        settings.warn(judged.warnings());
        let result = judged.score(&request)?;
        return print(settings, arguments, "run", &request, &result);
    }
    let (collection, split) = settings.scored_on(arguments.split.as_deref(), &request.file)?;
    let scorer = FileScorer::open(&*collection, split, arguments, settings.options.seed)?;
    let kind = scorer.file_kind();
    check_origin(settings, &*collection, &runs_of(kind, &request.file), &request.file)?;
    settings.warn(scorer.warnings());
    settings.note_remark(&*collection, split);
    let result = scorer.score(&request)?;
    warn_of_record(settings, kind, &request.file)?;
    print(settings, arguments, kind, &request, &result)
}

/// Scores runs over the collections of several folders: a column for each, and the means.
pub(crate) fn eval_each(all: &[Settings], arguments: &EvalArgs) -> Result<Outcome> {
    let measures = runs::measures(&arguments.measures)?;
    let (runs, by) = arguments.over_several(&measures)?;
    let scores = SeveralScores::read(all, runs, arguments.split.as_deref(), &by)?;
    let mut header = vec!["measure".to_owned(), "run".to_owned()];
    header.extend(scores.columns());
    let mut sheet = Sheet::new(&header);
    for (measure, name) in scores.measures().into_iter().enumerate() {
        for system in &scores.systems {
            let mut row = vec![Cell::text(&name), Cell::text(&system.name)];
            row.extend(system.means(measure).into_iter().map(|mean| Cell::Figure(mean, 4)));
            sheet.row(row);
        }
    }
    sheet.print(all[0].format)
}

/// The runs whose records could describe the file: a need file is beside its run.
fn runs_of(kind: &str, file: &Path) -> Vec<PathBuf> {
    match kind {
        "need" => record::runs_of_need(file),
        _ => vec![file.to_owned()],
    }
}

/// Warns about a file that differs from its record: the command that wrote it was interrupted.
fn warn_of_record(settings: &Settings, kind: &str, file: &Path) -> Result<()> {
    let runs = runs_of(kind, file);
    if !runs.iter().any(|run| record::path_of(run).exists()) {
        return Ok(());
    }
    let bytes = Source::new(file).read_bytes(MOST_OF_A_RUN)?;
    if runs.iter().find_map(|run| record::contradicts(run, kind, &bytes)) == Some(true) {
        settings.note(&format!(
            "warning: the record beside the {kind} is of another {kind}; was the command that wrote it interrupted?"
        ));
    }
    Ok(())
}

fn print(
    settings: &Settings,
    arguments: &EvalArgs,
    kind: &str,
    request: &EvalRequest,
    result: &EvalResult,
) -> Result<Outcome> {
    settings.warn(&result.warnings);
    result.notes.iter().for_each(|note| settings.note(note));
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
    if let Some(out) = arguments.out_file.as_ref().filter(|_| kind != "need") {
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
    sheet(result, request.per_topic).print(settings.format)
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
