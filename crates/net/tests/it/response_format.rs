//! The form of an answer: how a server is told, what is read, and what is recorded.

use crate::models::chat_config;
use crate::stub::{Reply, Stub, completion};
use crate::{chat, lines, parts, replaying, requests, session};
use clariq_core::{Answer, AnswerForm, ChatRequest, Completion, Error, Location, Thinking};
use clariq_net::CallOptions;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request for a query.
fn asked(form: &AnswerForm) -> Vec<ChatRequest> {
    requests(&["hello"])
        .into_iter()
        .map(|one| ChatRequest { form: Some(form.clone()), ..one })
        .collect()
}

fn complete(stub: &Stub, more: Value, form: &AnswerForm) -> Result<Completion, Error> {
    let folder = tempfile::tempdir().unwrap();
    let model = chat(&chat_config(stub, more), &session(CallOptions::default()), folder.path());
    model.complete(&asked(form), &|_, _| Ok(())).map(|mut all| all.remove(0))
}

#[test]
fn a_server_is_told_the_form_in_the_way_of_the_table() {
    let stub = Stub::working();
    let sent = |more: Value| {
        complete(&stub, more, &AnswerForm::Grade(0..=3)).unwrap();
        stub.received().pop().unwrap().body["response_format"].clone()
    };
    let schema = json!({
        "type": "object",
        "properties": { "grade": { "type": "integer", "enum": [0, 1, 2, 3] } },
        "required": ["grade"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "json_schema",
        "json_schema": { "name": "grade", "strict": true, "schema": schema },
    });
    assert_eq!(sent(json!({})), expected);
    assert_eq!(sent(json!({ "format": "json" })), json!({ "type": "json_object" }));
    assert_eq!(sent(json!({ "format": "prompt" })), Value::Null);
    assert_eq!(sent(json!({ "format": "text" })), Value::Null);
}

#[test]
fn an_answer_is_read_behind_what_the_model_thinks_and_the_marks_of_its_template() {
    let query = "{\"query\": \"what does </think> mean\"}";
    let read = Some(Answer::Text("what does </think> mean".to_owned()));
    for (before, after, thinking) in [
        ("", "", Thinking::None),
        ("<think>\n{\"query\": \"coffee\"}\n</think>\n\n", "", Thinking::Ended),
        ("<think>\n\n</think>\n\n", "", Thinking::Ended),
        ("coffee\n</think>\n\n", "", Thinking::Ended),
        ("[THINK]a[/THINK]", "</s>", Thinking::Ended),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>",
            "<|return|>",
            Thinking::Ended,
        ),
        ("<s> ", "<|im_end|>\n<|endoftext|>", Thinking::None),
    ] {
        for inner in [query.to_owned(), format!("```json\n{query}\n```")] {
            let text = format!("{before}{inner}{after}");
            // The last tag is in the answer itself, which alone is read first.
            let is_inside = thinking == Thinking::Ended && !before.contains("<|channel|>");
            let text =
                if is_inside { text.replace("what does </think> mean", "tents") } else { text };
            let expected =
                if is_inside { Some(Answer::Text("tents".to_owned())) } else { read.clone() };
            let stub = Stub::always(Reply::Json(completion(&text)));
            let found = complete(&stub, json!({}), &AnswerForm::Query).unwrap();
            assert_eq!(found.answer, expected, "{text}");
            assert_eq!(found.thinking, thinking, "{text}");
        }
    }
    // A draft in the thoughts is no answer.
    let draft = "```json\n{\"query\": \"coffee\"}\n```";
    for text in [
        format!("<think>{draft}</think> I cannot help."),
        format!("{draft} No. </think> I cannot help."),
        format!("<think>{draft}"),
    ] {
        let stub = Stub::always(Reply::Json(completion(&text)));
        assert_eq!(complete(&stub, json!({}), &AnswerForm::Query).unwrap().answer, None, "{text}");
    }
    let own = json!({ "thinking": [["{{", "}}"]] });
    let stub = Stub::always(Reply::Json(completion("{{a}}{\"query\": \"tents\"}")));
    let found = complete(&stub, own, &AnswerForm::Query).unwrap();
    assert_eq!(found.answer, Some(Answer::Text("tents".to_owned())));
    let stub = Stub::always(Reply::Json(completion("<think>a</think>flat tyre\n")));
    let found = complete(&stub, json!({ "format": "text" }), &AnswerForm::Query).unwrap();
    assert_eq!(found.answer, Some(Answer::Text("flat tyre".to_owned())));
}

