//! The validator says what the official ones say, in every recorded case, and lists what they let through.

use crate::released::{file, released};
use clariq_collections::ikat::Topics;
use clariq_collections::ikat::passage_ids::PassageIds;
use clariq_collections::ikat::validate::{MAX_WARNINGS, Options, Validation, Verdict, validate};
use clariq_core::{Findings, Severity};
use clariq_files::Source;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn options() -> Options<'static> {
    Options { passage_ids: None, tokens: &words, max_warnings: MAX_WARNINGS }
}

fn check(run: Vec<u8>, topics: &Topics) -> Validation {
    validate(&Source::memory("run.json", run), topics, &options()).unwrap()
}

fn is_helpful(findings: &Findings) {
    for problem in findings.iter().map(|finding| &finding.first) {
        assert!(problem.at.line.is_some_and(|line| line > 0), "{problem:?}");
        let texts = [&problem.expected, &problem.found, &problem.hint];
        assert!(texts.iter().all(|text| !text.is_empty()), "{problem:?}");
    }
}

fn let_through(validation: &Validation) -> usize {
    validation.let_through.count("run.json", Severity::Warning)
}

/// The changed run of a case: JSON Pointers, or one of a few changes that are described.
fn patched(run: &Value, patch: &Value) -> Value {
    let mut run = run.clone();
    match patch {
        Value::Array(steps) => steps.iter().for_each(|step| apply(&mut run, step)),
        Value::String(change) => described(&mut run, change),
        _ => panic!("{patch}"),
    }
    run
}

