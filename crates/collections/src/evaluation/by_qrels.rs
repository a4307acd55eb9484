//! Evaluation by judgements and measures of the literature, for any collection.

use super::spelling::spelled_otherwise;
use super::{
    ComparisonOptions, EvalRequest, EvalResult, Evaluation, FigureFormat, FileRankings,
    ScoredTopics, ShortMeasures, SystemOutput, TieRule, ValuesByRequest,
};
use crate::{Collection, Split, Task};
use clariq_core::{Error, ProblemKind, RequestId, problem};
use clariq_eval::{
    Favour, Measure, Qrels, RankedRun, Scores, Ties, evaluate, parse_measure, parse_measures,
};
use clariq_files::{Run, Source, read_run};
use std::collections::HashMap;
use std::slice;

/// The measures that users of `trec_eval` look at first.
pub const USUAL_MEASURES: &str = "nDCG@10 AP RR P@10 R@30";

const NOTHING_RELEVANT: &str = "no grade of the judgements is above 0, so that no document is relevant: is \
                                another column the grade?";

/// Judgements, with the collection that they belong to, if any.
pub struct ByQrels<'a> {
    /// The collection with its split and task; `None` for judgements of a file.
    origin: Option<(&'a dyn Collection, Split, Task)>,
    pub qrels: Qrels,
    topics: ScoredTopics,
    /// The default measures, which a collection may replace.
    pub usual: Vec<Measure>,
    /// Problems of the judgements that do not prevent scoring.
    pub warnings: Vec<String>,
    /// How runs are read: as TREC runs, if nothing else is set.
    pub read_run: fn(&Source) -> Result<Run, Error>,
}

impl<'a> ByQrels<'a> {
    /// Reads the judgements of a split for a task.
    ///
    /// # Errors
    ///
    /// A split without judgements.
    pub fn open(collection: &'a dyn Collection, split: Split, task: Task) -> Result<Self, Error> {
        let qrels = collection.qrels(split, task)?.ok_or_else(|| {
            let hint = "name a split with labels, or a file of judgements by --qrels";
            problem!(collection.location(), "labels of {split}", "requests without labels", hint)
                .kind(ProblemKind::MissingFile)
        })?;
        let file = collection.judged_in(split)?.name();
        Ok(Self { origin: Some((collection, split, task)), ..Self::new(file, qrels)? })
    }

    /// Reads judgements from a file of any TREC collection.
    pub fn read(file: &Source) -> Result<Self, Error> {
        Self::new(file.name(), Qrels::read(file)?)
    }

    fn new(file: String, qrels: Qrels) -> Result<Self, Error> {
        let topics = ScoredTopics::new(file, qrels.topics().map(|(topic, _)| topic));
        let usual = parse_measures(USUAL_MEASURES)?;
        let mut warnings: Vec<String> = qrels.warning().into_iter().collect();
        let has_topics = qrels.topics().next().is_some();
        if has_topics && qrels.topics().all(|(_, judged)| judged.relevant(1) == 0) {
            warnings.push(NOTHING_RELEVANT.to_owned());
        }
        Ok(Self { origin: None, qrels, topics, usual, warnings, read_run })
    }

    /// The figures of a run by named measures. Names that are not measures are left out.
    pub fn by_name<'n>(
        &self,
        run: &Run,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<(String, f64)>, Error> {
        let mut figures = Vec::new();
        let mut ranked = None;
        for name in names {
            let parsed = parse_measure(name).ok();
            let usual = self.usual.iter().find(|measure| measure.name() == name);
            let Some(measure) = usual.or(parsed.as_ref()) else { continue };
            let ranked = ranked.get_or_insert_with(|| RankedRun::new(run));
            let scores = evaluate(slice::from_ref(measure), ranked, &self.qrels)?;
            figures.push((name.to_owned(), scores.means[0]));
        }
        Ok(figures)
    }

    /// Describes the lines of a run that the figures ignore, and a run of which nothing is judged.
    fn warnings_of(&self, run: &Run, ties: Ties) -> Vec<String> {
        let mut warnings = self.topics.warnings(run, ties);
        warnings.extend(self.unjudged(run));
        warnings
    }

