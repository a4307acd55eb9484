//! The challenge's official scorer as the evaluation of `ClariQ`.

use super::named_documents::{NamedDocuments, is_of_documents, remarks};
use super::task::{DocumentsTask, OfficialTask, ScorerTask};
use super::{
    CUTOFFS, ContextScorer, DocumentRelevance, Leaderboard, RELEASED_BANK, clarification_need,
    document_relevance, multi_turn_document_relevance, need_report, question_relevance,
    recall_interval, table_stem,
};
use crate::conversation::{RecordOptions, read_records};
use crate::official_file::{FIELDS_OF_A_RUN, FIELDS_OF_NEEDS, OfficialReader};
use crate::text_run::refuse_text_run;
use crate::{
    ClariQ, ClariqSplit, EvalTable, Labelled, NeedLine, QUESTIONS, RetrievedWith, read_need_file,
    read_text_run,
};
use clariq_collections::Collection;
use clariq_collections::evaluation::{
    ByQrels, ComparisonOptions, EvalFlag, EvalRequest, EvalResult, Evaluation, FigureFormat,
    ScoredTopics, ShortMeasures, SystemOutput, TieRule, ValuesByRequest, counted, ignored_lines,
};
use clariq_collections::read_once;
use clariq_core::{Documents as _, Error, ProblemKind, RequestId, bail};
use clariq_eval::{Column, Measure, Ties, diagnose, parse_measure};
use clariq_files::{Run, Source, python_float};
use std::io::BufRead as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::slice;
use std::sync::OnceLock;

/// Weighted F1 of need labels, as configurations name it.
const NEED_F1: &str = "need F1";
/// The measures of the challenge's leaderboard of document relevance.
pub const DOCUMENT_MEASURES: [&str; 4] = ["MRR100", "P1", "NDCG3", "NDCG5"];

/// The note on `--out-file` with needs.
const NO_FILE: &str =
    "note: --out-file: nothing is written for clarification need, as in the official scorer";

