//! Grid search over the parameters of a system, judged by cross-validation over conversations.

mod grid;

use crate::needs::{NeedScope, predict_split};
use crate::ranker::{RankedPart, Ranker, UserRequest};
use crate::run::{FileInput, RequestFileKind, RunInput, as_run, check_input, open_split};
use crate::session::{Contexts, Session};
use crate::training::open_system;
use clariq_collections::evaluation::{Answers, ByQrels, Evaluation, ScoreOptions};
use clariq_collections::{Split, Task};
use clariq_core::{Request, RequestId, Result, bail, count_of, counted, problem};
use clariq_eval::{Measure, Score, exact_mean, mean_interval};
use clariq_files::{Qrels, Run, Source};
use clariq_rank::Override;
use clariq_systems::{Rewrites, SystemConfig};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

pub use grid::{Grid, MOST_POINTS};

/// Requests with judgements.
#[derive(Clone, Copy)]
pub enum TuningLabels<'a> {
    /// A labelled split of the collection.
    Split(Split),
    /// Files of the user's own.
    Files {
        /// Requests as JSON lines.
        requests: &'a Path,
        /// Judgements of these requests as TREC qrels.
        qrels: &'a Path,
    },
}

/// A search over a grid.
pub struct GridSearch<'a> {
    /// The system: a configuration file, or the name of a built-in one.
    pub system: &'a str,
    /// Rewritten utterances.
    pub rewrites: Option<&'a Arc<Rewrites>>,
    /// The parameters with the values to try.
    pub grid: &'a Grid,
    /// The requests and their judgements.
    pub labels: TuningLabels<'a>,
    /// The task whose ranking is judged; the default is the usual one of the collection.
    pub task: Option<&'a str>,
    /// The measures that are computed for every point of the grid.
    pub measures: &'a [Measure],
    /// The index of the measure that is maximised.
    pub by: usize,
    /// Folds of the cross-validation over conversations.
    pub folds: usize,
}

/// A point of the grid with its figures for every judged topic.
pub struct Trial {
    /// The parameters that vary.
    pub values: Vec<Override>,
    /// The values of the measures per judged topic.
    pub scores: Vec<Vec<f64>>,
    /// The means of the measures.
    pub means: Vec<f64>,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Override { stage, key, value }) in self.values.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            write!(f, "{space}{stage}.{key}={value}")?;
        }
        Ok(())
    }
}

/// The result of a search.
pub struct TuningResult {
    /// Every point of the grid, in its order.
    pub trials: Vec<Trial>,
    /// The system with the fixed parameters alone; none if it is not complete without the grid.
    pub as_it_is: Option<Trial>,
    by: usize,
    /// The fold of every judged topic. A conversation is in one fold.
    fold_of: Vec<usize>,
    folds: usize,
}

/// The figures of held-out conversations.
pub struct HeldOutMeans<'t> {
    /// For each fold, the best trial on the other folds.
    pub choices: Vec<&'t Trial>,
    /// The values of the measures per judged topic, each scored with the choice of the other folds.
    pub scores: Vec<&'t [f64]>,
    /// Their means.
    pub means: Vec<f64>,
}

/// The gain of tuning over the system as it is, by the measure that is maximised, on held-out topics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TuningGain {
    /// The mean of the differences by topic.
    pub difference: f64,
    /// Its 95 % interval: percentiles of 10,000 bootstrap samples of the topics.
    pub interval: (f64, f64),
}

struct Judge<'a> {
    session: &'a Session<'a>,
    evaluation: Box<dyn Evaluation + 'a>,
    by: ScoreOptions<'a>,
    /// The judged topics: first those with a request, in the order of the requests, then the
    /// others. For measures of other cases, such as facets, the cases.
    topics: Vec<RequestId>,
}

