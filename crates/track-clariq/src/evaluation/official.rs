//! The challenge's official scorer as the evaluation of `ClariQ`.

mod tasks;

use super::named_documents::{NamedDocuments, is_of_documents};
use super::task::OfficialTask;
use super::{CUTOFFS, clarification_need, document_relevance, question_relevance, table_stem};
use crate::official_file::OfficialReader;
use crate::text_run::refuse_text_run;
use crate::{ClariQ, ClariqSplit, EvalTable, Labelled, NeedLine, QUESTIONS, read_need_file};
use clariq_collections::evaluation::{
    ByQrels, ComparisonOptions, EvalRequest, EvalResult, Evaluation, ScoredTopics, SystemOutput,
    ValuesByRequest,
};
use clariq_collections::{Collection, read_once};
use clariq_core::{Error, RequestId};
use clariq_eval::{Column, Measure, Ties, parse_measure};
use clariq_files::{Run, Source};
use std::path::Path;
use std::slice;
use std::sync::OnceLock;

/// Weighted F1 of need labels, as configurations name it.
const NEED_F1: &str = "need F1";
/// The measures of the challenge's leaderboard of document relevance.
pub const DOCUMENT_MEASURES: [&str; 4] = ["MRR100", "P1", "NDCG3", "NDCG5"];

/// The names of the figures that configurations may expect.
pub(crate) fn names() -> Vec<String> {
    let own = [NEED_F1].into_iter().chain(DOCUMENT_MEASURES).map(str::to_owned);
    CUTOFFS.iter().map(|cutoff| format!("R@{cutoff}")).chain(own).collect()
}

/// A split with its labels, which are read on first use.
pub struct Official<'a> {
    clariq: &'a ClariQ,
    split: ClariqSplit,
    labels: OnceLock<Labelled>,
    documents: NamedDocuments<'a>,
}

impl<'a> Official<'a> {
    pub fn new(clariq: &'a ClariQ, split: ClariqSplit) -> Self {
        let documents = NamedDocuments::new(clariq, split);
        Self { clariq, split, labels: OnceLock::new(), documents }
    }

    /// The labels; an error if there are none.
    pub fn labels(&self) -> Result<&Labelled, Error> {
        read_once(&self.labels, || self.clariq.labelled(self.split))
    }

    /// The topics that files are scored on.
    pub fn topics(&self) -> Result<ScoredTopics, Error> {
        let labels = self.labels()?;
        Ok(ScoredTopics::new(&labels.name, labels.topics.iter().map(|topic| &topic.id)))
    }

    fn reader(&self) -> Result<OfficialReader, Error> {
        Ok(OfficialReader::new(self.labels()?.topics.iter().map(|topic| &topic.id)))
    }

    /// Reads a run as the official scorer does.
    pub fn run(&self, source: &Source) -> Result<Run, Error> {
        let input = source.read()?;
        refuse_text_run(&input, &self.clariq.bank)?;
        self.reader()?.run_in_order(&input)
    }

    /// Reads a need file as the official scorer does.
    pub fn need_lines(&self, source: &Source) -> Result<Vec<NeedLine>, Error> {
        self.reader()?.needs(&source.read()?)
    }

    /// The reason why a run cannot be scored: it has texts, or else the error that was found.
    fn or_texts(&self, source: &Source, error: Error) -> Error {
        match source.read().map(|input| refuse_text_run(&input, &self.clariq.bank)) {
            Ok(Err(texts)) => texts.into(),
            _ => error,
        }
    }

    fn by_qrels(&self) -> Result<ByQrels<'a>, Error> {
        ByQrels::open(self.clariq, self.split.as_split(), QUESTIONS)
    }

    /// Scores a file as the official scorer does.
    pub fn score_as(&self, task: &OfficialTask, file: &Path) -> Result<EvalResult, Error> {
        tasks::score(self, task, file)
    }

    /// Document relevance by the expected measures, if the data folder has the table.
    fn expected_documents(&self, run: &Run, written: &SystemOutput) -> Result<EvalResult, Error> {
        let data = &self.clariq.data;
        let split = self.split;
        let stem = table_stem(split, false);
        let table = match EvalTable::open(data, &stem) {
            Err(Error::Problem(problem)) if problem.kind.is_missing() => {
                let what = format!("document relevance on {split} is not checked");
                let notes = vec![format!("note: {data} has no table `{stem}`: {what}")];
                return Ok(EvalResult { notes, ..EvalResult::default() });
            }
            table => table?,
        };
        let scores = document_relevance(run, &table, self.labels()?);
        let is_expected = |metric: &&Column| {
            !metric.values.is_empty() && written.expected.contains(&&*metric.measure)
        };
        let metrics = scores.metrics.iter().filter(is_expected);
        let figures = metrics.map(|metric| (metric.measure.clone(), metric.mean())).collect();
        Ok(EvalResult { figures, ..EvalResult::default() })
    }
}

