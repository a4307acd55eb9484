//! Stage `no_question`: puts the empty question at a fixed rank, for all requests or the clear ones.

use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Hit, Need, Ranking, Result};
use clariq_files::strictly_decreasing;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoQuestion {
    /// The rank of the empty question, from 1; a shorter ranking gets it at the end.
    rank: NonZeroUsize,
    /// Only for requests with a predicted need of at most this; not for those without a prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    when_need: Option<Need>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    build.require_need_model("when_need")?;
    Ok(Box::new(build.table.read::<NoQuestion>()?))
}

/// Inserts a document at a rank, from 1, or at the end of a shorter ranking.
///
/// Its score is just below its predecessor's, and those of its successors are lowered where they
/// would tie with it: the order by score stays the order of the ranking.
pub(super) fn insert_at(ranking: &mut Ranking, doc: Doc, rank: NonZeroUsize) {
    ranking.retain(|hit| hit.doc != doc);
    let index = (rank.get() - 1).min(ranking.len());
    let score = match index {
        0 => ranking.first().map_or(1.0, |first| first.score + 1.0),
        _ => ranking[index - 1].score,
    };
    ranking.insert(index, Hit { doc, score });
    let touched = &mut ranking[index.saturating_sub(1)..];
    let scores: Vec<f64> = touched.iter().map(|hit| hit.score).collect();
    for (hit, score) in touched.iter_mut().zip(strictly_decreasing(&scores)) {
        hit.score = score;
    }
}

impl NoQuestion {
    fn applies_to(&self, need: Option<Need>) -> bool {
        self.when_need.is_none_or(|clear| need.is_some_and(|need| need <= clear))
    }
}

impl Stage for NoQuestion {
    fn about(&self) -> About {
        About { sees_need: self.when_need.is_some(), ..About::new("no_question", self) }
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        // There is nothing to place in a collection without an empty question.
        let Some(empty_question) = batch.context.documents.empty_question() else {
            return Ok(rankings);
        };
        for (request, ranking) in batch.requests.iter().zip(&mut rankings) {
            if self.applies_to(request.need) {
                insert_at(ranking, empty_question, self.rank);
            }
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, _: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let need = one.requests.first().and_then(|request| request.need);
        let Some((clear, need)) = self.when_need.zip(need) else { return Ok(None) };
        let what = if self.applies_to(Some(need)) {
            format!(
                "predicted need, at most {clear}: the empty question is placed at rank {}",
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

    fn inserted(scores: &[f64], rank: usize) -> Vec<(u32, f64)> {
        let hit = |(index, &score): (u32, &f64)| Hit { doc: Doc(100 - index), score };
        let mut ranking: Ranking = (0..).zip(scores).map(hit).collect();
        insert_at(&mut ranking, Doc(0), rank.try_into().unwrap());
        ranking.iter().map(|hit| (hit.doc.0, hit.score)).collect()
    }

    #[test]
    fn the_empty_question_comes_first_alone_or_before_others() {
        assert_eq!(inserted(&[], 1), [(0, 1.0)]);
        assert_eq!(inserted(&[3.0, 2.0], 1), [(0, 4.0), (100, 3.0), (99, 2.0)]);
    }

    #[test]
    fn ties_around_the_empty_question_keep_their_order() {
        let ranking = inserted(&[3.0, 2.0, 2.0, 2.0, 1.0], 3);
        assert_eq!(ranking.iter().map(|hit| hit.0).collect::<Vec<_>>(), [100, 99, 0, 98, 97, 96]);
        assert!(ranking.windows(2).all(|pair| pair[0].1 > pair[1].1), "{ranking:?}");
        let untouched = (ranking[0].1, ranking[1].1, ranking[5].1);
        assert_eq!(untouched, (3.0, 2.0, 1.0), "others keep their scores");
    }

    #[test]
    fn a_shorter_ranking_gets_the_empty_question_at_the_end() {
        assert_eq!(inserted(&[3.0], 20).len(), 2);
        assert_eq!(inserted(&[3.0], 20)[1].0, 0);
    }
}
