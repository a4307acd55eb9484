//! Banks and indexes for the tests of this crate.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod naive;

use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{Error, Hit};
use clariq_index::{
    Analyzer, Bm25, BuildOptions, Depth, DocumentIndex, OpenedIndex, Query, Scorer,
};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Words that have different tokens in both analysers. Earlier ones are more frequent in
/// [`text`].
pub(crate) const WORDS: [&str; 12] = [
    "river", "stone", "lamp", "garden", "wolf", "bread", "copper", "violin", "harbor", "maple",
    "cloud", "pepper",
];

pub(crate) const ANALYZER: Analyzer = Analyzer::English;

/// A text of the numbered words, where low numbers give the same few words.
pub(crate) fn text(numbers: &[usize]) -> String {
    let words: Vec<&str> =
        numbers.iter().map(|number| WORDS[number * number / WORDS.len()]).collect();
    words.join(" ")
}

/// A bank with ids in the order of the texts.
pub(crate) fn bank<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Bank {
    let row = |(place, text): (usize, T)| BankRow {
        id: format!("Q{place:05}").as_str().into(),
        text: text.into(),
    };
    Bank::new(texts.into_iter().enumerate().map(row).collect(), "Q00001")
}

/// An index and its temporary folder, which is removed with it.
pub(crate) struct Built {
    pub(crate) index: Arc<DocumentIndex>,
    pub(crate) folder: TempDir,
}

pub(crate) fn build(bank: &Bank) -> Built {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (index, opened) = open_or_build(folder.path(), bank).expect("an index");
    assert_eq!(opened, OpenedIndex::Built);
    Built { index, folder }
}

pub(crate) fn open_or_build(
    folder: &Path,
    bank: &Bank,
) -> Result<(Arc<DocumentIndex>, OpenedIndex), Error> {
    let options = BuildOptions::default();
    let (index, opened) = DocumentIndex::open_or_build(folder, bank, ANALYZER, &options)?;
    Ok((Arc::new(index), opened))
}

/// True if an error refuses a folder with anything but an index of this program.
pub(crate) fn is_foreign(error: &Error) -> bool {
    error.to_problem().expected.starts_with("a new folder, or one with an index")
}

pub(crate) fn tokens(text: &str) -> Vec<String> {
    ANALYZER.tokens(text)
}

/// Padded rankings of some requests by two formulas, which must not depend on how an index was
/// built.
pub(crate) fn rankings(index: &Arc<DocumentIndex>) -> Vec<Vec<Hit>> {
    let mut rankings = Vec::new();
    for model in [Bm25::okapi(), Bm25::lucene()] {
        let scorer = Scorer::new(index, model).expect("a scorer");
        for request in
            ["river", "lamp river lamp pepper", "unknown", "w0 w3 w7 w40", "w1 w1 w200 river"]
        {
            let depth = Depth { limit: usize::MAX, pad: true };
            rankings.push(scorer.rank(&Query::new(&tokens(request), depth)).expect("a ranking"));
        }
    }
    rankings
}

/// Reproducible pseudo-random numbers (Steele, Lea and Flood's `SplitMix64`).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("below the bound")
    }

    /// The rank of a word out of `words`: low ones are drawn much more often, as in Zipf's law.
    pub(crate) fn zipf(&mut self, words: usize) -> usize {
        (0..3).fold(words, |bound, _| self.below(bound) + 1) - 1
    }
}

/// `count` texts of up to `longest` words `w0`, `w1`… by Zipf's law; the first text is empty.
pub(crate) fn zipf_texts(seed: u64, count: usize, longest: usize, words: usize) -> Vec<String> {
    let mut numbers = Numbers(seed);
    let mut texts = vec![String::new()];
    while texts.len() < count {
        let length = numbers.below(longest + 1);
        let text: Vec<String> = (0..length).map(|_| format!("w{}", numbers.zipf(words))).collect();
        texts.push(text.join(" "));
    }
    texts
}