fn apply(run: &mut Value, step: &Value) {
    let path = step["path"].as_str().unwrap();
    if step["op"] == "note" {
        assert_eq!(path, "turn 0 given 1001 references");
        run[0]["references"] = (0..1001)
            .map(|n| (format!("clueweb22-en0000-00-00000:{n}"), json!(1.0 - f64::from(n) / 2000.0)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        return;
    }
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = run.pointer_mut(parent).unwrap_or_else(|| panic!("{path}"));
    match (parent, step["op"].as_str().unwrap()) {
        (Value::Object(object), "remove") => drop(object.shift_remove(key).unwrap()),
        (Value::Object(object), _) => drop(object.insert(key.to_owned(), step["value"].clone())),
        (Value::Array(items), "remove") => drop(items.remove(key.parse().unwrap())),
        (Value::Array(items), "replace") => {
            items[key.parse::<usize>().unwrap()] = step["value"].clone();
        }
        (Value::Array(items), _) => {
            assert_eq!(key, "-");
            items.push(step["value"].clone());
        }
        _ => panic!("{path}"),
    }
}

fn described(run: &mut Value, change: &str) {
    let turns = run["turns"].as_array_mut().unwrap();
    if change == "the response of turn 0 given twice" {
        let responses = turns[0]["responses"].as_array_mut().unwrap();
        responses.push(responses[0].clone());
    } else if change == "ptkb_provenance of every response replaced by []" {
        for response in turns.iter_mut().flat_map(|turn| turn["responses"].as_array_mut().unwrap())
        {
            response["ptkb_provenance"] = json!([]);
        }
    } else {
        let count = change.strip_prefix("passage_provenance of turn 0 replaced by ").unwrap();
        let count: u32 = count.split_once(' ').unwrap().0.parse().unwrap();
        let passage = |n: u32| {
            let score = 1.0 - f64::from(n) / 2000.0;
            json!({"id": format!("clueweb22-en0000-00-00000:{n}"), "score": score, "used": n == 0})
        };
        turns[0]["responses"][0]["passage_provenance"] = (0..count).map(passage).collect();
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The recorded cases of a year with the verdicts on them; `read` and `write` are the form of its runs.
fn verdicts(
    year: u16,
    run: &Value,
    topics: &Topics,
    write: impl Fn(&Value) -> Vec<u8>,
) -> Vec<(Value, Validation)> {
    let folder = released("ikat/sample_runs").unwrap();
    let cases = read_json(&folder.join(format!("{year}/validator_cases.json")));
    let cases = cases.as_array().unwrap().iter();
    cases
        .map(|case| {
            let validation = check(write(&patched(run, &case["patch"])), topics);
            is_helpful(&validation.official);
            is_helpful(&validation.let_through);
            (case.clone(), validation)
        })
        .collect()
}

#[test]
fn all_cases_of_2023_and_2024_have_the_official_verdict() {
    let Some(folder) = released("ikat") else { return };
    for (year, run, count) in [(2023, "full_run.json", 20), (2024, "sample_run.json", 70)] {
        let topics =
            Topics::read(&file(&folder, &format!("topics/{year}_test_topics.json"))).unwrap();
        let run = read_json(&folder.join(format!("sample_runs/{year}/{run}")));
        let verdicts = verdicts(year, &run, &topics, |run| serde_json::to_vec_pretty(run).unwrap());
        assert_eq!(verdicts.len(), count);
        for (case, validation) in verdicts {
            let expected = match (case["exit"].as_i64().unwrap(), case["warnings"].as_u64()) {
                (0, Some(warnings)) => Verdict::Accepted { warnings: warnings as usize },
                (0, None) => Verdict::NothingToValidate,
                _ => Verdict::Error,
            };
            let name = &case["name"];
            assert_eq!(validation.verdict, expected, "{year} {name}: {validation:#?}");
        }
    }
}

#[test]
fn all_cases_of_2025_have_the_official_verdict() {
    let Some(folder) = released("ikat") else { return };
    let topics = Topics::read(&file(&folder, "topics/2025_test_topics.json")).unwrap();
    let run = fs::read_to_string(folder.join("sample_runs/2025/full_run.jsonl")).unwrap();
    let run: Value = run.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    let verdicts = verdicts(2025, &run, &topics, |run| {
        let lines = run.as_array().unwrap().iter();
        lines.flat_map(|line| format!("{line}\n").into_bytes()).collect()
    });
    assert_eq!(verdicts.len(), 30);
    for (case, validation) in verdicts {
        let messages = case["messages"].as_array().unwrap().iter();
        let warnings = messages.filter(|message| message.as_str().unwrap().contains("WARNING"));
        let expected = match case["exit"].as_i64().unwrap() {
            0 => Verdict::Accepted { warnings: warnings.count() },
            _ => Verdict::Error,
        };
        assert_eq!(validation.verdict, expected, "{}: {validation:#?}", case["name"]);
    }
}

#[test]
fn what_is_let_through_is_listed_by_line() {
    let Some(folder) = released("ikat") else { return };
    let topics = Topics::read(&file(&folder, "topics/2024_test_topics.json")).unwrap();
    let run = read_json(&folder.join("sample_runs/2024/sample_run.json"));
    let verdicts = verdicts(2024, &run, &topics, |run| serde_json::to_vec_pretty(run).unwrap());
    let found: Vec<(String, usize)> = verdicts
        .iter()
        .filter(|(_, validation)| {
            validation.verdict != Verdict::Error && let_through(validation) > 0
        })
        .map(|(case, validation)| {
            (case["name"].as_str().unwrap().to_owned(), let_through(validation))
        })
        .collect();
    let found: Vec<(&str, usize)> =
        found.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(
        found,
        [
            ("a turn twice, another missing", 2),
            ("responses missing", 1),
            ("responses empty", 1),
            ("two responses, both rank 1", 1),
            ("text empty, only_response", 1),
            ("text of 300 words", 1),
            ("passage twice", 1),
            ("ptkb 0", 1),
            ("ptkb twice", 1),
        ]
    );
}

const TOPICS: &str = r#"[{"number": 0, "title": "t", "ptkb": {"1": "a", "2": "b"}, "turns": [
 {"turn_id": 1, "utterance": "u", "resolved_utterance": "u", "response": "r"},
 {"turn_id": 2, "utterance": "v", "resolved_utterance": "v", "response": "s"}]}]"#;

fn small_run() -> Value {
    let turn = |id: &str| {
        json!({"turn_id": id, "responses": [{"rank": 1, "text": "t", "ptkb_provenance": [1],
            "passage_provenance": [{"id": "clueweb22-en0000-00-00000:0", "score": 1.0, "used": true}]}]})
    };
    json!({"run_name": "r", "run_type": "automatic", "turns": [turn("0_1"), turn("0_2")]})
}

#[test]
fn lines_are_those_of_the_values() {
    let topics = Topics::read(&Source::memory("topics.json", TOPICS.as_bytes())).unwrap();
    let mut run = small_run();
    run["turns"][1]["responses"][0]["ptkb_provenance"] = json!([2, 9]);
    let validation = check(serde_json::to_vec_pretty(&run).unwrap(), &topics);
    assert_eq!(validation.verdict, Verdict::Error);
    let problem = &validation.official.iter().next().unwrap().first;
    let text = serde_json::to_string_pretty(&run).unwrap();
    let line = text.lines().position(|line| line.trim() == "9").unwrap() as u64 + 1;
    assert_eq!(problem.at.line, Some(line), "{problem}");
    assert_eq!(problem.expected, "a statement from 1 to 2");
}

#[test]
fn passages_that_do_not_exist_are_counted_once_a_turn() {
    let topics = Topics::read(&Source::memory("topics.json", TOPICS.as_bytes())).unwrap();
    let ids = PassageIds::from_ids(["clueweb22-en0000-00-00000:0"]);
    let mut run = small_run();
    let missing = json!({"id": "clueweb22-en0000-00-00000:1", "score": 0.5, "used": false});
    for turn in 0..2 {
        let passages =
            run["turns"][turn]["responses"][0]["passage_provenance"].as_array_mut().unwrap();
        passages.extend([missing.clone(), missing.clone()]);
    }
    let source = Source::memory("run.json", serde_json::to_vec(&run).unwrap());
    let options = Options { passage_ids: Some(&ids), ..options() };
    let validation = validate(&source, &topics, &options).unwrap();
    assert_eq!(validation.verdict, Verdict::Accepted { warnings: 2 });
    assert_eq!(let_through(&validation), 2, "each turn has the passage twice");
    let strict = Options { max_warnings: 1, ..options };
    assert_eq!(validate(&source, &topics, &strict).unwrap().verdict, Verdict::Error);
}

#[test]
fn dropped_responses_of_2025_are_not_checked() {
    let topics = r#"[{"number": "1-1", "title": "t", "ptkb": ["a"], "responses": [
        {"turn_id": 1, "user_utterance": "u", "resolved_utterance": "u", "response": "r"}]}]"#;
    let topics = Topics::read(&Source::memory("topics.json", topics.as_bytes())).unwrap();
    let long = "word ".repeat(200);
    let entry = |second: Value| {
        json!({"metadata": {"team_id": "t", "run_id": "r", "run_type": "automatic"}, "turn_id": "1-1_1",
            "references": {}, "responses": [
                {"rank": 1, "text": long, "ptkb_provenance": [], "citations": {}}, second]})
    };
    let verdict = |second: Value| check(entry(second).to_string().into_bytes(), &topics).verdict;
    // The second response makes the turn too long, so that nobody sees that it lacks its citations.
    assert_eq!(verdict(json!({"text": long})), Verdict::Accepted { warnings: 0 });
    assert_eq!(verdict(json!({"text": "short"})), Verdict::Error);
    assert_eq!(verdict(json!({"text": 3})), Verdict::Error);
    assert_eq!(verdict(json!([])), Verdict::Error);
}
