//! The check of a data folder, which reports all problems at once.

use crate::collection::{ClariqSplit, Disjoint, RELEASE, check_single, unknown_questions};
use crate::conversation::{RecordOptions, read_records};
use crate::eval_table::{EvalTable, locate};
use crate::labelled::{Labelled, LabelledTopic, parse_requests};
use crate::question_bank::NO_QUESTION;
use crate::question_bank::parse_question_bank;
use clariq_collections::CheckReport;
use clariq_collections::DataDir;
use clariq_collections::documents::Bank;
use clariq_core::{Checksum, Documents, Error, Findings, Problem, problem};
use clariq_files::{FileContent, Judgement, Sink, Source, parse_qrels};
use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::ControlFlow;

/// The table of conversations between people.
const HUMAN: &str = "multi_turn_human_generated_data.tsv";
/// The released evaluation tables; every folder should have the first.
pub(super) const EVAL_TABLES: [&str; 5] = [
    "single_turn_train_eval",
    "single_turn_test_eval",
    "multi_turn_train_eval",
    "multi_turn_dev_eval",
    "multi_turn_test_eval",
];
/// The released conversations, which were synthesised from the labels.
pub(super) const CONVERSATIONS: [&str; 2] = ["train_synthetic", "dev_synthetic"];

/// Reads every file of a data folder and reports all problems. Only the question bank is required.
pub fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut checker = Checker { data, report: CheckReport::default() };
    checker.report.note(check_single(data))?;
    data.require("question_bank.tsv")?;
    let bank = checker.read("question_bank.tsv", parse_question_bank)?;
    if let Some(bank) = &bank {
        check_bank(bank, &checker.report.files[0], &mut checker.report.findings);
    }
    checker.read_splits(bank.as_ref())?;
    for name in ["train.qrel", "dev.qrel", "test.qrel"] {
        // No command reads these files unless it is told to.
        checker.read_unused(name, |input, sink| {
            let judgements = parse_qrels(input, sink);
            check_judgements(&judgements, input, sink);
        })?;
    }
    checker.read_human_conversations()?;
    for stem in EVAL_TABLES {
        checker.read_packed(stem, |sources| EvalTable::read(sources).map(drop))?;
    }
    let reading = RecordOptions { bank: bank.as_ref(), skip_bad: false };
    for stem in CONVERSATIONS {
        checker.read_packed(stem, |sources| {
            read_records(&sources[0], &reading, &mut |_| ControlFlow::Continue(())).map(drop)
        })?;
    }
    let mut report = checker.report;
    report.findings.sort(&report.files);
    Ok(report)
}

struct Checker<'a> {
    data: &'a DataDir,
    report: CheckReport,
}

impl Checker<'_> {
    /// Reads a file. A valid file may still lack rows, so its digest is compared with the released
    /// one, except in the sample.
    fn read<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&FileContent, Sink) -> T,
    ) -> Result<Option<T>, Error> {
        let released = RELEASE.files().into_iter().find(|file| file.name == name);
        let digest = released.and_then(|file| file.sha256);
        let digest = digest.filter(|_| *self.data != crate::SAMPLE);
        self.report.read(name, self.data.file(name), |input, sink| {
            if digest.is_some_and(|digest| Checksum::of(&input.bytes).as_str() != digest) {
                let hint = "its scores cannot be compared with published ones; `clariq data fetch` \
                            downloads the release";
                let problem = problem!((&*input.name), "the released file", "another one", hint);
                sink(problem.warning());
            }
            parse(input, sink)
        })
    }

    /// Reads a file that may be packed or in pieces, up to the first problem.
    fn read_packed(
        &mut self,
        stem: &str,
        read: impl FnOnce(&[Source]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(sources) = locate(self.data, stem) {
            let names: Vec<_> = sources.iter().map(Source::name).collect();
            self.report.files.push(names.join(" + "));
            self.report.note(read(&sources))?;
        } else if stem == EVAL_TABLES[0] {
            // The others are large, and few folders have them.
            self.report.absent.push(format!("{stem}.pkl"));
        }
        Ok(())
    }

    fn read_human_conversations(&mut self) -> Result<(), Error> {
        let reading = RecordOptions { bank: None, skip_bad: true };
        let counts = self.read(HUMAN, |input, _| {
            let source = Source::memory(&*input.name, &*input.bytes);
            read_records(&source, &reading, &mut |_| ControlFlow::Continue(()))
        })?;
        if let Some(counts) = counts
            && let Some(counts) = self.report.note(counts)?
            && let Some(first) = counts.first
        {
            self.report.findings.add_times(first, counts.bad as usize);
        }
        Ok(())
    }

    fn read_splits(&mut self, bank: Option<&Bank>) -> Result<(), Error> {
        let mut disjoint = Disjoint::default();
        let mut test = None;
        for split in ClariqSplit::ALL {
            let Some(labelled) = self.read(split.labelled_file(), Labelled::parse)? else {
                continue;
            };
            check_labelled(&labelled, bank, &mut self.report.findings);
            for problem in disjoint.add(&labelled) {
                self.report.findings.add(problem);
            }
            if split == ClariqSplit::Test {
                test = Some(labelled);
            }
        }
        let Some(test) = test else {
            let parse =
                |input: &FileContent, sink: Sink| (input.name.clone(), parse_requests(input, sink));
            if let Some((name, requests)) = self.read("test.tsv", parse)? {
                for problem in disjoint.add_topics(&name, &requests) {
                    self.report.findings.add(problem);
                }
            }
            return Ok(());
        };
        // Systems rank for the requests of the file with labels: no defect of the other changes a figure.
        if let Some(requests) = self.read_unused("test.tsv", parse_requests)? {
            self.check_same_requests(&requests, &test);
        }
        Ok(())
    }

    /// Reads a file whose defects change no figure.
    fn read_unused<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&FileContent, Sink) -> T,
    ) -> Result<Option<T>, Error> {
        let others = mem::take(&mut self.report.findings);
        let read = self.read(name, parse);
        let found = mem::replace(&mut self.report.findings, others);
        self.report.findings.add_as_warnings(found);
        read
    }

    fn check_same_requests(&mut self, requests: &[LabelledTopic], test: &Labelled) {
        let labelled: HashMap<_, _> =
            test.topics.iter().map(|topic| (&topic.id, &topic.request)).collect();
        for LabelledTopic { id, request, .. } in requests {
            let found = match labelled.get(id) {
                Some(labelled) if *labelled == request => continue,
                Some(labelled) => format!("`{id}` as `{labelled}`, and in test.tsv as `{request}`"),
                None => format!("no topic `{id}`"),
            };
            let expected = "the topics of test.tsv, in the same words";
            let hint = "systems rank for the requests of the file with labels";
            self.report.findings.add(problem!(&test.name, expected, found, hint).warning());
        }
    }
}

