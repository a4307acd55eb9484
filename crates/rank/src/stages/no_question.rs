//! Stage `no_question`: when is asking nothing better? Places the empty question at a fixed rank.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use clariq_corpus::{Location, NO_QUESTION, Problem, ProblemKind, Topic, strictly_decreasing};
use clariq_index::Hit;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Puts the empty question at a rank, or behind the last question of a shorter ranking.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoQuestion {
    /// The rank, from 1.
    rank: NonZeroUsize,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<NoQuestion>()?))
}

/// The number of the empty question, which a stage needs.
pub(super) fn empty_question(context: &Context, stage: &str) -> Result<u32, Error> {
    context.bank.find(NO_QUESTION).ok_or_else(|| {
        let at = Location::file("question_bank.tsv");
        let expected = format!("`{NO_QUESTION}`, the empty question");
        Problem::new(at, ProblemKind::UnknownQuestion, expected, "no such id")
            .hint(format!("the stage `{stage}` needs a bank with the empty question"))
            .into()
    })
}

/// Puts the empty question before all others.
pub(super) fn place_first(ranking: &mut Ranking, empty: u32) {
    NoQuestion { rank: NonZeroUsize::MIN }.place(ranking, empty);
}

impl NoQuestion {
    /// Its score is just below its predecessor's, and those of its successors are lowered where they would tie with it:
    /// the order by score stays the order of the ranking.
    fn place(&self, ranking: &mut Ranking, empty: u32) {
        ranking.retain(|hit| hit.question != empty);
        let place = (self.rank.get() - 1).min(ranking.len());
        let score = match place {
            0 => ranking.first().map_or(1.0, |first| first.score + 1.0),
            _ => ranking[place - 1].score,
        };
        ranking.insert(place, Hit { question: empty, score });
        let scores: Vec<f64> = ranking[place.saturating_sub(1)..].iter().map(|hit| hit.score).collect();
        for (hit, score) in ranking[place.saturating_sub(1)..].iter_mut().zip(strictly_decreasing(&scores)) {
            hit.score = score;
        }
    }
}

impl Stage for NoQuestion {
    fn name(&self) -> &'static str {
        "no_question"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        mut rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let empty = empty_question(context, "no_question")?;
        for ranking in &mut rankings {
            self.place(ranking, empty);
        }
        progress(topics.len() as u64);
        Ok(rankings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(scores: &[f64], rank: usize) -> Vec<(u32, f64)> {
        let mut ranking: Ranking =
            (0..).zip(scores).map(|(place, &score)| Hit { question: 100 - place, score }).collect();
        NoQuestion { rank: rank.try_into().unwrap() }.place(&mut ranking, 0);
        ranking.iter().map(|hit| (hit.question, hit.score)).collect()
    }

    #[test]
    fn the_empty_question_comes_first_alone_or_before_others() {
        assert_eq!(placed(&[], 1), [(0, 1.0)]);
        assert_eq!(placed(&[3.0, 2.0], 1), [(0, 4.0), (100, 3.0), (99, 2.0)]);
    }

    #[test]
    fn ties_around_it_keep_their_order() {
        let ranking = placed(&[3.0, 2.0, 2.0, 2.0, 1.0], 3);
        assert_eq!(ranking.iter().map(|hit| hit.0).collect::<Vec<_>>(), [100, 99, 0, 98, 97, 96]);
        assert!(ranking.windows(2).all(|pair| pair[0].1 > pair[1].1), "{ranking:?}");
        assert_eq!((ranking[0].1, ranking[1].1, ranking[5].1), (3.0, 2.0, 1.0), "others keep their scores");
    }

    #[test]
    fn a_shorter_ranking_gets_it_at_the_end() {
        assert_eq!(placed(&[3.0], 20).len(), 2);
        assert_eq!(placed(&[3.0], 20)[1].0, 0);
    }
}