/// The note below the tables of `--full`.
const NEED_LEGEND: &str = "as none … as 4: topics with this label, by their prediction; none: no \
                           prediction from 1 to 4";

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
    pub fn score_as(
        &self,
        task: &OfficialTask,
        request: &EvalRequest,
    ) -> Result<EvalResult, Error> {
        match task {
            OfficialTask::Questions { leaderboard } => self.questions(request, *leaderboard),
            OfficialTask::Needs { leaderboard, full } => self.needs(request, *leaderboard, *full),
            OfficialTask::Documents(options) => self.documents(request, *options),
            OfficialTask::Contexts { conversations } => self.contexts(request, conversations),
        }
    }

    /// A note that names the published rows with these figures.
    fn published(&self, task: ScorerTask, multi_turn: bool, figures: &[f64]) -> Vec<String> {
        let bank = self.clariq.bank.checksum().as_str();
        let board = Leaderboard::published(task, multi_turn, self.split);
        let Some(board) = board.filter(|_| bank.starts_with(RELEASED_BANK)) else {
            return Vec::new();
        };
        let rows = board.equals(figures);
        let rows: Vec<String> = rows.map(|row| format!("{} by {}", row.model, row.team)).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let (rows, split) = (rows.join(", "), self.split);
        vec![format!("note: the published scores on {split} of {rows} (configs/leaderboard)")]
    }

    /// Recall of relevant questions.
    fn questions(&self, request: &EvalRequest, leaderboard: bool) -> Result<EvalResult, Error> {
        request.takes("--task question_relevance", &[EvalFlag::Ties, EvalFlag::OutFile])?;
        if leaderboard {
            request.refuse_interval("--leaderboard")?;
        }
        let labels = self.labels()?;
        let ties =
            if let Some(TieRule::Order(ties)) = request.ties { ties } else { Ties::Official };
        let is_interval = request.ties == Some(TieRule::Interval);
        let reader = self.reader()?;
        let input = Source::new(&request.file).read()?;
        refuse_text_run(&input, &self.clariq.bank)?;
        let is_official = ties == Ties::Official && !is_interval;
        let run = if is_official { reader.run_in_order(&input)? } else { reader.run(&input)? };
        let source = Source::new(&request.file);
        self.topics()?.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
        let topics = labels.topics.iter().map(|topic| &topic.id);
        let found = diagnose(&run, topics, Some(&self.clariq.bank));
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
            notes: self.published(ScorerTask::Ranking, false, &scores.means),
            figures: names.zip(scores.means.iter().copied()).collect(),
            topics: if request.by_topic() { scores.columns("") } else { Vec::new() },
            short: short.names,
            warnings,
            form: FigureFormat::Lines(scorer_line),
            text: leaderboard.then(|| leaderboard_row(&request.file, &scores.means)),
            ..EvalResult::default()
        })
    }

    /// Precision, recall and F1 of clarification need.
    fn needs(
        &self,
        request: &EvalRequest,
        leaderboard: bool,
        full: bool,
    ) -> Result<EvalResult, Error> {
        request.takes("--task clarification_need", &[EvalFlag::OutFile])?;
        let labels = self.labels()?;
        let reader = self.reader()?;
        let source = Source::new(&request.file);
        let input = source.read()?;
        let predictions = reader.needs(&input)?;
        self.topics()?.check_answered(&source, predictions.iter().map(|line| &line.topic))?;
        let scores = clarification_need(&predictions, labels);
        let mut warnings = counted(&[
            (scores.missing, "topics have no prediction and count as class 0"),
            (scores.out_of_range, "predictions are outside 1 to 4 and count as wrong"),
            (scores.duplicates, "topics are predicted again; the last line counts"),
            (scores.unknown, "predicted topics have no labels and are ignored"),
        ]);
        warnings.extend(reader.warning(&input, FIELDS_OF_NEEDS));
        let figures = [scores.precision, scores.recall, scores.f1];
        let mut tables = Vec::new();
        if full {
            tables = need_report(&predictions, labels).tables(figures);
        }
        let cells = figures.map(|figure| format!("<td>{figure:.4}</td>"));
        let mut notes = self.published(ScorerTask::Need, false, &figures);
        if request.out_file {
            notes.push(NO_FILE.to_owned());
        }
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
            notes,
            text: leaderboard.then(|| cells.join("\n")),
            tables,
            legend: full.then_some(NEED_LEGEND),
            ..EvalResult::default()
        })
    }

    /// Document relevance after the first question and its answer.
    fn documents(
        &self,
        request: &EvalRequest,
        options: DocumentsTask,
    ) -> Result<EvalResult, Error> {
        request.takes("--task document_relevance", &[EvalFlag::OutFile])?;
        let stem = table_stem(self.split, options.multi_turn);
        let scores = self.document_scores(&request.file, options, &stem)?;
        let warnings = remarks(&scores, "contexts");
        let known = scores.metrics.iter().filter(|metric| !metric.values.is_empty());
        let figures: Vec<(String, f64)> =
            known.map(|metric| (metric.measure.clone(), metric.mean())).collect();
        let file = format!("{stem}.pkl");
        let split = self.split;
        if figures.len() < scores.metrics.len() || figures.is_empty() {
            let hint = "the table and the labels must be of one release";
            bail!(file, "scores for the contexts of {split}", "none", hint);
        }
        let figure_of = |name: &str| {
            figures.iter().find(|(metric, _)| metric == name).map(|(_, figure)| *figure)
        };
        let board: Option<Vec<f64>> = DOCUMENT_MEASURES.into_iter().map(figure_of).collect();
        let notes = match &board {
            Some(figures) if !options.no_answer => {
                self.published(ScorerTask::Documents, options.multi_turn, figures)
            }
            _ => Vec::new(),
        };
        let leaderboard = match board {
            Some(figures) => Some(leaderboard_row(&request.file, &figures)),
            None if options.leaderboard => {
                let hint = "leave --leaderboard out to see the metrics of the table";
                bail!(file, "the metrics MRR100, P1, NDCG3 and NDCG5", "a table without them", hint)
            }
            None => None,
        };
        Ok(EvalResult {
            figures,
            topics: if request.by_topic() { scores.metrics } else { Vec::new() },
            warnings,
            notes,
            form: FigureFormat::Lines(scorer_line),
            text: leaderboard.filter(|_| options.leaderboard),
            ..EvalResult::default()
        })
    }

    fn document_scores(
        &self,
        file: &Path,
        options: DocumentsTask,
        stem: &str,
    ) -> Result<DocumentRelevance, Error> {
        let source = Source::new(file);
        let with =
            if options.no_answer { RetrievedWith::QuestionAlone } else { RetrievedWith::Answer };
        let table = || -> Result<EvalTable, Error> {
            let table = EvalTable::open_of(&self.clariq.data, stem, with)?;
            if options.no_answer && !table.has_figures() {
                let hint = "leave --no-answer out; the whole released table has both";
                bail!(format!("{stem}.pkl"), "scores `no_answer`", "`with_answer` alone", hint);
            }
            Ok(table)
        };
        if options.multi_turn {
            let run = read_text_run(&source, &self.clariq.bank)?;
            return Ok(multi_turn_document_relevance(&run, &table()?));
        }
        let labels = self.labels()?;
        let run = self.run(&source)?;
        self.topics()?.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
        Ok(document_relevance(&run, &table()?, labels))
    }

    /// The shares of conversations whose next question is relevant, new and answered.
    fn contexts(&self, request: &EvalRequest, file: &Path) -> Result<EvalResult, Error> {
        request.takes("--conversations", &[])?;
        let labels = self.labels()?;
        let run = read_text_run(&Source::new(&request.file), &self.clariq.bank)?;
        let mut scorer = ContextScorer::new(&run, &self.clariq.bank, labels);
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
                (found.missing, "contexts are not answered"),
                (found.unknown, "contexts are about topics without labels and are ignored"),
            ]),
            form: FigureFormat::Lines(scorer_line),
            ..EvalResult::default()
        })
    }

    /// Document relevance by the expected measures, if the data folder has the table.
    fn expected_documents(&self, run: &Run, written: &SystemOutput) -> Result<EvalResult, Error> {
        let data = &self.clariq.data;
        let split = self.split;
        let stem = table_stem(split, false);
        let table = match EvalTable::open(data, &stem) {
            Err(Error::Problem(problem)) if problem.kind == ProblemKind::MissingFile => {
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
            return self.score_as(&OfficialTask::Questions { leaderboard: false }, request);
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
        figures.extend(self.by_qrels()?.by_name(run, others.into_iter()));
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
        let ties = by.ties.unwrap_or(Ties::Official);
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

    /// The challenge ranked by recall at 30.
    fn focus(&self) -> usize {
        CUTOFFS.len() - 1
    }
}

/// True for a name of the official scorer that means documents.
fn means_documents(name: &str) -> bool {
    parse_measure(name).is_ok_and(|measure| is_of_documents(&measure))
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
