//! Conversations with simulated users as runs: the server's dump, and the form that 2025 released.

use clariq_collections::evaluation::{PageAsked, PageRun};
use clariq_collections::ikat::run::{Submission, put_submission};
use clariq_collections::ikat::{Year, convert};
use clariq_collections::{
    DataDir, KINDS, Kind, MAX_WARNINGS, Validation, ValidationOptions, Verdict,
    validate_interactive,
};
use clariq_files::Source;
use serde_json::{Value, json};

const CITED: &str = "clueweb22-en0000-00-00000:1";

fn dumped(turn: &str, said: &str, text: &Value, citations: &Value, meta: &Value) -> String {
    let response = json!({
        "rank": 1, "user_utterance": said, "user_meta": {"rubric": null, "rubric_score": 5},
        "assistant_text": text, "assistant_citations": citations, "assistant_meta": meta,
    });
    let metadata = json!({
        "team_id": "team", "run_id": "bikes", "description": "d", "extra": null, "topic_id": turn,
    });
    json!({"metadata": metadata, "responses": [response]}).to_string() + "\n"
}

fn dump() -> String {
    let [meta, nothing] = [json!({"ptkb_provenance": ["I ride."]}), json!({})];
    let lines = [
        dumped("2-1_1", "Which tyres?", &json!("Wide ones."), &json!({CITED: 2.5}), &meta),
        dumped("2-1_2", "And pedals?", &json!("Flat."), &Value::Null, &Value::Null),
        dumped("2-1_3", "Bye.", &Value::Null, &nothing, &nothing),
    ];
    lines.concat()
}

fn released() -> String {
    let response = json!({
        "rank": 1, "user_utterance": "Which tyres?", "user_rubrik": "tyres", "user_rubrik_score": 4,
        "text": "Wide ones.", "citations": {CITED: 2.5}, "ptkb_provenance": ["I ride."],
    });
    let metadata =
        json!({"team_id": "team", "run_id": "bikes", "type": "interactive", "track_persona": true});
    let references = json!({CITED: 2.5});
    json!({
        "metadata": metadata, "turn_id": "2-1_1", "responses": [response], "references": references,
    })
    .to_string()
}

fn read(text: &str) -> Submission {
    Submission::read(&Source::memory("d.jsonl", text.as_bytes().to_vec()), None).unwrap()
}

fn validated(text: &str) -> Validation {
    let tokens = |text: &str| text.split_whitespace().count();
    let options =
        ValidationOptions { passage_ids: None, tokens: &tokens, max_warnings: MAX_WARNINGS };
    validate_interactive(&Source::memory("d.jsonl", text.as_bytes().to_vec()), &options).unwrap()
}

fn notes(found: &Validation) -> Vec<String> {
    found.let_through.iter().map(|finding| finding.first.expected.clone()).collect()
}

#[test]
fn both_forms_are_read_and_come_back() {
    for text in [dump(), dump().lines().next().unwrap().to_owned(), released()] {
        let run = read(&text);
        assert!(run.is_interactive(), "{text}");
        assert_eq!((&*run.team, &*run.run_name), ("team", "bikes"));
        let turn = &run.turns[0];
        assert_eq!((&*turn.id, turn.utterance.as_deref()), ("2-1_1", Some("Which tyres?")));
        let response = &turn.responses[0];
        assert_eq!((&*response.text, &*response.statements[0].text), ("Wide ones.", "I ride."));
        assert!(response.passages[0].used && turn.references == response.passages);
        let mut written = Vec::new();
        put_submission(&mut written, &run).unwrap();
        assert_eq!(read(&String::from_utf8(written).unwrap()), run);
    }
    let run = read(&dump());
    assert_eq!(run.turns.iter().map(|turn| turn.responses.len()).collect::<Vec<_>>(), [1, 1, 0]);
    // Whatever year is asked for.
    let source = Source::memory("d.jsonl", dump().into_bytes());
    assert_eq!(Submission::read(&source, Some(Year::Y2023)).unwrap(), run);
    let mut lines = Vec::new();
    convert::put_trec(&mut lines, &run, "d.jsonl").unwrap();
    assert_eq!(
        String::from_utf8(lines).unwrap(),
        format!("2-1_1\tQ0\t{CITED}\t1\t2.500000\tbikes\n")
    );
}

