//! `ClariQ`'s labels as judgements.

use crate::measures::Qrels;
use clariq_collections::clariq::Labelled;

/// Every question that is listed for a topic, the empty one included, has grade 1.
impl From<&Labelled> for Qrels {
    fn from(labels: &Labelled) -> Self {
        let mut qrels = Self::default();
        for (topic, questions) in labels.topics.iter().zip(labels.relevant()) {
            for question in questions {
                qrels.insert(&topic.id, question, 1);
            }
        }
        qrels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::testing::labels;

    #[test]
    fn listed_questions_have_grade_one() {
        let qrels = Qrels::from(&labels(&[("1", &["Q1", "Q2", "Q1"]), ("2", &[])]));
        assert_eq!(qrels.topic(&"1".into()).unwrap().relevant(1), 2);
        assert_eq!(qrels.topic(&"2".into()), None, "no judgement, no topic");
    }
}
