//! The order of equal scores in a BM25 ranking.

use crate::error::Error;
use clariq_core::{Doc, Documents, Location, Problem, ProblemKind, Ranking};
use clariq_index::{Analyzer, Depth, NumpyOrder};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// How equal scores are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ties {
    /// By descending id, as in every other ranking.
    #[default]
    Id,
    /// As numpy sorted in 2020: the order of the published baseline, see [`NumpyOrder`].
    Numpy,
}

impl Ties {
    /// Refuses numpy's order of a part of the bank: it depends on all questions.
    pub(super) fn check(self, pad: bool, at: Location) -> Result<(), Problem> {
        if self == Self::Id || pad {
            return Ok(());
        }
        let (expected, found) = ("`pad = true` beside `ties = \"numpy\"`", "`pad = false`");
        Err(Problem::new(at, ProblemKind::Configuration, expected, found)
            .hint("numpy sorts the whole bank: questions that score 0 are part of its order"))
    }
}

/// An order of equal scores, ready for some documents.
pub(super) struct Order(Option<NumpyOrder>);

impl Order {
    pub(super) fn new(
        ties: Ties,
        analyzer: Analyzer,
        documents: &dyn Documents,
    ) -> Result<Self, Error> {
        if ties == Ties::Id {
            return Ok(Self(None));
        }
        let texts = Doc::all(documents.len()).map(|doc| documents.text(doc));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        Ok(Self(Some(NumpyOrder::new(analyzer, texts.iter().map(AsRef::as_ref)))))
    }

    /// The hits that a scorer has to find for a ranking of this depth.
    pub(super) fn depth(&self, depth: NonZeroUsize, pad: bool) -> Depth {
        match &self.0 {
            None => Depth { limit: depth.get(), pad },
            Some(_) => Depth::matching(usize::MAX),
        }
    }

    /// The ranking of a scorer's hits for a request with these candidates.
    pub(super) fn apply(
        &self,
        hits: Ranking,
        depth: NonZeroUsize,
        candidates: Option<&[Doc]>,
    ) -> Ranking {
        match &self.0 {
            None => hits,
            Some(order) => order.rank(&hits, depth.get(), candidates),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::system::System;

    fn parse(keys: &str) -> Result<System, Error> {
        let stage = "stage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 3";
        System::parse("s.toml", &format!("name = \"s\"\n[[stages]]\n{stage}\n{keys}"), &[])
    }

    #[test]
    fn the_order_of_numpy_needs_the_whole_bank() {
        assert!(parse("ties = \"numpy\"\npad = true").is_ok());
        assert!(parse("ties = \"id\"").is_ok());
        for keys in ["ties = \"numpy\"", "pad = false\nties = \"numpy\""] {
            match parse(keys) {
                Err(Error::Core(clariq_core::Error::Problem(problem))) => {
                    assert_eq!(problem.found, "`pad = false`");
                }
                _ => panic!("{keys} is refused"),
            }
        }
    }
}
