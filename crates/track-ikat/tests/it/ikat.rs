//! The released files of iKAT are read in full, and runs are converted as the official programs
//! convert them.

use crate::released::{file, released};
use clariq_collections::documents::read_passages;
use clariq_core::{Problem, Severity};
use clariq_files::{Source, read_qrels};
use clariq_track_ikat::run::{Submission, put_submission};
use clariq_track_ikat::{
    SAMPLE, SystemClass, TopicFile, Year, citation_judgements, convert, read_statement_qrels,
    statement_judgements,
};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

const TOPICS: [&str; 4] = ["2023_train", "2023_test", "2024_test", "2025_test"];

fn topics(folder: &Path, name: &str) -> TopicFile {
    TopicFile::read(&file(folder, &format!("topics/{name}_topics.json"))).expect("topics")
}

#[test]
fn topics_of_all_years_are_read_in_full() {
    let Some(folder) = released("ikat") else { return };
    let counts = TOPICS.map(|name| {
        let topics = topics(&folder, name);
        let statements: usize =
            topics.conversations.iter().map(|conversation| conversation.statements.len()).sum();
        let labelled = |count: fn(&clariq_track_ikat::IkatTurn) -> Option<usize>| {
            let counts: Vec<usize> = topics
                .turns()
                .filter_map(|(_, turn)| count(turn))
                .filter(|&count| count > 0)
                .collect();
            (counts.len(), counts.iter().sum::<usize>())
        };
        (
            topics.year,
            (topics.conversations.len(), topics.turns().count(), statements),
            labelled(|turn| turn.relevant_statements.as_ref().map(Vec::len)),
            labelled(|turn| turn.citations.as_ref().map(Vec::len)),
        )
    });
    assert_eq!(
        counts,
        [
            (Year::Y2023, (11, 95, 101), (42, 64), (76, 201)),
            (Year::Y2023, (25, 332, 262), (112, 182), (280, 798)),
            (Year::Y2024, (17, 218, 288), (0, 0), (0, 0)),
            (Year::Y2025, (17, 188, 337), (0, 0), (0, 0)),
        ]
    );
    let topics = topics(&folder, "2024_test");
    let (conversation, turn) = topics.turn("0_2").unwrap();
    assert_eq!((conversation.number.as_str(), turn.number), ("0", 2));
    assert!(turn.relevant_statements.is_none(), "labels were not released");
    assert!(turn.citations.is_none(), "labels were not released");
}

#[test]
fn oddities_of_the_released_topics_are_warnings() {
    let Some(folder) = released("ikat") else { return };
    // One of these turns has no resolved utterance, the others cite a passage twice.
    let expected: [&[&str]; 4] =
        [&["3-1_5"], &["12-1_12", "12-1_10", "15-2_3", "21-1_4"], &[], &[]];
    for (name, turns) in TOPICS.iter().zip(expected) {
        let input = file(&folder, &format!("topics/{name}_topics.json")).read().unwrap();
        let mut warnings = Vec::new();
        TopicFile::parse(&input, &mut |problem| warnings.push(problem));
        let named: BTreeSet<&str> =
            warnings.iter().filter_map(|warning| warning.found.rsplit(' ').next()).collect();
        assert_eq!(named, turns.iter().copied().collect(), "{name}: {warnings:#?}");
        assert!(warnings.iter().all(|warning| warning.severity == Severity::Warning));
    }
    let test = topics(&folder, "2023_test");
    let (_, turn) = test.turn("12-1_12").unwrap();
    assert_eq!((turn.resolved.as_str(), turn.resolved_or_raw()), ("", turn.utterance.as_str()));
}

