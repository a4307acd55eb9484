//! The sentences of passages as documents, and answers composed of them.

use crate::plan::ResponseRule;
use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{Doc, Documents, Hit, Request, Result};
use clariq_text::tokens;

/// The sentences of the best passages of a request.
pub(crate) struct Sentences {
    pub(crate) bank: Bank,
    /// The passage of each sentence.
    passages: Vec<Doc>,
}

impl Sentences {
    /// Cuts the best passages of a ranking into sentences.
    pub(crate) fn new(
        ranking: &[Hit],
        passages: &dyn Documents,
        rule: &ResponseRule,
    ) -> Result<Self> {
        let best = &ranking[..ranking.len().min(rule.sources)];
        let mut cut: Vec<Doc> = best.iter().map(|hit| hit.doc).collect();
        cut.sort_unstable();
        let mut rows = Vec::new();
        let mut passage_of = Vec::new();
        for passage in cut {
            for sentence in rule.sentences(&passages.text(passage)?) {
                // Ids of equal length, so that the order of the bank is the order of the sentences.
                let id = format!("{:08}", rows.len()).as_str().into();
                rows.push(BankRow { id, text: sentence.to_owned() });
                passage_of.push(passage);
            }
        }
        Ok(Self { bank: Bank::new(rows, ""), passages: passage_of })
    }

    /// The request with all sentences as candidates, so that no stage cuts them off.
    pub(crate) fn request(&self, request: &Request) -> Request {
        let candidates = Some(Doc::all(self.passages.len()).collect());
        Request { candidates, ..request.clone() }
    }

    /// The best sentences that fit, in the order of their ranking, and their passages, in the order of
    /// their first sentences.
    pub(crate) fn extract(&self, ranking: &[Hit], rule: &ResponseRule) -> (String, Vec<Doc>) {
        let mut text = String::new();
        let mut count = 0;
        let mut used = Vec::new();
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
    /// The sentences of a passage with a suitable length; all sentences, if none is suitable.
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
        let sentences = Sentences::new(&[Hit { doc: Doc(0), score: 1.0 }], &bank, &RULE).unwrap();
        let hit = |&index: &usize| Hit { doc: Doc(index as u32), score: 1.0 };
        let hits: Vec<Hit> = order.iter().map(hit).collect();
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
