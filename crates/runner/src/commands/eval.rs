//! `clariq eval`: a run scored as the official scorer does, or by measures of the literature.

mod arguments;
mod contexts;
mod documents;
mod full;
mod ikat;
mod measures;
mod origin;
mod place;

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet, print_all};
use crate::settings::Settings;
use arguments::{Mode, TieRule};
use clariq_collections::clariq::read_need_file;
use clariq_eval::{
    CUTOFFS, QuestionRelevance, Ties, clarification_need, diagnose, need_report,
    question_relevance, recall_interval,
};
use clariq_experiment::record;
use clariq_files::{Source, python_float, read_run, write_atomically};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) use arguments::EvalArgs;

pub(crate) fn eval(settings: &Settings, arguments: &EvalArgs) -> Result<Outcome, Failure> {
    let path = arguments
        .run
        .as_ref()
        .or(arguments.run_file.as_ref())
        .cloned()
        .unwrap_or_else(|| PathBuf::from("-"));
    match arguments.mode(settings.format)? {
        Mode::Questions => questions(settings, arguments, &path)?,
        Mode::Need => needs(settings, arguments, &path)?,
        Mode::Documents => documents::documents(settings, arguments, &path)?,
        Mode::Conversations => contexts::contexts(settings, arguments, &path)?,
        Mode::Measures => measures::measures(settings, arguments, &path)?,
        Mode::Ikat(split) => ikat::ikat(settings, arguments, split, &path)?,
    }
    Ok(Outcome::Done)
}

fn questions(settings: &Settings, arguments: &EvalArgs, path: &Path) -> Result<(), Failure> {
    let collection = origin::open(settings, path, &[path.to_owned()])?;
    let source = Source::new(path);
    let split = arguments.clariq_split();
    let (labels, run) = both(is_large(path), || collection.labelled(split), || read_run(&source));
    let (labels, run) = (&labels?, run?);
    warn_of_record(settings, "run", &[path.to_owned()], &source)?;
    let ties = if arguments.ties == Some(TieRule::Id) { Ties::Id } else { Ties::Official };
    let topics = labels.topics.iter().map(|topic| &topic.id);
    let (diagnosis, scores) = both(
        is_large(path),
        || diagnose(&run, topics, Some(&collection.bank)),
        || question_relevance(&run, labels, ties),
    );
    warn(settings, arguments.ties, &diagnosis);
    if arguments.ties == Some(TieRule::Interval) {
        let interval = recall_interval(&run, labels);
        let mut sheet = Sheet::new(&["measure", "lowest", "highest"]);
        for (place, cutoff) in CUTOFFS.iter().enumerate() {
            let figures = [interval.lowest[place], interval.highest[place]]
                .map(|figure| Cell::Figure(figure, 6));
            sheet.row([vec![Cell::text(format!("Recall{cutoff}"))], figures.to_vec()].concat());
        }
        return Ok(sheet.print(settings.format)?);
    }
    if let Some(out) = &arguments.out_file {
        write_atomically(out, |file| write_per_topic(&per_topic(&scores), file))?;
    }
    let figures: Vec<(String, f64)> = CUTOFFS
        .iter()
        .zip(scores.means())
        .map(|(cutoff, mean)| (format!("Recall{cutoff}"), mean))
        .collect();
    if arguments.leaderboard {
        return Ok(writeln!(io::stdout(), "{}", leaderboard_row(&scores.means()))?);
    }
    let placed = place::sheet(settings, arguments, &collection.bank, path, &figures);
    print(settings, &figures, placed, |name, figure| format!("{name}: {}", python_float(figure)))
}

/// Whether a run has so many bytes that a second thread is worth its start.
fn is_large(run: &Path) -> bool {
    fs::metadata(run).is_ok_and(|metadata| metadata.len() > 1 << 20)
}

/// Does both, at the same time if there is much to do.
fn both<A: Send, B: Send>(
    much: bool,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if much { rayon::join(one, other) } else { (one(), other()) }
}

fn leaderboard_row(figures: &[f64]) -> String {
    let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.4}")).collect();
    format!("| RANK | CREATOR | MODELNAME | {} |", figures.join(" | "))
}

fn per_topic(scores: &QuestionRelevance) -> Vec<(&'static str, Vec<(String, f64)>)> {
    let names = ["Recall5", "Recall10", "Recall20", "Recall30"];
    let column = |place: usize| {
        scores.topics.iter().map(|(topic, recalls)| (topic.to_string(), recalls[place])).collect()
    };
    names.into_iter().enumerate().map(|(place, name)| (name, column(place))).collect()
}

