//! The measures follow their definitions, and depend on nothing but the order that scores give.
//!
//! The definitions are written down once more, in the most literal way, over the list of grades in
//! rank order.

use clariq_eval::{Qrels, RankedRun, evaluate, parse_measure};
use clariq_files::{Judgement, Run, RunLine};
use proptest::prelude::*;

/// A document of the only topic: its grade if it is judged, its score if it is retrieved.
type Document = (Option<i32>, Option<f64>);

fn id(number: usize) -> String {
    format!("d{number}")
}

fn lines(documents: &[Document]) -> Vec<RunLine> {
    let retrieved =
        documents.iter().enumerate().filter_map(|(number, (_, score))| Some((number, (*score)?)));
    let line = |(number, score)| RunLine {
        topic: "1".into(),
        document: id(number).as_str().into(),
        score,
        line: 1,
    };
    retrieved.map(line).collect()
}

/// The value of one measure for the topic; 0 if nothing is judged.
fn measured(name: &str, documents: &[Document], lines: Vec<RunLine>) -> f64 {
    let judgements: Vec<Judgement> = documents
        .iter()
        .enumerate()
        .filter_map(|(number, (grade, _))| {
            Some(Judgement {
                topic: "1".into(),
                document: id(number).as_str().into(),
                relevance: (*grade)?,
            })
        })
        .collect();
    let qrels = Qrels::from_judgements("", &judgements).unwrap();
    let run = RankedRun::new(&Run { lines, ..Run::default() });
    evaluate(&[parse_measure(name).unwrap()], &run, &qrels).unwrap()[0].value()
}

/// The grades in rank order, by choosing the best of the rest again and again; 0 if not judged.
fn ranked_grades(documents: &[Document]) -> Vec<i32> {
    let mut rest: Vec<(f32, String, i32)> = documents
        .iter()
        .enumerate()
        .filter_map(|(number, (grade, score))| {
            Some(((*score)? as f32, id(number), grade.unwrap_or(0)))
        })
        .collect();
    let mut grades = Vec::new();
    while !rest.is_empty() {
        let mut best = 0;
        for place in 1..rest.len() {
            let (score, id, _) = &rest[place];
            if *score > rest[best].0 || (*score == rest[best].0 && *id > rest[best].1) {
                best = place;
            }
        }
        grades.push(rest.remove(best).2);
    }
    grades
}

/// The definitions, given the grades in rank order, all judged grades, the cut-off and the lowest
/// relevant grade.
fn naive(measure: &str, ranked: &[i32], judged: &[i32], k: usize, rel: i32) -> f64 {
    let top = &ranked[..k.min(ranked.len())];
    let hits = |grades: &[i32]| grades.iter().filter(|grade| **grade >= rel).count() as f64;
    let or_zero = |value: f64| if value.is_nan() { 0.0 } else { value };
    match measure {
        "R" => or_zero(hits(top) / hits(judged)),
        "P" => hits(top) / k as f64,
        "Success" => hits(top).min(1.0),
        "RR" => (1..=top.len())
            .rev()
            .fold(0.0, |later, rank| if top[rank - 1] >= rel { 1.0 / rank as f64 } else { later }),
        "AP" => {
            let at = |rank: usize| {
                if top[rank - 1] >= rel { hits(&top[..rank]) / rank as f64 } else { 0.0 }
            };
            or_zero((1..=top.len()).map(at).sum::<f64>() / hits(judged))
        }
        "RBP" => top
            .iter()
            .rev()
            .fold(0.0, |rest, grade| 0.3 * f64::from(u8::from(*grade >= rel)) + 0.7 * rest),
        "nDCG" => {
            let dcg = |grades: &[i32]| {
                (1..=k.min(grades.len()))
                    .map(|rank| f64::from(grades[rank - 1].max(0)) / (1.0 + rank as f64).log2())
                    .sum::<f64>()
            };
            let mut ideal = judged.to_vec();
            ideal.sort_unstable();
            ideal.reverse();
            or_zero(dcg(ranked) / dcg(&ideal))
        }
        other => panic!("{other}"),
    }
}

