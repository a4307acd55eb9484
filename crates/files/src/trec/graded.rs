//! Graded judgements of documents, topic by topic.

use crate::trec::qrels::Judgement;
use clariq_core::{Error, Location, Problem, ProblemKind, QuestionId, TopicId};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The judgements of one topic: documents and their grades.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicJudgements {
    grades: HashMap<QuestionId, i32>,
}

impl TopicJudgements {
    /// The grade of a document; `None` if nobody judged it. Below zero is, as for `trec_eval`, in
    /// the pool but not judged: never relevant and without gain.
    pub fn grade(&self, document: &QuestionId) -> Option<i32> {
        self.grades.get(document).copied()
    }

    /// Whether a document has at least the grade `rel`. What is not judged is not relevant.
    pub fn is_relevant(&self, document: &QuestionId, rel: i32) -> bool {
        self.grade(document).is_some_and(|grade| grade >= rel)
    }

    /// How many documents have at least the grade `rel`.
    pub fn relevant(&self, rel: i32) -> usize {
        self.grades.values().filter(|grade| **grade >= rel).count()
    }

    /// Every judged document with its grade, in no order.
    pub fn documents(&self) -> impl Iterator<Item = (&QuestionId, i32)> {
        self.grades.iter().map(|(document, &grade)| (document, grade))
    }

    /// All grades, in no order.
    pub fn grades(&self) -> impl Iterator<Item = i32> {
        self.grades.values().copied()
    }
}

/// The judgements of all topics. A topic is part of it if it has at least one judgement, whatever
/// its grade.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Qrels {
    topics: HashMap<TopicId, TopicJudgements>,
}

impl Qrels {
    /// From the lines of a qrels file; `name` is that of the file, for messages. A document that is
    /// judged twice with the same grade counts once, with two grades it is a contradiction.
    /// (`trec_eval` refuses both.)
    pub fn from_judgements<'a>(
        name: &str,
        judgements: impl IntoIterator<Item = &'a Judgement>,
    ) -> Result<Self, Error> {
        let mut qrels = Self::default();
        for judgement in judgements {
            let (topic, document) = (&judgement.topic, &judgement.document);
            let grade = judgement.relevance;
            match qrels.insert(&topic.as_str().into(), document.as_str().into(), grade) {
                Some(first) if first != grade => {
                    return Err(contradiction(name, judgement, first).into());
                }
                _ => {}
            }
        }
        Ok(qrels)
    }

    /// Each topic with its judgements, in no order.
    pub fn topics(&self) -> impl Iterator<Item = (&TopicId, &TopicJudgements)> {
        self.topics.iter()
    }

    /// The judgements of a topic; `None` if it has none.
    pub fn topic(&self, topic: &TopicId) -> Option<&TopicJudgements> {
        self.topics.get(topic)
    }

    /// Keeps a grade, unless the document has one already, which is returned.
    pub fn insert(&mut self, topic: &TopicId, document: QuestionId, grade: i32) -> Option<i32> {
        if !self.topics.contains_key(topic) {
            self.topics.insert(topic.clone(), TopicJudgements::default());
        }
        match self.topics.get_mut(topic)?.grades.entry(document) {
            Entry::Vacant(entry) => {
                entry.insert(grade);
                None
            }
            Entry::Occupied(entry) => Some(*entry.get()),
        }
    }
}

fn contradiction(name: &str, judgement: &Judgement, first: i32) -> Problem {
    let Judgement { topic, document, relevance } = judgement;
    let expected = format!("one grade for document `{document}` of topic `{topic}`");
    Problem::new(
        Location::file(name),
        ProblemKind::Contradiction,
        expected,
        format!("`{first}` and `{relevance}`"),
    )
    .hint("keep one line for each document of a topic")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(topic: &str, document: &str, relevance: i32) -> Judgement {
        Judgement { topic: topic.into(), document: document.into(), relevance }
    }

    #[test]
    fn grades_are_kept() {
        let qrels = Qrels::from_judgements(
            "a",
            &[judged("1", "a", 3), judged("1", "b", -1), judged("1", "a", 3)],
        )
        .unwrap();
        let topic = qrels.topic(&"1".into()).unwrap();
        assert_eq!((topic.relevant(1), topic.relevant(3), topic.relevant(4)), (1, 1, 0));
        assert_eq!((topic.grade(&"b".into()), topic.grade(&"c".into())), (Some(-1), None));
    }

    #[test]
    fn two_grades_are_a_contradiction() {
        match Qrels::from_judgements("a.qrels", &[judged("1", "a", 1), judged("1", "a", 0)])
            .unwrap_err()
        {
            Error::Problem(problem) => {
                assert_eq!(problem.kind, ProblemKind::Contradiction);
                assert_eq!(problem.found, "`1` and `0`");
            }
            other => panic!("{other}"),
        }
    }
}