#[test]
fn labels_of_the_topics_are_the_released_ones() {
    let Some(folder) = released("ikat") else { return };
    let test = topics(&folder, "2023_test");
    let released = read_statement_qrels(&file(&folder, "qrels/ptkb_rel_org")).unwrap();
    assert_eq!(released.len(), 1158);
    assert_eq!(statement_judgements(&test), released);
    assert_eq!(citation_judgements(&test).len(), 798);
    let nist = read_statement_qrels(&file(&folder, "qrels/ptkb_rel_nist")).unwrap();
    let turns: HashSet<&str> = nist.iter().map(|label| label.topic.as_str()).collect();
    assert_eq!((nist.len(), turns.len()), (1030, 98));
    assert!(turns.iter().all(|turn| test.turn(turn).is_some()));
    let passages = read_qrels(&file(&folder, "qrels/2023-qrels.all-turns.txt.gz")).unwrap();
    assert_eq!(passages.len(), 34_183);
    assert!(passages.iter().all(|label| test.turn(&label.topic).is_some()));
}

#[test]
fn passages_are_those_that_the_responses_cite() {
    let Some(folder) = released("ikat") else { return };
    let mut texts = HashMap::new();
    for (part, count) in [("train", 194), ("test", 700)] {
        let name = format!("passages/2023_{part}_topics_psg_text.jsonl");
        let passages = read_passages(&file(&folder, &name)).unwrap();
        assert_eq!(passages.len(), count);
        texts.extend(passages.into_iter().map(|passage| (passage.id, passage.text)));
    }
    assert_eq!(texts.len(), 894, "all distinct");
    for name in &TOPICS[..2] {
        for (_, turn) in topics(&folder, name).turns() {
            assert!(
                turn.citations.iter().flatten().all(|id| texts.contains_key(id)),
                "{}",
                turn.id
            );
        }
    }
    assert!(texts.values().all(|text| text.trim() == text && !text.is_empty()));
}

const RUNS: [(Year, &str, &str); 5] = [
    (Year::Y2023, "2023/sample_run.json", "2023/sample_run.json.run"),
    (Year::Y2023, "2023/sample_run_no_ptkb.json", "2023/sample_run_no_ptkb.json.run"),
    (Year::Y2023, "2023/full_run.json", "2023/full_run.json.run"),
    (Year::Y2024, "2024/sample_run.json", "2024/sample_run.json.run"),
    (Year::Y2025, "2025/full_run.jsonl", "2025/full_run.run"),
];

#[test]
fn conversion_gives_the_bytes_of_the_official_programs() {
    let Some(folder) = released("ikat/sample_runs") else { return };
    for (year, run, expected) in RUNS {
        let submission = Submission::read(&file(&folder, run), Some(year)).unwrap();
        let mut written = Vec::new();
        convert::put_trec(&mut written, &submission, run).unwrap();
        let expected = fs::read(folder.join(expected)).unwrap();
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for (line, expected) in lines(&written).lines().zip(lines(&expected).lines()) {
            assert_eq!(line, expected, "{run}");
        }
        assert!(written == expected, "{run}");
    }
}

#[test]
fn released_runs_are_the_same_after_writing_and_reading() {
    let Some(folder) = released("ikat/sample_runs") else { return };
    for (year, run, _) in RUNS {
        assert_round_trip(&Submission::read(&file(&folder, run), Some(year)).unwrap());
    }
}

/// Writes a run, reads it again, and compares the two.
fn assert_round_trip(submission: &Submission) {
    let mut written = Vec::new();
    put_submission(&mut written, submission).unwrap();
    let text = String::from_utf8_lossy(&written).into_owned();
    let again = Submission::read(&Source::memory("written", written), Some(submission.year))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(without_lines(again), without_lines(submission.clone()));
}

fn without_lines(mut submission: Submission) -> Submission {
    for turn in &mut submission.turns {
        turn.line = None;
    }
    submission
}

fn sample(name: &str) -> Source {
    SAMPLE.file(name).unwrap()
}

fn problems(value: &Value) -> Vec<Problem> {
    let text = serde_json::to_vec_pretty(value).unwrap();
    let input = Source::memory("topics.json", text).read().unwrap();
    let mut problems = Vec::new();
    TopicFile::parse(&input, &mut |problem| problems.push(problem));
    problems
}

