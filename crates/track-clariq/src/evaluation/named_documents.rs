//! Scores by the names of measures: document relevance by those of the official scorer, such as `MRR100`,
//! beside measures of questions.

use super::{DocumentRelevance, document_relevance, recall, recall_interval, table_stem};
use crate::{ClariQ, EvalTable, Labelled};
use clariq_collections::evaluation::{ByQrels, ScoreOptions, TieRule};
use clariq_collections::{Split, read_once};
use clariq_core::{Error, ProblemKind, RequestId, bail, counted, problem};
use clariq_eval::{Measure, Score, Ties};
use clariq_files::Run;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The part of a run that these measures are about, and the part of the others.
const DOCUMENTS: &str = "documents";
const QUESTIONS: &str = "questions";

/// The table of a split, read on first use.
pub(super) struct NamedDocuments<'a> {
    clariq: &'a ClariQ,
    split: Split,
    table: OnceLock<EvalTable>,
    topic_of: OnceLock<HashMap<RequestId, RequestId>>,
}

impl<'a> NamedDocuments<'a> {
    pub(super) fn new(clariq: &'a ClariQ, split: Split) -> Self {
        Self { clariq, split, table: OnceLock::new(), topic_of: OnceLock::new() }
    }

    /// The topics of all facets.
    pub(super) fn topics(&self, labels: &Labelled) -> &HashMap<RequestId, RequestId> {
        self.topic_of.get_or_init(|| {
            let facets = labels.facets.iter();
            facets
                .map(|facet| {
                    (RequestId::from(facet.id.as_str()), labels.topics[facet.topic].id.clone())
                })
                .collect()
        })
    }

    /// The values of the facets by each measure that means documents, in the order of the measures.
    ///
    /// # Errors
    ///
    /// A data folder without the table, or a table without the measure or the facets of the split.
    fn of_documents(
        &self,
        run: &Run,
        labels: &Labelled,
        measures: &[Measure],
    ) -> Result<(Vec<Score>, Vec<String>), Error> {
        let names: Vec<String> = measures.iter().filter_map(Measure::clariq_documents).collect();
        let Some(first) = names.first() else { return Ok((Vec::new(), Vec::new())) };
        let stem = table_stem(self.split, false);
        let table = read_once(&self.table, || EvalTable::open(&self.clariq.data, &stem));
        let table = table.map_err(|error| match error {
            Error::Problem(missing) if missing.kind.is_missing() => {
                let question = measures.iter().find(|measure| is_of_documents(measure));
                let question = question.map(Measure::name).unwrap_or_default();
                let data = &self.clariq.data;
                let expected = format!("a table `{stem}`, which has the document relevance {first}");
                let hint = format!(
                    "{first} is about documents, as in the official scorer; {question} is the measure \
                     of the questions"
                );
                let problem = problem!(data.to_string(), expected, "none", hint);
                problem.kind(ProblemKind::MissingData).into()
            }
            other => other,
        })?;
        let scores = document_relevance(run, table, labels);
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let metric = scores.metrics.iter().find(|metric| metric.measure == name);
            let Some(metric) = metric.filter(|metric| !metric.values.is_empty()) else {
                let known: Vec<&str> =
                    scores.metrics.iter().map(|metric| metric.measure.as_str()).collect();
                let expected = format!("scores {name} for the facets of {}", self.split);
                let hint =
                    format!("the table has {}, for the facets that it knows", known.join(", "));
                bail!(format!("{stem}.pkl"), expected, "none", hint);
            };
            let score = Score::new(DOCUMENTS, &*name, metric.values.clone());
            found.push(Score { unit: "facet", ..score });
        }
        let DocumentRelevance { tied, missing, not_candidates, .. } = scores;
        Ok((found, remarks([tied, missing, not_candidates], "facet")))
    }

    /// Scores by name, in the order of the names: document relevance where the name is the official
    /// scorer's, and else measures of the ranked questions.
    pub(super) fn scores(
        &self,
        by: &ScoreOptions,
        run: &Run,
        labels: &Labelled,
        qrels: &ByQrels,
    ) -> Result<(Vec<Score>, Vec<String>), Error> {
        let (of_documents, of_questions): (Vec<Measure>, Vec<Measure>) =
            by.measures.iter().cloned().partition(is_of_documents);
        if of_questions.is_empty() && by.ties.is_some() {
            let hint = "leave it out: of equal scores, the last line in the file counts";
            bail!("--ties", "measures of questions beside it", "document relevance", hint);
        }
        let (documents, mut warnings) = self.of_documents(run, labels, &of_documents)?;
        let of_questions = ScoreOptions { measures: &of_questions, ..*by };
        let (mut questions, notes) = of_named_questions(&of_questions, run, labels, qrels)?;
        warnings.extend(notes);
        if !documents.is_empty() {
            for score in &mut questions {
                QUESTIONS.clone_into(&mut score.part);
            }
        }
        let [mut documents, mut questions] = [documents, questions].map(Vec::into_iter);
        let mut scores = Vec::with_capacity(by.measures.len());
        for measure in by.measures {
            let next = if is_of_documents(measure) { documents.next() } else { questions.next() };
            scores
                .extend(next.map(|score| Score { known_as: Some(score.measure.clone()), ..score }));
        }
        Ok((scores, warnings))
    }
}