fn name(measure: &str, k: usize, rel: i32) -> String {
    match measure {
        "nDCG" => format!("nDCG@{k}"),
        "RBP" => format!("RBP(p=0.7,rel={rel})@{k}"),
        _ => format!("{measure}(rel={rel})@{k}"),
    }
}

fn measure() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["R", "P", "nDCG", "AP", "RR", "Success", "RBP"])
}

fn documents(score: impl Strategy<Value = f64>) -> impl Strategy<Value = Vec<Document>> {
    prop::collection::vec((prop::option::of(-2..4), prop::option::weighted(0.7, score)), 0..40)
}

/// Scores that differ, also in single precision and after a constant of the same kind is added.
fn untied() -> impl Strategy<Value = Vec<Document>> {
    documents(Just(0.0)).prop_flat_map(|documents| {
        let places: Vec<i32> = (-40..).step_by(3).take(documents.len()).collect();
        (Just(documents), Just(places).prop_shuffle()).prop_map(|(documents, places)| {
            let scored = documents.into_iter().zip(places);
            scored
                .map(|((grade, score), place)| (grade, score.map(|_| f64::from(place) / 4.0)))
                .collect()
        })
    })
}

proptest! {
    #[test]
    fn measures_follow_their_definitions(
        documents in documents((-3..3).prop_map(|score| f64::from(score) * 0.5)),
        measure in measure(),
        k in 1..50_usize,
        rel in 1..4,
    ) {
        let judged: Vec<i32> = documents.iter().filter_map(|(grade, _)| *grade).collect();
        let expected = naive(measure, &ranked_grades(&documents), &judged, k, rel);
        let value = measured(&name(measure, k, rel), &documents, lines(&documents));
        prop_assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        prop_assert!((0.0..=1.0 + 1e-12).contains(&value));
    }

    #[test]
    fn no_cutoff_is_the_whole_ranking(documents in untied(), measure in prop::sample::select(vec!["nDCG", "AP", "RR", "RBP"])) {
        let whole = measured(measure, &documents, lines(&documents));
        prop_assert_eq!(whole, measured(&format!("{measure}@1000"), &documents, lines(&documents)));
    }

    /// With ties too: ids decide, never the order of lines.
    #[test]
    fn the_order_of_lines_changes_nothing(
        (documents, shuffled) in documents((-3..3).prop_map(f64::from))
            .prop_flat_map(|documents| (Just(documents.clone()), Just(lines(&documents)).prop_shuffle())),
        measure in measure(),
    ) {
        let name = name(measure, 10, 1);
        prop_assert_eq!(measured(&name, &documents, lines(&documents)), measured(&name, &documents, shuffled));
    }

    #[test]
    fn a_constant_added_to_all_scores_changes_nothing(documents in untied(), constant in -1000..1000, measure in measure()) {
        let mut moved = lines(&documents);
        for line in &mut moved {
            line.score += f64::from(constant) / 4.0;
        }
        let name = name(measure, 10, 1);
        prop_assert_eq!(measured(&name, &documents, lines(&documents)), measured(&name, &documents, moved));
    }

    /// The ideal ranking has nDCG 1, and with enough places finds everything at once.
    #[test]
    fn the_ideal_ranking_is_ideal(grades in prop::collection::vec(0..4, 1..30)) {
        let ideal: Vec<Document> = grades.iter().map(|grade| (Some(*grade), Some(f64::from(*grade)))).collect();
        let expected = f64::from(u8::from(grades.iter().any(|grade| *grade > 0)));
        for name in ["nDCG", "nDCG@5", "AP", "RR", "Success@1", "R@30"] {
            let value = measured(name, &ideal, lines(&ideal));
            prop_assert!((value - expected).abs() < 1e-12, "{name}: {value}");
        }
    }
}
