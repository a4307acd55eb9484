//! The key `when` of a table `rewrite`: the utterances that are rewritten. The others stay as they are,
//! because a model changes good requests, too.

use crate::rewrite::{Rewriter, Rewritten};
use crate::stage::{About, Batch};
use crate::table::Table;
use clariq_core::{Request, Result, Speaker};
use serde::Deserialize;
use std::sync::Arc;

/// The utterances that are rewritten.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum When {
    #[default]
    Always,
    /// Utterances that [`refers_back`] recognises.
    RefersBack,
}

#[derive(Deserialize)]
struct WhenKey {
    #[serde(default)]
    when: When,
}

/// Words that stand for something that was said before.
const REFERENCES: [&str; 30] = [
    "it",
    "its",
    "they",
    "them",
    "their",
    "theirs",
    "he",
    "him",
    "his",
    "she",
    "her",
    "hers",
    "this",
    "that",
    "these",
    "those",
    "there",
    "one",
    "ones",
    "such",
    "same",
    "other",
    "others",
    "another",
    "else",
    "itself",
    "themselves",
    "himself",
    "herself",
    "former",
];

/// First words that continue a conversation.
const CONTINUATIONS: [&str; 6] = ["and", "but", "or", "so", "also", "then"];

/// An utterance of fewer words leaves something out.
const FEWEST_WORDS: usize = 4;

/// True if the last utterance of the user refers to earlier ones, by a rule after Mele, Muntean,
/// Nardini, Perego, Tonellotto and Frieder, *Adaptive utterance rewriting for conversational search*,
/// IPM 58(6), 2021, who rewrite utterances that are not self-explanatory: it has a pronoun or another
/// word that stands for something said, begins as a continuation, or is very short. The first utterance
/// refers to nothing.
fn refers_back(request: &Request) -> bool {
    let of_user = request.said.iter().filter(|said| said.speaker == Speaker::User);
    if of_user.count() < 2 {
        return false;
    }
    let text = request.last_said().to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let is_continuation = match words[..] {
        [] => return false,
        ["what" | "how", "about", ..] => true,
        [first, ..] => CONTINUATIONS.contains(&first),
    };
    words.len() < FEWEST_WORDS
        || is_continuation
        || words.iter().any(|word| REFERENCES.contains(word))
}

/// A model that rewrites some of the requests.
struct GatedRewriter(Arc<dyn Rewriter>);

/// Makes the rewriter of a table, with its key `when`.
pub(super) fn build(
    mut table: Table,
    build: fn(Table) -> Result<Arc<dyn Rewriter>>,
) -> Result<Arc<dyn Rewriter>> {
    let when = table.take_keys(&["when"]).read::<WhenKey>()?.when;
    let rewriter = build(table)?;
    Ok(match when {
        When::Always => rewriter,
        When::RefersBack => Arc::new(GatedRewriter(rewriter)),
    })
}

impl Rewriter for GatedRewriter {
    fn about(&self) -> About {
        let mut about = self.0.about();
        about.parameters["when"] = "refers-back".into();
        about
    }

    fn apply(&self, batch: &Batch) -> Result<Rewritten> {
        let places: Vec<usize> = (0..batch.requests.len())
            .filter(|place| refers_back(&batch.requests[*place]))
            .collect();
        let chosen: Vec<Request> =
            places.iter().map(|place| batch.requests[*place].clone()).collect();
        let mut requests = batch.requests.to_vec();
        if chosen.is_empty() {
            return Ok(Rewritten { requests, queries: None });
        }
        let rewritten = self.0.apply(&Batch { requests: &chosen, ..*batch })?;
        let mut queries = rewritten
            .queries
            .is_some()
            .then(|| requests.iter().map(|request| vec![request.clone()]).collect::<Vec<_>>());
        for (place, request) in places.iter().zip(rewritten.requests) {
            requests[*place] = request;
        }
        if let (Some(all), Some(written)) = (&mut queries, rewritten.queries) {
            for (place, of_request) in places.into_iter().zip(written) {
                all[place] = of_request;
            }
        }
        Ok(Rewritten { requests, queries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Utterance;

    #[test]
    fn utterances_refer_back_by_their_words() {
        let refers = |text: &str| {
            let said =
                vec![Utterance::user("first"), Utterance::system("…"), Utterance::user(text)];
            refers_back(&Request { said: said.into(), ..Request::new("1", "") })
        };
        for text in [
            "How old is it now?",
            "and the name of the mayor",
            "What about the price of tickets?",
            "In water",
            "Who else lived in Rome?",
        ] {
            assert!(refers(text), "{text}");
        }
        for text in ["Who has won the most Super Bowls?", "What is the height of a giraffe", "?"] {
            assert!(!refers(text), "{text}");
        }
        assert!(!refers_back(&Request::new("1", "what is it")), "the first utterance");
    }
}
