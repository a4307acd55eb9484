//! Scores of responses against those of the organisers' program and of the package rouge-score
//! (`scripts/make-golden responses`).

use crate::common::released;
use clariq_files::Source;
use clariq_track_mtrag::ResponseScores;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

#[derive(Deserialize)]
struct Golden {
    /// A task of the organisers' sample, or else texts: a response, its reference, two passages.
    task: Option<String>,
    #[serde(default)]
    texts: Vec<String>,
    scores: (f64, f64, Option<f64>),
}

fn golden() -> Vec<Golden> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/responses.jsonl");
    let bytes = Source::new(path).read().unwrap().bytes;
    let lines = str::from_utf8(&bytes).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn assert_scores(found: ResponseScores, expected: (f64, f64, Option<f64>), about: &str) {
    assert_eq!((found.rouge_l, found.recall, found.k_precision), expected, "{about}");
}

#[test]
fn scores_of_odd_texts_equal_those_of_the_organisers_program() {
    let made: Vec<Golden> = golden().into_iter().filter(|case| case.task.is_none()).collect();
    assert_eq!(made.len(), 60);
    for case in made {
        let found = ResponseScores::of(&case.texts[0], &case.texts[1], &case.texts[2..]);
        assert_scores(found, case.scores, &case.texts.join(" | "));
    }
}

#[test]
fn scores_of_the_organisers_sample_equal_those_of_their_program() {
    let Some(folder) = released() else { return };
    let path = folder.join("scripts/evaluation/sample_data/responses-10.jsonl");
    let bytes = Source::new(path).read().unwrap().bytes;
    let text = str::from_utf8(&bytes).unwrap().replace("NaN", "null");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tasks: HashMap<String, Value> =
        lines.map(|task| (task["task_id"].as_str().unwrap().to_owned(), task)).collect();
    let named: Vec<Golden> = golden().into_iter().filter(|case| case.task.is_some()).collect();
    assert_eq!(named.len(), 10);
    for case in named {
        let id = case.task.unwrap();
        let task = &tasks[&id];
        let text = |value: &Value| value["text"].as_str().unwrap().to_owned();
        let passages: Vec<String> = task["contexts"].as_array().unwrap().iter().map(text).collect();
        let [response, reference] = ["predictions", "targets"].map(|key| text(&task[key][0]));
        assert_scores(ResponseScores::of(&response, &reference, &passages), case.scores, &id);
    }
}
