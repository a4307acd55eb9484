//! Answers in other places than the organisers' scorer looks for them.

use crate::common::{rows, sample, sample_folder, write};
use clariq_collections::evaluation::{Answers, ScoreCell, ScoreOptions};
use clariq_collections::{Collection, ValidationOptions};
use clariq_files::Source;
use clariq_track_mtrag::KIND;
use clariq_tracks::TRACKS;
use serde_json::json;

fn line(task: &str, collection: &str, passages: &[&str]) -> String {
    let contexts: Vec<_> = (0..)
        .zip(passages)
        .map(|(place, id)| json!({ "document_id": id, "score": 9 - place }))
        .collect();
    format!("{}\n", json!({ "task_id": task, "Collection": collection, "contexts": contexts }))
}

fn warnings(text: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.jsonl", text);
    let sample = sample();
    let collection: &dyn Collection = &sample;
    let file = Source::new(folder.path().join("a.jsonl"));
    let split = collection.find_split("mtrag-un").unwrap();
    let evaluation = collection.evaluation(split).unwrap();
    let result = evaluation.cases(Answers::File(&file), &ScoreOptions::default());
    result.map(|result| result.warnings).map_err(|error| error.to_string())
}

#[test]
fn answers_elsewhere_count_in_weights_alone_as_in_the_organisers_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let right = [line("cc02<::>2", "govt", &["x"]), line("dd01<::>2", "ibmcloud", &["x"])].concat();
    let more = [
        right.clone(),
        // A request of another domain, and one that the split lacks.
        line("dd03<::>1", "mt-rag-govt-elser-512-100-20240611", &["x"]),
        line("zz01<::>1", "govt", &["x"]),
    ];
    let counts = |text: &str| {
        write(folder.path(), "a.jsonl", text);
        let rows = rows(&sample(), "mtrag-un", &folder.path().join("a.jsonl"));
        let count = |cell: &ScoreCell| match cell {
            ScoreCell::Text(text) => text.clone(),
            ScoreCell::Count(count) => count.to_string(),
            other => panic!("{other:?}"),
        };
        let shown = rows.iter().map(|row| [&row[0], &row[2], &row[3]].map(count).join(" "));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(counts(&right), ["cloud 1 1", "govt 1 1", "all 2 2"]);
    assert_eq!(counts(&more.concat()), ["cloud 1 1", "govt 3 1", "all 4 2"]);
    let found = warnings(&more.concat()).unwrap();
    assert!(found.iter().any(|it| it.starts_with("2 answers are to requests that")), "{found:?}");
    assert!(!warnings(&right).unwrap().iter().any(|it| it.contains("Collection")));
}

#[test]
fn a_request_twice_is_refused_by_eval_as_by_validate() {
    let twice = [line("cc02<::>2", "govt", &["x"]), line("cc02::2", "govt", &["y"])].concat();
    let refused = warnings(&twice).unwrap_err();
    assert!(
        refused.contains("a.jsonl:2: expected every request once, found `cc02::2` again"),
        "{refused}"
    );
    let (official, _) = findings(&twice);
    assert!(official.iter().any(|it| it.contains("every request once")), "{official:?}");
}

#[test]
fn a_passage_twice_is_a_warning_of_eval_as_of_validate() {
    let text = line("cc02<::>2", "govt", &["x", "x"]);
    let found = warnings(&text).unwrap();
    assert!(found.iter().any(|it| it.starts_with("1 passage is given again")), "{found:?}");
    let (_, let_through) = findings(&text);
    assert!(let_through.iter().any(|it| it.contains("every passage of a request once")));
}

#[test]
fn another_collection_is_a_warning_of_validate() {
    let (_, let_through) = findings(&line("cc02<::>2", "cloud", &["x"]));
    assert!(let_through.iter().any(|it| it.contains("a `Collection` of govt")), "{let_through:?}");
}

/// The findings of the official program, and those that it overlooks.
fn findings(text: &str) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.jsonl", text);
    let data = clariq_collections::DataDir::Folder(sample_folder());
    let file = Source::new(folder.path().join("a.jsonl"));
    let options = ValidationOptions::new(&|_| 0, 25);
    let found = (KIND.validate)(&data, "mtrag-un", &file, &options).unwrap();
    let texts = |findings: &clariq_core::Findings| {
        findings.iter().map(|finding| finding.first.to_string()).collect()
    };
    (texts(&found.official), texts(&found.let_through))
}

#[test]
fn a_submission_is_read_as_a_run_where_judgements_come_from_a_file() {
    let text = [line("cc02<::>2", "govt", &["x", "y"]), line("dd01<::>2", "cloud", &[])].concat();
    let run = TRACKS.read_run(&Source::memory("a.jsonl", text.as_bytes())).unwrap();
    let lines =
        run.lines.iter().map(|line| format!("{} {} {}", line.topic, line.document, line.score));
    assert_eq!(lines.collect::<Vec<_>>(), ["cc02<::>2 x 9", "cc02<::>2 y 8"]);
    let other = Source::memory("a.jsonl", *b"{\"q\": {\"d\": 1}}\n");
    assert!(TRACKS.read_run(&other).is_err(), "a dictionary is no submission");
    let trec = TRACKS.read_run(&Source::memory("a.run", *b"q 0 d 1 2 r\n")).unwrap();
    assert_eq!(trec.lines.len(), 1);
}