#[test]
fn defects_that_would_change_a_figure_are_errors() {
    let good = || {
        json!([{"number": "1-1", "title": "t", "ptkb": {"1": "a", "2": "b"}, "turns": [
            {"turn_id": 1, "utterance": "u", "resolved_utterance": "u", "response": "r",
             "ptkb_provenance": [2], "response_provenance": []},
            {"turn_id": 2, "utterance": "v", "resolved_utterance": "v", "response": "s",
             "ptkb_provenance": [], "response_provenance": ["p:1"]},
        ]}])
    };
    assert_eq!(problems(&good()), []);
    let cases: [(&str, Value); 14] = [
        ("", json!([])),
        ("/0/turns", json!([])),
        ("/0/number", json!("1_1")),
        ("/0/number", json!(1.5)),
        ("/0/ptkb", json!({"1": "a", "3": "b"})),
        ("/0/ptkb", json!({"1": "a", "01": "b"})),
        ("/0/ptkb", json!("a")),
        ("/0/turns/1/turn_id", json!(1)),
        ("/0/turns/1/turn_id", json!("two")),
        ("/0/turns/0/utterance", json!(null)),
        ("/0/turns/0/ptkb_provenance", json!([3])),
        ("/0/turns/0/ptkb_provenance", json!([0])),
        ("/0/turns/1/response_provenance", json!([1])),
        ("/0/turns", json!({})),
    ];
    for (pointer, value) in cases {
        let mut topics = good();
        *topics.pointer_mut(pointer).unwrap() = value.clone();
        let found = problems(&topics);
        assert_eq!(found.len(), 1, "{pointer} {value}: {found:?}");
        assert!(!found[0].hint.is_empty());
    }
    let mut rank = good();
    rank[0]["turns"][1]["turn_id"] = json!(null);
    let fault = problems(&rank).remove(0);
    assert_eq!(fault.expected, "a text or a whole number at `[0].turns[1].turn_id`");
    assert!(fault.at.line.is_some_and(|line| line > 20), "{fault}");
    let twice = json!([good()[0], good()[0]]);
    assert_eq!(problems(&twice).len(), 1);
    let mut years = json!([good()[0], good()[0]]);
    years[1]["number"] = json!(3);
    assert_eq!(problems(&years).len(), 1, "a year's form");
}

#[test]
fn the_files_of_the_sample_agree() {
    let input = sample("2023_test_topics.json").read().unwrap();
    let topics = TopicFile::parse(&input, &mut |problem| panic!("{problem}"));
    let turns = topics.turns().count();
    assert!(topics.conversations.len() >= 6 && turns >= 40, "{turns} turns");
    let passages = read_passages(&sample("passages.jsonl")).unwrap();
    let ids: HashSet<&str> = passages.iter().map(|passage| passage.id.as_str()).collect();
    assert!(ids.len() >= 120 && ids.len() == passages.len(), "{} passages", ids.len());
    let cited = citation_judgements(&topics);
    assert!(cited.iter().all(|label| ids.contains(label.document.as_str())));
    let organisers = read_statement_qrels(&sample("ptkb_rel_org")).unwrap();
    assert_eq!(organisers, statement_judgements(&topics));
    let nist = read_statement_qrels(&sample("ptkb_rel_nist")).unwrap();
    for label in organisers.iter().chain(&nist) {
        let (conversation, _) = topics.turn(&label.topic).expect("a turn");
        let number: usize = label.document.parse().expect("a number");
        assert!((1..=conversation.statements.len()).contains(&number), "{label:?}");
    }
    let graded = read_qrels(&sample("2023-qrels.all-turns.txt")).unwrap();
    for label in &graded {
        assert!(topics.turn(&label.topic).is_some(), "{label:?}");
        assert!(ids.contains(label.document.as_str()), "{label:?}");
        assert!((0..=4).contains(&label.relevance), "{label:?}");
    }
    // Cited passages are relevant to their turn.
    let relevant: HashSet<(&str, &str)> = graded
        .iter()
        .filter(|label| label.relevance > 0)
        .map(|label| (label.topic.as_str(), label.document.as_str()))
        .collect();
    assert!(
        cited
            .iter()
            .all(|label| relevant.contains(&(label.topic.as_str(), label.document.as_str())))
    );
    for conversation in &topics.conversations {
        let last = conversation.turns.len() - 1;
        assert_eq!(conversation.utterances(last, SystemClass::Automatic).len(), 2 * last + 1);
    }
}
