//! The length of the pairs that a cross-encoder reads, from the documents that it learns from.

use crate::installed;
use crate::session::Session;
use clariq_core::{JudgedQuestions, Recipe, Result, TextSide};
use clariq_folder::{ModelFolder, Tokenize};
use std::mem;

/// The documents of 100 that are read whole, beside the longest request. The longest documents of a
/// collection are often many times as long as the others.
const WHOLE: usize = 95;

/// Lengths are multiples of this number of tokens.
const STEP: usize = 16;

/// Reads longer pairs than the recipe says where the documents are longer, as far as the base reads.
pub(super) fn lengthen(
    session: &Session,
    recipe: &mut Recipe,
    examples: &JudgedQuestions,
) -> Result<()> {
    if !mem::take(&mut recipe.lengthen) {
        return Ok(());
    }
    let kind = recipe.objective.kind();
    let base = installed::locate(&session.models_folder(), &recipe.base, kind)?;
    let tokenize = Tokenize::open(&ModelFolder::open(&base)?, Some(usize::MAX))?;
    let lengths = |texts: &[&str], side| -> Result<Vec<usize>> {
        let mut lengths: Vec<usize> =
            tokenize.texts(texts, side)?.iter().map(|tokens| tokens.ids.len()).collect();
        lengths.sort_unstable();
        Ok(lengths)
    };
    let requests: Vec<&str> = examples.requests.iter().map(String::as_str).collect();
    let longest = lengths(&requests, TextSide::Request)?.pop().unwrap_or_default();
    let documents = lengths(&documents(examples), TextSide::Document)?;
    let length = longest + covering(&documents);
    let before = recipe.max_tokens;
    recipe.read_at_least(length.next_multiple_of(STEP).min(tokenize.most()));
    if recipe.max_tokens > before {
        session.observer.note(&format!(
            "note: `{}` reads pairs of {} tokens, for the length of the documents (--set \
             lengthen=false: {before})",
            recipe.name, recipe.max_tokens
        ));
    }
    Ok(())
}

/// The relevant documents and the negatives, each once.
fn documents(examples: &JudgedQuestions) -> Vec<&str> {
    let mut numbers: Vec<u32> =
        examples.relevant.iter().chain(&examples.candidates).flatten().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|number| examples.questions[number as usize].as_str()).collect()
}

/// The least length that covers the share of the documents; their lengths are in order.
fn covering(lengths: &[usize]) -> usize {
    let covered = (lengths.len() * WHOLE).div_ceil(100);
    covered.checked_sub(1).map_or(0, |last| lengths[last])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_covers_nineteen_of_twenty_documents() {
        let lengths: Vec<usize> = (1..=20).collect();
        assert_eq!(covering(&lengths), 19);
        assert_eq!(covering(&[7]), 7);
        assert_eq!(covering(&[]), 0);
    }

    #[test]
    fn documents_are_those_that_are_learned_from() {
        let examples = JudgedQuestions {
            questions: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            relevant: vec![vec![3, 0], vec![0]],
            candidates: vec![vec![], vec![1]],
            ..JudgedQuestions::default()
        };
        assert_eq!(documents(&examples), ["a", "b", "d"]);
    }
}