impl GridSearch<'_> {
    /// Scores every point.
    pub fn run(&self, session: &Session) -> Result<TuningResult> {
        let session = match self.labels {
            TuningLabels::Split(split) => session.clone().answering(split),
            TuningLabels::Files { .. } => session.clone(),
        };
        let first = self.open(&self.grid.points().next().unwrap_or_default())?;
        // A system of several pipelines has a task for each of them.
        let session = match self.task {
            Some(task) if !first.answers() => session.ranking_for(task)?,
            _ => session,
        };
        let contexts = Contexts::new(&session);
        let mut queries = read_queries(&session, &first, self.labels)?;
        let requests: Vec<Request> = queries.iter().map(|query| query.request.clone()).collect();
        let system = open_system(&contexts, &first, NeedScope::Never)?;
        let part = self.find_part(&system)?;
        let task = system.task(part)?;
        let documents = system.documents(part)?;
        let judge = Judge::new(&session, self.labels, task, self.measures, &requests)?;
        let fold_of = self.folds(&judge)?;
        // No parameter of a stage changes needs: one prediction is enough for the whole grid.
        if first.plan.sees_need()
            && let Some(needs) = predict_split(&session, &first, &requests, false)?
        {
            for query in &mut queries {
                query.request.need = needs.of(&query.request);
            }
        }
        let bar = session.observer.begin("tune", Some(self.grid.count() as u64));
        let mut trials = Vec::with_capacity(self.grid.count());
        for values in self.grid.points() {
            let config = self.open(&values)?;
            let system = open_system(&contexts, &config, NeedScope::Never)?;
            let run = as_run(documents, &requests, &system.rank_part(&queries, part)?);
            trials.push(judge.trial(values, &run)?);
            bar.advance(1);
        }
        bar.finish(&count_of(trials.len(), "point"));
        let as_it_is = match self.open(&[]) {
            Ok(config) => {
                let system = open_system(&contexts, &config, NeedScope::Never)?;
                let run = as_run(documents, &requests, &system.rank_part(&queries, part)?);
                Some(judge.trial(Vec::new(), &run)?)
            }
            // The grid has keys that the system needs.
            Err(_) => None,
        };
        Ok(TuningResult { trials, as_it_is, by: self.by, fold_of, folds: self.folds })
    }

    fn open(&self, values: &[Override]) -> Result<SystemConfig> {
        SystemConfig::open_any(self.system, &self.grid.parameters(values))?
            .with_rewrites(self.rewrites)
    }

    fn find_part(&self, system: &Ranker) -> Result<RankedPart> {
        let wanted = self.task.unwrap_or(system.session().task.name());
        let parts = system.parts();
        let found = parts.iter().copied().find(|part| system.task_name(*part) == wanted);
        Ok(found.ok_or_else(|| {
            let tasks: Vec<&str> = parts.iter().map(|part| system.task_name(*part)).collect();
            let expected = format!("a task of the system, one of {}", tasks.join(", "));
            problem!("--task", expected, "`{wanted}`", "leave it out for the usual one")
        })?)
    }

    /// The fold of every judged topic: conversations are assigned in turn, in the order of their
    /// file.
    fn folds(&self, judge: &Judge) -> Result<Vec<usize>> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut conversations = Vec::with_capacity(judge.topics.len());
        for topic in &judge.topics {
            let next = numbers.len();
            let request = judge.evaluation.request_of(topic).unwrap_or(topic).as_str();
            let conversation = judge.session.collection.conversation_of(request);
            conversations.push(*numbers.entry(conversation).or_insert(next));
        }
        if (2..=numbers.len()).contains(&self.folds) {
            return Ok(conversations.into_iter().map(|number| number % self.folds).collect());
        }
        let conversations = numbers.len();
        if conversations < 2 {
            let found = count_of(conversations, "conversation");
            let hint = "each of them is held out in turn: judge more requests";
            bail!("--split", "judgements of at least 2 conversations", found, hint);
        }
        let found = self.folds;
        let expected =
            format!("from 2 to {conversations} folds, at least one conversation in each");
        bail!("--folds", expected, "{found}", "5 and 10 folds are usual")
    }
}

fn read_queries(
    session: &Session,
    config: &SystemConfig,
    labels: TuningLabels,
) -> Result<Vec<UserRequest>> {
    config.check_tasks(session.collection)?;
    let mut queries = Vec::new();
    let input: Box<dyn RunInput + '_> = match labels {
        TuningLabels::Split(split) => open_split(session, config, split, None)?,
        TuningLabels::Files { requests, .. } => {
            Box::new(FileInput::open(session, requests, RequestFileKind::Requests, false)?)
        }
    };
    check_input(config, &*input, session.observer)?;
    input.read(&mut |query| {
        queries.push(query);
        ControlFlow::Continue(())
    })?;
    Ok(queries)
}

