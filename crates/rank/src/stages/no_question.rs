//! Stage `no_question`: when is asking nothing better? Places the empty question at a fixed rank, for every request or for
//! those that are predicted to be clear.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::{Build, no_need_model};
use clariq_collections::clariq::{NO_QUESTION, Topic};
use clariq_core::{Location, Need, Problem, ProblemKind};
use clariq_files::strictly_decreasing;
use clariq_index::{Explanation, Hit};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Puts the empty question at a rank, or behind the last question of a shorter ranking.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoQuestion {
    /// The rank, from 1.
    rank: NonZeroUsize,
    /// Only where the predicted need is at most this; where none was predicted, nothing is placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    when_need: Option<Need>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    let (at, predicted) = (build.table.at("when_need"), build.predicts_need());
    let stage: NoQuestion = build.table.read()?;
    if stage.when_need.is_some() && !predicted {
        return Err(no_need_model(at, "when_need"));
    }
    Ok(Box::new(stage))
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
    place(ranking, empty, NonZeroUsize::MIN);
}

/// Its score is just below its predecessor's, and those of its successors are lowered where they would tie with it: the
/// order by score stays the order of the ranking.
fn place(ranking: &mut Ranking, empty: u32, rank: NonZeroUsize) {
    ranking.retain(|hit| hit.question != empty);
    let place = (rank.get() - 1).min(ranking.len());
    let score = match place {
        0 => ranking.first().map_or(1.0, |first| first.score + 1.0),
        _ => ranking[place - 1].score,
    };
    ranking.insert(place, Hit { question: empty, score });
    let scores: Vec<f64> = ranking[place.saturating_sub(1)..].iter().map(|hit| hit.score).collect();
    for (hit, score) in
        ranking[place.saturating_sub(1)..].iter_mut().zip(strictly_decreasing(&scores))
    {
        hit.score = score;
    }
}

impl NoQuestion {
    fn is_meant(&self, topic: &Topic) -> bool {
        self.when_need.is_none_or(|clear| topic.need.is_some_and(|need| need <= clear))
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
        for (topic, ranking) in topics.iter().zip(&mut rankings) {
            if self.is_meant(topic) {
                place(ranking, empty, self.rank);
            }
        }
        progress(topics.len() as u64);
        Ok(rankings)
    }

    fn looks_at_need(&self) -> bool {
        self.when_need.is_some()
    }

    fn explain(
        &self,
        _context: &Context,
        topic: &Topic,
        _question: u32,
    ) -> Result<Option<Explanation>, Error> {
        let Some((clear, need)) = self.when_need.zip(topic.need) else { return Ok(None) };
        let what = if self.is_meant(topic) {
            format!(
                "predicted need, at most {clear}: asking nothing is placed at rank {}",
                self.rank
            )
        } else {
            format!("predicted need, above {clear}: nothing is placed")
        };
        Ok(Some(Explanation::value(f64::from(need.get()), what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(scores: &[f64], rank: usize) -> Vec<(u32, f64)> {
        let mut ranking: Ranking =
            (0..).zip(scores).map(|(place, &score)| Hit { question: 100 - place, score }).collect();
        place(&mut ranking, 0, rank.try_into().unwrap());
        ranking.iter().map(|hit| (hit.question, hit.score)).collect()
    }

    #[test]
    fn the_empty_question_comes_first_alone_or_before_others() {
        assert_eq!(placed(&[], 1), [(0, 1.0)]);
        assert_eq!(placed(&[3.0, 2.0], 1), [(0, 4.0), (100, 3.0), (99, 2.0)]);
    }

    #[test]
    fn a_limit_of_need_is_for_requests_with_a_lower_prediction() {
        let topic = |need| Topic {
            id: "1".into(),
            request: String::new(),
            description: String::new(),
            need: Need::new(need),
        };
        let always = NoQuestion { rank: NonZeroUsize::MIN, when_need: None };
        let clear = NoQuestion { when_need: Need::new(2), ..always };
        let none = 0;
        assert_eq!([none, 1, 2, 3, 4].map(|need| always.is_meant(&topic(need))), [true; 5]);
        assert_eq!(
            [none, 1, 2, 3, 4].map(|need| clear.is_meant(&topic(need))),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn ties_around_it_keep_their_order() {
        let ranking = placed(&[3.0, 2.0, 2.0, 2.0, 1.0], 3);
        assert_eq!(ranking.iter().map(|hit| hit.0).collect::<Vec<_>>(), [100, 99, 0, 98, 97, 96]);
        assert!(ranking.windows(2).all(|pair| pair[0].1 > pair[1].1), "{ranking:?}");
        assert_eq!(
            (ranking[0].1, ranking[1].1, ranking[5].1),
            (3.0, 2.0, 1.0),
            "others keep their scores"
        );
    }

    #[test]
    fn a_shorter_ranking_gets_it_at_the_end() {
        assert_eq!(placed(&[3.0], 20).len(), 2);
        assert_eq!(placed(&[3.0], 20)[1].0, 0);
    }
}
