use super::*;
use serde_json::json;

/// What a line means, after a question or as the first one.
fn parsed(line: &str, after: Option<&str>) -> (Option<Value>, Result<UserRequest, Problem>) {
    let waiting = after.map(|question| PendingQuestion {
        conversation: Request::new("0", "Tell me about Saturn.").into(),
        question: question.to_owned(),
    });
    parse(line, None, waiting.as_ref(), &Location::line("<stdin>", 3))
}

#[test]
fn an_answer_continues_the_conversation_and_a_request_begins_one() {
    let said = |line: &str| -> Vec<String> {
        let request = parsed(line, Some("which one")).1.unwrap().request;
        request.said.iter().map(|utterance| utterance.text.clone()).collect()
    };
    let whole = ["Tell me about Saturn.", "which one", "the car"];
    assert_eq!(said(r#"{"answer": "the car"}"#), whole);
    let middle = json!({
        "request": whole[0],
        "conversation_context": [{ "question": whole[1], "answer": whole[2] }],
    });
    assert_eq!(said(&middle.to_string()), whole);
    assert_eq!(said(r#"{"request": "How can I stop snoring?"}"#), ["How can I stop snoring?"]);
}

#[test]
fn a_bad_line_is_named_with_its_id() {
    let turn = json!({ "question": "a", "answer": "b" });
    let many = json!({ "request": "x", "conversation_context": vec![turn; 21] }).to_string();
    for (line, says) in [
        ("no JSON", "`no JSON`, which is no JSON object"),
        (r#"{"answer": " ", "id": 7}"#, "an empty one"),
        (r#"["tea"]"#, "which is no JSON object"),
        (r#"{"reply": "x", "id": 7}"#, "unknown field `reply`"),
        ("{}", "neither"),
        (r#"{"request": "a", "answer": "b"}"#, "both at once"),
        (r#"{"request": ""}"#, "an empty one"),
        (r#"{"request": "a", "statements": ["b"]}"#, "`statements` beside it"),
        (&many, "21"),
    ] {
        let (id, turn) = parsed(line, Some("which one"));
        let problem = turn.unwrap_err();
        assert_eq!(problem.at, Location::line("<stdin>", 3));
        assert!(problem.found.contains(says), "{line}: {problem}");
        assert_eq!(id, line.contains("\"id\": 7").then(|| json!(7)), "{line}");
    }
    let problem = parsed(r#"{"answer": "the car"}"#, None).1.unwrap_err();
    assert_eq!(problem.found, "an answer without a question");
}

#[test]
fn an_id_is_returned_unchanged_or_refused() {
    for id in ["18446744073709551615", "-7", "\"1.50\"", "[1, \"a\"]"] {
        let (found, turn) = parsed(&format!("{{\"id\": {id}, \"request\": \"saturn\"}}"), None);
        assert_eq!(found, serde_json::from_str(id).unwrap());
        assert!(turn.is_ok(), "{id}");
    }
    for id in ["123456789012345678901", "1.5", "{\"a\": [1e2]}"] {
        let (found, turn) = parsed(&format!("{{\"id\": {id}, \"request\": \"saturn\"}}"), None);
        let problem = turn.unwrap_err();
        assert!(found.is_none() && problem.expected.contains("JSON keeps exactly"), "{problem}");
    }
}
