//! What is known of the documents of each topic? Graded judgements, from `ClariQ`'s labels or any TREC qrels.

use clariq_collections::clariq::Labelled;
use clariq_core::{Error, Location, Problem, ProblemKind, QuestionId, TopicId};
use clariq_files::Judgement;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The judgements of one topic: documents (in `ClariQ`, questions) and their grades.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicJudgements {
    grades: HashMap<QuestionId, i32>,
}

impl TopicJudgements {
    /// The grade of a document; `None` if nobody judged it. Below zero is, as for `trec_eval`, in the pool but not judged:
    /// never relevant and without gain.
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

    /// All grades, in no order.
    pub fn grades(&self) -> impl Iterator<Item = i32> {
        self.grades.values().copied()
    }
}

/// The judgements of all topics. A topic is part of it if it has at least one judgement, whatever its grade.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Qrels {
    topics: HashMap<TopicId, TopicJudgements>,
}

impl Qrels {
    /// From the lines of a qrels file; `name` is that of the file, for messages. A document that is judged twice with the
    /// same grade counts once, with two grades it is a contradiction. (`trec_eval` refuses both.)
    pub fn from_judgements<'a>(
        name: &str,
        judgements: impl IntoIterator<Item = &'a Judgement>,
    ) -> Result<Self, Error> {
        let mut qrels = Self::default();
        for judgement in judgements {
            match qrels
                .grades(&judgement.topic.as_str().into())
                .entry(judgement.document.as_str().into())
            {
                Entry::Vacant(entry) => {
                    entry.insert(judgement.relevance);
                }
                Entry::Occupied(entry) if *entry.get() == judgement.relevance => {}
                Entry::Occupied(entry) => {
                    return Err(contradiction(name, judgement, *entry.get()).into());
                }
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

    fn grades(&mut self, topic: &TopicId) -> &mut HashMap<QuestionId, i32> {
        &mut self.topics.entry(topic.clone()).or_default().grades
    }
}

/// Every question that is listed for a topic, the empty one included, has grade 1.
impl From<&Labelled> for Qrels {
    fn from(labels: &Labelled) -> Self {
        let mut qrels = Self::default();
        for (topic, questions) in labels.topics.iter().zip(labels.relevant()) {
            if !questions.is_empty() {
                qrels.grades(&topic.id).extend(questions.into_iter().map(|question| (question, 1)));
            }
        }
        qrels
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
    use crate::testing::labels;

    fn judged(topic: &str, document: &str, relevance: i32) -> Judgement {
        Judgement { topic: topic.into(), document: document.into(), relevance }
    }

    #[test]
    fn listed_questions_have_grade_one() {
        let qrels = Qrels::from(&labels(&[("1", &["Q1", "Q2", "Q1"]), ("2", &[])]));
        assert_eq!(qrels.topic(&"1".into()).unwrap().relevant(1), 2);
        assert_eq!(qrels.topic(&"2".into()), None, "no judgement, no topic");
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