/// `{"Recall5": {"101": 0.2, …}, …}`, spaced as Python's `json.dump` does.
fn write_per_topic(metrics: &[(&str, Vec<(String, f64)>)], out: &mut dyn Write) -> io::Result<()> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let metrics = metrics.iter().map(|(name, figures)| {
        let figures =
            figures.iter().map(|(id, figure)| format!("{}: {}", quoted(id), python_float(*figure)));
        format!("{}: {{{}}}", quoted(name), figures.collect::<Vec<_>>().join(", "))
    });
    write!(out, "{{{}}}", metrics.collect::<Vec<_>>().join(", "))
}

fn needs(settings: &Settings, arguments: &EvalArgs, path: &Path) -> Result<(), Failure> {
    let collection = origin::open(settings, path, &record::runs_of_need(path))?;
    let labels = &collection.labelled(arguments.clariq_split())?;
    let source = Source::new(path);
    let predictions = read_need_file(&source)?;
    let scores = clarification_need(&predictions, labels);
    warn_of_record(settings, "need", &record::runs_of_need(path), &source)?;
    let counts = [
        (scores.missing, "topics have no prediction and count as class 0"),
        (scores.out_of_range, "predictions are outside 1 to 4 and count as wrong"),
        (scores.duplicates, "topics are predicted again; the last line counts"),
        (scores.unknown, "predicted topics are not in the labels and are not looked at"),
    ];
    say(settings, &counts);
    if arguments.full {
        return full::print(settings, &scores, &need_report(&predictions, labels));
    }
    let figures = [scores.precision, scores.recall, scores.f1];
    if arguments.leaderboard {
        let mut out = io::stdout().lock();
        for figure in figures {
            writeln!(out, "<td>{figure:.4}</td>")?;
        }
        return Ok(());
    }
    let named: Vec<(String, f64)> =
        ["Precision", "Recall", "F1"].map(str::to_owned).into_iter().zip(figures).collect();
    // The official scorer puts two spaces after the first two names and one after the third.
    let placed = place::sheet(settings, arguments, &collection.bank, path, &named);
    print(settings, &named, placed, |name, figure| {
        let spaces = if name == "F1" { " " } else { "  " };
        format!("{name}:{spaces}{}", python_float(figure))
    })
}

/// The official scorer's lines, or a table if a format is asked for; after them the leaderboard.
fn print(
    settings: &Settings,
    figures: &[(String, f64)],
    placed: Option<Sheet>,
    line: impl Fn(&str, f64) -> String,
) -> Result<(), Failure> {
    if settings.format.is_none() {
        let mut out = io::stdout().lock();
        for (name, figure) in figures {
            writeln!(out, "{}", line(name, *figure))?;
        }
        drop(out);
        return match placed {
            Some(placed) => place::print_below(&placed),
            None => Ok(()),
        };
    }
    let mut sheet = Sheet::new(&["measure", "value"]);
    for (name, figure) in figures {
        sheet.row(vec![Cell::text(name), Cell::Figure(*figure, 6)]);
    }
    match placed {
        Some(placed) => {
            Ok(print_all(&[("scores", sheet), ("placement", placed)], settings.format)?)
        }
        None => Ok(sheet.print(settings.format)?),
    }
}

fn warn(settings: &Settings, ties: Option<TieRule>, diagnosis: &clariq_eval::Diagnosis) {
    if ties.is_none_or(|ties| ties == TieRule::Official) && diagnosis.dropped_lines > 0 {
        settings.note(&format!(
            "warning: {} lines of {} topics repeat a score and are dropped, as the official scorer does; \
             --ties interval shows what their order is worth",
            diagnosis.dropped_lines, diagnosis.dropped_topics
        ));
    }
    let counts = [
        (diagnosis.duplicates, "lines repeat a question of their topic"),
        (diagnosis.missing_topics, "topics are not answered and count 0"),
        (diagnosis.unknown_topics, "topics are not in the labels and are not looked at"),
        (diagnosis.unknown_questions, "lines name a question that is not in the bank"),
    ];
    say(settings, &counts);
}

/// A file that its record does not know was left by a command that was interrupted.
fn warn_of_record(
    settings: &Settings,
    kind: &str,
    runs: &[PathBuf],
    file: &Source,
) -> Result<(), Failure> {
    let Source::Path(_) = file else { return Ok(()) };
    if !runs.iter().any(|run| record::path_of(run).exists()) {
        return Ok(());
    }
    let bytes = file.read()?.bytes;
    if runs.iter().find_map(|run| record::contradicts(run, kind, &bytes)) == Some(true) {
        settings.note(&format!(
            "warning: the record beside the {kind} is of another {kind}; was the command that wrote it interrupted?"
        ));
    }
    Ok(())
}

fn say(settings: &Settings, counts: &[(usize, &str)]) {
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        settings.note(&format!("warning: {count} {what}"));
    }
}
