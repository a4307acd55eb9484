//! Systems with a language model on the sample of MTRAG.

use crate::common::{Folder, Work, root};
use crate::stub::{self, Received, Reply, Stub, completion};
use clariq_collections::DataDir;
use serde_json::{Value, json};

/// Rewrites nothing, finds an answer to all requests but one, and writes an answer or a question.
fn chat(received: &Received, number: usize) -> Reply {
    let body = received.body.to_string();
    let name = received.body["response_format"]["json_schema"]["name"].as_str();
    let answer = match name {
        Some("grade") if body.contains("Query: how much is it") => json!({ "grade": 1 }),
        Some("response") => json!({ "response": [{ "text": "It is so.", "sources": [1] }] }),
        Some("question") => json!({ "question": "Which licence do you mean?" }),
        _ => return stub::chat(received, number),
    };
    Reply::Json(completion(&answer.to_string()))
}

#[test]
fn a_chat_answers_or_asks_where_no_passage_has_an_answer() {
    let folder = Folder::new();
    let stub = Stub::start(chat);
    let sample = DataDir::Folder(root().join("data/sample-mtrag"));
    let work = Work { split: Some("mtrag-un".to_owned()), ..Work::outside(&folder, sample) };
    let server = format!("models.chat.url={}/v1", stub.url);
    work.with(&[&server]).run("mtrag-chat", "one.jsonl").expect("a run");
    let answers = folder.text("one.jsonl");
    let answers = answers.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let answers: Vec<Value> = answers.collect();
    assert_eq!(answers.len(), 8);
    for answer in &answers {
        let has_passages = answer["contexts"].as_array().is_some_and(|all| !all.is_empty());
        let is_answered = has_passages && answer["task_id"] != "cc03<::>1";
        let expected = if is_answered { "It is so." } else { "Which licence do you mean?" };
        assert_eq!(answer["predictions"][0]["text"], expected, "{answer}");
        // Most grades are equal. The scorer orders passages by their scores, and equal ones by id.
        let contexts = answer["contexts"].as_array().expect("passages");
        let scores: Vec<f64> =
            contexts.iter().map(|one| one["score"].as_f64().expect("a score")).collect();
        assert!(scores.is_sorted_by(|one, next| one > next), "{answer}");
    }
    assert!(!folder.path("one.statements.run").exists());
}
