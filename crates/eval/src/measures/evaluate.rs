//! What do the measures say of a run, topic by topic and on average?

use super::{Measure, Qrels, RankedRun};
use crate::mean::exact_mean;
use crate::question_relevance::sort_like_pandas;
use clariq_core::TopicId;

/// The values of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The names of the measures.
    pub measures: Vec<String>,
    /// Each judged topic with its value by each measure; by number, or by text where an id is not a number.
    pub topics: Vec<(TopicId, Vec<f64>)>,
    /// The means over these topics, each rounded once.
    pub means: Vec<f64>,
    /// How many judged topics the run does not answer; each counts 0.
    pub missing: usize,
    /// How many topics of the run are not judged; they are not looked at.
    pub unknown: usize,
}

/// Measures a run over *all* judged topics: one that the run does not answer counts 0, as with `trec_eval -c` and
/// `ir_measures` (`trec_eval` without `-c` leaves it out of the mean, which rewards silence). A topic with judgements of which
/// none is relevant counts 0 by every measure, as it does there.
pub fn evaluate(measures: &[Box<dyn Measure>], run: &RankedRun, qrels: &Qrels) -> Scores {
    let mut topics: Vec<(TopicId, Vec<f64>)> = qrels
        .topics()
        .map(|(topic, judgements)| {
            let ranking = run.ranking(topic);
            (
                topic.clone(),
                measures.iter().map(|measure| measure.topic(ranking, judgements)).collect(),
            )
        })
        .collect();
    sort_like_pandas(&mut topics, |(topic, _)| topic.as_str());
    let mean = |place: usize| exact_mean(topics.iter().map(|(_, values)| values[place]));
    Scores {
        measures: measures.iter().map(|measure| measure.name()).collect(),
        means: (0..measures.len()).map(mean).collect(),
        missing: topics.iter().filter(|(topic, _)| run.ranking(topic).is_empty()).count(),
        unknown: run.topics().filter(|topic| qrels.topic(topic).is_none()).count(),
        topics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::parse_measures;
    use crate::testing::{labels, run};
    use crate::{Ties, question_relevance};

    #[test]
    fn missing_topics_count_zero_and_unknown_ones_nothing() {
        let qrels = Qrels::from(&labels(&[("10", &["Q1"]), ("9", &["Q1"])]));
        let run = RankedRun::new(&run(&[("10", "Q1", 1.0), ("77", "Q1", 1.0)])).unwrap();
        let scores = evaluate(&parse_measures("R@5 AP").unwrap(), &run, &qrels);
        assert_eq!(scores.topics, [("9".into(), vec![0.0, 0.0]), ("10".into(), vec![1.0, 1.0])]);
        assert_eq!((scores.means, scores.missing, scores.unknown), (vec![0.5, 0.5], 1, 1));
    }

    #[test]
    fn recall_is_that_of_the_official_scorer_where_nothing_ties() {
        let labels = labels(&[("1", &["Q1", "Q2", "Q3"]), ("2", &["Q4"])]);
        let lines: Vec<(String, f64)> =
            (0..12).map(|n| (format!("Q{n}"), f64::from(n * 7 % 12))).collect();
        let run = run(&lines
            .iter()
            .map(|(question, score)| ("1", question.as_str(), *score))
            .collect::<Vec<_>>());
        let official = question_relevance(&run, &labels, Ties::Official);
        let measures = parse_measures("Recall5 Recall10 Recall20 Recall30").unwrap();
        let scores = evaluate(&measures, &RankedRun::new(&run).unwrap(), &Qrels::from(&labels));
        assert_eq!(scores.means, official.means());
    }
}
