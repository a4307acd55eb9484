//! The order of equal scores in a BM25 ranking.

use clariq_core::{Doc, Documents, Location, Ranking, Result, bail};
use clariq_index::{Analyzer, Depth, NumpyOrder};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ties {
    /// By descending id, as in every other ranking.
    #[default]
    Id,
    /// As numpy sorted in 2020: the order of the published baseline, see [`NumpyOrder`].
    Numpy,
    /// As Anserini writes runs: scores that are equal in four digits by ascending id, each a
    /// millionth below the one before.
    Anserini,
}

impl Ties {
    /// Refuses numpy's order of a part of the bank: it depends on all questions.
    pub(super) fn check(self, pad: bool, at: Location) -> Result<()> {
        if self != Self::Numpy || pad {
            return Ok(());
        }
        let hint = "numpy sorts the whole bank: questions that score 0 are part of its order";
        bail!(at, "`pad = true` beside `ties = \"numpy\"`", "`pad = false`", hint)
    }
}

/// An order of equal scores, ready for some documents.
pub(super) enum Order {
    Id,
    Numpy(NumpyOrder),
    Anserini,
}

impl Order {
    pub(super) fn new(ties: Ties, analyzer: Analyzer, documents: &dyn Documents) -> Result<Self> {
        Ok(match ties {
            Ties::Id => Self::Id,
            Ties::Anserini => Self::Anserini,
            Ties::Numpy => {
                let texts = Doc::all(documents.len()).map(|doc| documents.text(doc));
                let texts = texts.collect::<Result<Vec<_>, _>>()?;
                Self::Numpy(NumpyOrder::new(analyzer, texts.iter().map(AsRef::as_ref)))
            }
        })
    }

    /// The hits that a scorer has to find for a ranking of this depth.
    pub(super) fn depth(&self, depth: usize, pad: bool) -> Depth {
        match self {
            Self::Id => Depth { limit: depth, pad },
            // What is just below the limit may tie with what is just above it.
            Self::Anserini => Depth { limit: usize::MAX, pad },
            Self::Numpy(_) => Depth::matching(usize::MAX),
        }
    }

    /// The ranking of a scorer's hits for a request with these candidates.
    pub(super) fn apply(&self, hits: Ranking, depth: usize, candidates: Option<&[Doc]>) -> Ranking {
        match self {
            Self::Id => hits,
            Self::Anserini => order_like_anserini(hits, depth),
            Self::Numpy(order) => order.rank(&hits, depth, candidates),
        }
    }
}

fn order_like_anserini(mut hits: Ranking, depth: usize) -> Ranking {
    for hit in &mut hits {
        hit.score = (hit.score * 1e4).round() / 1e4;
    }
    hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    hits.truncate(depth);
    let (mut score, mut ties) = (f64::INFINITY, 0.0);
    for hit in &mut hits {
        ties = if hit.score == score { ties + 1.0 } else { 0.0 };
        score = hit.score;
        hit.score -= ties * 1e-6;
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;
    use clariq_core::{Error, Hit};

    #[test]
    fn scores_of_four_equal_digits_are_in_the_order_of_ids() {
        let hit = |(doc, score)| Hit { doc: Doc(doc), score };
        let hits = [(1, 2.000_04), (7, 3.0), (3, 1.999_96), (2, 2.0), (9, 1.0)].map(hit).to_vec();
        let ranking = order_like_anserini(hits, 4);
        let found: Vec<(u32, f64)> = ranking.iter().map(|hit| (hit.doc.0, hit.score)).collect();
        assert_eq!(found, [(7, 3.0), (1, 2.0), (2, 1.999_999), (3, 1.999_998)]);
    }

    fn parse(keys: &str) -> Result<System> {
        let stage = "stage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 3";
        System::parse("s.toml", &format!("name = \"s\"\n[[stages]]\n{stage}\n{keys}"), &[])
    }

    #[test]
    fn the_order_of_numpy_needs_the_whole_bank() {
        assert!(parse("ties = \"numpy\"\npad = true").is_ok());
        assert!(parse("ties = \"id\"").is_ok());
        for keys in ["ties = \"numpy\"", "pad = false\nties = \"numpy\""] {
            match parse(keys) {
                Err(Error::Problem(problem)) => {
                    assert_eq!(problem.found, "`pad = false`");
                }
                _ => panic!("{keys} is refused"),
            }
        }
    }
}
