//! Training data in numbers, as every engine takes it.

use crate::request::Utterance;

/// The data of a training, in numbers: a question is its place in the bank. Where classes are
/// learned, they stand in the questions' place.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    /// Ids of the topics, for the model card and for tests.
    pub topics: Vec<String>,
    /// The request of each topic.
    pub requests: Vec<String>,
    /// Every question of the bank, or the name of every class.
    pub questions: Vec<String>,
    /// The relevant questions of each topic, the empty one left out, once per row of the file; or
    /// its one class.
    pub relevant: Vec<Vec<u32>>,
    /// The conversation of each topic, where conversations are learned from: what was said up to
    /// the utterance that was resolved. `requests` has the name of the conversation then, and
    /// `questions` every text that the resolved utterance, the one relevant text, is told from.
    pub conversations: Vec<Vec<Utterance>>,
    /// For each topic, questions that look relevant, best first; relevant ones among them are left
    /// out here.
    pub candidates: Vec<Vec<u32>>,
}

impl Examples {
    /// Texts and the classes that they are of: places in `names`.
    pub fn of_classes(texts: &[&str], classes: &[usize], names: &[&str]) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Self {
            topics: (1..=texts.len()).map(|row| row.to_string()).collect(),
            requests: owned(texts),
            questions: owned(names),
            relevant: classes.iter().map(|&class| vec![class as u32]).collect(),
            candidates: vec![Vec::new(); texts.len()],
            ..Self::default()
        }
    }

    /// (topic, question) pairs of some topics; each once if `unique`, else once per row.
    pub fn pairs(&self, topics: &[usize], unique: bool) -> Vec<(usize, u32)> {
        let of_topic = |&topic: &usize| {
            let mut questions = self.relevant[topic].clone();
            if unique {
                questions.sort_unstable();
                questions.dedup();
            }
            questions.into_iter().map(move |question| (topic, question))
        };
        topics.iter().flat_map(of_topic).collect()
    }

    /// Whether a question is relevant to a topic.
    pub fn is_relevant(&self, topic: usize, question: u32) -> bool {
        self.relevant[topic].contains(&question)
    }
}
