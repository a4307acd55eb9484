//! The sentences that answers are made of, as documents, and the answers that are made of them.

use crate::plan::ResponseRule;
use clariq_collections::{Bank, BankRow};
use clariq_core::{Doc, Documents, Error, Hit, Ranking, Request};
use clariq_text::tokens;
use std::collections::HashMap;

/// The sentences of the best passages of requests, those of each passage once.
pub(crate) struct Sentences {
    /// All of them.
    pub(crate) bank: Bank,
    /// The requests, each with its own sentences as candidates.
    pub(crate) requests: Vec<Request>,
    /// The passage of each sentence.
    passages: HashMap<Doc, Doc>,
}

impl Sentences {
    /// Cuts the best passages of all requests into sentences.
    pub(crate) fn new(
        requests: &[Request],
        rankings: &[Ranking],
        passages: &dyn Documents,
        rule: &ResponseRule,
    ) -> Result<Self, Error> {
        let best = |ranking: &Ranking| -> Vec<Doc> {
            ranking.iter().take(rule.sources).map(|hit| hit.doc).collect()
        };
        let mut cut: Vec<Doc> = rankings.iter().flat_map(best).collect();
        cut.sort_unstable();
        cut.dedup();
        let (mut rows, mut ids) = (Vec::new(), HashMap::with_capacity(cut.len()));
        for passage in cut {
            let mut own = Vec::new();
            for sentence in rule.sentences(&passages.text(passage)?) {
                // Ids of one length, so that their order is that of the sentences.
                let id = format!("{:08}", rows.len());
                rows.push(BankRow { id: id.as_str().into(), text: sentence.to_owned() });
                own.push(id);
            }
            ids.insert(passage, own);
        }
        let bank = Bank::new(rows, "");
        let (mut of, mut passage_of) = (HashMap::with_capacity(ids.len()), HashMap::new());
        for (passage, ids) in ids {
            let own: Vec<Doc> = ids.iter().filter_map(|id| bank.find(id)).collect();
            passage_of.extend(own.iter().map(|&sentence| (sentence, passage)));
            of.insert(passage, own);
        }
        let mut with_own = Vec::with_capacity(requests.len());
        for (request, ranking) in requests.iter().zip(rankings) {
            let sentences = best(ranking).into_iter().filter_map(|passage| of.get(&passage));
            let mut own: Vec<Doc> = sentences.flatten().copied().collect();
            own.sort_unstable();
            with_own.push(Request { candidates: Some(own), ..request.clone() });
        }
        Ok(Self { bank, requests: with_own, passages: passage_of })
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
        let passage = self.passages.get(&sentence).copied();
        used.extend(passage.filter(|passage| !used.contains(passage)));
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
        // Tokens: 7 and 6 do not fit together, 7 and 5 do. The first sentence is too short to
        // count.
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
