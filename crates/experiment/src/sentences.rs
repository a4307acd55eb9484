//! The sentences that answers are made of, as documents, and the answers that are made of them.

use crate::plan::ResponseRule;
use clariq_collections::{Bank, BankRow};
use clariq_core::{Doc, Documents, Hit, Ranking, Request, Result};
use clariq_text::tokens;
use std::collections::HashMap;

/// The sentences of the best passages of requests, those of each passage once.
pub(crate) struct Sentences {
    pub(crate) bank: Bank,
    /// The requests, each with its own sentences as candidates.
    pub(crate) requests: Vec<Request>,
    /// The passage of each sentence.
    passages: Vec<Doc>,
}

impl Sentences {
    /// Cuts the best passages of all requests into sentences.
    pub(crate) fn new(
        requests: &[Request],
        rankings: &[Ranking],
        passages: &dyn Documents,
        rule: &ResponseRule,
    ) -> Result<Self> {
        let best = |ranking: &Ranking| -> Vec<Doc> {
            ranking.iter().take(rule.sources).map(|hit| hit.doc).collect()
        };
        let mut cut: Vec<Doc> = rankings.iter().flat_map(best).collect();
        cut.sort_unstable();
        cut.dedup();
        let (mut rows, mut passage_of, mut own) = (Vec::new(), Vec::new(), HashMap::new());
        for passage in cut {
            let first = rows.len() as u32;
            for sentence in rule.sentences(&passages.text(passage)?) {
                // Ids of one length: in their order, which is the bank's, the sentences are as here.
                let id = format!("{:08}", rows.len()).as_str().into();
                rows.push(BankRow { id, text: sentence.to_owned() });
                passage_of.push(passage);
            }
            own.insert(passage, first..rows.len() as u32);
        }
        let with_own = requests.iter().zip(rankings).map(|(request, ranking)| {
            let sentences = best(ranking).into_iter().flat_map(|passage| own[&passage].clone());
            let mut own: Vec<Doc> = sentences.map(Doc).collect();
            own.sort_unstable();
            Request { candidates: Some(own), ..request.clone() }
        });
        let requests = with_own.collect();
        Ok(Self { bank: Bank::new(rows, ""), requests, passages: passage_of })
    }

    /// The best sentences that fit, in the order of their ranking, and the passages that they come
    /// from, in the order of their first sentences.
    pub(crate) fn extract(&self, ranking: &[Hit], rule: &ResponseRule) -> (String, Vec<Doc>) {
        let (mut text, mut count, mut used) = (String::new(), 0, Vec::new());
        for hit in ranking {
            let sentence = self.bank.text(hit.doc);
            let longer = count + tokens::count_added(sentence);
            if longer <= rule.tokens {
                let space = if text.is_empty() { "" } else { " " };
                text.extend([space, sentence]);
                count = longer;
                self.note_passage(hit.doc, &mut used);
            }
        }
        if let (true, Some(best)) = (text.is_empty(), ranking.first()) {
            tokens::first(self.bank.text(best.doc), rule.tokens).clone_into(&mut text);
            self.note_passage(best.doc, &mut used);
        }
        (text, used)
    }

    fn note_passage(&self, sentence: Doc, used: &mut Vec<Doc>) {
        let passage = self.passages[sentence.index()];
        if !used.contains(&passage) {
            used.push(passage);
        }
    }
}

impl ResponseRule {
    /// The sentences of a passage that are neither short nor long; all of them where none is so.
    fn sentences<'p>(&self, passage: &'p str) -> Vec<&'p str> {
        let trimmed = |sentence: &'p str| sentence.trim();
        let all: Vec<&str> = clariq_text::sentences::split(passage)
            .into_iter()
            .map(trimmed)
            .filter(|sentence| !sentence.is_empty())
            .collect();
        let fits = |sentence: &&&str| {
            let words = sentence.split_whitespace().count();
            (self.fewest_words..=self.most_words).contains(&words)
        };
        let usual: Vec<&str> = all.iter().filter(fits).copied().collect();
        if usual.is_empty() { all } else { usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: ResponseRule =
        ResponseRule { sources: 1, tokens: 12, fewest_words: 3, most_words: 8 };

    fn extracted(passage: &str, order: &[usize]) -> (String, Vec<Doc>) {
        let row = BankRow { id: "p:0".into(), text: passage.to_owned() };
        let bank = Bank::new(vec![row], "");
        let requests = [Request::new("1_1", "a request")];
        let rankings = [vec![Hit { doc: Doc(0), score: 1.0 }]];
        let sentences = Sentences::new(&requests, &rankings, &bank, &RULE).unwrap();
        let own = sentences.requests[0].candidates.clone().unwrap();
        let hits: Vec<Hit> =
            order.iter().map(|&index| Hit { doc: own[index], score: 1.0 }).collect();
        sentences.extract(&hits, &RULE)
    }

    #[test]
    fn an_answer_is_made_of_the_sentences_that_fit() {
        let passage =
            "Right. The tent is small and green. The tent is quite heavy. It is dry inside.";
        // 7 and 6 tokens do not fit together, 7 and 5 do; the first sentence is too short.
        let (text, used) = extracted(passage, &[0, 1, 2]);
        assert_eq!(text, "The tent is small and green. It is dry inside.");
        assert_eq!(used, [Doc(0)]);
    }

    #[test]
    fn a_sentence_that_is_too_long_by_itself_is_cut() {
        let (text, used) = extracted(&"word ".repeat(40), &[0]);
        assert_eq!(tokens::count(&text), 12);
        assert_eq!(used, [Doc(0)]);
        assert_eq!(extracted("Yes. No.", &[0]).0, "Yes.", "short sentences where none is longer");
    }
}
