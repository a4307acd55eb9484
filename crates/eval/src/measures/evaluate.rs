//! The values of measures for a run, topic by topic and on average.

use super::{Measure, Qrels, RankedRun};
use crate::comparison::{Score, sort_by_topic};
use crate::mean::exact_mean;
use clariq_core::{RequestId, Result};

/// The values of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The names of the measures.
    pub measures: Vec<String>,
    /// Each judged topic with its value by each measure, in the order of `sort_by_topic`.
    pub topics: Vec<(RequestId, Vec<f64>)>,
    /// The means over these topics, each rounded once.
    pub means: Vec<f64>,
    /// For each measure, the depth of the run if the measure has a greater cut-off.
    pub short_of: Vec<Option<usize>>,
}

impl Scores {
    /// The values of topics, in any order, by measures of these names.
    pub fn new(measures: Vec<String>, mut topics: Vec<(RequestId, Vec<f64>)>) -> Self {
        sort_by_topic(&mut topics, |(topic, _)| topic.as_str());
        let mean = |measure: usize| exact_mean(topics.iter().map(|(_, values)| values[measure]));
        let short_of = vec![None; measures.len()];
        Self { means: (0..measures.len()).map(mean).collect(), measures, topics, short_of }
    }

    /// The same scores, marked where a cut-off is greater than `depth`, at which the run was cut.
    #[must_use]
    pub fn of_run_cut_at(
        mut self,
        depth: Option<usize>,
        cutoffs: impl IntoIterator<Item = Option<usize>>,
    ) -> Self {
        let short = cutoffs.into_iter().map(|cutoff| depth.filter(|&depth| cutoff > Some(depth)));
        self.short_of = short.collect();
        self
    }

    /// The score by each measure, topic by topic, of `part` of a run. Runs with parts have turns in place of topics.
    pub fn of_part(&self, part: &str) -> Vec<Score> {
        let unit = if part.is_empty() { "topic" } else { "turn" };
        let measures = self.measures.iter().enumerate();
        let scores = measures.map(|(index, name)| {
            let values = self.topics.iter().map(|(topic, values)| (topic.clone(), values[index]));
            let short_of = self.short_of[index];
            Score { unit, short_of, ..Score::new(part, name, values.collect()) }
        });
        scores.collect()
    }
}

/// Measures a run over *all* judged topics, and no others.
///
/// A topic that the run does not answer counts 0, as with `trec_eval -c` and `ir_measures`
/// (`trec_eval` without `-c` leaves it out of the mean, which rewards silence). A topic with
/// judgements of which none is relevant counts 0 by every measure, as it does there.
///
/// # Errors
///
/// A grade for which a measure is not defined.
pub fn evaluate(measures: &[Measure], run: &RankedRun, qrels: &Qrels) -> Result<Scores> {
    for measure in measures {
        measure.check(qrels)?;
    }
    let mut topics: Vec<(RequestId, Vec<f64>)> = Vec::new();
    for (topic, judgements) in qrels.topics() {
        let ranking = run.ranking(topic);
        let values = measures.iter().map(|measure| measure.score(ranking, judgements));
        topics.push((topic.clone(), values.collect()));
    }
    let judgements = qrels.topics().flat_map(|(_, judgements)| judgements.documents());
    let judged = judgements.map(|(document, _)| document);
    let scores = Scores::new(measures.iter().map(Measure::name).collect(), topics);
    Ok(scores.of_run_cut_at(run.cut_at(judged), measures.iter().map(Measure::cutoff)))
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
        let scores = evaluate(&parse_measures("R@5 AP").unwrap(), &run, &qrels).unwrap();
        assert_eq!(scores.topics, [("9".into(), vec![0.0, 0.0]), ("10".into(), vec![1.0, 1.0])]);
        assert_eq!(scores.means, [0.5, 0.5]);
    }

    #[test]
    fn measures_with_a_cutoff_beyond_the_run_are_told() {
        let judged =
            |topic: &str| Judgement { topic: topic.into(), document: "Q1".into(), relevance: 1 };
        let other = Judgement { document: "Q5".into(), relevance: 0, ..judged("1") };
        let judgements = [&["1", "2", "3"].map(judged)[..], &[other]].concat();
        let qrels = Qrels::from_judgements("q", &judgements).unwrap();
        let lines = |sizes: [usize; 3]| {
            let names = ["Q1", "Q2", "Q3", "Q4"];
            let of_topic = |(topic, size): (&&'static str, usize)| {
                let topic = *topic;
                (0..size).map(move |index| (topic, names[index], -(index as f64)))
            };
            ["1", "2", "3"].iter().zip(sizes).flat_map(of_topic).collect::<Vec<_>>()
        };
        let measures = parse_measures("R@2 R@3 nDCG@4 AP").unwrap();
        let short_of =
            |sizes| evaluate(&measures, &RankedRun::new(&run(&lines(sizes))), &qrels).unwrap();
        assert_eq!(short_of([3, 3, 1]).short_of, [None, None, Some(3), None]);
        assert_eq!(short_of([2, 2, 0]).short_of, [None, Some(2), Some(2), None]);
        assert_eq!(short_of([3, 2, 1]).short_of, [None; 4], "nothing cut it: its topics differ");
        let score = &short_of([3, 3, 3]).of_part("")[2];
        assert_eq!((score.name(), score.short_of), ("nDCG@4".to_owned(), Some(3)));
        let of_three = Qrels::from_judgements("q", &judgements[..3]).unwrap();
        let all = evaluate(&measures, &RankedRun::new(&run(&lines([3, 3, 3]))), &of_three).unwrap();
        assert_eq!(all.short_of, [None; 4], "no document is left");
    }
}
