//! Figures against those of `pytrec_eval`, which the organisers' scorer calls
//! (`scripts/make-golden mtrag`).

use crate::common::{open, rows, write};
use clariq_collections::evaluation::ScoreCell;
use clariq_files::Source;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

#[derive(Deserialize)]
struct Golden {
    tasks: Vec<(String, String)>,
    qrels: Vec<(String, Vec<String>)>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    run: Vec<(String, Vec<(String, f64)>)>,
    figures: Vec<(String, usize, usize, Vec<f64>)>,
}

#[test]
fn figures_of_random_runs_equal_those_of_pytrec_eval() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/scores.json.gz");
    let golden = Source::new(path).read().unwrap().bytes;
    let golden: Golden = serde_json::from_slice(&golden).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let domains: BTreeMap<&str, &str> =
        golden.tasks.iter().map(|(task, domain)| (task.as_str(), domain.as_str())).collect();
    let mut tasks = String::new();
    for (task, domain) in &golden.tasks {
        let input = json!([{ "speaker": "user", "text": "a question" }]);
        let line = json!({ "task_id": task, "Collection": domain, "input": input });
        writeln!(tasks, "{line}").unwrap();
    }
    write(folder.path(), "mtragun-human/generation_tasks/reference.jsonl", &tasks);
    let mut qrels: BTreeMap<&str, String> = BTreeMap::new();
    for (task, passages) in &golden.qrels {
        let of_domain = qrels.entry(domains[task.as_str()]).or_default();
        for passage in passages {
            writeln!(of_domain, "{task}\t{passage}\t1").unwrap();
        }
    }
    for (domain, lines) in qrels {
        let text = format!("query-id\tcorpus-id\tscore\n{lines}");
        write(folder.path(), &format!("mtragun-human/retrieval_tasks/qrels/{domain}.tsv"), &text);
    }
    let mtrag = open(folder.path());
    assert_eq!(golden.cases.len(), 100);
    for (number, case) in golden.cases.iter().enumerate() {
        let mut submission = String::new();
        for (task, passages) in &case.run {
            let contexts = passages.iter();
            let contexts: Vec<_> =
                contexts.map(|(id, score)| json!({ "document_id": id, "score": score })).collect();
            // The scorer takes both spellings.
            let task = if number % 2 == 0 { task.clone() } else { task.replace("<::>", "::") };
            let line = json!({ "task_id": task, "Collection": "x", "contexts": contexts });
            writeln!(submission, "{line}").unwrap();
        }
        write(folder.path(), "run.jsonl", &submission);
        let found = rows(&mtrag, "mtrag-un", &folder.path().join("run.jsonl"));
        for (row, (domain, answered, judged, values)) in found.iter().zip(&case.figures) {
            assert_eq!(row[0], ScoreCell::Text(domain.clone()));
            assert_eq!(row[2], ScoreCell::Count(*answered), "{number} {domain}");
            assert_eq!(row[3], ScoreCell::Count(*judged), "{number} {domain}");
            for (cell, expected) in row[4..].iter().zip(values) {
                let ScoreCell::Score(value, 5) = cell else { panic!("{cell:?}") };
                let difference = (value - expected).abs();
                assert!(difference < 1e-9, "{number} {domain}: {value}, not {expected}");
            }
        }
        assert_eq!(found.len(), case.figures.len());
    }
}
