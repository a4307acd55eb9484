//! ROUGE-N, the n-grams that a text shares with a reference, and ROUGE-L, their longest common subsequence.
//!
//! C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004. Words are runs of
//! ASCII letters and digits after the text is in lower case (of Unicode, as the package rouge-score
//! has it: the Kelvin sign becomes a `k`), without stemming; the figure is F1.

use std::collections::HashMap;

/// The F1 of the n-grams of `text` and `reference`, from 0 to 1; 0 if either has none.
pub fn rouge_f1(text: &str, reference: &str, n: usize) -> f64 {
    let found = ngrams(text, n);
    let reference_ngrams = ngrams(reference, n);
    let shared: usize = found
        .iter()
        .map(|(ngram, &count)| count.min(reference_ngrams.get(ngram).copied().unwrap_or(0)))
        .sum();
    let total: usize = found.values().chain(reference_ngrams.values()).sum();
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / total as f64 }
}

/// The counts of a text's n-grams.
fn ngrams(text: &str, n: usize) -> HashMap<Vec<String>, usize> {
    let mut counts = HashMap::new();
    for ngram in words(text).windows(n.max(1)) {
        *counts.entry(ngram.to_vec()).or_insert(0) += 1;
    }
    counts
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The F1 of the longest common subsequence of the words of `text` and `reference`, from 0 to 1.
pub fn rouge_l(text: &str, reference: &str) -> f64 {
    let [text, reference] = [text, reference].map(words);
    let common = longest_common_subsequence(&reference, &text);
    if common == 0 {
        return 0.0;
    }
    let precision = common as f64 / text.len() as f64;
    let recall = common as f64 / reference.len() as f64;
    2.0 * precision * recall / (precision + recall)
}

/// The length of the longest common subsequence, by a row of the usual table at a time.
fn longest_common_subsequence(one: &[String], other: &[String]) -> usize {
    let mut row = vec![0; other.len() + 1];
    for token in one {
        let mut before = 0;
        for (place, of_other) in other.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = if token == of_other { before + 1 } else { above.max(row[place]) };
            before = above;
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_words_count_as_often_as_both_have_them() {
        // Three of four words of the text, and three of five of the reference, are shared.
        assert_eq!(rouge_f1("a a a b", "a a b c d", 1), 2.0 * 3.0 / 9.0);
        assert_eq!(rouge_f1("one, two; THREE", "one two three", 2), 1.0);
        assert_eq!(rouge_f1("word", "word", 2), 0.0, "no pair of words");
    }

    #[test]
    fn words_are_ascii_letters_and_digits() {
        assert_eq!(words("It’s a well-known É5."), ["it", "s", "a", "well", "known", "5"]);
    }

    #[test]
    fn lower_case_is_that_of_unicode() {
        assert_eq!(rouge_f1("300 \u{212a}", "300 k", 1), 1.0, "the Kelvin sign");
        // İ becomes an i and a combining dot, which is no letter.
        assert_eq!(rouge_f1("\u{130}zmir", "i zmir", 1), 1.0);
    }
}