impl Evaluation for Official<'_> {
    fn score(&self, request: &EvalRequest) -> Result<EvalResult, Error> {
        if request.measures.is_empty() {
            let task = OfficialTask::Questions { ties: request.ties, leaderboard: false };
            return self.score_as(&task, &request.file);
        }
        if !request.measures.iter().any(is_of_documents) {
            let source = Source::new(&request.file);
            return self.by_qrels()?.score(request).map_err(|error| self.or_texts(&source, error));
        }
        let run = self.run(&Source::new(&request.file))?;
        self.documents.score(request, &run, self.labels()?, &self.by_qrels()?.qrels)
    }

    /// The figures of the run and of the need file beside it; measures by name are those that are
    /// expected.
    fn figures(&self, written: &SystemOutput) -> Result<EvalResult, Error> {
        let Some(run) = written.run else { return Ok(EvalResult::default()) };
        let recalls = question_relevance(run, self.labels()?, Ties::Official).means;
        let mut figures: Vec<(String, f64)> = names().into_iter().zip(recalls).collect();
        if let Some(path) = &written.need {
            let needs = read_need_file(&Source::new(path))?;
            figures.push((NEED_F1.to_owned(), clarification_need(&needs, self.labels()?).f1));
        }
        let mut notes = Vec::new();
        if written.expected.iter().any(|name| means_documents(name)) {
            let documents = self.expected_documents(run, written)?;
            figures.extend(documents.figures);
            notes = documents.notes;
        }
        let is_new =
            |name: &&str| !means_documents(name) && figures.iter().all(|(known, _)| known != name);
        let others: Vec<&str> = written.expected.iter().copied().filter(is_new).collect();
        figures.extend(self.by_qrels()?.by_name(run, others.into_iter())?);
        Ok(EvalResult { figures, notes, ..EvalResult::default() })
    }

    /// The official recalls, which differ from the usual ones if a run repeats a question.
    fn values(&self, run: &Run, measure: &Measure) -> Result<Option<Vec<(RequestId, f64)>>, Error> {
        let labels = self.labels()?;
        let (documents, _) = self.documents.columns(run, labels, slice::from_ref(measure))?;
        if let Some(column) = documents.into_iter().next() {
            return Ok(Some(column.values));
        }
        let name = measure.name();
        let Some(cutoff) = CUTOFFS.iter().position(|cutoff| format!("R@{cutoff}") == name) else {
            return Ok(None);
        };
        let scores = question_relevance(run, labels, Ties::Official);
        Ok(scores.columns("").into_iter().nth(cutoff).map(|column| column.values))
    }

    fn request_of(&self, case: &RequestId) -> Option<&RequestId> {
        self.documents.topics(self.labels().ok()?).get(case)
    }

    fn columns(&self, source: &Source, by: &ComparisonOptions) -> Result<ValuesByRequest, Error> {
        if let Some(part) = by.part {
            (self.clariq as &dyn Collection).find_task(part)?;
        }
        if !by.measures.is_empty() {
            let source = &source.repeatable()?;
            if !by.measures.iter().any(is_of_documents) {
                let columns = self.by_qrels()?.columns(source, by);
                return columns.map_err(|error| self.or_texts(source, error));
            }
            let run = self.run(source)?;
            self.topics()?.check_answered(source, run.lines.iter().map(|line| &line.topic))?;
            return self.documents.compared(by, &run, self.labels()?, &self.by_qrels()?.qrels);
        }
        let ties = by.ties.unwrap_or(self.usual_ties());
        let topics = self.topics()?;
        let reader = self.reader()?;
        let input = source.read()?;
        refuse_text_run(&input, &self.clariq.bank)?;
        let is_official = ties == Ties::Official;
        let run = if is_official { reader.run_in_order(&input)? } else { reader.run(&input)? };
        topics.check_answered(source, run.lines.iter().map(|line| &line.topic))?;
        let warnings = topics.warnings(&run, ties);
        let scores = question_relevance(&run, self.labels()?, ties);
        Ok(ValuesByRequest::new(scores.columns(""), warnings))
    }

    fn usual_ties(&self) -> Ties {
        Ties::Official
    }

    /// The challenge ranked by recall at 30.
    fn focus(&self) -> usize {
        CUTOFFS.len() - 1
    }
}

/// True for a name of the official scorer that means documents.
fn means_documents(name: &str) -> bool {
    parse_measure(name).is_ok_and(|measure| is_of_documents(&measure))
}
