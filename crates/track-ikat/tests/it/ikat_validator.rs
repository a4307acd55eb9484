//! The validator gives the official verdict in every recorded case, and lists the problems that the
//! official programs overlook.

use crate::released::{file, released};
use crate::validator_cases::{Case, cases};
use clariq_collections::tokens;
use clariq_core::{Findings, Severity};
use clariq_files::Source;
use clariq_track_ikat::validate::{
    MAX_WARNINGS, OfficialVerdict, Validation, ValidationOptions, validate, validate_with,
};
use clariq_track_ikat::{JudgedPassages, TopicFile};
use serde_json::{Value, json};

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn options() -> ValidationOptions<'static> {
    ValidationOptions::new(&words, MAX_WARNINGS)
}

fn check(run: Vec<u8>, topics: &TopicFile) -> Validation {
    validate(&Source::memory("run.json", run), topics, &options()).unwrap()
}

fn assert_helpful(findings: &Findings) {
    for problem in findings.iter().map(|finding| &finding.first) {
        let texts = [&*problem.expected, &*problem.found, &*problem.hint];
        assert!(texts.iter().all(|text| !text.is_empty()), "{problem:?}");
    }
}

fn let_through(validation: &Validation) -> usize {
    validation.let_through.count("run.json", Severity::Warning)
}

/// The recorded cases of a year with the verdicts on them.
fn verdicts(year: u16) -> Option<Vec<(Case, Validation)>> {
    let folder = released("ikat")?;
    let topics =
        TopicFile::read(&file(&folder, &format!("topics/{year}_test_topics.json"))).unwrap();
    let verdict = |case: Case| {
        let validation = check(case.run.clone(), &topics);
        assert_helpful(&validation.official);
        assert_helpful(&validation.let_through);
        (case, validation)
    };
    Some(cases(&folder.join("sample_runs"), year).into_iter().map(verdict).collect())
}

#[test]
fn all_recorded_cases_have_the_official_verdict() {
    for (year, count) in [(2023, 20), (2024, 70), (2025, 30)] {
        let Some(verdicts) = verdicts(year) else { return };
        assert_eq!(verdicts.len(), count);
        for (case, validation) in verdicts {
            let expected = match case.warnings {
                _ if case.has_no_turn => OfficialVerdict::NothingToValidate,
                Some(warnings) => OfficialVerdict::Accepted { warnings },
                None => OfficialVerdict::Error,
            };
            assert_eq!(validation.verdict, expected, "{year} {}: {validation:#?}", case.name);
        }
    }
}