#[test]
fn what_is_no_turn_is_refused_with_its_line() {
    let good = dump();
    for (wrong, right) in [
        ("\"responses\": {}", "responses"),
        ("\"responses\": [{\"assistant_text\": 1}]", "text"),
        ("\"responses\": [{\"assistant_text\": \"a\", \"assistant_citations\": [1]}]", "citations"),
        (
            "\"responses\": [{\"assistant_text\": \"a\", \"assistant_meta\": {\"ptkb_provenance\": 1}}]",
            "ptkb_provenance",
        ),
    ] {
        let text = format!(
            "{good}{{\"metadata\": {{\"run_id\": \"a\", \"topic_id\": \"2-1_4\"}}, {wrong}}}\n"
        );
        let source = Source::memory("d.jsonl", text.clone().into_bytes());
        let error = Submission::read(&source, None).unwrap_err().to_string();
        assert!(error.contains("d.jsonl:4") && error.contains(right), "{error}");
        let found = validated(&text);
        assert_eq!((found.verdict, found.answered), (Verdict::Error, 2));
    }
}

#[test]
fn citations_tokens_and_statements_are_checked() {
    let found = validated(&dump());
    assert_eq!((found.verdict, found.answered), (Verdict::Accepted { warnings: 0 }, 2));
    assert_eq!(notes(&found), [""; 0]);
    let many: serde_json::Map<String, Value> =
        (0..11).map(|n| (format!("clueweb22-en0000-00-00000:{n}"), json!(n))).collect();
    let same = json!({"ptkb_provenance": ["I ride.", "I ride."]});
    let bad = [
        dumped("2-1_4", "a", &json!("word ".repeat(251)), &json!({"MARCO_1": 1.0}), &same),
        dumped("2-1_4", "a", &json!(""), &Value::Object(many), &Value::Null),
    ];
    let notes = notes(&validated(&(dump() + &bad.concat())));
    for expected in [
        "at most 10 citations",
        "an id such as clueweb22-en0004-50-00170:0",
        "at most 250 tokens",
        "the text of a response",
        "every statement once",
        "every turn once",
    ] {
        assert!(notes.iter().any(|note| note == expected), "{expected}: {notes:?}");
    }
    assert_eq!(notes.len(), 6, "{notes:?}");
    let tokens = |_: &str| 1;
    let options =
        ValidationOptions { passage_ids: None, tokens: &tokens, max_warnings: MAX_WARNINGS };
    let other = Source::memory("r.json", *br#"{"run_name": "a", "run_type": "b", "turns": []}"#);
    let error = validate_interactive(&other, &options).unwrap_err().to_problem();
    assert!(error.hint.contains("--split"), "{error}");
}

fn ikat() -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == "iKAT").unwrap()
}

/// With a split, statements are compared with those of its users.
#[test]
fn statements_are_those_of_the_topics_that_are_named() {
    let tokens = |_: &str| 1;
    let options =
        ValidationOptions { passage_ids: None, tokens: &tokens, max_warnings: MAX_WARNINGS };
    let text = dump().replace("2-1_", "1-1_");
    let source = Source::memory("d.jsonl", text.into_bytes());
    let found = (ikat().validate)(&DataDir::Sample, "2023-test", &source, &options).unwrap();
    assert_eq!(found.verdict, Verdict::Accepted { warnings: 0 });
    assert_eq!(notes(&found), ["a statement of this user"]);
}

#[test]
fn a_page_shows_what_was_said_and_nothing_is_scored() {
    let collection = (ikat().open)(&DataDir::Sample, None).unwrap();
    let evaluation = collection.evaluation("2023-test").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        PageRun { name: name.to_owned(), file: Source::new(path), uses: Vec::new() }
    };
    let runs = [page("a.jsonl", &dump()), page("b.jsonl", &released())];
    let asked = PageAsked { title: "t", runs: &runs, baseline: 0, needs: &[], seed: 1 };
    let html = evaluation.page(&asked).unwrap().html;
    for shown in ["Which tyres?", "Wide ones.", "I ride.", CITED, "Bye.", "a.jsonl", "b.jsonl"] {
        assert!(html.contains(shown), "{shown}");
    }
    let other = page("c.json", r#"{"run_name": "a", "run_type": "automatic", "turns": []}"#);
    let [first, _] = runs;
    let asked = PageAsked { title: "t", runs: &[first, other], baseline: 0, needs: &[], seed: 1 };
    let error = evaluation.page(&asked).err().unwrap().to_string();
    assert!(error.contains("c.json: expected conversations with a simulated user"), "{error}");
    let by = clariq_collections::evaluation::By { task: None, measures: &[], ties: None };
    let source = Source::new(folder.path().join("a.jsonl"));
    let error = evaluation.columns(&source, &by).err().unwrap().to_problem();
    assert!(error.hint.contains("clariq report"), "{error}");
}
