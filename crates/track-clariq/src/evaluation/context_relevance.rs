//! Scores the next question of a conversation without documents: is it relevant to the topic, is it
//! new, and did people with that need answer it by something other than "no"?

use super::document_relevance::{FirstQuestion, first_questions};
use crate::Labelled;
use crate::conversation::ClariqConversation;
use clariq_collections::documents::Bank;
use clariq_core::{DocId, Documents, is_refusal};
use clariq_eval::ratio;
use clariq_files::Run;
use std::collections::{HashMap, HashSet};

/// Counts over the contexts of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextRelevance {
    /// Contexts whose topic is in the labels.
    pub contexts: usize,
    /// Contexts of other topics, which are left out.
    pub unknown: usize,
    /// Contexts without a line in the run.
    pub missing: usize,
    /// Contexts for which the run asks a question.
    pub asked: usize,
    /// Questions that are relevant to the topic.
    pub relevant: usize,
    /// Questions that were not asked before.
    pub new: usize,
    /// Questions with an answer for this facet in the labels that is not a "no".
    pub answered: usize,
    /// Contexts for which the run asks the empty question.
    pub stopped: usize,
    /// The turns of these contexts.
    pub turns_until_stop: usize,
}

impl ContextRelevance {
    /// Names and values: the share of contexts for which a question is asked, and of those
    /// questions the shares that are relevant, new, and answered; the mean number of turns before
    /// the empty question, if the run ever asks it.
    pub fn shares(&self) -> Vec<(&'static str, f64)> {
        let mut shares = vec![
            ("Asked", ratio(self.asked, self.contexts)),
            ("Relevant", ratio(self.relevant, self.asked)),
            ("New", ratio(self.new, self.asked)),
            ("Answered", ratio(self.answered, self.asked)),
        ];
        if self.stopped > 0 {
            shares.push(("Turns", ratio(self.turns_until_stop, self.stopped)));
        }
        shares
    }
}

/// Scores contexts one after the other.
pub struct ContextScorer<'a> {
    bank: &'a Bank,
    first: HashMap<&'a str, FirstQuestion<'a>>,
    relevant: HashMap<&'a str, HashSet<DocId>>,
    /// The facet and the question of each answer that is not a refusal.
    answered: HashSet<(&'a str, &'a str)>,
    /// The counts so far.
    pub found: ContextRelevance,
}

impl<'a> ContextScorer<'a> {
    /// Takes a multi-turn run, with ids in place of texts, and the labels.
    pub fn new(run: &'a Run, bank: &'a Bank, labels: &'a Labelled) -> Self {
        let topics = labels.topics.iter().map(|topic| topic.id.as_str());
        let accepted = labels
            .rows
            .iter()
            .filter(|row| !row.answer.trim().is_empty() && !is_refusal(&row.answer));
        let answered =
            accepted.map(|row| (labels.facets[row.facet].id.as_str(), row.question.as_str()));
        Self {
            bank,
            first: first_questions(run),
            relevant: topics.zip(labels.relevant()).collect(),
            answered: answered.collect(),
            found: ContextRelevance::default(),
        }
    }

    /// Scores one context.
    pub fn add(&mut self, conversation: &ClariqConversation) {
        let Some(relevant) = self.relevant.get(conversation.topic.as_str()) else {
            self.found.unknown += 1;
            return;
        };
        self.found.contexts += 1;
        let id = conversation.id.to_string();
        let Some(FirstQuestion { question, .. }) = self.first.get(id.as_str()) else {
            self.found.missing += 1;
            return;
        };
        let text = self.bank.find(question.as_str()).map(|number| self.bank.text(number));
        if text == Some("") {
            self.found.stopped += 1;
            self.found.turns_until_stop += conversation.turns.len();
            return;
        }
        self.found.asked += 1;
        self.found.relevant += usize::from(relevant.contains(*question));
        self.found.new += usize::from(text.is_none_or(|text| !conversation.has_asked(text)));
        let key = (conversation.facet.as_str(), question.as_str());
        self.found.answered += usize::from(self.answered.contains(&key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::ClariqTurn;
    use crate::evaluation::tests::run;
    use crate::{Facet, LabelledRow, LabelledTopic};
    use clariq_collections::documents::BankRow;

    #[test]
    fn each_context_is_scored_by_itself() {
        let row = |id: &str, text: &str| BankRow { id: id.into(), text: text.to_owned() };
        let bank = Bank::new(
            vec![row("Q1", ""), row("Q2", "which one"), row("Q3", "why"), row("Q4", "what")],
            crate::NO_QUESTION,
        );
        let topic = LabelledTopic {
            id: "9".into(),
            request: "r".to_owned(),
            description: String::new(),
            need: None,
        };
        let facet = Facet { id: "F1".into(), topic: 0, description: String::new() };
        let answer = |question: &str, answer: &str| LabelledRow {
            facet: 0,
            question: question.into(),
            text: String::new(),
            answer: answer.to_owned(),
            line: 1,
        };
        let rows = vec![answer("Q2", "the car"), answer("Q3", "No, thanks")];
        let labels =
            Labelled { topics: vec![topic], facets: vec![facet], rows, ..Labelled::default() };
        let run = run(&[
            ("1", "Q4", 1.0),
            ("1", "Q2", 2.0),
            ("2", "Q3", 1.0),
            ("3", "Q1", 1.0),
            ("4", "Q2", 1.0),
            ("6", "Q4", 1.0),
        ]);
        let mut scorer = ContextScorer::new(&run, &bank, &labels);
        for id in 1..=7 {
            let mut conversation = ClariqConversation {
                id,
                topic: if id == 7 { "8".into() } else { "9".into() },
                facet: "F1".into(),
                request: "r".to_owned(),
                turns: Vec::new(),
            };
            if id == 3 {
                let turn = ClariqTurn { question: "what".to_owned(), answer: "x".to_owned() };
                conversation.turns = vec![turn.clone(), turn];
            }
            if id == 4 {
                conversation
                    .turns
                    .push(ClariqTurn { question: "which  one".to_owned(), answer: "x".to_owned() });
            }
            scorer.add(&conversation);
        }
        let found = scorer.found;
        let expected = ContextRelevance {
            contexts: 6,
            unknown: 1,
            missing: 1,
            asked: 4,
            relevant: 3,
            new: 3,
            answered: 2,
            stopped: 1,
            turns_until_stop: 2,
        };
        assert_eq!(found, expected);
        assert_eq!(found.shares()[1], ("Relevant", 0.75));
        assert_eq!(found.shares()[4], ("Turns", 2.0));
        assert_eq!(ContextRelevance::default().shares().len(), 4);
    }
}
