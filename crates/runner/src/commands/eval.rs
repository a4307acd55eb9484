//! `clariq eval`: how good is a run, by the official scorer's measures?

use crate::cli::{EvalArgs, Task, TieRule};
use crate::commands::Outcome;
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::record;
use crate::settings::Settings;
use clariq_corpus::{Collection, Labelled, Source, read_need_file, read_run, write_atomically};
use clariq_eval::{
    CUTOFFS, QuestionRelevance, Ties, clarification_need, diagnose, python_float, question_relevance, recall_interval,
};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) fn eval(settings: &Settings, arguments: &EvalArgs) -> Result<Outcome, Failure> {
    let collection = settings.collection()?;
    let labels = collection.labelled(arguments.split)?;
    let path = arguments.run.as_ref().or(arguments.run_file.as_ref()).cloned().unwrap_or_else(|| PathBuf::from("-"));
    match arguments.task {
        Task::QuestionRelevance => questions(settings, arguments, &collection, &labels, &path)?,
        Task::ClarificationNeed => needs(settings, arguments, &labels, &path)?,
    }
    Ok(Outcome::Done)
}

fn questions(
    settings: &Settings,
    arguments: &EvalArgs,
    collection: &Collection,
    labels: &Labelled,
    path: &Path,
) -> Result<(), Failure> {
    let source = Source::new(path);
    let run = read_run(&source)?;
    if let Source::Path(path) = &source
        && record::contradicts(path, &source.read()?.bytes) == Some(true)
    {
        settings
            .note("warning: the record beside the run is of another run; was the command that wrote it interrupted?");
    }
    warn(
        settings,
        arguments.ties,
        &diagnose(&run, labels.topics.iter().map(|topic| &topic.id), Some(&collection.bank)),
    );
    if arguments.ties == TieRule::Interval {
        let interval = recall_interval(&run, labels);
        let mut sheet = Sheet::new(&["measure", "lowest", "highest"]);
        for (place, cutoff) in CUTOFFS.iter().enumerate() {
            let figures = [interval.lowest[place], interval.highest[place]].map(|figure| Cell::Figure(figure, 6));
            sheet.row([vec![Cell::text(format!("Recall{cutoff}"))], figures.to_vec()].concat());
        }
        return Ok(sheet.print(settings.format)?);
    }
    let ties = if arguments.ties == TieRule::Id { Ties::Id } else { Ties::Official };
    let scores = question_relevance(&run, labels, ties);
    if let Some(out) = &arguments.out_file {
        write_atomically(out, |file| write_per_topic(&scores, file))?;
    }
    let figures: Vec<(String, f64)> =
        CUTOFFS.iter().zip(scores.means()).map(|(cutoff, mean)| (format!("Recall{cutoff}"), mean)).collect();
    if arguments.leaderboard {
        let row: Vec<String> = figures.iter().map(|(_, mean)| format!("{mean:.4}")).collect();
        writeln!(io::stdout(), "| RANK | CREATOR | MODELNAME | {} |", row.join(" | "))?;
        return Ok(());
    }
    print(settings, &figures, |name, figure| format!("{name}: {}", python_float(figure)))
}

/// `{"Recall5": {"101": 0.2, …}, …}`, spaced as Python's `json.dump` does.
fn write_per_topic(scores: &QuestionRelevance, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{")?;
    for (place, cutoff) in CUTOFFS.iter().enumerate() {
        let topics: Vec<String> = scores
            .topics
            .iter()
            .map(|(topic, recalls)| format!("\"{topic}\": {}", python_float(recalls[place])))
            .collect();
        let comma = if place == 0 { "" } else { ", " };
        write!(out, "{comma}\"Recall{cutoff}\": {{{}}}", topics.join(", "))?;
    }
    write!(out, "}}")
}

fn needs(settings: &Settings, arguments: &EvalArgs, labels: &Labelled, path: &Path) -> Result<(), Failure> {
    let scores = clarification_need(&read_need_file(&Source::new(path))?, labels);
    let counts = [
        (scores.missing, "topics have no prediction and count as class 0"),
        (scores.out_of_range, "predictions are outside 1 to 4 and count as wrong"),
        (scores.duplicates, "topics are predicted again; the last line counts"),
        (scores.unknown, "predicted topics are not in the labels and are not looked at"),
    ];
    say(settings, &counts);
    let figures = [scores.precision, scores.recall, scores.f1];
    if arguments.leaderboard {
        let mut out = io::stdout().lock();
        for figure in figures {
            writeln!(out, "<td>{figure:.4}</td>")?;
        }
        return Ok(());
    }
    let named: Vec<(String, f64)> = ["Precision", "Recall", "F1"].map(str::to_owned).into_iter().zip(figures).collect();
    // The official scorer puts two spaces after the first two names and one after the third.
    print(settings, &named, |name, figure| {
        let spaces = if name == "F1" { " " } else { "  " };
        format!("{name}:{spaces}{}", python_float(figure))
    })
}

/// The official scorer's lines, or a table if a format is asked for.
fn print(settings: &Settings, figures: &[(String, f64)], line: impl Fn(&str, f64) -> String) -> Result<(), Failure> {
    if settings.format.is_none() {
        let mut out = io::stdout().lock();
        for (name, figure) in figures {
            writeln!(out, "{}", line(name, *figure))?;
        }
        return Ok(());
    }
    let mut sheet = Sheet::new(&["measure", "value"]);
    for (name, figure) in figures {
        sheet.row(vec![Cell::text(name), Cell::Figure(*figure, 6)]);
    }
    Ok(sheet.print(settings.format)?)
}

fn warn(settings: &Settings, ties: TieRule, diagnosis: &clariq_eval::Diagnosis) {
    if ties == TieRule::Official && diagnosis.dropped_lines > 0 {
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

fn say(settings: &Settings, counts: &[(usize, &str)]) {
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        settings.note(&format!("warning: {count} {what}"));
    }
}
