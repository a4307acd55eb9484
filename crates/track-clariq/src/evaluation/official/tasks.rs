//! The tasks of the official scorer: a function scores each.

use super::{DOCUMENT_MEASURES, Official};
use crate::conversation::{RecordOptions, read_records};
use crate::evaluation::named_documents::remarks;
use crate::evaluation::task::{DocumentsTask, OfficialTask, ScorerTask};
use crate::evaluation::{
    CUTOFFS, ContextScorer, DocumentRelevance, Leaderboard, RELEASED_BANK, clarification_need,
    document_relevance, multi_turn_document_relevance, need_report, question_relevance,
    recall_interval, table_stem,
};
use crate::official_file::{FIELDS_OF_A_RUN, FIELDS_OF_NEEDS};
use crate::text_run::refuse_text_run;
use crate::{EvalTable, RetrievedWith, read_text_run};
use clariq_collections::evaluation::{
    EvalResult, FigureFormat, ShortMeasures, TieRule, counted, ignored_lines,
};
use clariq_core::{Documents as _, Error, bail};
use clariq_eval::{Ties, diagnose};
use clariq_files::{Source, python_float};
use std::io::BufRead as _;
use std::ops::ControlFlow;
use std::path::Path;

/// The note below the tables of `--full`.
const NEED_LEGEND: &str = "as none … as 4: topics with this label, by their prediction; none: no \
                           prediction from 1 to 4";

/// Scores a file as the official scorer does.
pub(super) fn score(
    official: &Official,
    task: &OfficialTask,
    file: &Path,
) -> Result<EvalResult, Error> {
    match task {
        OfficialTask::Questions { ties, leaderboard } => {
            questions(official, file, *ties, *leaderboard)
        }
        OfficialTask::Needs { leaderboard, full } => needs(official, file, *leaderboard, *full),
        OfficialTask::Documents(options) => documents(official, file, *options),
        OfficialTask::Contexts { conversations } => contexts(official, file, conversations),
    }
}

/// A note that names the published rows with these figures.
fn published_rows(
    official: &Official,
    task: ScorerTask,
    multi_turn: bool,
    figures: &[f64],
) -> Vec<String> {
    let bank = official.clariq.bank.checksum();
    let board = Leaderboard::published(task, multi_turn, official.split);
    let Some(board) = board.filter(|_| bank.starts_with(RELEASED_BANK)) else {
        return Vec::new();
    };
    let rows = board.equals(figures);
    let rows: Vec<String> = rows.map(|row| format!("{} by {}", row.model, row.team)).collect();
    if rows.is_empty() {
        return board
            .remark_on(figures)
            .map(|remark| format!("note: {remark}"))
            .into_iter()
            .collect();
    }
    let rows = rows.join(", ");
    let split = official.split;
    vec![format!("note: these are the published scores on {split} of {rows} (configs/leaderboard)")]
}

/// Recall of relevant questions.
fn questions(
    official: &Official,
    file: &Path,
    rule: Option<TieRule>,
    leaderboard: bool,
) -> Result<EvalResult, Error> {
    let labels = official.labels()?;
    let ties = if let Some(TieRule::Order(ties)) = rule { ties } else { Ties::Official };
    let is_interval = rule == Some(TieRule::Interval);
    let reader = official.reader()?;
    let source = Source::new(file);
    let input = source.read()?;
    refuse_text_run(&input, &official.clariq.bank)?;
    let is_official = ties == Ties::Official && !is_interval;
    let run = if is_official { reader.run_in_order(&input)? } else { reader.run(&input)? };
    official.topics()?.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
    let topics = labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(&run, topics, Some(&official.clariq.bank));
    let scores = question_relevance(&run, labels, ties);
    let mut warnings = ignored_lines(&found, if is_interval { Ties::Id } else { ties });
    warnings.extend(reader.warning(&input, FIELDS_OF_A_RUN));
    let names = CUTOFFS.iter().map(|cutoff| format!("Recall{cutoff}"));
    let short = ShortMeasures::named(names.clone().zip(scores.short_of.iter().copied()));
    warnings.extend(short.warning());
    if is_interval {
        let [lowest, highest] = recall_interval(&run, labels);
        let figures = names.zip(lowest).collect();
        let highest = Some(highest);
        return Ok(EvalResult { figures, highest, warnings, ..EvalResult::default() });
    }
    Ok(EvalResult {
        notes: published_rows(official, ScorerTask::Ranking, false, &scores.means),
        figures: names.zip(scores.means.iter().copied()).collect(),
        topics: scores.columns(""),
        short: short.names,
        warnings,
        form: FigureFormat::Lines(scorer_line),
        text: leaderboard.then(|| leaderboard_row(file, &scores.means)),
        ..EvalResult::default()
    })
}

