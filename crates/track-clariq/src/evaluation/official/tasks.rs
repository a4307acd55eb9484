//! The tasks of the official scorer: a function scores each.

use super::{Official, OfficialScores, leaderboard_row};
use crate::conversation::{RecordOptions, read_records};
use crate::evaluation::named_documents::remarks;
use crate::evaluation::task::{DocumentsTask, OfficialTask, ScorerTask};
use crate::evaluation::{
    CUTOFFS, ContextScorer, DocumentRelevance, Leaderboard, RELEASED_BANK, clarification_need,
    document_relevance, multi_turn_document_relevance, need_report, question_relevance,
    recall_interval, table_stem,
};
use crate::official_file::{FIELDS_OF_A_RUN, FIELDS_OF_NEEDS};
use crate::{EvalTable, RetrievedWith, read_text_run};
use clariq_collections::evaluation::{
    TieRule, ignored_lines, unknown_spelled_otherwise, warn_of_short,
};
use clariq_core::{Documents as _, Error, bail, counted};
use clariq_eval::{Aggregate, Score, Ties, diagnose};
use clariq_files::Source;
use std::ops::ControlFlow;
use std::path::Path;

/// Scores a file as the official scorer does, under its names.
pub(super) fn score(
    official: &Official,
    task: &OfficialTask,
    file: &Source,
) -> Result<OfficialScores, Error> {
    match task {
        OfficialTask::Questions { ties } => questions(official, file, *ties),
        OfficialTask::Needs => needs(official, file),
        OfficialTask::Documents(options) => documents(official, file, *options),
        OfficialTask::Contexts { conversations } => contexts(official, file, conversations),
    }
}

