use super::*;
use Severity::{Error, Warning};
use clariq_core::Severity;
use std::fs;
use tempfile::TempDir;

const HEADER: &str = "topic_id\tinitial_request\ttopic_desc\tclarification_need\tfacet_id\tfacet_desc\tquestion_id\tquestion\tanswer";

/// A folder with those files, and a bank of three questions.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bank = ("question_bank.tsv", "question_id\tquestion\nQ00001\t\nQ2\twhich\nQ3\twhat\n");
    for (name, text) in [&[bank], files].concat() {
        fs::write(folder.path().join(name), text.replace("HEADER", HEADER)).unwrap();
    }
    folder
}

fn check_folder(folder: &TempDir) -> CheckReport {
    check(&DataDir::Folder(folder.path().to_owned())).unwrap()
}

/// The problems other than digests: no test writes a released file.
fn found(report: &CheckReport) -> Vec<(&str, Severity, usize)> {
    let facts = report
        .findings
        .iter()
        .map(|finding| (finding.first.expected.as_str(), finding.first.severity, finding.count));
    facts.filter(|(expected, ..)| *expected != "the released file").collect()
}

#[test]
fn the_sample_has_no_errors() {
    let report = check(&crate::SAMPLE).unwrap();
    // As in the release, a topic of the labelled test split has no description.
    assert_eq!(found(&report), [("a text in `topic_desc`", Warning, 34)]);
    assert_eq!(report.absent, ["test.qrel", "single_turn_train_eval.pkl"]);
}

#[test]
fn all_problems_are_reported_at_once() {
    let folder = folder(&[
        ("question_bank.tsv", "question_id\tquestion\nQ00001\t\nQ2\twhich\nQ3\twhich\nQ2\tagain\n"),
        ("train.tsv", "HEADER\n1\ta\td\t9\tF1\tf\tQ2\twhich\ty\n1\ta\td\t2\tF1\tf\tQ9\twhat\ty\n"),
        ("dev.tsv", "HEADER\n1\ta\td\t2\tF2\tf\tQ2\twhat\ty\n1\ta\n"),
    ]);
    let report = check_folder(&folder);
    let expected = [
        ("a text that occurs once", Warning, 1),
        ("a question id that is unique in the file", Error, 1),
        ("a clarification need from 1 to 4", Error, 1),
        ("a question id of question_bank.tsv", Error, 1),
        ("topics of this split alone", Error, 1),
        ("the text of the bank", Warning, 1),
        ("9 tab-separated fields, as in the header", Error, 1),
    ];
    assert_eq!(found(&report), expected);
    assert!(report.findings.has_errors());
    assert!(report.findings.iter().all(|finding| !finding.first.hint.is_empty()));
}

#[test]
fn defects_that_change_no_figure_are_one_warning_each() {
    let rows = ["one", "two", "one", "two"]
        .map(|request| format!("260\t{request}\t\t4\tF1\tf\tQ2\twhich\ty\n"));
    let test = format!("HEADER\n{}", rows.concat());
    let report = check_folder(&folder(&[
        ("test_with_labels.tsv", &test),
        ("test.tsv", "topic_id\tinitial request\n260\tone\n260\tone\n"),
    ]));
    let wording = "the request of `260` as on line 2, `one`";
    let expected = [
        ("a text in `topic_desc`", Warning, 4),
        (wording, Warning, 2),
        ("each facet with each question once", Warning, 3),
        ("each request once", Warning, 1),
    ];
    assert_eq!(found(&report), expected);
    assert!(!report.findings.has_errors());
    let wording = report.findings.iter().find(|finding| finding.first.expected == wording);
    assert_eq!(wording.unwrap().to_problem().found, "`two`, 2 times: first on lines 3, 5");
}

#[test]
fn a_file_that_differs_from_the_released_one_is_reported() {
    let report = check_folder(&folder(&[]));
    let finding = report.findings.iter().next().unwrap();
    assert_eq!(finding.first.expected, "the released file");
    assert_eq!(finding.first.severity, Warning);
}