impl<'a> Judge<'a> {
    fn new(
        session: &'a Session<'a>,
        labels: TuningLabels,
        task: Task,
        measures: &'a [Measure],
        requests: &[Request],
    ) -> Result<Self> {
        let collection = session.collection;
        let (qrels, evaluation): (Qrels, Box<dyn Evaluation>) = match labels {
            TuningLabels::Split(split) => {
                let Some(qrels) = collection.qrels(split, task)? else {
                    let hint = "--split names a split with labels: tuning needs them";
                    bail!(collection.location(), "the labels of {split}", "none", hint);
                };
                (qrels, collection.evaluation(split)?)
            }
            TuningLabels::Files { qrels, .. } => {
                let judged = ByQrels::read(&Source::new(qrels))?;
                (judged.qrels.clone(), Box::new(judged))
            }
        };
        if let Some(warning) = qrels.warning() {
            session.observer.note(&format!("warning: {warning}"));
        }
        let mut topics: Vec<RequestId> = Vec::new();
        for request in requests {
            let topic = request.id.clone();
            if qrels.topic(&topic).is_some() {
                topics.push(topic);
            }
        }
        // As in `eval`, judged topics without a request count 0.
        let answered: HashSet<RequestId> = topics.iter().cloned().collect();
        let requested = topics.len();
        for (topic, _) in qrels.topics() {
            if !answered.contains(topic) {
                topics.push(topic.clone());
            }
        }
        if topics.len() > requested {
            let missing = topics.len() - requested;
            let (one, several) =
                ("topic is not answered and counts 0", "topics are not answered and count 0");
            for text in counted(&[(missing, one, several)]) {
                session.observer.note(&format!("warning: {text}"));
            }
        }
        let part = matches!(labels, TuningLabels::Split(_)).then_some(task.name());
        let judge = Self {
            session,
            evaluation,
            by: ScoreOptions { part, measures, ..ScoreOptions::default() },
            topics,
        };
        match judge.other_cases()? {
            Some(topics) => Ok(Self { topics, ..judge }),
            None => Ok(judge),
        }
    }

    fn scores(&self, run: &Run) -> Result<Vec<Score>> {
        Ok(self.evaluation.cases(Answers::Run(run), &self.by)?.scores)
    }

    /// Scores a run for every judged topic; a topic without a ranking counts 0.
    fn trial(&self, values: Vec<Override>, run: &Run) -> Result<Trial> {
        let mut all: Vec<HashMap<RequestId, f64>> = Vec::with_capacity(self.by.measures.len());
        for score in self.scores(run)? {
            all.push(score.values.into_iter().collect());
        }
        let mut scores: Vec<Vec<f64>> = Vec::with_capacity(self.topics.len());
        for topic in &self.topics {
            scores
                .push(all.iter().map(|values| values.get(topic).copied().unwrap_or(0.0)).collect());
        }
        let mean = |measure: usize| exact_mean(scores.iter().map(|values| values[measure]));
        let means = (0..self.by.measures.len()).map(mean).collect();
        Ok(Trial { values, scores, means })
    }

    /// The cases of measures whose cases are not the requests themselves.
    fn other_cases(&self) -> Result<Option<Vec<RequestId>>> {
        let mut found = Vec::with_capacity(self.by.measures.len());
        for score in self.scores(&Run::default())? {
            let cases: Vec<RequestId> = score.values.into_iter().map(|(case, _)| case).collect();
            let is_other =
                cases.first().is_some_and(|case| self.evaluation.request_of(case).is_some());
            found.push(is_other.then_some(cases));
        }
        if found.windows(2).any(|pair| pair[0] != pair[1]) {
            let names: Vec<String> = self.by.measures.iter().map(Measure::name).collect();
            let hint = "tune by one of them at a time";
            let names = names.join(", ");
            bail!("--measure", "measures of the same cases", names, hint);
        }
        Ok(found.pop().flatten())
    }
}

