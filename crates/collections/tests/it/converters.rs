//! The converters of docs/how-to/converters.md, each on made-up lines in the form of its collection.

use clariq_collections::{DataDir, OWN};
use clariq_core::{Error, Request, Utterance, find_python};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the block below a heading over files, and reads the requests of a split.
fn convert(heading: &str, files: &[(&str, String)], split: &str) -> Vec<Request> {
    convert_with_rewrites(heading, files, split).0
}

/// The same with the file of rewrites.
fn convert_with_rewrites(
    heading: &str,
    files: &[(&str, String)],
    split: &str,
) -> (Vec<Request>, String) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/converters.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = section.split_once("```python\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    assert!(block.lines().count() <= 20, "a dozen lines, and a few more");
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for (name, text) in files {
        write(name, text);
    }
    write("convert.py", block);
    let mut python = Command::new(find_python());
    let run = python.arg("convert.py").current_dir(folder.path()).status().unwrap();
    assert!(run.success(), "{heading}");
    write("documents.jsonl", "{\"id\": \"d1\", \"text\": \"a document\"}\n");
    let own = (OWN.open)(&DataDir::Folder(folder.path().to_owned()), None).unwrap();
    let requests = own.requests(own.find_split(split).unwrap(), own.tasks()[0]).unwrap();
    let rewrites = fs::read_to_string(folder.path().join("rewrites.tsv")).unwrap_or_default();
    (requests.collect::<Result<_, Error>>().unwrap(), rewrites)
}

fn said(texts: [&str; 3]) -> Vec<Utterance> {
    vec![Utterance::user(texts[0]), Utterance::system(texts[1]), Utterance::user(texts[2])]
}

/// Five turns of two collections: three of a conversation, two of another.
fn turns() -> String {
    let turn = |conversation, number, context: Value, question| {
        json!({
            "Conversation_no": conversation, "Turn_no": number, "Context": context,
            "Question": question, "Rewrite": "re\twrit\nten", "Answer": "an answer",
        })
    };
    json!([
        turn(1, 1, json!([]), "q1"),
        turn(1, 2, json!(["q1", "a1"]), "q2"),
        turn(1, 3, json!(["q1", "a1", "q2", "a2"]), "q3"),
        turn(2, 1, json!([]), "q4"),
        turn(2, 2, json!(["q4", "a4"]), "q5"),
    ])
    .to_string()
}

#[test]
fn qrecc_and_topiocqa() {
    for (heading, file, split) in
        [("QReCC", "qrecc_test.json", "test"), ("TopiOCQA", "topiocqa_dev.json", "dev")]
    {
        let requests = convert(heading, &[(file, turns())], split);
        let ids: Vec<&str> = requests.iter().map(|request| request.id.as_str()).collect();
        assert_eq!(ids, ["1_1", "1_2", "1_3", "2_1", "2_2"]);
        assert_eq!(*requests[4].said, said(["q4", "a4", "q5"]));
        assert_eq!(requests[2].said.len(), 5);
    }
}

/// The second block of the section has the judgements.
#[test]
fn judgements_of_topiocqa() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/converters.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## TopiOCQA\n").unwrap();
    let block = section.split("```python\n").nth(2).unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("downloads/data/retriever/all_history");
    fs::create_dir_all(&below).unwrap();
    let turn = |number: u8, passage: &str| {
        let passage = json!({ "passage_id": passage, "title": "Moon [SEP] Intro", "text": "far" });
        json!({ "conv_id": 1, "turn_id": number, "question": "q", "positive_ctxs": [passage] })
    };
    fs::write(below.join("dev.json"), json!([turn(1, "7"), turn(2, "9")]).to_string()).unwrap();
    fs::write(folder.path().join("convert.py"), block).unwrap();
    let mut python = Command::new(find_python());
    assert!(python.arg("convert.py").current_dir(folder.path()).status().unwrap().success());
    let qrels = fs::read_to_string(folder.path().join("qrels.dev.txt")).unwrap();
    assert_eq!(qrels, "1_1 0 7 1\n1_2 0 9 1\n");
}

#[test]
fn a_rewrite_of_qrecc_is_one_line() {
    let (_, rewrites) = convert_with_rewrites("QReCC", &[("qrecc_test.json", turns())], "test");
    assert_eq!(rewrites.lines().collect::<Vec<_>>()[..2], ["1_1\tre writ ten", "1_2\tre writ ten"]);
}