#[test]
fn what_was_cut_is_not_read() {
    let mut cut = completion("{\"query\": \"tents\"}");
    cut["choices"][0]["finish_reason"] = "length".into();
    let found = complete(&Stub::always(Reply::Json(cut)), json!({}), &AnswerForm::Query).unwrap();
    assert_eq!((found.answer, found.cut), (None, true));
}

#[test]
fn a_server_that_refuses_the_form_names_the_key_that_changes_it() {
    for status in [400, 404, 415, 422] {
        let body = json!({ "error": { "message": "unknown parameter: 'response_format'" } });
        let stub = Stub::always(Reply::status(status, &body.to_string()));
        for (format, says) in [
            ("schema", "`format = \"json\"` in [models.far] (`--set models.far.format=json`)"),
            ("json", "`format = \"prompt\"` in [models.far]"),
        ] {
            let more = json!({ "format": format });
            let found = parts(complete(&stub, more, &AnswerForm::Query));
            assert!(found.contains(says), "{status} {format}: {found}");
        }
        let more = json!({ "format": "prompt" });
        let found = parts(complete(&stub, more, &AnswerForm::Query));
        assert!(!found.contains("models.far.format"), "{found}");
    }
    let config = chat_config(&Stub::working(), json!({ "parameters": { "response_format": {} } }));
    let found = parts(config.check(&Location::file("x.toml")));
    assert!(found.contains("the key `format` of the same table is its place"), "{found}");
    let config = chat_config(&Stub::working(), json!({ "unread": 1.5 }));
    assert!(parts(config.check(&Location::file("x.toml"))).contains("a share from 0 to 1"));
}

#[test]
fn a_recording_has_the_form() {
    let stub = Stub::always(Reply::Json(completion("{\"query\": \"tents\"}")));
    let folder = tempfile::tempdir().unwrap();
    let registry = session(CallOptions::default());
    let config = chat_config(&stub, json!({}));
    let model = chat(&config, &registry, folder.path());
    model.complete(&asked(&AnswerForm::Query), &|_, _| Ok(())).unwrap();
    model.complete(&asked(&AnswerForm::Question), &|_, _| Ok(())).unwrap();
    assert_eq!(stub.received().len(), 2, "another form is another request");
    let text = lines(&registry);
    assert!(
        text.contains("\"format\":\"schema\"") && text.contains("\"name\":\"query\""),
        "{text}"
    );
    let again = chat(&config, &replaying(&text), folder.path());
    let read = again.complete(&asked(&AnswerForm::Query), &|_, _| Ok(())).unwrap();
    assert_eq!(read[0].answer, Some(Answer::Text("tents".to_owned())));
}

#[test]
fn calls_end_with_the_first_error_about_an_answer() {
    let stub = Stub::working();
    let folder = tempfile::tempdir().unwrap();
    let seen = AtomicUsize::new(0);
    let ask = |registry| {
        let model =
            chat(&chat_config(&stub, json!({ "concurrency": 1 })), &registry, folder.path());
        let each = |_: usize, _: &Completion| {
            if seen.fetch_add(1, Ordering::SeqCst) == 1 {
                clariq_core::bail!("x", "a", "b");
            }
            Ok(())
        };
        model.complete(&requests(&["a", "b", "a", "c", "d"]), &each)
    };
    assert!(ask(session(CallOptions::default())).is_err());
    assert_eq!((stub.received().len(), seen.load(Ordering::SeqCst)), (2, 2));
    assert_eq!(ask(session(CallOptions::default())).unwrap().len(), 5);
    assert_eq!((stub.received().len(), seen.load(Ordering::SeqCst)), (4, 2 + 5));
}

#[test]
fn the_name_of_a_model_has_no_folder() {
    for (named, kept) in [
        ("/home/me/models/qwen.gguf", "qwen.gguf"),
        ("models/qwen.gguf", "qwen.gguf"),
        ("C:\\models\\qwen", "qwen"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("qwen3:8b", "qwen3:8b"),
    ] {
        let mut answer = completion("tents");
        answer["model"] = named.into();
        let stub = Stub::always(Reply::Json(answer));
        assert_eq!(complete(&stub, json!({}), &AnswerForm::Query).unwrap().model, kept);
    }
}
