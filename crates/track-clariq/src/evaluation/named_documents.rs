//! Document relevance by the names of the official scorer, such as `MRR100`, beside measures of
//! questions.

use super::{DocumentRelevance, document_relevance, table_stem};
use crate::{ClariQ, ClariqSplit, EvalTable, Labelled};
use clariq_collections::evaluation::{
    ComparisonOptions, EvalRequest, EvalResult, FigureFormat, TieRule, ValuesByRequest, counted,
    ignored_lines,
};
use clariq_collections::read_once;
use clariq_core::{Error, ProblemKind, RequestId, bail, problem};
use clariq_eval::{Column, Measure, RankedRun, Ties, diagnose, evaluate};
use clariq_files::{Qrels, Run};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The part of a run that these measures are about, and the part of the others.
const DOCUMENTS: &str = "documents";
const QUESTIONS: &str = "questions";

/// The table of a split, read on first use.
pub(super) struct NamedDocuments<'a> {
    clariq: &'a ClariQ,
    split: ClariqSplit,
    table: OnceLock<EvalTable>,
    topic_of: OnceLock<HashMap<RequestId, RequestId>>,
}

impl<'a> NamedDocuments<'a> {
    pub(super) fn new(clariq: &'a ClariQ, split: ClariqSplit) -> Self {
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
    pub(super) fn columns(
        &self,
        run: &Run,
        labels: &Labelled,
        measures: &[Measure],
    ) -> Result<(Vec<Column>, Vec<String>), Error> {
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
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let found = scores.metrics.iter().find(|metric| metric.measure == name);
            let Some(found) = found.filter(|metric| !metric.values.is_empty()) else {
                let known: Vec<&str> =
                    scores.metrics.iter().map(|metric| metric.measure.as_str()).collect();
                let expected = format!("scores {name} for the facets of {}", self.split);
                let hint =
                    format!("the table has {}, for the facets that it knows", known.join(", "));
                bail!(format!("{stem}.pkl"), expected, "none", hint);
            };
            let column = Column::new(DOCUMENTS, &*name, found.values.clone());
            columns.push(Column { unit: "facet", ..column });
        }
        Ok((columns, remarks(&scores, "facet")))
    }

    /// Scores by name: document relevance where the name is the official scorer's, and else measures of
    /// the ranked questions.
    pub(super) fn score(
        &self,
        request: &EvalRequest,
        run: &Run,
        labels: &Labelled,
        qrels: &Qrels,
    ) -> Result<EvalResult, Error> {
        let (of_documents, of_questions): (Vec<Measure>, Vec<Measure>) =
            request.measures.iter().partition(|measure| is_of_documents(measure));
        let (documents, mut warnings) = self.columns(run, labels, &of_documents)?;
        let ties = match request.ties {
            Some(TieRule::Order(ties)) => ties,
            _ => Ties::Id,
        };
        let questions = of_run(run, &of_questions, ties, labels, qrels, &mut warnings)?;
        let mut documents = documents.into_iter();
        let mut questions = questions.into_iter();
        let mut topics = Vec::with_capacity(request.measures.len());
        for measure in request.measures {
            let next = if is_of_documents(measure) { documents.next() } else { questions.next() };
            topics.extend(next);
        }
        let figures = topics.iter().map(|column| (column.measure.clone(), column.mean())).collect();
        let form = FigureFormat::Topics;
        Ok(EvalResult { figures, topics, warnings, form, ..EvalResult::default() })
    }

    /// The values by measures of documents, then those by measures of questions.
    pub(super) fn compared(
        &self,
        by: &ComparisonOptions,
        run: &Run,
        labels: &Labelled,
        qrels: &Qrels,
    ) -> Result<ValuesByRequest, Error> {
        let (of_documents, of_questions): (Vec<Measure>, Vec<Measure>) =
            by.measures.iter().partition(|measure| is_of_documents(measure));
        let (mut columns, mut warnings) = self.columns(run, labels, &of_documents)?;
        if of_questions.is_empty() {
            if by.ties.is_some() {
                let hint = "leave it out: of equal scores, the last line in the file counts";
                bail!("--ties", "measures of questions beside it", "document relevance", hint);
            }
        } else {
            let ties = by.ties.unwrap_or(Ties::Id);
            columns.extend(of_run(run, &of_questions, ties, labels, qrels, &mut warnings)?);
        }
        Ok(ValuesByRequest { columns, warnings })
    }
}

/// The values of the topics by measures of the ranked questions.
fn of_run(
    run: &Run,
    measures: &[Measure],
    ties: Ties,
    labels: &Labelled,
    qrels: &Qrels,
    warnings: &mut Vec<String>,
) -> Result<Vec<Column>, Error> {
    if measures.is_empty() {
        return Ok(Vec::new());
    }
    let topics = labels.topics.iter().map(|topic| &topic.id);
    warnings.extend(ignored_lines(&diagnose(run, topics, None), ties));
    let scores = evaluate(measures, &RankedRun::ordered(run, ties), qrels)?;
    let columns = scores.columns(QUESTIONS).into_iter();
    Ok(columns.map(|column| Column { unit: "topic", ..column }).collect())
}

/// True for a measure that is named as by the official scorer, where it means documents.
pub(super) fn is_of_documents(measure: &Measure) -> bool {
    measure.clariq_documents().is_some()
}

/// Describes what a run leaves open.
pub(super) fn remarks(scores: &DocumentRelevance, context: &str) -> Vec<String> {
    counted(&[
        (
            scores.tied,
            "topic has several questions with the highest score; the last in the file counts",
            "topics have several questions with the highest score; the last in the file counts",
        ),
        (
            scores.missing,
            &format!("{context} is not answered and counts 0"),
            &format!("{context}s are not answered and count 0"),
        ),
        (
            scores.not_candidates,
            &format!("{context} asks a question without scores in the table; its minimum is used"),
            &format!("{context}s ask a question without scores in the table; its minimum is used"),
        ),
    ])
}
