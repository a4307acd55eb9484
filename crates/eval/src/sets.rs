//! Measures of sets: precision, recall and F1 of the documents chosen for each topic.

use crate::decisions::ratio;
use crate::measures::Qrels;
use clariq_core::{DocId, RequestId};
use std::collections::HashSet;

/// The lowest grade that is relevant.
const RELEVANT: i32 = 1;

/// Treatment of documents chosen for a topic without judgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unjudged {
    /// Leave the topic out.
    LeftOut,
    /// Count each of them as wrong: nothing is relevant to the topic.
    Wrong,
}

/// Precision, recall and F1, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SetAverage {
    /// |chosen ∩ relevant| / |chosen|; 0 where nothing is chosen.
    pub precision: f64,
    /// |chosen ∩ relevant| / |relevant|; 0 where nothing is relevant.
    pub recall: f64,
    /// 2 · |chosen ∩ relevant| / (|chosen| + |relevant|), the harmonic mean; 0 if both are
    /// empty.
    pub f1: f64,
}

/// The figures of the sets of documents chosen for topics, over all (topic, document) pairs of the topics for
/// which `is_counted` is true. A grade from 1 is relevant.
///
/// `chosen` has each topic at most once; repeated documents count once. Judged topics that are
/// missing there have an empty set.
pub fn micro_average(
    chosen: &[(RequestId, Vec<DocId>)],
    qrels: &Qrels,
    unjudged: Unjudged,
    is_counted: impl Fn(&RequestId) -> bool,
) -> SetAverage {
    let mut all = SetSizes::default();
    for (topic, counts) in count(chosen, qrels, unjudged) {
        if is_counted(topic) {
            all.add(counts);
        }
    }
    all.average()
}

/// The figures of the sets topic by topic, over the topics with something relevant, in any order. Their means
/// are the macro average, in which a topic for which nothing is chosen counts 0.
pub fn set_values(
    chosen: &[(RequestId, Vec<DocId>)],
    qrels: &Qrels,
) -> Vec<(RequestId, SetAverage)> {
    let mut each = count(chosen, qrels, Unjudged::LeftOut);
    each.retain(|(_, counts)| counts.relevant > 0);
    each.into_iter().map(|(topic, counts)| (topic.clone(), counts.average())).collect()
}

/// Counts per topic; judged topics without an answer come last.
fn count<'a>(
    chosen: &'a [(RequestId, Vec<DocId>)],
    qrels: &'a Qrels,
    unjudged: Unjudged,
) -> Vec<(&'a RequestId, SetSizes)> {
    let mut each = Vec::new();
    let mut answered = HashSet::new();
    for (topic, documents) in chosen {
        answered.insert(topic);
        let documents: HashSet<&DocId> = documents.iter().collect();
        let mut counts = SetSizes { chosen: documents.len(), ..SetSizes::default() };
        if let Some(judgements) = qrels.topic(topic) {
            let hits =
                documents.iter().filter(|document| judgements.is_relevant(document, RELEVANT));
            counts.hits = hits.count();
            counts.relevant = judgements.relevant(RELEVANT);
        } else if unjudged == Unjudged::LeftOut {
            continue;
        }
        each.push((topic, counts));
    }
    let missing = qrels.topics().filter(|(topic, _)| !answered.contains(topic));
    each.extend(missing.map(|(topic, judgements)| {
        (topic, SetSizes { relevant: judgements.relevant(RELEVANT), ..SetSizes::default() })
    }));
    each
}

/// The sizes of a chosen set, of the relevant set, and of their intersection.
#[derive(Debug, Clone, Copy, Default)]
struct SetSizes {
    hits: usize,
    chosen: usize,
    relevant: usize,
}

impl SetSizes {
    fn add(&mut self, other: Self) {
        self.hits += other.hits;
        self.chosen += other.chosen;
        self.relevant += other.relevant;
    }

    fn average(self) -> SetAverage {
        SetAverage {
            precision: ratio(self.hits, self.chosen),
            recall: ratio(self.hits, self.relevant),
            f1: ratio(2 * self.hits, self.chosen + self.relevant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_files::Judgement;
    use proptest::prelude::*;

    fn qrels(judged: &[(&str, &str, i32)]) -> Qrels {
        let judgements: Vec<Judgement> = judged
            .iter()
            .map(|&(topic, document, relevance)| Judgement {
                topic: topic.into(),
                document: document.into(),
                relevance,
            })
            .collect();
        Qrels::from_judgements("q", &judgements).unwrap()
    }

    fn sets(chosen: &[(&str, &[&str])]) -> Vec<(RequestId, Vec<DocId>)> {
        let ids = |documents: &[&str]| documents.iter().map(|&document| document.into()).collect();
        chosen.iter().map(|(topic, documents)| ((*topic).into(), ids(documents))).collect()
    }

    #[test]
    fn micro_counts_pairs_and_macro_topics() {
        let qrels =
            qrels(&[("a", "1", 1), ("a", "2", 2), ("a", "3", 0), ("b", "1", 1), ("c", "1", 0)]);
        // 1 of 2 hit in a, nothing chosen in b, 1 wrong in c, 2 without judgements in d.
        let chosen = sets(&[("a", &["1", "3", "1"]), ("c", &["1"]), ("d", &["1", "2"])]);
        let micro = micro_average(&chosen, &qrels, Unjudged::LeftOut, |_| true);
        assert_eq!((micro.precision, micro.recall, micro.f1), (1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0));
        let all = micro_average(&chosen, &qrels, Unjudged::Wrong, |_| true);
        assert_eq!((all.precision, all.recall, all.f1), (0.2, 1.0 / 3.0, 0.25));
        let mut values = set_values(&chosen, &qrels);
        values.sort_by(|a, b| a.0.cmp(&b.0));
        let f1: Vec<_> = values.iter().map(|(topic, of)| (topic.as_str(), of.f1)).collect();
        assert_eq!(f1, [("a", 0.5), ("b", 0.0)], "the macro average is of these");
        let a = RequestId::from("a");
        let among = micro_average(&chosen, &qrels, Unjudged::LeftOut, |topic| *topic == a);
        assert_eq!(among.f1, 0.5, "of a alone");
    }

    #[test]
    fn empty_sets_are_zero() {
        let micro = micro_average(&[], &Qrels::default(), Unjudged::Wrong, |_| true);
        assert_eq!(micro, SetAverage::default());
    }

    proptest! {
        /// For one topic, the micro average is its value, and F1 is the harmonic mean.
        #[test]
        fn f1_is_the_harmonic_mean(
            grades in prop::collection::vec(0..3_i32, 1..9),
            chosen in prop::collection::vec(0..12_usize, 0..9),
        ) {
            let names: Vec<String> = (0..12).map(|document| document.to_string()).collect();
            let judged: Vec<_> =
                names.iter().zip(grades).map(|(name, grade)| ("t", name.as_str(), grade)).collect();
            let chosen: Vec<&str> = chosen.iter().map(|&document| names[document].as_str()).collect();
            let chosen = sets(&[("t", &chosen)]);
            let qrels = qrels(&judged);
            let micro = micro_average(&chosen, &qrels, Unjudged::LeftOut, |_| true);
            let SetAverage { precision, recall, f1 } = micro;
            let harmonic = if precision + recall == 0.0 {
                0.0
            } else {
                2.0 * precision * recall / (precision + recall)
            };
            prop_assert!((f1 - harmonic).abs() < 1e-12);
            if judged.iter().any(|(.., grade)| *grade >= RELEVANT) {
                prop_assert_eq!(set_values(&chosen, &qrels), [(RequestId::from("t"), micro)]);
            }
        }
    }
}
