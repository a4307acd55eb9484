//! Grid search over the parameters of a system, judged by cross-validation over topics.

use crate::error::Error;
use crate::models::Registry;
use crate::needs::predict_needs;
use crate::run::{SplitRequests, as_run};
use crate::session::Session;
use crate::systems::{Loaded, parse_assignment};
use clariq_collections::Around;
use clariq_collections::clariq::{ClariQ, Split};
use clariq_core::{Location, Need, Problem, ProblemKind, Request};
use clariq_eval::clariq::{CUTOFFS, QuestionRelevance, question_relevance};
use clariq_eval::{Ties, exact_mean};
use clariq_rank::{Batch, Override};
use std::fmt;

/// The most points of a grid: the figures of all of them, for every topic, are kept.
pub const MOST_POINTS: usize = 10_000;

/// Parameters with the values that each can have.
#[derive(Debug, Clone)]
pub struct Grid {
    axes: Vec<Axis>,
    points: usize,
}

#[derive(Debug, Clone)]
struct Axis {
    target: Override,
    values: Vec<String>,
}

impl Grid {
    /// Parses axes such as `bm25.k1=0.9,1.2`. A parameter that is given twice, and more than
    /// [`MOST_POINTS`] combinations, are refused.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<Self, Error> {
        let mut grid = Self { axes: Vec::with_capacity(texts.len()), points: 1 };
        for text in texts {
            let (target, values) = parse_assignment(text.as_ref(), "--grid")?;
            if grid.axes.iter().any(|axis| axis.target == target) {
                let found = format!("`{}.{}` twice", target.stage, target.key);
                let expected = "every parameter once";
                return Err(refusal(expected, found)
                    .hint("write all values of a parameter in one --grid")
                    .into());
            }
            let values: Vec<String> =
                values.split(',').map(|value| value.trim().to_owned()).collect();
            grid.points = grid.points.saturating_mul(values.len());
            grid.axes.push(Axis { target, values });
        }
        if grid.points > MOST_POINTS {
            let expected = format!("at most {MOST_POINTS} combinations");
            return Err(refusal(&expected, grid.points.to_string())
                .hint("try fewer values, and tune parameters one after the other")
                .into());
        }
        Ok(grid)
    }

    /// The number of combinations.
    pub fn len(&self) -> usize {
        self.points
    }

    /// Whether there is nothing to try.
    pub fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// Every combination, one by one, the last parameter varying fastest.
    pub fn points(&self) -> impl Iterator<Item = Vec<Override>> {
        (0..self.points).map(|point| {
            let mut rest = point;
            let mut values: Vec<Override> = Vec::with_capacity(self.axes.len());
            for axis in self.axes.iter().rev() {
                let value = axis.values[rest % axis.values.len()].clone();
                rest /= axis.values.len();
                values.push(Override { value, ..axis.target.clone() });
            }
            values.reverse();
            values
        })
    }
}

fn refusal(expected: &str, found: String) -> Problem {
    Problem::new(Location::file("--grid"), ProblemKind::Argument, expected, found)
}

/// A search over a grid.
pub struct Search<'a> {
    /// The system: a configuration file, or the name of a built-in one.
    pub system: &'a str,
    /// What is tried.
    pub grid: &'a Grid,
    /// The labelled split that is tried on.
    pub split: Split,
    /// The depth of the recall that is tuned for, one of [`CUTOFFS`].
    pub depth: usize,
    /// Folds of the cross-validation over topics.
    pub folds: usize,
}

/// A point of the grid: its values, and what they reach for every topic.
pub struct Trial {
    values: Vec<Override>,
    /// Recall by topic.
    pub scores: QuestionRelevance,
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

/// What a search found.
pub struct Tuned {
    /// Every point of the grid, in its order.
    pub trials: Vec<Trial>,
    cutoff: usize,
    folds: usize,
}

/// What tuning is worth on topics that have no say in it.
pub struct HeldOut<'t> {
    /// For each fold, the best trial on the topics of the others.
    pub choices: Vec<&'t Trial>,
    /// Mean recall of all topics, each by the choice of the topics outside its fold.
    pub recall: f64,
}

