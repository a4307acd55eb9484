//! The share of twelve kinds of questions among the first fifteen that BM25 finds for a phrase.
//!
//! BM25 is `lucene` with k1 = 0.9 and b = 0.4 over this crate's tokens of the bank. Questions of
//! equal scores are in the order of the bank.

use crate::text::{is_stop, stems, tokens};
use clariq_collections::documents::{Bank, BankRow};
use clariq_index::Bm25;
use rayon::prelude::*;
use regex::RegexSet;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The kinds, with the patterns of their questions.
const KINDS: [(&str, &str); 12] = [
    ("refer", r"\b(refer|mean|talking about)"),
    ("which", r"\bwhich\b"),
    ("kind", r"\b(kind|type)\b"),
    ("specific", r"\b(specific|particular|certain)"),
    ("know", r"\b(know|learn)\b"),
    ("or", r"\bor\b"),
    ("buy", r"\b(buy|purchase|shop|store|sell|price|cost)"),
    ("where", r"\b(location|located|where|near|live|area|state|city)\b"),
    ("history", r"\bhistory\b"),
    ("media", r"\b(movie|film|tv|song|book|band|game|music|album|lyrics)"),
    ("health", r"\b(symptom|treat|medical|disease|doctor|health|cause)"),
    ("how", r"\bhow\b"),
];

pub(super) const COUNT: usize = KINDS.len();

/// The number of questions that are used. Features are shares of it even if fewer are found.
const TOP: usize = 15;

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(KINDS.map(|(_, pattern)| pattern)).unwrap_or_else(|_| RegexSet::empty())
});

pub(super) fn names() -> impl Iterator<Item = String> {
    KINDS.iter().map(|(name, _)| format!("aspect_{name}"))
}

/// The inverted index of the bank, and the kinds of its questions.
///
/// The crate `index` has no such index: the words are not those of an analyser, and among equal scores,
/// the question that comes first in the bank wins.
pub(super) struct Aspects {
    model: Bm25,
    /// The questions that contain each stem, with the number of occurrences.
    postings: HashMap<String, Vec<(u32, u32)>>,
    /// The length normalisation of BM25, by question.
    norms: Vec<f64>,
    /// The kinds of each question.
    kinds: Vec<[bool; COUNT]>,
}

/// The stems of a question's words, and its kinds.
fn stems_and_kinds(question: &BankRow) -> (Vec<String>, [bool; COUNT]) {
    let mut words = tokens(&question.text);
    words.retain(|token| !is_stop(token));
    let found = PATTERNS.matches(&question.text);
    (stems(&words), std::array::from_fn(|kind| found.matched(kind)))
}

impl Aspects {
    pub(super) fn new(bank: &Bank) -> Self {
        let (documents, kinds): (Vec<Vec<String>>, Vec<_>) =
            bank.rows().par_iter().map(stems_and_kinds).unzip();
        let mut postings: HashMap<String, Vec<(u32, u32)>> = HashMap::new();
        for (question, stems) in (0..).zip(&documents) {
            for stem in stems {
                let list = postings.entry(stem.clone()).or_default();
                match list.last_mut() {
                    Some((last, count)) if *last == question => *count += 1,
                    _ => list.push((question, 1)),
                }
            }
        }
        let model = Bm25 { k1: 0.9, b: 0.4, ..Bm25::lucene() };
        let tokens = documents.iter().map(Vec::len).sum::<usize>();
        let mean_length = tokens as f64 / documents.len().max(1) as f64;
        let norm = |stems: &Vec<String>| model.norm(stems.len() as f64, mean_length);
        Self { model, postings, norms: documents.iter().map(norm).collect(), kinds }
    }

    /// The features of a phrase, given the stems of its content words.
    pub(super) fn features(&self, stems: &[String]) -> [f64; COUNT] {
        let mut shares = [0.0; COUNT];
        for question in self.rank(stems) {
            for (share, &is_of_kind) in shares.iter_mut().zip(&self.kinds[question]) {
                *share += f64::from(u8::from(is_of_kind));
            }
        }
        shares.map(|share| share / TOP as f64)
    }

    /// The first questions by BM25.
    fn rank(&self, stems: &[String]) -> Vec<usize> {
        let mut scores = vec![0.0; self.norms.len()];
        for list in stems.iter().filter_map(|stem| self.postings.get(stem)) {
            let idf = self.model.idf(scores.len() as f64, list.len() as f64);
            for &(question, count) in list {
                let question = question as usize;
                scores[question] +=
                    idf * self.model.saturation(f64::from(count), self.norms[question]);
            }
        }
        let mut found: Vec<usize> =
            (0..scores.len()).filter(|&question| scores[question] > 0.0).collect();
        found.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        found.truncate(TOP);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::documents::BankRow;

    #[test]
    fn shares_of_kinds_are_over_fifteen_questions() {
        let texts = [
            "",
            "which tent do you mean",
            "do you want to buy a tent or pegs",
            "do you like boats",
        ];
        let rows = texts.iter().zip(1..).map(|(text, id)| BankRow {
            id: format!("Q{id}").as_str().into(),
            text: (*text).to_owned(),
        });
        let aspects = Aspects::new(&Bank::new(rows.collect(), "Q00001"));
        let of: HashMap<String, f64> =
            names().zip(aspects.features(&["tent".to_owned()])).collect();
        let found = |name: &str| of[name];
        assert_eq!(
            [found("aspect_which"), found("aspect_refer"), found("aspect_buy")],
            [1.0 / 15.0; 3]
        );
        assert_eq!((found("aspect_or"), found("aspect_how")), (1.0 / 15.0, 0.0));
        assert_eq!(aspects.features(&[]), [0.0; COUNT]);
        assert_eq!(PATTERNS.len(), COUNT);
    }
}