/// Precision, recall and F1 of clarification need.
fn needs(
    official: &Official,
    file: &Path,
    leaderboard: bool,
    full: bool,
) -> Result<EvalResult, Error> {
    let labels = official.labels()?;
    let reader = official.reader()?;
    let source = Source::new(file);
    let input = source.read()?;
    let predictions = reader.needs(&input)?;
    official.topics()?.check_answered(&source, predictions.iter().map(|line| &line.topic))?;
    let scores = clarification_need(&predictions, labels);
    let mut warnings = counted(&[
        (
            scores.missing,
            "topic has no prediction and counts as class 0",
            "topics have no prediction and count as class 0",
        ),
        (
            scores.out_of_range,
            "prediction is outside 1 to 4 and counts as wrong",
            "predictions are outside 1 to 4 and count as wrong",
        ),
        (
            scores.duplicates,
            "topic is predicted again; the last line counts",
            "topics are predicted again; the last line counts",
        ),
        (
            scores.unknown,
            "predicted topic has no labels and is ignored",
            "predicted topics have no labels and are ignored",
        ),
    ]);
    warnings.extend(reader.warning(&input, FIELDS_OF_NEEDS));
    let figures = [scores.precision, scores.recall, scores.f1];
    let mut tables = Vec::new();
    if full {
        tables = need_report(&predictions, labels).tables(figures);
    }
    let cells = figures.map(|figure| format!("<td>{figure:.4}</td>"));
    Ok(EvalResult {
        figures: ["Precision", "Recall", "F1"]
            .map(str::to_owned)
            .into_iter()
            .zip(figures)
            .collect(),
        warnings,
        // The official scorer puts two spaces after the first two names and one after the third.
        form: FigureFormat::Lines(|name, figure| {
            let spaces = if name == "F1" { " " } else { "  " };
            format!("{name}:{spaces}{}", python_float(figure))
        }),
        notes: published_rows(official, ScorerTask::Need, false, &figures),
        text: leaderboard.then(|| cells.join("\n")),
        tables,
        legend: full.then_some(NEED_LEGEND),
        ..EvalResult::default()
    })
}

/// Document relevance after the first question and its answer.
fn documents(
    official: &Official,
    file: &Path,
    options: DocumentsTask,
) -> Result<EvalResult, Error> {
    let stem = table_stem(official.split, options.multi_turn);
    let scores = document_scores(official, file, options, &stem)?;
    let warnings = remarks(&scores, "context");
    let known = scores.metrics.iter().filter(|metric| !metric.values.is_empty());
    let figures: Vec<(String, f64)> =
        known.map(|metric| (metric.measure.clone(), metric.mean())).collect();
    let table = format!("{stem}.pkl");
    let split = official.split;
    if figures.len() < scores.metrics.len() || figures.is_empty() {
        let hint = "the table and the labels must be of one release";
        bail!(table, "scores for the contexts of {split}", "none", hint);
    }
    let figure_of =
        |name: &str| figures.iter().find(|(metric, _)| metric == name).map(|(_, figure)| *figure);
    let board: Option<Vec<f64>> = DOCUMENT_MEASURES.into_iter().map(figure_of).collect();
    let notes = match &board {
        Some(figures) if !options.no_answer => {
            published_rows(official, ScorerTask::Documents, options.multi_turn, figures)
        }
        _ => Vec::new(),
    };
    let leaderboard = match board {
        Some(figures) => Some(leaderboard_row(file, &figures)),
        None if options.leaderboard => {
            let hint = "leave --leaderboard out to see the metrics of the table";
            bail!(table, "the metrics MRR100, P1, NDCG3 and NDCG5", "a table without them", hint)
        }
        None => None,
    };
    Ok(EvalResult {
        figures,
        topics: scores.metrics,
        warnings,
        notes,
        form: FigureFormat::Lines(scorer_line),
        text: leaderboard.filter(|_| options.leaderboard),
        ..EvalResult::default()
    })
}