impl Search<'_> {
    /// Tries every point.
    pub fn run(&self, session: &Session) -> Result<Tuned, Error> {
        let clariq = ClariQ::of(session.collection)?;
        let labels = clariq.labelled(self.split)?;
        let split = self.split.name();
        let requests = SplitRequests::read(session, split)?.requests;
        let cutoff = self.check(requests.len())?;
        let models = Registry::new(session);
        let around = Around::new(session.collection, session.task, split);
        let context = session.context().with_models(&models).within(&around);
        let task = session.observer.begin("tune", Some(self.grid.len() as u64));
        let mut trials = Vec::with_capacity(self.grid.len());
        let mut needs: Option<Vec<Need>> = None;
        for values in self.grid.points() {
            let system = Loaded::open(self.system, &values)?.system;
            if needs.is_none() && system.pipeline.sees_need() {
                // No parameter of a stage changes them: one prediction is enough for the whole
                // grid.
                needs = predict_needs(session, &context, &system, split, &requests)?
                    .map(|predicted| predicted.needs);
            }
            let requests = with_needs(&requests, needs.as_deref());
            let batch = Batch::new(&context, &requests);
            let rankings = system.pipeline.run(&batch, batch.unranked())?;
            let run = as_run(session.documents, &requests, &rankings);
            trials
                .push(Trial { values, scores: question_relevance(&run, &labels, Ties::Official) });
            task.advance(1);
        }
        task.finish(&format!("{} points", trials.len()));
        Ok(Tuned { trials, cutoff, folds: self.folds })
    }

    /// Checks depth and folds; the index of the depth in [`CUTOFFS`].
    fn check(&self, topics: usize) -> Result<usize, Error> {
        if !(2..=topics).contains(&self.folds) {
            let expected = format!("from 2 to {topics} folds, one topic at least in each");
            let at = Location::file("--folds");
            return Err(Problem::new(at, ProblemKind::Argument, expected, self.folds.to_string())
                .hint("5 and 10 folds are usual")
                .into());
        }
        CUTOFFS.iter().position(|&cutoff| cutoff == self.depth).ok_or_else(|| {
            let expected = format!("one of {CUTOFFS:?}");
            let at = Location::file("--recall");
            Problem::new(at, ProblemKind::Argument, expected, self.depth.to_string())
                .hint("these are the depths of the official scorer")
                .into()
        })
    }
}

/// Requests with their predicted needs.
fn with_needs(requests: &[Request], needs: Option<&[Need]>) -> Vec<Request> {
    let need = |index: usize| needs.and_then(|needs| needs.get(index)).copied();
    let requests = requests.iter().enumerate();
    requests.map(|(index, request)| Request { need: need(index), ..request.clone() }).collect()
}

impl Tuned {
    /// The trials, best first; of equally good ones, the first of the grid first.
    pub fn best_first(&self) -> Vec<&Trial> {
        let mut trials: Vec<(f64, &Trial)> =
            self.trials.iter().map(|trial| (trial.scores.means()[self.cutoff], trial)).collect();
        trials.sort_by(|a, b| b.0.total_cmp(&a.0));
        trials.into_iter().map(|(_, trial)| trial).collect()
    }

    /// Cross-validates the choice of a trial.
    pub fn held_out(&self) -> HeldOut<'_> {
        let topics = self.trials.first().map_or(0, |trial| trial.scores.topics.len());
        let (mut choices, mut recalls) = (Vec::new(), Vec::with_capacity(topics));
        for fold in 0..self.folds {
            let best = self.best_without(fold);
            let held_out = best.iter().flat_map(|best| best.scores.topics.iter().enumerate());
            recalls.extend(
                held_out
                    .filter(|(topic, _)| topic % self.folds == fold)
                    .map(|(_, (_, recalls))| recalls[self.cutoff]),
            );
            choices.extend(best);
        }
        HeldOut { choices, recall: exact_mean(recalls) }
    }

    /// The first best trial on the topics outside a fold.
    fn best_without(&self, fold: usize) -> Option<&Trial> {
        let mean = |trial: &Trial| {
            let topics = trial.scores.topics.iter().enumerate();
            let others = topics.filter(|(topic, _)| topic % self.folds != fold);
            exact_mean(others.map(|(_, (_, recalls))| recalls[self.cutoff]))
        };
        let mut best: Option<(f64, &Trial)> = None;
        for trial in &self.trials {
            let mean = mean(trial);
            if best.is_none_or(|(highest, _)| mean > highest) {
                best = Some((mean, trial));
            }
        }
        best.map(|(_, trial)| trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(texts: &[&str]) -> String {
        Grid::parse(texts).unwrap_err().to_string()
    }

    #[test]
    fn points_are_all_combinations_the_last_parameter_fastest() {
        let grid = Grid::parse(&["a.x=1, 2", "b.y=3,4,5"]).unwrap();
        let shown =
            |values: Vec<Override>| values.into_iter().map(|value| value.value).collect::<String>();
        let points: Vec<String> = grid.points().map(shown).collect();
        assert_eq!(points, ["13", "14", "15", "23", "24", "25"]);
    }

    #[test]
    fn combinations_are_counted_before_they_are_made() {
        let thousand = vec!["1"; 1000].join(",");
        let axes: Vec<String> = ["a.x", "a.y", "a.z"].map(|key| format!("{key}={thousand}")).into();
        let text = Grid::parse(&axes).unwrap_err().to_string();
        assert!(text.contains("at most 10000 combinations, found 1000000000"), "{text}");
        let axes: Vec<String> = (0..30).map(|axis| format!("a.x{axis}={thousand}")).collect();
        assert!(Grid::parse(&axes).is_err(), "the product does not fit a number");
        assert!(message(&["a.x=1", "a.x=2"]).contains("`a.x` twice"));
    }
}
