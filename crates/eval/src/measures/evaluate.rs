//! The values of measures for a run, topic by topic and on average.

use super::{Measure, Qrels, RankedRun};
use crate::comparison::{Column, sort_by_topic};
use crate::mean::exact_mean;
use clariq_core::RequestId;

/// The values of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The names of the measures.
    pub measures: Vec<String>,
    /// Each judged topic with its value by each measure, in the order of `sort_by_topic`.
    pub topics: Vec<(RequestId, Vec<f64>)>,
    /// The means over these topics, each rounded once.
    pub means: Vec<f64>,
}

impl Scores {
    /// The values of topics, in any order, by measures of these names.
    pub fn new(measures: Vec<String>, mut topics: Vec<(RequestId, Vec<f64>)>) -> Self {
        sort_by_topic(&mut topics, |(topic, _)| topic.as_str());
        let mean = |measure: usize| exact_mean(topics.iter().map(|(_, values)| values[measure]));
        Self { means: (0..measures.len()).map(mean).collect(), measures, topics }
    }

    /// The values of each measure, topic by topic, as values of `part` of a run.
    pub fn columns(&self, part: &str) -> Vec<Column> {
        let measures = self.measures.iter().enumerate();
        let columns = measures.map(|(index, name)| {
            let values = self.topics.iter().map(|(topic, values)| (topic.clone(), values[index]));
            Column::new(part, name, values.collect())
        });
        columns.collect()
    }
}

/// Measures a run over *all* judged topics, and no others.
///
/// A topic that the run does not answer counts 0, as with `trec_eval -c` and `ir_measures`
/// (`trec_eval` without `-c` leaves it out of the mean, which rewards silence). A topic with
/// judgements of which none is relevant counts 0 by every measure, as it does there.
pub fn evaluate(measures: &[Measure], run: &RankedRun, qrels: &Qrels) -> Scores {
    let mut topics: Vec<(RequestId, Vec<f64>)> = Vec::new();
    for (topic, judgements) in qrels.topics() {
        let ranking = run.ranking(topic);
        let values = measures.iter().map(|measure| measure.score(ranking, judgements));
        topics.push((topic.clone(), values.collect()));
    }
    Scores::new(measures.iter().map(Measure::name).collect(), topics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::parse_measures;
    use crate::tests::run;
    use clariq_files::Judgement;

    #[test]
    fn missing_topics_count_zero_and_unknown_ones_nothing() {
        let judged =
            |topic: &str| Judgement { topic: topic.into(), document: "Q1".into(), relevance: 1 };
        let qrels = Qrels::from_judgements("q", &[judged("10"), judged("9")]).unwrap();
        let run = RankedRun::new(&run(&[("10", "Q1", 1.0), ("77", "Q1", 1.0)]));
        let scores = evaluate(&parse_measures("R@5 AP").unwrap(), &run, &qrels);
        assert_eq!(scores.topics, [("9".into(), vec![0.0, 0.0]), ("10".into(), vec![1.0, 1.0])]);
        assert_eq!(scores.means, [0.5, 0.5]);
    }
}
