//! The organisers' scores of responses that need no model: ROUGE-L and token recall against the reference
//! response, and the share of a response's tokens that a passage has. Source: `run_algorithmic.py`, which
//! `scripts/evaluation/run_generation_eval.py` of the repository calls, and the package `rouge-score`.

use crate::domains::Domain;
use crate::submission::GivenResponse;
use crate::tasks::MtragTask;
use clariq_collections::evaluation::{ScoreCell, ScoreTable};
use clariq_core::{RequestId, is_python_space};
use clariq_eval::{exact_mean, ratio, rouge_l};
use regex::Regex;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// The name of the row of all domains.
const ALL: &str = "all";

/// The scores of a response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResponseScores {
    /// F1 of the longest common subsequence of the tokens of response and reference, without stemming.
    pub rouge_l: f64,
    /// The share of the reference's tokens that the response has.
    pub recall: f64,
    /// The largest share of the response's tokens that one of its passages has; `None` without passages.
    pub k_precision: Option<f64>,
}

impl ResponseScores {
    /// The scores of a response against a reference and the passages that it was written from.
    pub fn of(response: &str, reference: &str, passages: &[String]) -> Self {
        let tokens = tokens(response);
        let shares = passages.iter().map(|passage| {
            let common = common(&tokens, &self::tokens(passage));
            ratio(common, tokens.len())
        });
        let reference_tokens = self::tokens(reference);
        Self {
            rouge_l: rouge_l(response, reference),
            recall: ratio(common(&tokens, &reference_tokens), reference_tokens.len()),
            k_precision: shares.max_by(f64::total_cmp),
        }
    }
}

/// The mean scores of responses by domain, and over all; `None` if no response has a reference. As in the
/// organisers' program, the first reference counts.
pub(crate) fn response_table(
    tasks: &[MtragTask],
    responses: &HashMap<RequestId, GivenResponse>,
) -> Option<ScoreTable> {
    let mut domains: BTreeMap<Domain, Vec<ResponseScores>> = BTreeMap::new();
    for task in tasks {
        let (Some(response), Some(reference)) = (responses.get(&task.id), task.targets.first())
        else {
            continue;
        };
        let scores = ResponseScores::of(&response.text, reference, &response.passages);
        domains.entry(task.domain).or_default().push(scores);
    }
    let all: Vec<ResponseScores> = domains.values().flatten().copied().collect();
    let rows = domains.iter().map(|(domain, scores)| row(domain.name(), scores));
    let rows: Vec<_> = rows.chain([row(ALL, &all)]).collect();
    let header = vec!["domain", "responses", "RougeL", "recall", "K-precision"];
    (!all.is_empty()).then_some(ScoreTable { name: "texts", header, rows })
}

fn row(name: &str, scores: &[ResponseScores]) -> Vec<ScoreCell> {
    let mean = |of: fn(&ResponseScores) -> Option<f64>| {
        let values: Vec<f64> = scores.iter().filter_map(of).collect();
        if values.is_empty() { ScoreCell::Empty } else { ScoreCell::Score(exact_mean(values), 5) }
    };
    vec![
        ScoreCell::Text(name.to_owned()),
        ScoreCell::Count(scores.len()),
        mean(|scores| Some(scores.rouge_l)),
        mean(|scores| Some(scores.recall)),
        mean(|scores| scores.k_precision),
    ]
}

/// The number of tokens that two lists have in common, each as often as in both.
fn common(one: &[String], other: &[String]) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for token in one {
        *counts.entry(token).or_default() += 1;
    }
    let mut common = 0;
    for token in other {
        if let Some(count) = counts.get_mut(token.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    common
}

static ARTICLES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(a|an|the)\b").expect("a valid expression"));

/// The words of a text in lower case, without ASCII punctuation and articles.
fn tokens(text: &str) -> Vec<String> {
    let mut plain = text.to_lowercase();
    plain.retain(|character| !character.is_ascii_punctuation());
    let plain = ARTICLES.replace_all(&plain, " ");
    let words = plain.split(is_python_space).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_and_articles_are_no_tokens() {
        assert_eq!(
            tokens("The well-known, a\u{a0}AN e.g. the’s “a” x"),
            ["wellknown", "eg", "’s", "“", "”", "x"]
        );
    }

    #[test]
    fn a_token_counts_as_often_as_in_both_texts() {
        let passages = ["no no yes".to_owned(), "yes".to_owned()];
        let scores = ResponseScores::of("no yes no no", "no no maybe", &passages);
        assert_eq!(scores.recall, 2.0 / 3.0);
        assert_eq!(scores.k_precision, Some(3.0 / 4.0));
        assert_eq!(ResponseScores::of("", "", &[]).k_precision, None);
    }
}