fn check_bank(bank: &Bank, file: &str, findings: &mut Findings) {
    let mut texts: HashMap<&str, &str> = HashMap::new();
    for row in bank.rows() {
        if let Some(first) = texts.insert(&row.text, row.id.as_str()) {
            let found = format!("`{}` has the text of `{first}`, `{}`", row.id, row.text);
            let hint = "in multi-turn runs, the text stands for the last of them";
            findings.add(problem!(file, "a text that occurs once", found, hint).warning());
        }
    }
    if bank.find(NO_QUESTION).is_none() {
        let hint = "without it, no system can choose to ask nothing";
        let expected = format!("`{NO_QUESTION}`, the empty question");
        findings.add(problem!(file, expected, "no such id", hint).warning());
    }
}

fn check_labelled(labelled: &Labelled, bank: Option<&Bank>, findings: &mut Findings) {
    if let Some(bank) = bank {
        unknown_questions(labelled, bank).for_each(|problem| findings.add(problem));
    }
    let mut seen = HashSet::new();
    for row in &labelled.rows {
        let at = (&*labelled.name, row.line);
        let facet = &labelled.facets[row.facet];
        let topic = &labelled.topics[facet.topic];
        let facet = &facet.id;
        let question = &row.question;
        let mut warn = |problem: Problem| findings.add(problem.warning());
        if !seen.insert((row.facet, question.as_str())) {
            let expected = "each facet with each question once";
            let hint = "repeated rows count once in every score";
            warn(problem!(at, expected, "`{facet}` with `{question}` again", hint));
        }
        if topic.description.trim().is_empty() {
            let found = format!("none of topic `{}`", topic.id);
            warn(problem!(at, "a text in `topic_desc`", found, "no score depends on it"));
        }
        let text = bank.and_then(|bank| Some(bank.text(bank.find(question.as_str())?)));
        // The released files differ from their bank in white space, which is ignored.
        if let Some(text) = text
            && !row.text.split_whitespace().eq(text.split_whitespace())
        {
            let found = format!("`{}`, and `{text}` as `{question}` in the bank", row.text);
            let hint = "the text of the bank is ranked and written";
            warn(problem!(at, "the text of the bank", found, hint));
        }
    }
}

fn check_judgements(judgements: &[Judgement], input: &FileContent, sink: Sink) {
    let mut judged = HashSet::new();
    for Judgement { topic, document, relevance } in judgements {
        if !judged.insert((topic, document)) {
            let found = format!("`{document}` of `{topic}` as {relevance} again");
            let expected = "one judgement of each document";
            sink(problem!((&*input.name), expected, found, "remove one of the lines").warning());
        }
    }
}

#[cfg(test)]
mod tests {
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
        let facts = report.findings.iter().map(|finding| {
            (finding.first.expected.as_str(), finding.first.severity, finding.count)
        });
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
            (
                "question_bank.tsv",
                "question_id\tquestion\nQ00001\t\nQ2\twhich\nQ3\twhich\nQ2\tagain\n",
            ),
            (
                "train.tsv",
                "HEADER\n1\ta\td\t9\tF1\tf\tQ2\twhich\ty\n1\ta\td\t2\tF1\tf\tQ9\twhat\ty\n",
            ),
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
            (
                vec![("test.tsv", "topic_id\tinitial request\n2\tr\n"), ("dev.tsv", &*rows[0])],
                false,
            ),
            // The requests of the file with labels are ranked, whatever the other has.
            (
                vec![
                    labelled,
                    ("test.tsv", "topic_id\tinitial request\n2\n"),
                    ("dev.tsv", &*rows[0]),
                ],
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
            let used = crate::ClariQ::open(data).and_then(|clariq| clariq.split(ClariqSplit::Dev));
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
}
