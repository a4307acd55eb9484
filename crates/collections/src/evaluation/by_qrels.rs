//! Evaluation by judgements and measures of the literature, for any collection.

use super::spelling::spelled_otherwise;
use super::{Answers, Cases, Evaluation, Rankings, ScoreOptions, ScoredTopics, TieRule};
use crate::{Collection, Split, Task};
use clariq_core::{Error, ProblemKind, RequestId, problem};
use clariq_eval::{Favour, Measure, Qrels, RankedRun, Score, Ties, evaluate, parse_measures};
use clariq_files::{Run, Source, read_run};
use std::collections::HashMap;
use std::slice;

/// The measures that users of `trec_eval` look at first.
pub const USUAL_MEASURES: &str = "nDCG@10 AP RR P@10 R@30";

const NOTHING_RELEVANT: &str = "no grade of the judgements is above 0, so that no document is relevant: is \
                                another column the grade?";

/// The highest grade that people usually give: TREC has at most 4. Higher ones are mostly counts, as of clicks.
const MOST_OF_GRADES: i32 = 5;

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
        let file = collection.labels_of(split)?.first().map_or_else(String::new, Source::name);
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
        let highest = qrels.topics().flat_map(|(_, judged)| judged.grades()).max();
        if let Some(highest) = highest.filter(|highest| *highest > MOST_OF_GRADES) {
            warnings.push(format!(
                "grades up to {highest}, which nDCG takes as gains, so that few documents decide it: are they \
                 counts, as of clicks? Measures of relevant documents, such as AP and R@30, take any grade \
                 above 0 alike"
            ));
        }
        Ok(Self { origin: None, qrels, topics, usual, warnings, read_run })
    }

    /// The scores of a ranking by the measures that were named, or else by the usual ones.
    pub fn scores(&self, run: &Run, by: &ScoreOptions) -> Result<Vec<Score>, Error> {
        let measures = if by.measures.is_empty() { &self.usual } else { by.measures };
        if by.ties == Some(TieRule::Interval) {
            return measures.iter().map(|measure| self.interval(run, measure, by)).collect();
        }
        let ranked = RankedRun::ordered(run, by.order(Ties::Id)).with_depth(by.depth);
        evaluate(measures, &ranked, &self.qrels)
    }

    /// The lowest and the highest score of a ranking over all orders of equal scores.
    fn interval(&self, run: &Run, measure: &Measure, by: &ScoreOptions) -> Result<Score, Error> {
        let bound = |favour| -> Result<Score, Error> {
            let ranked = RankedRun::with_ties(run, &self.qrels, measure, favour);
            let ranked = ranked.with_depth(by.depth);
            Ok(evaluate(slice::from_ref(measure), &ranked, &self.qrels)?.swap_remove(0))
        };
        Ok(Score::between(&bound(Favour::Against)?, &bound(Favour::For)?))
    }

    /// Describes the lines of a run that the scores ignore, and a run of which nothing is judged.
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
}

impl Evaluation for ByQrels<'_> {
    fn cases(&self, answers: Answers, by: &ScoreOptions) -> Result<Cases, Error> {
        if let (Some(part), Some((collection, split, own))) = (by.part, self.origin) {
            let task = collection.find_task(part)?;
            if task != own {
                return Self::open(collection, split, task)?.cases(answers, by);
            }
        }
        let source = match answers {
            Answers::Run(run) => return Ok(Cases::new(self.scores(run, by)?, Vec::new())),
            Answers::File(source) => source,
        };
        let run = (self.read_run)(source)?;
        self.topics.check_answered(source, run.lines.iter().map(|line| &line.topic))?;
        let warnings = self.warnings_of(&run, by.order(Ties::Id));
        let scored = Cases::new(self.scores(&run, by)?, warnings);
        Ok(Cases { rankings: Some(Rankings { task: None, run }), ..scored })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
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
