//! The rules of the organisers' format checker, each by a file that breaks it.

use crate::common::{sample, sample_folder, write};
use clariq_collections::{Collection, DataDir, OfficialVerdict, Validation, ValidationOptions};
use clariq_core::RequestId;
use clariq_files::Source;
use clariq_track_mtrag::{KIND, Mtrag, PASSAGES, splits};
use serde_json::{Value, json};
use std::path::Path;

/// A line of Task A for each request of the sample.
fn task_a(mtrag: &Mtrag) -> Vec<Value> {
    let requests = mtrag.requests(splits::MTRAG_UN, PASSAGES).unwrap();
    let contexts = json!([{ "document_id": "g1-0-90", "score": 1.5, "text": "…" }]);
    let line = |id: RequestId| {
        let domain = if id.as_str().starts_with("cc") { "govt" } else { "cloud" };
        json!({ "task_id": id, "Collection": domain, "contexts": contexts })
    };
    requests.map(|request| line(request.unwrap().id)).collect()
}

/// The same lines with what Task B or C has in addition.
fn with_responses(mut lines: Vec<Value>, keeps_collection: bool) -> Vec<Value> {
    for line in &mut lines {
        line["input"] = json!([{ "speaker": "user", "text": "…" }]);
        line["predictions"] = json!([{ "text": "an answer" }]);
        if !keeps_collection {
            line.as_object_mut().unwrap().remove("Collection");
        }
    }
    lines
}

fn validate_at(path: &Path) -> Validation {
    let options = ValidationOptions::new(&|_| 0, 0);
    let data = DataDir::Folder(sample_folder());
    (KIND.validate)(&data, "mtrag-un", &Source::new(path), &options).unwrap()
}

fn validate(lines: &[Value]) -> Validation {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    write(folder.path(), "a.jsonl", &lines.join("\n"));
    validate_at(&folder.path().join("a.jsonl"))
}

/// The expectations that a file does not meet, and what was found.
fn found(validation: &Validation) -> Vec<String> {
    let facts = validation.official.iter();
    facts.map(|fact| format!("{}: {}", fact.first.expected, fact.first.found)).collect()
}

#[test]
fn files_of_all_tasks_are_accepted() {
    let lines = task_a(&sample());
    for lines in
        [lines.clone(), with_responses(lines.clone(), false), with_responses(lines.clone(), true)]
    {
        let validation = validate(&lines);
        assert_eq!(found(&validation), [""; 0]);
        assert_eq!(validation.verdict, OfficialVerdict::Accepted { warnings: 0 });
        assert_eq!(validation.answered, 8);
        assert_eq!(validation.let_through.iter().len(), 0);
    }
}

#[test]
fn every_rule_is_checked() {
    let lines = task_a(&sample());
    let broken = |key: &str, value: Value| {
        let mut lines = lines.clone();
        lines[1][key] = value;
        let validation = validate(&lines);
        assert_eq!(validation.verdict, OfficialVerdict::Error);
        found(&validation)
    };
    let context = |id: Value, score: Value| json!([{ "document_id": id, "score": score }]);
    let eleven = vec![json!({ "document_id": "a", "score": 1 }); 11];
    assert_eq!(broken("Collection", json!(1)), ["a text as `Collection`: a number"]);
    assert_eq!(broken("contexts", json!("x")), ["a list as `contexts`: a text"]);
    assert_eq!(broken("contexts", json!(eleven)), ["at most 10 passages in `contexts`: 11"]);
    assert_eq!(
        broken("contexts", context(json!(3), json!(1))),
        ["a text as `document_id` of each passage: a number"]
    );
    assert_eq!(
        broken("contexts", context(json!("a"), json!("1"))),
        ["a number as `score` of each passage: a text"]
    );
    assert_eq!(
        broken("task_id", json!("zz<::>9")),
        [
            "an answer to every request of the split: none to `cc02<::>2`",
            "requests of the split: `zz<::>9`",
        ]
    );
    assert_eq!(
        broken("task_id", json!("cc01<::>2")),
        [
            "every request once: `cc01<::>2` again",
            "an answer to every request of the split: none to `cc02<::>2`",
        ]
    );
    assert_eq!(
        found(&validate(&lines[..7])),
        [
            "8 requests, as many as the split has: 7",
            "an answer to every request of the split: none to `dd04<::>2`",
        ]
    );
    let mut lines = with_responses(lines.clone(), true);
    lines[2]["predictions"] = json!([{ "text": 1 }]);
    lines[3].as_object_mut().unwrap().remove("input");
    assert_eq!(
        found(&validate(&lines)),
        ["a text as `text` of each prediction: a number", "a list as `input`: none"]
    );
}

#[test]
fn ids_of_the_other_spelling_are_errors_where_the_input_is_known_and_empty_passages_warnings() {
    let mut lines = task_a(&sample());
    lines[0]["contexts"] = json!([]);
    let validation = validate(&lines);
    assert_eq!(validation.verdict, OfficialVerdict::Accepted { warnings: 1 });
    assert_eq!(found(&validation), ["passages in `contexts`: an empty list"]);
    lines[1]["task_id"] = json!("cc02::2");
    let validation = validate(&lines);
    assert_eq!(validation.verdict, OfficialVerdict::Error);
    let spelled = "ids in the spelling of the split: `cc02::2`".to_owned();
    assert!(found(&validation).contains(&spelled), "{:?}", found(&validation));
    // retrieval_tasks have another spelling than generation_tasks, and are no input of the program.
    let folder = tempfile::tempdir().unwrap();
    let form = "mtrag-human/retrieval_tasks/govt/govt_lastturn.jsonl";
    write(folder.path(), form, "{\"_id\": \"a<::>1\", \"text\": \"|user|: moon\"}\n");
    let answer = json!({ "task_id": "a::1", "Collection": "govt", "contexts": [] });
    write(folder.path(), "a.jsonl", &answer.to_string());
    let data = DataDir::Folder(folder.path().to_owned());
    let options = ValidationOptions::new(&|_| 0, 0);
    let source = Source::new(folder.path().join("a.jsonl"));
    let validation = (KIND.validate)(&data, "mtrag", &source, &options).unwrap();
    assert_eq!(validation.verdict, OfficialVerdict::Accepted { warnings: 1 });
    let overlooked: Vec<&str> =
        validation.let_through.iter().map(|fact| fact.first.expected.as_str()).collect();
    assert_eq!(overlooked, ["ids in the spelling of the split"]);
}

#[test]
fn the_name_and_each_line_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = task_a(&sample()).iter().map(ToString::to_string).collect();
    write(folder.path(), "a.json", &(lines.join("\n") + "\n\n{\n[]\n"));
    let validation = validate_at(&folder.path().join("a.json"));
    assert_eq!(
        found(&validation),
        [
            "a file whose name ends in .jsonl: another name",
            "JSON: a fault in column 1: EOF while parsing an object",
            "an object on each line: another value",
        ]
    );
}