impl TuningResult {
    /// The trials, best first; equally good ones in the order of the grid.
    pub fn best_first(&self) -> Vec<&Trial> {
        let mut trials: Vec<&Trial> = self.trials.iter().collect();
        trials.sort_by(|a, b| b.means[self.by].total_cmp(&a.means[self.by]));
        trials
    }

    /// Cross-validates the choice of a trial.
    pub fn held_out(&self) -> HeldOutMeans<'_> {
        let best: Vec<Option<&Trial>> =
            (0..self.folds).map(|fold| self.best_without(fold)).collect();
        let topics = self.fold_of.iter().enumerate();
        let scores: Vec<&[f64]> = topics
            .filter_map(|(topic, fold)| best[*fold].map(|trial| &*trial.scores[topic]))
            .collect();
        let measures = self.trials.first().map_or(0, |trial| trial.means.len());
        let mean = |measure: usize| exact_mean(scores.iter().map(|scores| scores[measure]));
        let means = (0..measures).map(mean).collect();
        HeldOutMeans { means, scores, choices: best.into_iter().flatten().collect() }
    }

    /// The gain of the choice of the other folds over the system as it is; none without one.
    pub fn gain(&self, held_out: &HeldOutMeans, seed: u64) -> Option<TuningGain> {
        let before = self.as_it_is.as_ref()?.scores.iter();
        let pairs = held_out.scores.iter().zip(before);
        let differences: Vec<f64> =
            pairs.map(|(after, before)| after[self.by] - before[self.by]).collect();
        Some(TuningGain {
            interval: mean_interval(&differences, seed),
            difference: exact_mean(differences),
        })
    }

    /// The best trial on the topics outside a fold; of equally good ones, the first.
    fn best_without(&self, fold: usize) -> Option<&Trial> {
        let mean = |trial: &Trial| {
            let others =
                trial.scores.iter().zip(&self.fold_of).filter(|(_, fold_of)| **fold_of != fold);
            exact_mean(others.map(|(scores, _)| scores[self.by]))
        };
        // `max_by` returns the last of equal trials, so they are compared in reverse order.
        let trials = self.trials.iter().rev().map(|trial| (mean(trial), trial));
        trials.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, trial)| trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuned(values: &[&[f64]], fold_of: &[usize]) -> TuningResult {
        let trial = |values: &&[f64]| Trial {
            values: Vec::new(),
            scores: values.iter().map(|&value| vec![value]).collect(),
            means: vec![exact_mean(values.iter().copied())],
        };
        let folds = 1 + fold_of.iter().max().copied().unwrap_or(0);
        TuningResult {
            trials: values.iter().map(trial).collect(),
            as_it_is: values.first().map(trial),
            by: 0,
            fold_of: fold_of.to_vec(),
            folds,
        }
    }

    #[test]
    fn each_fold_is_scored_by_the_choice_of_the_others() {
        // The first trial is best on the conversations of fold 1, the second on those of fold 0.
        let tuned = tuned(&[&[0.0, 0.25, 1.0], &[1.0, 0.75, 0.0]], &[0, 0, 1]);
        let held_out = tuned.held_out();
        assert!(std::ptr::eq(held_out.choices[0], &raw const tuned.trials[0]));
        assert!(std::ptr::eq(held_out.choices[1], &raw const tuned.trials[1]));
        assert!((held_out.means[0] - (0.0 + 0.25 + 0.0) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_gain_is_that_of_held_out_topics_over_the_system_as_it_is() {
        // The first trial is the system as it is; the second gains 0.5 on every topic.
        let better = tuned(&[&[0.25, 0.5, 0.0, 0.25], &[0.75, 1.0, 0.5, 0.75]], &[0, 0, 1, 1]);
        let gain = better.gain(&better.held_out(), 42).unwrap();
        assert_eq!(gain, TuningGain { difference: 0.5, interval: (0.5, 0.5) });
        // Chosen on the other fold, each trial is wrong: tuning loses.
        let worse = tuned(&[&[0.5, 0.5, 0.5, 0.5], &[1.0, 1.0, 0.0, 0.0]], &[0, 0, 1, 1]);
        let gain = worse.gain(&worse.held_out(), 42).unwrap();
        assert_eq!(gain.difference, -0.25);
        assert!(gain.interval.0 < 0.0);
    }
}
