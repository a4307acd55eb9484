//! The check of a data folder: everything that is wrong with it, all at once.

use crate::bank::Bank;
use crate::check::CheckReport;
use crate::clariq::bank::NO_QUESTION;
use crate::clariq::collection::{DataDir, Split, unknown_questions};
use crate::clariq::conversation::{Reading, read_records};
use crate::clariq::eval_table::{EvalTable, locate};
use crate::clariq::labelled::{Labelled, Topic};
use crate::clariq::released::released;
use crate::clariq::requests::parse_requests;
use clariq_core::{Error, Location, Problem, ProblemKind, TopicId, sha256_hex};
use clariq_files::{Input, Judgement, MOST_OF_A_TABLE, Source, parse_qrels};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// The table of conversations that people had.
const HUMAN: &str = "multi_turn_human_generated_data.tsv";
/// The released evaluation tables; every folder should have the first.
const EVAL_TABLES: [&str; 5] = [
    "single_turn_train_eval",
    "single_turn_test_eval",
    "multi_turn_train_eval",
    "multi_turn_dev_eval",
    "multi_turn_test_eval",
];
/// The released conversations, made of the labels.
const CONVERSATIONS: [&str; 2] = ["train_synthetic", "dev_synthetic"];

/// Reads every file of a data folder and names everything that is wrong. Only the question bank
/// must be there.
pub fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut checker = Checker { data, report: CheckReport::default() };
    data.require("question_bank.tsv")?;
    let bank = checker.read("question_bank.tsv", Bank::parse)?;
    if let Some(bank) = &bank {
        checker.bank(bank);
    }
    checker.splits(bank.as_ref())?;
    for name in ["train.qrel", "dev.qrel", "test.qrel"] {
        if let Some(judgements) = checker.read(name, parse_qrels)? {
            checker.judgements(&judgements);
        }
    }
    checker.human()?;
    for stem in EVAL_TABLES {
        checker.packed(stem, |sources| EvalTable::read(sources).map(drop))?;
    }
    for stem in CONVERSATIONS {
        checker.packed(stem, |sources| read_all(&sources[0], bank.as_ref()))?;
    }
    let mut report = checker.report;
    report.findings.sort(&report.files);
    Ok(report)
}

/// Reads conversations up to the first that is none.
fn read_all(source: &Source, bank: Option<&Bank>) -> Result<(), Error> {
    let reading = Reading { bank, skip_bad: false };
    read_records(source, &reading, &mut |_| ControlFlow::Continue(())).map(drop)
}

struct Checker<'a> {
    data: &'a DataDir,
    report: CheckReport,
}