#[test]
fn every_command_stops_at_an_error_of_the_check() {
    let row = |topic: &str| format!("HEADER\n{topic}\tr\td\t1\tF{topic}\tf\tQ2\twhich\ta\n");
    let rows = [row("1"), row("1"), row("2"), row("3").replace("F3", "F1")];
    let bank = |text: &'static str| ("question_bank.tsv", text);
    let named = "question_id\tquestion\nQ00001\tnan\nQ2\twhich\n";
    let usual = "question_id\tquestion\nQ00001\t\nQ2\twhich\n";
    let labelled = ("test_with_labels.tsv", &*rows[2]);
    for (files, is_error) in [
        (vec![("train.tsv", &*rows[0]), ("dev.tsv", &*rows[2])], false),
        (vec![("train.tsv", &*rows[0]), ("dev.tsv", &*rows[1])], true),
        (vec![bank(named), ("dev.tsv", &*rows[0])], true),
        (vec![("question_bank.tsv.gz", usual), ("dev.tsv", &*rows[0])], true),
        (vec![("dev.tsv.zst", &*rows[0]), ("dev.tsv", &*rows[0])], true),
        (vec![("dev.qrel", "F1 0 d much\n"), ("dev.tsv", &*rows[0])], false),
        (vec![("dev.qrel", "F1 0 d\0 1\n"), ("dev.tsv", &*rows[0])], false),
        (vec![("train.tsv", &*rows[0]), ("dev.tsv", &*rows[3])], true),
        (vec![("test.tsv", "topic_id\tinitial request\n1\tr\n"), ("dev.tsv", &*rows[0])], true),
        (vec![("test.tsv", "topic_id\tinitial request\n2\tr\n"), ("dev.tsv", &*rows[0])], false),
        // The requests of the file with labels are ranked, whatever the other has.
        (
            vec![labelled, ("test.tsv", "topic_id\tinitial request\n2\n"), ("dev.tsv", &*rows[0])],
            false,
        ),
        (
            vec![
                labelled,
                ("test.tsv", "topic_id\tinitial request\n2\tx\n2\ty\n"),
                ("dev.tsv", &*rows[0]),
            ],
            false,
        ),
    ] {
        let folder = folder(&files);
        let data = DataDir::Folder(folder.path().to_owned());
        let found = check(&data).unwrap().findings.has_errors();
        let used = crate::ClariQ::open(data).and_then(|clariq| clariq.split(splits::DEV));
        assert_eq!((found, used.is_err()), (is_error, is_error), "{files:?}");
    }
}

#[test]
fn every_file_that_is_listed_is_opened() {
    let report = check_folder(&folder(&[
        (HUMAN, "topic_id\tfacet_id\n1\tF1\n"),
        ("single_turn_train_eval.pkl", "no pickle"),
        ("dev_synthetic.pkl", "no pickle"),
        ("dev.qrel", "F1 0 d1 1\nF1 0 d1 0\nF1 0 d2 1\nF1 0 d2 1\n"),
    ]));
    let other =
        report.findings.iter().filter(|finding| finding.first.expected != "the released file");
    let names = other.map(|finding| {
        let file = finding.first.at.file.rsplit('/').next().unwrap();
        (file, finding.first.severity)
    });
    let expected = [
        ("dev.qrel", Warning),
        ("dev.qrel", Warning),
        (HUMAN, Error),
        ("single_turn_train_eval.pkl", Error),
        ("dev_synthetic.pkl", Error),
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn a_dangling_link_counts_as_a_file() {
    let folder = folder(&[]);
    std::os::unix::fs::symlink("nowhere", folder.path().join("dev.tsv")).unwrap();
    let report = check_folder(&folder);
    assert_eq!(found(&report).len(), 1);
    assert!(report.findings.has_errors());
    assert!(!report.absent.contains(&"dev.tsv".to_owned()));
}