    /// Warnings about a run of which nothing is judged, and about ids that the judgements spell otherwise.
    pub fn unjudged(&self, run: &Run) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut grades = run.lines.iter().map(|line| {
            let judged = self.qrels.topic(&line.topic)?;
            judged.grade(&line.document)
        });
        if grades.all(|grade| grade.is_none()) {
            let what = "no document of the run is judged: are its ids those of the judgements?";
            warnings.push(what.to_owned());
        }
        warnings.extend(spelled_otherwise(run, &self.qrels));
        warnings
    }

    /// The measures that were named, or else the usual ones.
    fn or_usual<'m>(&'m self, named: &'m [Measure]) -> &'m [Measure] {
        if named.is_empty() { &self.usual } else { named }
    }

    /// The lowest and the highest means over all orders of equal scores.
    pub fn interval(
        &self,
        measures: &[Measure],
        run: &Run,
        depth: Option<usize>,
    ) -> Result<EvalResult, Error> {
        let scores = |favour| {
            let ranked = RankedRun::with_ties(run, &self.qrels, favour).with_depth(depth);
            evaluate(measures, &ranked, &self.qrels)
        };
        let lowest = scores(Favour::Against)?;
        let highest = scores(Favour::For)?;
        Ok(EvalResult { highest: Some(highest.means.clone()), ..result_of(&lowest) })
    }
}

fn result_of(scores: &Scores) -> EvalResult {
    let figures = scores.measures.iter().cloned().zip(scores.means.iter().copied()).collect();
    let measures = scores.measures.iter().cloned().zip(scores.short_of.iter().copied());
    let short = ShortMeasures::named(measures);
    EvalResult {
        figures,
        warnings: short.warning().into_iter().collect(),
        short: short.names,
        form: FigureFormat::Topics,
        ..EvalResult::default()
    }
}

impl Evaluation for ByQrels<'_> {
    fn score(&self, request: &EvalRequest) -> Result<EvalResult, Error> {
        let measures = self.or_usual(request.measures);
        let source = Source::new(&request.file);
        let run = (self.read_run)(&source)?;
        let ties = match request.ties {
            Some(TieRule::Order(ties)) => ties,
            None | Some(TieRule::Interval) => Ties::Id,
        };
        self.topics.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
        let ignored = self.warnings_of(&run, ties);
        let mut result = if request.ties == Some(TieRule::Interval) {
            self.interval(measures, &run, request.depth)?
        } else {
            let ranked = RankedRun::ordered(&run, ties).with_depth(request.depth);
            let scores = evaluate(measures, &ranked, &self.qrels)?;
            EvalResult { topics: scores.columns(""), ..result_of(&scores) }
        };
        result.warnings.splice(..0, ignored);
        Ok(result)
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn rankings(&self, file: &Source, _part: Option<&str>) -> Result<FileRankings, Error> {
        Ok(FileRankings { task: None, run: (self.read_run)(file)? })
    }

    fn figures(&self, written: &SystemOutput) -> Result<EvalResult, Error> {
        let Some(run) = written.run else { return Ok(EvalResult::default()) };
        if written.expected.is_empty() {
            return Ok(result_of(&evaluate(&self.usual, &RankedRun::new(run), &self.qrels)?));
        }
        let figures = self.by_name(run, written.expected.iter().copied())?;
        Ok(EvalResult { figures, ..EvalResult::default() })
    }

    fn columns(&self, source: &Source, by: &ComparisonOptions) -> Result<ValuesByRequest, Error> {
        if let (Some(part), Some((collection, split, own))) = (by.part, self.origin) {
            let task = collection.find_task(part)?;
            if task != own {
                return Self::open(collection, split, task)?.columns(source, by);
            }
        }
        let measures = self.or_usual(by.measures);
        let ties = by.ties.unwrap_or(Ties::Id);
        let run = (self.read_run)(source)?;
        self.topics.check_answered(source, run.lines.iter().map(|line| &line.topic))?;
        let warnings = self.warnings_of(&run, ties);
        let ranked = RankedRun::ordered(&run, ties).with_depth(by.depth);
        let scores = evaluate(measures, &ranked, &self.qrels)?;
        Ok(ValuesByRequest::new(scores.columns(""), warnings))
    }
}

impl dyn Collection {
    /// The evaluation of runs over a split: by the collection's own definitions, or by its judgements.
    ///
    /// # Errors
    ///
    /// A split without labels.
    pub fn evaluation(&self, split: Split) -> Result<Box<dyn Evaluation + '_>, Error> {
        match self.own_evaluation(split)? {
            Some(own) => Ok(own),
            None => Ok(Box::new(ByQrels::open(self, split, self.tasks()[0])?)),
        }
    }

    /// The user's last utterance of every request of a split.
    pub fn last_said(&self, split: Split) -> Result<HashMap<RequestId, String>, Error> {
        let mut requests = HashMap::new();
        for request in self.requests(split, self.tasks()[0])? {
            let request = request?;
            requests.insert(request.id.clone(), request.last_said());
        }
        Ok(requests)
    }
}
