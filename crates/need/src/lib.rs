//! How much clarification does a request need, from 1 (clear by itself) to 4 (cannot be answered before asking back)?
//!
//! A [`NeedModel`] gives a label to every request of a batch. So far there is the model that every other has to
//! beat, [`Majority`].

use clariq_corpus::{Labelled, Location, Need, Problem, ProblemKind, Report, Topic};
use serde::Serialize;

/// Requests in, labels out: one per request, in the same order.
pub trait NeedModel: Send + Sync {
    /// The name in configurations.
    fn name(&self) -> &'static str;

    /// What made the model, as it is written beside a run.
    fn parameters(&self) -> serde_json::Value;

    /// A label for each request.
    fn predict(&self, topics: &[Topic]) -> Vec<Need>;
}

/// A need model that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration or the training labels do not make sense.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        let Error::Problem(problem) = error;
        Self::from(problem.as_ref())
    }
}

/// The most frequent label of the training split, whatever the request; of equally frequent ones the higher, because
/// asking once too often costs a user less than a wrong answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Majority {
    /// The label.
    pub label: Need,
    /// How many training topics have the labels 1, 2, 3 and 4.
    pub counts: [usize; 4],
}

impl Majority {
    /// Counts the labels of a training split.
    pub fn train(train: &Labelled) -> Result<Self, Error> {
        let needs = train.topics.iter().filter_map(|topic| topic.need);
        let mut counts = [0; 4];
        needs.for_each(|need| counts[usize::from(need.get()) - 1] += 1);
        let most = Need::ALL.into_iter().zip(counts).max_by_key(|&(_, count)| count).filter(|&(_, count)| count > 0);
        let Some((label, _)) = most else {
            let at = Location::file(&train.name);
            let problem = Problem::new(at, ProblemKind::Empty, "topics with a clarification need", "none");
            return Err(Box::new(problem.hint("a need model is trained on train.tsv")).into());
        };
        Ok(Self { label, counts })
    }
}

impl NeedModel for Majority {
    fn name(&self) -> &'static str {
        "majority"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn predict(&self, topics: &[Topic]) -> Vec<Need> {
        vec![self.label; topics.len()]
    }
}

/// Makes the model that a configuration names at some place, trained on the labels that `train` reads.
pub fn train<E: From<Error>>(
    name: &str,
    at: &Location,
    train: impl FnOnce() -> Result<Labelled, E>,
) -> Result<Box<dyn NeedModel>, E> {
    match name {
        "majority" => Ok(Box::new(Majority::train(&train()?)?)),
        other => {
            let found = format!("`{other}`");
            let problem = Problem::new(at.clone(), ProblemKind::Configuration, "a need model: `majority`", found);
            Err(Error::from(Box::new(problem.hint("configs/README.md lists the need models"))).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(needs: &[u8]) -> Labelled {
        let topics = needs.iter().map(|&need| Topic {
            id: "1".into(),
            request: String::new(),
            description: String::new(),
            need: Need::new(need),
        });
        Labelled { topics: topics.collect(), ..Labelled::default() }
    }

    #[test]
    fn the_most_frequent_label_wins_and_ties_go_up() {
        assert_eq!(Majority::train(&labelled(&[1, 2, 2, 3])).unwrap().label.get(), 2);
        assert_eq!(Majority::train(&labelled(&[1, 3, 3, 1])).unwrap().label.get(), 3);
        assert!(Majority::train(&labelled(&[])).is_err());
    }

    #[test]
    fn every_request_gets_a_label() {
        let train = labelled(&[2, 2]);
        let model = Majority::train(&train).unwrap();
        assert_eq!(model.predict(&train.topics), [Need::new(2).unwrap(); 2]);
    }
}
