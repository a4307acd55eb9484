//! The values of measures for a run, topic by topic and on average.

use super::{Measure, Qrels, RankedRun};
use crate::comparison::Score;
use clariq_core::Result;

/// Measures a run over *all* judged topics, and no others.
///
/// A topic that the run does not answer counts 0, as with `trec_eval -c` and `ir_measures`
/// (`trec_eval` without `-c` leaves it out of the mean, which rewards silence). A topic with
/// judgements of which none is relevant counts 0 by every measure, as it does there.
///
/// # Errors
///
/// A grade for which a measure is not defined.
pub fn evaluate(measures: &[Measure], run: &RankedRun, qrels: &Qrels) -> Result<Vec<Score>> {
    for measure in measures {
        measure.check(qrels)?;
    }
    let judgements = qrels.topics().flat_map(|(_, judgements)| judgements.documents());
    let cut_at = run.cut_at(judgements.map(|(document, _)| document));
    let mut scores = Vec::with_capacity(measures.len());
    for measure in measures {
        let values = qrels.topics().map(|(topic, judgements)| {
            (topic.clone(), measure.score(run.ranking(topic), judgements))
        });
        let score = Score::new("", measure.name(), values.collect());
        scores.push(score.of_run_cut_at(cut_at, measure.cutoff()));
    }
    Ok(scores)
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
        for score in &scores {
            assert_eq!(score.values, [("9".into(), 0.0), ("10".into(), 1.0)]);
            assert_eq!(score.value(), 0.5);
        }
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
        let by = |qrels: &Qrels, sizes| -> Vec<Option<usize>> {
            let run = RankedRun::new(&run(&lines(sizes)));
            let scores = evaluate(&measures, &run, qrels).unwrap();
            scores.iter().map(|score| score.short_of).collect()
        };
        let short_of = |sizes| by(&qrels, sizes);
        assert_eq!(short_of([3, 3, 1]), [None, None, Some(3), None]);
        assert_eq!(short_of([2, 2, 0]), [None, Some(2), Some(2), None]);
        assert_eq!(short_of([3, 2, 1]), [None; 4], "nothing cut it: its topics differ");
        let of_three = Qrels::from_judgements("q", &judgements[..3]).unwrap();
        assert_eq!(by(&of_three, [3, 3, 3]), [None; 4], "no document is left");
    }
}
