//! The document that represents saying nothing, and its position in a ranking.

use crate::context::Context;
use clariq_core::Error;
use clariq_core::{Doc, Hit, Location, Problem, ProblemKind, Ranking};
use clariq_files::strictly_decreasing;
use std::num::NonZeroUsize;

/// The document that represents saying nothing; an error where the collection has none.
pub(super) fn silence(context: &Context, stage: &str) -> Result<Doc, Error> {
    context.documents.silence().ok_or_else(|| {
        let at = Location::file(format!("stage `{stage}`"));
        let expected = "a collection with an empty question, as `Q00001` of question_bank.tsv";
        Problem::new(at, ProblemKind::UnknownQuestion, expected, "no such id")
            .hint(format!("leave the stage `{stage}` out, or add the empty question"))
            .into()
    })
}

/// Puts a document at a rank, from 1, or behind the last of a shorter ranking.
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
    fn it_comes_first_alone_or_before_others() {
        assert_eq!(inserted(&[], 1), [(0, 1.0)]);
        assert_eq!(inserted(&[3.0, 2.0], 1), [(0, 4.0), (100, 3.0), (99, 2.0)]);
    }

    #[test]
    fn ties_around_it_keep_their_order() {
        let ranking = inserted(&[3.0, 2.0, 2.0, 2.0, 1.0], 3);
        assert_eq!(ranking.iter().map(|hit| hit.0).collect::<Vec<_>>(), [100, 99, 0, 98, 97, 96]);
        assert!(ranking.windows(2).all(|pair| pair[0].1 > pair[1].1), "{ranking:?}");
        let untouched = (ranking[0].1, ranking[1].1, ranking[5].1);
        assert_eq!(untouched, (3.0, 2.0, 1.0), "others keep their scores");
    }

    #[test]
    fn a_shorter_ranking_gets_it_at_the_end() {
        assert_eq!(inserted(&[3.0], 20).len(), 2);
        assert_eq!(inserted(&[3.0], 20)[1].0, 0);
    }
}