#[test]
fn problems_that_the_official_validator_overlooks_are_listed() {
    let Some(verdicts) = verdicts(2024) else { return };
    let found: Vec<(&str, usize)> = verdicts
        .iter()
        .filter(|(_, validation)| validation.verdict != OfficialVerdict::Error)
        .map(|(case, validation)| (case.name.as_str(), let_through(validation)))
        .filter(|(_, count)| *count > 0)
        .collect();
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
fn responses_are_counted_in_tokens_and_not_in_words() {
    let topics = TopicFile::read(&Source::memory("topics.json", TOPICS.as_bytes())).unwrap();
    // Words of two tokens each.
    let counts = [125, 126].map(|words| {
        let mut run = small_run();
        run["turns"][0]["responses"][0]["text"] = json!("don't ".repeat(words).trim());
        let source = Source::memory("run.json", run.to_string().into_bytes());
        let options = ValidationOptions::new(&tokens::count, MAX_WARNINGS);
        let_through(&validate(&source, &topics, &options).unwrap())
    });
    assert_eq!(counts[1], counts[0] + 1);
}

#[test]
fn runs_with_one_score_and_those_of_which_nothing_is_judged_are_noted() {
    let topics = TopicFile::read(&Source::memory("topics.json", TOPICS.as_bytes())).unwrap();
    let passage = |number: usize, score: f64| json!({"id": format!("p:{number}"), "score": score, "used": true});
    let noted = |second: f64, judged: &str| {
        let mut run = small_run();
        for turn in 0..2 {
            let passages = json!([passage(1, 1.0), passage(2, second)]);
            run["turns"][turn]["responses"][0]["passage_provenance"] = passages;
        }
        let source = Source::memory("run.json", serde_json::to_vec(&run).unwrap());
        let judged = JudgedPassages::from([("0_1".to_owned(), judged.to_owned())]);
        let validation = validate_with(&source, &topics, &judged, &options()).unwrap();
        let found = validation.let_through.iter().map(|finding| finding.first.expected.clone());
        found.filter(|expected| !expected.starts_with("every turn")).collect::<Vec<_>>()
    };
    let one_score = "scores that tell the passages of a turn apart".to_owned();
    let nothing_judged = "a passage that the labels judge".to_owned();
    assert_eq!(noted(1.0, "p:2"), [one_score]);
    assert_eq!(noted(0.5, "q:2"), [nothing_judged]);
    assert_eq!(noted(0.5, "p:2"), [""; 0]);
}

#[test]
fn findings_name_their_turn_and_errors_of_the_form_their_path() {
    let topics = TopicFile::read(&Source::memory("topics.json", TOPICS.as_bytes())).unwrap();
    let mut run = small_run();
    run["turns"][1]["responses"][0]["ptkb_provenance"] = json!([2, 9]);
    let validation = check(serde_json::to_vec(&run).unwrap(), &topics);
    assert_eq!(validation.verdict, OfficialVerdict::Error);
    let problem = &validation.official.iter().next().unwrap().first;
    assert_eq!(problem.expected, "a statement of this user, from 1");
    assert_eq!(problem.found, "`9` in turn 0_2, of 2");

    run["turns"][1]["responses"][0]["rank"] = json!("first");
    let text = serde_json::to_string_pretty(&run).unwrap();
    let validation = check(text.clone().into_bytes(), &topics);
    assert_eq!(validation.verdict, OfficialVerdict::Error);
    let problem = &validation.official.iter().next().unwrap().first;
    let line = text.lines().position(|line| line.contains("first")).unwrap() as u64 + 1;
    assert_eq!(problem.at.line, Some(line), "{problem}");
    let expected = "a whole number of at most 32 bits at `turns[1].responses[0].rank`";
    assert_eq!(problem.expected, expected);
}

#[test]
fn a_trec_run_is_recognised() {
    let topics = TopicFile::read(&Source::memory("topics.json", TOPICS.as_bytes())).unwrap();
    let hint_of = |text: &str| {
        let validation = check(text.into(), &topics);
        validation.official.iter().next().unwrap().first.hint.clone()
    };
    let hint = hint_of("13 0 Q00168 1 0.8 ql\n13 0 Q00169 2 0.7 ql\n");
    assert!(hint.starts_with("this looks like a TREC run, "), "{hint}");
    assert_eq!(hint_of("[1]\n"), "see the run formats in the guidelines of that year");
}

#[test]
fn dropped_responses_of_2025_are_not_checked() {
    let topics = r#"[{"number": "1-1", "title": "t", "ptkb": ["a"], "responses": [
        {"turn_id": 1, "user_utterance": "u", "resolved_utterance": "u", "response": "r"}]}]"#;
    let topics = TopicFile::read(&Source::memory("topics.json", topics.as_bytes())).unwrap();
    let long = "word ".repeat(200);
    let entry = |second: Value| {
        json!({"metadata": {"team_id": "t", "run_id": "r", "run_type": "automatic"}, "turn_id": "1-1_1",
            "references": {}, "responses": [
                {"rank": 1, "text": long, "ptkb_provenance": [], "citations": {}}, second]})
    };
    let verdict = |second: Value| check(entry(second).to_string().into_bytes(), &topics).verdict;
    // The second response makes the turn too long and is dropped, so its missing citations are not
    // reported.
    assert_eq!(verdict(json!({"text": long})), OfficialVerdict::Accepted { warnings: 0 });
    assert_eq!(verdict(json!({"text": "short"})), OfficialVerdict::Error);
    assert_eq!(verdict(json!({"text": 3})), OfficialVerdict::Error);
    assert_eq!(verdict(json!([])), OfficialVerdict::Error);
}

#[test]
fn topics_of_2024_that_are_named_by_texts_are_refused_as_the_official_program_does() {
    let topics = json!([{"number": "0-a", "title": "t", "ptkb": {"1": "I run."}, "turns": [{
        "turn_id": 1, "utterance": "u", "resolved_utterance": "u", "response": "r",
        "sample_passage_ranking": ["clueweb22-en0000-00-00000:0"]}]}]);
    let topics = Source::memory("2024_test_topics.json", topics.to_string().into_bytes());
    let Ok(topics) = TopicFile::read(&topics) else { panic!("the topics") };
    let run = json!({"run_name": "r", "run_type": "automatic", "eval_response": true, "turns": [
        {"turn_id": "0-a_1", "responses": []}]});
    let found = check(run.to_string().into_bytes(), &topics);
    assert_eq!(found.verdict, OfficialVerdict::Error);
    let hints: Vec<&str> = found.official.iter().map(|it| &*it.first.hint).collect();
    assert!(
        hints.iter().any(|hint| hint.contains("of 2024 reads conversations as integers")),
        "{hints:?}"
    );
}