/// Measures of the ranked questions, in their order: recall as the official scorer has it, so that it has one
/// value, and all others as `trec_eval` has them. A note tells the recall of `trec_eval` where it differs.
fn of_named_questions(
    by: &ScoreOptions,
    run: &Run,
    labels: &Labelled,
    qrels: &ByQrels,
) -> Result<(Vec<Score>, Option<String>), Error> {
    if by.measures.is_empty() {
        return Ok((Vec::new(), None));
    }
    let cutoffs: Vec<usize> = by.measures.iter().filter_map(Measure::clariq_cutoff).collect();
    let mut recalls = if by.ties == Some(TieRule::Interval) {
        let [lowest, highest] = recall_interval(run, labels, &cutoffs);
        let bounds = lowest.iter().zip(&highest);
        bounds.map(|(lowest, highest)| Score::between(lowest, highest)).collect()
    } else {
        recall(run, labels, by.order(Ties::Official), &cutoffs)
    }
    .into_iter();
    let mut others = Vec::new();
    let mut scores = qrels.scores(run, by)?;
    for (score, measure) in scores.iter_mut().zip(by.measures) {
        if measure.clariq_cutoff().is_some()
            && let Some(official) = recalls.next()
        {
            if official.value().to_bits() != score.value().to_bits() {
                others.push(format!("{} {:.6}", score.measure, score.value()));
            }
            *score = Score { short_of: score.short_of, ..official };
        }
    }
    let note = format!(
        "recall is the official scorer's; trec_eval, which keeps lines of equal scores and counts a repeated \
         document once, has {}",
        others.join(", ")
    );
    Ok((scores, (!others.is_empty()).then_some(note)))
}

/// True for a measure that is named as by the official scorer, where it means documents.
pub(super) fn is_of_documents(measure: &Measure) -> bool {
    measure.clariq_documents().is_some()
}

/// Describes what a run leaves open.
pub(super) fn remarks([tied, missing, not_candidates]: [usize; 3], context: &str) -> Vec<String> {
    counted(&[
        (
            tied,
            "topic has several questions with the highest score; the last in the file counts",
            "topics have several questions with the highest score; the last in the file counts",
        ),
        (
            missing,
            &format!("{context} is not answered and counts 0"),
            &format!("{context}s are not answered and count 0"),
        ),
        (
            not_candidates,
            &format!("{context} asks a question without scores in the table; its minimum is used"),
            &format!("{context}s ask a question without scores in the table; its minimum is used"),
        ),
    ])
}
