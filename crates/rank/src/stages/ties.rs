//! The order of equal scores in a BM25 ranking.

use clariq_core::{Doc, Documents, Location, Ranking, Result, bail};
use clariq_index::{Analyzer, Depth, NumpyOrder};
use serde::{Deserialize, Serialize};

/// The digits of a checksum that tell banks apart.
const DIGITS: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TieSetting {
    /// Descending id, as in every other ranking.
    #[default]
    Id,
    /// The list of the published baseline, see [`NumpyOrder`], on the banks whose checksums begin
    /// with one of these digits; it may have a document twice. Descending id on all others.
    Numpy(Vec<String>),
    /// Anserini's order and scores: equal scores in single precision by ascending id, then rounded to
    /// four decimals, and lowered by millionths if they are not clearly below the previous one.
    Anserini,
}

impl TieSetting {
    /// Refuses numpy's order of a part of the bank, because it depends on all questions, and banks
    /// without enough digits.
    pub(super) fn check(&self, pad: bool, at: Location) -> Result<()> {
        let Self::Numpy(banks) = self else { return Ok(()) };
        if banks.is_empty() || banks.iter().any(|bank| bank.len() < DIGITS) {
            let hint = "they are the beginning of the checksum that a record has";
            bail!(at, "the first {DIGITS} digits of the checksums of banks", "{banks:?}", hint);
        }
        if !pad {
            let hint = "numpy sorts the whole bank: questions that score 0 are part of its order";
            bail!(at, "`pad = true` beside the order of numpy", "`pad = false`", hint);
        }
        Ok(())
    }
}

/// An order of equal scores, ready for some documents.
pub(super) enum TieOrder {
    Id,
    Numpy(NumpyOrder),
    Anserini,
}

impl TieOrder {
    pub(super) fn new(
        ties: &TieSetting,
        analyzer: Analyzer,
        documents: &dyn Documents,
    ) -> Result<Self> {
        Ok(match ties {
            TieSetting::Id => Self::Id,
            TieSetting::Anserini => Self::Anserini,
            TieSetting::Numpy(banks) => {
                let checksum = documents.checksum();
                if !banks.iter().any(|bank| checksum.starts_with(bank)) {
                    return Ok(Self::Id);
                }
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
            // Documents just below the limit may tie with those just above it.
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

/// Orders hits as Anserini does, and gives them the scores that it writes (`SearchCollection` and
/// `ScoreTiesAdjusterReranker` of Anserini 1.7).
fn order_like_anserini(mut hits: Ranking, depth: usize) -> Ranking {
    hits.sort_unstable_by(|a, b| {
        (b.score as f32).total_cmp(&(a.score as f32)).then(a.doc.cmp(&b.doc))
    });
    hits.truncate(depth);
    let mut previous = f32::INFINITY;
    let mut ties = 0.0;
    let mut last = f64::INFINITY;
    for hit in &mut hits {
        let single = f64::from(hit.score as f32);
        let rounded = ((single * 1e4 + 0.5).floor() / 1e4) as f32;
        if previous - rounded > 1e-4 {
            ties = 0.0;
        } else {
            ties += 1.0;
        }
        previous = rounded - 1e-6 * ties;
        // It prints six decimals. Where it writes a score that is not below the one before, the
        // order is kept here.
        let rounded = (f64::from(previous) * 1e6).round() / 1e6;
        hit.score = if rounded < last { rounded } else { last.next_down() };
        last = hit.score;
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::SystemFile;
    use clariq_core::{Error, Hit};

    fn ordered(hits: &[(u32, f64)], depth: usize) -> Vec<(u32, f64)> {
        let hits = hits.iter().map(|&(doc, score)| Hit { doc: Doc(doc), score }).collect();
        let ranking = order_like_anserini(hits, depth);
        ranking.iter().map(|hit| (hit.doc.0, hit.score)).collect()
    }

    #[test]
    fn single_precision_orders_before_scores_are_rounded_as_in_anserini() {
        let hits = [(1, 2.000_04), (7, 3.0), (3, 1.999_96), (2, 2.0), (9, 1.0)];
        let expected = [(7, 3.0), (1, 2.0), (2, 1.999_999), (3, 1.999_998)];
        assert_eq!(ordered(&hits, 4), expected);
        let hits = [(5, 2.000_01), (4, 2.000_02), (6, 2.000_02 + 1e-9)];
        let expected = [(4, 2.0), (6, 1.999_999), (5, 1.999_998)];
        assert_eq!(ordered(&hits, 9), expected, "ids order what is equal in single precision");
    }

    #[test]
    fn neighbours_in_the_fourth_decimal_are_lowered_as_in_anserini() {
        // 0.5001 - 0.5 is below 1e-4 in single precision, 0.6001 - 0.6 is not.
        let found = ordered(&[(1, 0.600_1), (2, 0.6), (3, 0.500_1), (4, 0.5)], 9);
        let single = |a: f32, b: f32| a - b > 1e-4;
        for (pair, expected) in [(0, single(0.600_1, 0.6)), (2, single(0.500_1, 0.5))] {
            let is_whole = (found[pair + 1].1 * 1e4).fract() == 0.0;
            assert_eq!(is_whole, expected, "{found:?}");
        }
        let many: Vec<(u32, f64)> = (0..300).map(|doc| (doc, 0.5)).chain([(300, 0.4998)]).collect();
        let found = ordered(&many, 1000);
        assert!(found.windows(2).all(|pair| pair[0].1 > pair[1].1), "the order is kept");
        assert_eq!((found[1].1, found[299].1), (0.499_999, 0.499_701));
    }

    fn parse(keys: &str) -> Result<SystemFile> {
        let stage = "stage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 3";
        SystemFile::parse("s.toml", &format!("name = \"s\"\n[[stages]]\n{stage}\n{keys}"), &[])
    }

    #[test]
    fn the_order_of_numpy_needs_the_whole_bank() {
        let numpy = "ties = { numpy = [\"2100c70232f6\"] }";
        assert!(parse(&format!("{numpy}\npad = true")).is_ok());
        assert!(parse("ties = \"id\"").is_ok());
        for (keys, found) in [
            (numpy.to_owned(), "`pad = false`"),
            (format!("pad = false\n{numpy}"), "`pad = false`"),
            ("pad = true\nties = { numpy = [\"\"] }".to_owned(), "[\"\"]"),
            ("pad = true\nties = { numpy = [] }".to_owned(), "[]"),
        ] {
            match parse(&keys) {
                Err(Error::Problem(problem)) => assert_eq!(problem.found, found),
                _ => panic!("{keys} is refused"),
            }
        }
    }
}