#[test]
fn trec_cast_of_other_years() {
    let convert = |topics: Value| {
        let topics = ("2020_manual_evaluation_topics_v1.0.json", topics.to_string());
        let files = [topics, ("2020qrels.txt", "31_1 0 MARCO_1 2\n".to_owned())];
        convert_with_rewrites("TREC CAsT", &files, "test")
    };
    // 2019 has utterances alone.
    let turns =
        json!([{ "number": 1, "raw_utterance": "q1" }, { "number": 2, "raw_utterance": "q2" }]);
    let (requests, rewrites) = convert(json!([{ "number": 31, "title": "t", "turn": turns }]));
    assert_eq!((requests.len(), &*rewrites), (2, ""));
    // 2022 has other keys, and paths that begin with the same turns.
    let turn = |number: &str| json!({ "number": number, "utterance": format!("q{number}"), "manual_rewritten_utterance": "r", "response": "a" });
    let path = |last: &str| json!({ "number": 132, "turn": [turn("1-1"), turn(last)] });
    let (requests, rewrites) = convert(json!([path("1-3"), path("2-1")]));
    let ids: Vec<&str> = requests.iter().map(|request| request.id.as_str()).collect();
    assert_eq!(ids, ["132_1-1", "132_1-3", "132_2-1"]);
    assert_eq!(*requests[2].said, said(["q1-1", "a", "q2-1"]));
    assert_eq!(rewrites.lines().count(), 3);
}

/// The released files, where they are.
#[test]
fn trec_cast_as_it_is_released() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cast");
    for (file, turns) in [
        ("2019_evaluation_topics_v1.0.json", 479),
        ("2020_manual_evaluation_topics_v1.0.json", 216),
        ("2021_manual_evaluation_topics_v1.0.json", 239),
        ("2022_evaluation_topics_flattened_duplicated_v1.0.json", 205),
    ] {
        let Ok(topics) = fs::read_to_string(folder.join(file)) else {
            eprintln!("skipped: {file} is not there");
            continue;
        };
        let qrels = ("2020qrels.txt", "31_1 0 MARCO_1 2\n".to_owned());
        let files = [("2020_manual_evaluation_topics_v1.0.json", topics), qrels];
        assert_eq!(convert("TREC CAsT", &files, "test").len(), turns, "{file}");
    }
}

#[test]
fn trec_cast() {
    let turn = |number, text: &str| json!({ "number": number, "raw_utterance": text, "manual_rewritten_utterance": "…" });
    let mut topics = json!([
        { "number": 81, "turn": [turn(1, "q1"), turn(2, "q2"), turn(3, "q3")] },
        { "number": 82, "turn": [turn(1, "q4"), turn(2, "q5")] },
    ]);
    topics[1]["turn"][0]["passage"] = "a4".into();
    let qrels = "81_1 0 MARCO_1 2\n".to_owned();
    let files =
        [("2020_manual_evaluation_topics_v1.0.json", topics.to_string()), ("2020qrels.txt", qrels)];
    let requests = convert("TREC CAsT", &files, "test");
    assert_eq!(requests.len(), 5);
    assert_eq!(*requests[1].said, [Utterance::user("q1"), Utterance::user("q2")]);
    assert_eq!(*requests[4].said, said(["q4", "a4", "q5"]));
}

#[test]
fn qulac() {
    let column = |values: [&str; 5]| -> Value {
        let rows = values.iter().enumerate();
        rows.map(|(row, value)| (row.to_string(), Value::from(*value))).collect()
    };
    let rows = json!({
        "topic_facet_question_id": column(["1-1-X", "1-1-1", "1-2-1", "2-1-1", "2-1-2"]),
        "topic": column(["t1", "t1", "t1", "t2", "t2"]),
        "question": column(["X", "q1", "q1", "q2", "q3"]),
        "answer": column(["X", "a1", "a2", "a3", "a4"]),
        "topic_type": column(["ambiguous", "ambiguous", "ambiguous", "faceted", "faceted"]),
    });
    let requests = convert("Qulac", &[("qulac.json", rows.to_string())], "test");
    assert_eq!(requests.len(), 5);
    assert_eq!(*requests[0].said, [Utterance::user("t1")]);
    assert_eq!(*requests[4].said, said(["t2", "q3", "a4"]));
}

#[test]
fn coral() {
    let turn = |number, question: &str, response: &str| {
        json!({
            "turn_id": number, "question": question, "response": response,
            "golden_rewrite": "…", "golden_docs_pids": [number, number], "golden_docs_text": ["…"],
        })
    };
    let conversations = json!([
        { "conv_id": "c1", "turns": [turn(1, "q1", "a1"), turn(2, "q2", "a2"), turn(3, "q3", "a3")] },
        { "conv_id": "c2", "turns": [turn(1, "q4", "a4"), turn(2, "q5", "a5")] },
    ]);
    let lines = conversations.as_array().unwrap().iter().map(|one| format!("{one}\n"));
    for form in [conversations.to_string(), lines.collect()] {
        let requests = convert("CORAL", &[("test_conversation.json", form)], "test");
        let ids: Vec<&str> = requests.iter().map(|request| request.id.as_str()).collect();
        assert_eq!(ids, ["c1_1", "c1_2", "c1_3", "c2_1", "c2_2"]);
        assert_eq!(*requests[4].said, said(["q4", "a4", "q5"]));
    }
}