impl Checker<'_> {
    /// A file that is absent is noted; one that cannot be opened at all is a problem like any
    /// other.
    fn read<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&Input, &mut dyn FnMut(Problem)) -> T,
    ) -> Result<Option<T>, Error> {
        let Some(source) = self.data.file(name) else {
            self.report.absent.push(name.to_owned());
            return Ok(None);
        };
        self.report.files.push(source.name());
        let input = self.noted(source.read_at_most(MOST_OF_A_TABLE))?;
        Ok(input.map(|input| {
            self.digest(name, &input);
            parse(&input, &mut |problem| self.report.findings.add(problem))
        }))
    }

    /// What is wrong with a file is noted, and what is wrong with the system is an error.
    fn noted<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Problem(problem)) => {
                self.report.findings.add(*problem);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a file that may be packed or in pieces, up to the first problem.
    fn packed(
        &mut self,
        stem: &str,
        read: impl FnOnce(&[Source]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match locate(self.data, stem) {
            Some(sources) => {
                let names: Vec<_> = sources.iter().map(Source::name).collect();
                self.report.files.push(names.join(" + "));
                self.noted(read(&sources)).map(drop)
            }
            // The others are large, and few folders have them.
            None if stem == EVAL_TABLES[0] => {
                self.report.absent.push(format!("{stem}.pkl"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A file may be sound and still lack rows. The sample is a release of its own.
    fn digest(&mut self, name: &str, input: &Input) {
        let Some(expected) = released(name).and_then(|entry| entry.sha256) else { return };
        if *self.data == DataDir::Sample || sha256_hex(&input.bytes) == expected {
            return;
        }
        let at = Location::file(&input.name);
        let problem = Problem::new(at, ProblemKind::Checksum, "the released file", "another one");
        self.report.findings.add(
            problem.hint("figures of it compare with no published ones; `clariq data fetch` gets the release").warning(),
        );
    }

    fn human(&mut self) -> Result<(), Error> {
        let mut counts = None;
        let read = |input: &Input, _: &mut dyn FnMut(Problem)| {
            let source = Source::memory(&*input.name, &*input.bytes);
            let reading = Reading { bank: None, skip_bad: true };
            counts = Some(read_records(&source, &reading, &mut |_| ControlFlow::Continue(())));
        };
        self.read(HUMAN, read)?;
        let Some(counts) = counts else { return Ok(()) };
        if let Some(counts) = self.noted(counts)?
            && let Some(first) = counts.first
        {
            self.report.findings.add_times(first, counts.bad as usize);
        }
        Ok(())
    }

    fn bank(&mut self, bank: &Bank) {
        let at = || Location::file(&self.report.files[0]);
        let mut problems = Vec::new();
        let mut texts: HashMap<&str, &str> = HashMap::new();
        for row in bank.rows() {
            if let Some(first) = texts.insert(&row.text, row.id.as_str()) {
                let found = format!("`{}` has the text of `{first}`, `{}`", row.id, row.text);
                let expected = "a text that occurs once";
                let problem = Problem::new(at(), ProblemKind::Contradiction, expected, found);
                problems
                    .push(problem.hint("in multi-turn runs the last of them is meant").warning());
            }
        }
        let empty = bank.find(NO_QUESTION).map(|number| bank.text(number));
        if let Some(text) = empty
            && !text.is_empty()
        {
            let expected = format!("an empty text for `{NO_QUESTION}`");
            let problem =
                Problem::new(at(), ProblemKind::Contradiction, expected, format!("`{text}`"));
            problems.push(problem.hint("to choose it is to ask nothing"));
        }
        if empty.is_none() {
            let expected = format!("`{NO_QUESTION}`, the empty question");
            let problem = Problem::new(at(), ProblemKind::UnknownQuestion, expected, "no such id");
            problems.push(problem.hint("without it no system can choose to ask nothing"));
        }
        for problem in problems {
            self.report.findings.add(problem);
        }
    }

    fn splits(&mut self, bank: Option<&Bank>) -> Result<(), Error> {
        let mut seen: HashMap<TopicId, String> = HashMap::new();
        let mut test = None;
        for split in Split::ALL {
            let Some(labelled) = self.read(split.labelled_file(), Labelled::parse)? else {
                continue;
            };
            self.labelled(&labelled, bank);
            self.disjoint(&labelled, &mut seen);
            if split == Split::Test {
                test = Some(labelled);
            }
        }
        let requests = self.read("test.tsv", parse_requests)?;
        if let (Some(requests), Some(test)) = (requests, test) {
            self.same_requests(&requests, &test);
        }
        Ok(())
    }

    fn labelled(&mut self, labelled: &Labelled, bank: Option<&Bank>) {
        if let Some(bank) = bank {
            unknown_questions(labelled, bank).for_each(|problem| self.report.findings.add(problem));
        }
        let mut seen = HashSet::new();
        for row in &labelled.rows {
            let mut warn = |kind, expected: &str, found: String, hint: &str| {
                let at = Location::line(&labelled.name, row.line);
                self.report
                    .findings
                    .add(Problem::new(at, kind, expected, found).hint(hint).warning());
            };
            let facet = &labelled.facets[row.facet];
            let topic = &labelled.topics[facet.topic];
            if !seen.insert((row.facet, row.question.as_str())) {
                let found = format!("`{}` with `{}` again", facet.id, row.question);
                let expected = "each facet with each question once";
                warn(ProblemKind::Repeated, expected, found, "they count once in every figure");
            }
            if topic.description.trim().is_empty() {
                let found = format!("none of topic `{}`", topic.id);
                let expected = "a text in `topic_desc`";
                warn(ProblemKind::EmptyField, expected, found, "no figure depends on it");
            }
            let text = bank.and_then(|bank| Some(bank.text(bank.find(row.question.as_str())?)));
            // The released files differ from their bank in blanks, which no reader of them minds.
            if let Some(text) = text
                && !row.text.split_whitespace().eq(text.split_whitespace())
            {
                let found =
                    format!("`{}`, and `{text}` as `{}` in the bank", row.text, row.question);
                let (expected, hint) = ("the text of the bank", "the bank's is ranked and written");
                warn(ProblemKind::Contradiction, expected, found, hint);
            }
        }
    }

    fn disjoint(&mut self, labelled: &Labelled, seen: &mut HashMap<TopicId, String>) {
        for topic in &labelled.topics {
            if let Some(other) = seen.insert(topic.id.clone(), labelled.name.clone()) {
                let at = Location::file(&labelled.name);
                let found = format!("`{}`, which is in {other} too", topic.id);
                let expected = "topics of this split alone";
                self.report.findings.add(
                    Problem::new(at, ProblemKind::DuplicateId, expected, found)
                        .hint("what learns from one split must not be measured on its topics"),
                );
            }
        }
    }

    fn same_requests(&mut self, requests: &[Topic], test: &Labelled) {
        let labelled: HashMap<_, _> =
            test.topics.iter().map(|topic| (&topic.id, &topic.request)).collect();
        for Topic { id, request, .. } in requests {
            let found = match labelled.get(id) {
                Some(labelled) if *labelled == request => continue,
                Some(labelled) => format!("`{id}` as `{labelled}`, and in test.tsv as `{request}`"),
                None => format!("no topic `{id}`"),
            };
            let at = Location::file(&test.name);
            let expected = "the topics of test.tsv, in the same words";
            self.report.findings.add(
                Problem::new(at, ProblemKind::Contradiction, expected, found)
                    .hint("where there are labels, their requests are the ones that are ranked"),
            );
        }
    }

    fn judgements(&mut self, judgements: &[Judgement]) {
        let file = self.report.files.last().cloned().unwrap_or_default();
        let mut grades = HashMap::new();
        for Judgement { topic, document, relevance } in judgements {
            let Some(first) = grades.insert((topic, document), *relevance) else { continue };
            let at = Location::file(&file);
            let found = format!("`{document}` of `{topic}` as {first} and {relevance}");
            let (expected, hint) = ("one judgement of each document", "remove one of the lines");
            let problem = Problem::new(at, ProblemKind::Repeated, expected, found).hint(hint);
            self.report.findings.add(if first == *relevance { problem.warning() } else { problem });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProblemKind::{
        Checksum, Contradiction, DuplicateId, EmptyField, LabelRange, MissingFile, Other, Repeated,
        UnknownQuestion,
    };
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

    /// What was found but for digests: no test writes a released file.
    fn found(report: &CheckReport) -> Vec<(ProblemKind, Severity, usize)> {
        let other = report.findings.iter().filter(|finding| finding.first.kind != Checksum);
        other.map(|finding| (finding.first.kind, finding.first.severity, finding.count)).collect()
    }

    #[test]
    fn the_sample_is_sound() {
        let report = check(&DataDir::Sample).unwrap();
        // As in the release, a topic of the labelled test split has no description.
        assert_eq!(found(&report), [(EmptyField, Warning, 34)]);
        assert_eq!(report.absent, ["test.qrel", "single_turn_train_eval.pkl"]);
    }

    #[test]
    fn all_problems_are_named_at_once() {
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
            (Contradiction, Warning, 1),
            (DuplicateId, Error, 1),
            (LabelRange, Error, 1),
            (UnknownQuestion, Error, 1),
            (DuplicateId, Error, 1),
            (Contradiction, Warning, 1),
            (Other, Error, 1),
        ];
        assert_eq!(found(&report), expected);
        assert!(report.findings.has_errors());
        assert!(report.findings.iter().all(|finding| !finding.first.hint.is_empty()));
    }

    #[test]
    fn what_changes_no_figure_is_a_warning_and_said_once() {
        let rows = ["one", "two", "one", "two"]
            .map(|request| format!("260\t{request}\t\t4\tF1\tf\tQ2\twhich\ty\n"));
        let test = format!("HEADER\n{}", rows.concat());
        let report = check_folder(&folder(&[
            ("test_with_labels.tsv", &test),
            ("test.tsv", "topic_id\tinitial request\n260\tone\n260\tone\n"),
        ]));
        let expected = [
            (EmptyField, Warning, 4),
            (Contradiction, Warning, 2),
            (Repeated, Warning, 3),
            (Repeated, Warning, 1),
        ];
        assert_eq!(found(&report), expected);
        assert!(!report.findings.has_errors());
        let wording = report.findings.iter().find(|finding| finding.first.kind == Contradiction);
        assert_eq!(wording.unwrap().to_problem().found, "`two`, 2 times: first on lines 3, 5");
    }

    #[test]
    fn a_file_that_differs_from_the_released_one_is_named() {
        let report = check_folder(&folder(&[]));
        let finding = report.findings.iter().next().unwrap();
        assert_eq!((finding.first.kind, finding.first.severity), (Checksum, Warning));
    }

    #[test]
    fn every_file_that_is_listed_is_opened() {
        let report = check_folder(&folder(&[
            (HUMAN, "topic_id\tfacet_id\n1\tF1\n"),
            ("single_turn_train_eval.pkl", "no pickle"),
            ("dev_synthetic.pkl", "no pickle"),
            ("dev.qrel", "F1 0 d1 1\nF1 0 d1 0\nF1 0 d2 1\nF1 0 d2 1\n"),
        ]));
        let files: Vec<_> =
            report.findings.iter().filter(|finding| finding.first.kind != Checksum).collect();
        let names = files.iter().map(|finding| {
            let file = finding.first.at.file.rsplit('/').next().unwrap();
            (file, finding.first.severity)
        });
        let expected = [
            ("dev.qrel", Error),
            ("dev.qrel", Warning),
            (HUMAN, Error),
            ("single_turn_train_eval.pkl", Error),
            ("dev_synthetic.pkl", Error),
        ];
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_counts_as_a_file() {
        let folder = folder(&[]);
        std::os::unix::fs::symlink("nowhere", folder.path().join("dev.tsv")).unwrap();
        let report = check_folder(&folder);
        assert_eq!(found(&report), [(MissingFile, Error, 1)]);
        assert!(!report.absent.contains(&"dev.tsv".to_owned()));
    }
}