/// A note that names the published rows with these scores.
fn published_rows(
    official: &Official,
    task: ScorerTask,
    multi_turn: bool,
    scores: &[f64],
) -> Vec<String> {
    let bank = official.clariq.bank.checksum();
    let board = Leaderboard::published(task, multi_turn, official.split);
    let Some(board) = board.filter(|_| bank.starts_with(RELEASED_BANK)) else {
        return Vec::new();
    };
    let rows = board.equals(scores);
    let rows: Vec<String> = rows.map(|row| format!("{} by {}", row.model, row.team)).collect();
    if rows.is_empty() {
        return board
            .remark_on(scores)
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
    source: &Source,
    rule: Option<TieRule>,
) -> Result<OfficialScores, Error> {
    let labels = official.labels()?;
    let ties = if let Some(TieRule::Order(ties)) = rule { ties } else { Ties::Official };
    let is_interval = rule == Some(TieRule::Interval);
    let input = source.read()?;
    let run = official.parse_run(source, &input, ties == Ties::Official && !is_interval)?;
    let topics = labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(&run, topics, Some(&official.clariq.bank));
    let mut warnings = ignored_lines(&run, &found, if is_interval { Ties::Id } else { ties });
    warnings.extend(unknown_spelled_otherwise(&run, &official.clariq.bank));
    warnings.extend(official.reader()?.warning(&input, FIELDS_OF_A_RUN));
    let mut scores = question_relevance(&run, labels, ties);
    for (score, cutoff) in scores.iter_mut().zip(CUTOFFS) {
        score.measure = format!("Recall{cutoff}");
    }
    warnings.extend(warn_of_short(&scores, Score::name));
    let mut published = Vec::new();
    if is_interval {
        let [lowest, highest] = recall_interval(&run, labels, &CUTOFFS);
        for (score, (lowest, highest)) in scores.iter_mut().zip(lowest.iter().zip(&highest)) {
            let [lowest, highest] = [lowest.value(), highest.value()];
            score.aggregate = Aggregate::Interval { lowest, highest };
        }
    } else {
        let recalls: Vec<f64> = scores.iter().map(Score::value).collect();
        published = published_rows(official, ScorerTask::Ranking, false, &recalls);
    }
    Ok(OfficialScores { scores, warnings, published, ..OfficialScores::default() })
}

/// Precision, recall and F1 of clarification need.
fn needs(official: &Official, source: &Source) -> Result<OfficialScores, Error> {
    let labels = official.labels()?;
    let reader = official.reader()?;
    let input = source.read()?;
    let predictions = reader.needs(&input)?;
    official.topics()?.check_answered(source, predictions.iter().map(|line| &line.topic))?;
    let found = clarification_need(&predictions, labels);
    let mut warnings = counted(&[
        (
            found.missing,
            "topic has no prediction and counts as class 0",
            "topics have no prediction and count as class 0",
        ),
        (
            found.out_of_range,
            "prediction is outside 1 to 4 and counts as wrong",
            "predictions are outside 1 to 4 and count as wrong",
        ),
        (
            found.duplicates,
            "topic is predicted again; the last line counts",
            "topics are predicted again; the last line counts",
        ),
        (
            found.unknown,
            "predicted topic has no labels and is ignored",
            "predicted topics have no labels and are ignored",
        ),
    ]);
    warnings.extend(reader.warning(&input, FIELDS_OF_NEEDS));
    let named = found.named();
    Ok(OfficialScores {
        scores: named
            .map(|(name, value)| Score::of_all("", name, Aggregate::ByClass(value)))
            .to_vec(),
        warnings,
        published: published_rows(
            official,
            ScorerTask::Need,
            false,
            &named.map(|(_, value)| value),
        ),
        needs: Some(need_report(&predictions, labels)),
    })
}

/// Document relevance after the first question and its answer.
fn documents(
    official: &Official,
    source: &Source,
    options: DocumentsTask,
) -> Result<OfficialScores, Error> {
    let stem = table_stem(official.split, options.multi_turn);
    let DocumentRelevance { mut metrics, tied, missing, not_candidates } =
        document_scores(official, source, options, &stem)?;
    let count = metrics.len();
    metrics.retain(|metric| !metric.values.is_empty());
    if metrics.len() < count || metrics.is_empty() {
        let hint = "the table and the labels must be of one release";
        let split = official.split;
        bail!(format!("{stem}.pkl"), "scores for the contexts of {split}", "none", hint);
    }
    let published = match &leaderboard_row(&metrics) {
        Some(scores) if !options.no_answer => {
            published_rows(official, ScorerTask::Documents, options.multi_turn, scores)
        }
        _ => Vec::new(),
    };
    let warnings = remarks([tied, missing, not_candidates], "context");
    Ok(OfficialScores { scores: metrics, warnings, published, ..OfficialScores::default() })
}

fn document_scores(
    official: &Official,
    source: &Source,
    options: DocumentsTask,
    stem: &str,
) -> Result<DocumentRelevance, Error> {
    let with = if options.no_answer { RetrievedWith::QuestionAlone } else { RetrievedWith::Answer };
    let table = || -> Result<EvalTable, Error> {
        let table = EvalTable::open_of(&official.clariq.data, stem, with)?;
        if options.no_answer && !table.has_scores() {
            let hint = "leave --no-answer out; the whole released table has both";
            bail!(format!("{stem}.pkl"), "scores `no_answer`", "`with_answer` alone", hint);
        }
        Ok(table)
    };
    if options.multi_turn {
        let run = read_text_run(source, &official.clariq.bank)?;
        return Ok(multi_turn_document_relevance(&run, &table()?));
    }
    let labels = official.labels()?;
    let run = official.run(source)?;
    Ok(document_relevance(&run, &table()?, labels))
}

/// The shares of conversations whose next question is relevant, new and answered.
fn contexts(official: &Official, run: &Source, file: &Path) -> Result<OfficialScores, Error> {
    let labels = official.labels()?;
    let run = read_text_run(run, &official.clariq.bank)?;
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
    let shares = found.shares().into_iter();
    Ok(OfficialScores {
        scores: shares
            .map(|(name, share)| Score::of_all("", name, Aggregate::Micro(share)))
            .collect(),
        warnings: counted(&[
            (found.missing, "context is not answered", "contexts are not answered"),
            (
                found.unknown,
                "context is about a topic without labels and is ignored",
                "contexts are about topics without labels and are ignored",
            ),
        ]),
        ..OfficialScores::default()
    })
}