fn document_scores(
    official: &Official,
    file: &Path,
    options: DocumentsTask,
    stem: &str,
) -> Result<DocumentRelevance, Error> {
    let source = Source::new(file);
    let with = if options.no_answer { RetrievedWith::QuestionAlone } else { RetrievedWith::Answer };
    let table = || -> Result<EvalTable, Error> {
        let table = EvalTable::open_of(&official.clariq.data, stem, with)?;
        if options.no_answer && !table.has_figures() {
            let hint = "leave --no-answer out; the whole released table has both";
            bail!(format!("{stem}.pkl"), "scores `no_answer`", "`with_answer` alone", hint);
        }
        Ok(table)
    };
    if options.multi_turn {
        let run = read_text_run(&source, &official.clariq.bank)?;
        return Ok(multi_turn_document_relevance(&run, &table()?));
    }
    let labels = official.labels()?;
    let run = official.run(&source)?;
    official.topics()?.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
    Ok(document_relevance(&run, &table()?, labels))
}

/// The shares of conversations whose next question is relevant, new and answered.
fn contexts(official: &Official, run: &Path, file: &Path) -> Result<EvalResult, Error> {
    let labels = official.labels()?;
    let run = read_text_run(&Source::new(run), &official.clariq.bank)?;
    let mut scorer = ContextScorer::new(&run, &official.clariq.bank, labels);
    read_records(&Source::new(file), &RecordOptions::default(), &mut |record| {
        if !record.again {
            scorer.add(&record.conversation);
        }
        ControlFlow::Continue(())
    })?;
    let found = scorer.found;
    if found.contexts == 0 {
        let name = &labels.name;
        let hint = "choose the split of the conversations with --split";
        bail!(file, "conversations about topics of {name}", "only other topics", hint);
    }
    Ok(EvalResult {
        figures: found
            .figures()
            .into_iter()
            .map(|(name, figure)| (name.to_owned(), figure))
            .collect(),
        warnings: counted(&[
            (found.missing, "context is not answered", "contexts are not answered"),
            (
                found.unknown,
                "context is about a topic without labels and is ignored",
                "contexts are about topics without labels and are ignored",
            ),
        ]),
        form: FigureFormat::Lines(scorer_line),
        ..EvalResult::default()
    })
}

fn scorer_line(name: &str, figure: f64) -> String {
    format!("{name}: {}", python_float(figure))
}

fn leaderboard_row(file: &Path, figures: &[f64]) -> String {
    let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.4}")).collect();
    let tag = tag_of(file).unwrap_or_else(|| "MODELNAME".to_owned());
    let (team, model) = tag.split_once('/').unwrap_or(("CREATOR", &tag));
    format!("| RANK | {team} | {model} | {} |", figures.join(" | "))
}

/// The name of a run: the last field of its first line. Standard input cannot be read again.
fn tag_of(file: &Path) -> Option<String> {
    if file.as_os_str() == "-" {
        return None;
    }
    let mut first = String::new();
    Source::new(file).stream().ok()?.read_line(&mut first).ok()?;
    first.split_whitespace().last().map(str::to_owned)
}
