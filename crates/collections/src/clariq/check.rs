//! Is a data folder sound? Everything that is wrong with it, all at once.

use crate::clariq::bank::{NO_QUESTION, QuestionBank};
use crate::clariq::collection::{DataDir, Split, unknown_questions};
use crate::clariq::labelled::{Labelled, Topic};
use crate::clariq::requests::parse_requests;
use clariq_core::TopicId;
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::Input;
use clariq_files::parse_qrels;
use std::collections::HashMap;

/// What a check of a folder found.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// The files that were read.
    pub files: Vec<String>,
    /// The files of a release that the folder does not have.
    pub absent: Vec<String>,
    /// Everything that a reader would refuse or that contradicts itself, in file and line order.
    pub problems: Vec<Problem>,
}

/// Reads every file of a data folder and names everything that is wrong. Only the question bank must be there.
pub fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut checker = Checker { data, report: CheckReport::default() };
    data.require("question_bank.tsv")?;
    let bank = checker.read("question_bank.tsv", QuestionBank::parse)?;
    if let Some(bank) = &bank {
        checker.bank(bank);
    }
    let mut seen: HashMap<TopicId, String> = HashMap::new();
    let mut test = None;
    for split in Split::ALL {
        let Some(labelled) = checker.read(split.labelled_file(), Labelled::parse)? else {
            continue;
        };
        if let Some(bank) = &bank {
            checker.labelled(&labelled, bank);
        }
        checker.disjoint(&labelled, &mut seen);
        if split == Split::Test {
            test = Some(labelled);
        }
    }
    let requests = checker.read("test.tsv", parse_requests)?;
    if let (Some(requests), Some(test)) = (requests, test) {
        checker.same_requests(&requests, &test);
    }
    for name in ["train.qrel", "dev.qrel", "test.qrel"] {
        checker.read(name, parse_qrels)?;
    }
    let mut report = checker.report;
    // Files in the order they were read; within a file by line.
    report.problems.sort_by_key(|problem| {
        let file = report.files.iter().position(|name| *name == problem.at.file);
        (file.unwrap_or(usize::MAX), problem.at.line)
    });
    Ok(report)
}

struct Checker<'a> {
    data: &'a DataDir,
    report: CheckReport,
}

impl Checker<'_> {
    /// A file that is absent is noted; one that cannot be opened at all is a problem like any other.
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
        match source.read() {
            Ok(input) => Ok(Some(parse(&input, &mut |problem| self.report.problems.push(problem)))),
            Err(Error::Problem(problem)) => {
                self.report.problems.push(*problem);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn problem(
        &mut self,
        file: &str,
        line: Option<u64>,
        kind: ProblemKind,
        expected: String,
        found: String,
    ) {
        let at = Location { file: file.to_owned(), line };
        self.report.problems.push(Problem::new(at, kind, expected, found));
    }

    fn bank(&mut self, bank: &QuestionBank) {
        let file = self.report.files[0].clone();
        let mut texts: HashMap<&str, &str> = HashMap::new();
        for row in bank.rows() {
            if let Some(first) = texts.insert(&row.text, row.id.as_str()) {
                let found = format!("`{}` has the text of `{first}`, `{}`", row.id, row.text);
                self.problem(
                    &file,
                    None,
                    ProblemKind::Contradiction,
                    "a text that occurs once".to_owned(),
                    found,
                );
            }
        }
        match bank.find(NO_QUESTION) {
            Some(number) if bank.text(number).is_empty() => {}
            Some(number) => {
                let found = format!("`{}`", bank.text(number));
                let expected = format!("an empty text for `{NO_QUESTION}`");
                self.problem(&file, None, ProblemKind::Contradiction, expected, found);
            }
            None => {
                let expected = format!("`{NO_QUESTION}`, the empty question");
                self.problem(
                    &file,
                    None,
                    ProblemKind::UnknownQuestion,
                    expected,
                    "no such id".to_owned(),
                );
            }
        }
    }

    fn labelled(&mut self, labelled: &Labelled, bank: &QuestionBank) {
        self.report.problems.extend(unknown_questions(labelled, bank));
        for row in &labelled.rows {
            let Some(number) = bank.find(row.question.as_str()) else { continue };
            // The released files differ from their bank in blanks, which no reader of them minds.
            if !row.text.split_whitespace().eq(bank.text(number).split_whitespace()) {
                let expected =
                    format!("the text of `{}` in the bank, `{}`", row.question, bank.text(number));
                let found = format!("`{}`", row.text);
                self.problem(
                    &labelled.name,
                    Some(row.line),
                    ProblemKind::Contradiction,
                    expected,
                    found,
                );
            }
        }
    }

    fn disjoint(&mut self, labelled: &Labelled, seen: &mut HashMap<TopicId, String>) {
        for topic in &labelled.topics {
            if let Some(other) = seen.insert(topic.id.clone(), labelled.name.clone()) {
                let found = format!("`{}`, which is in {other} too", topic.id);
                let expected = "topics of this split alone".to_owned();
                self.problem(&labelled.name, None, ProblemKind::DuplicateId, expected, found);
            }
        }
    }

    fn same_requests(&mut self, requests: &[Topic], test: &Labelled) {
        let labelled: HashMap<_, _> =
            test.topics.iter().map(|topic| (&topic.id, &topic.request)).collect();
        for topic in requests {
            match labelled.get(&topic.id) {
                Some(request) if **request == topic.request => {}
                other => {
                    let expected =
                        format!("topic `{}` as in test.tsv, `{}`", topic.id, topic.request);
                    let found =
                        other.map_or("no such topic".to_owned(), |request| format!("`{request}`"));
                    self.problem(&test.name, None, ProblemKind::Contradiction, expected, found);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProblemKind::{Contradiction, DuplicateId, FieldCount, LabelRange, UnknownQuestion};
    use std::fs;

    #[test]
    fn the_sample_is_sound() {
        let report = check(&DataDir::Sample).unwrap();
        assert_eq!(report.problems, []);
        assert_eq!(report.absent, ["test.qrel"]);
    }

    #[test]
    fn all_problems_are_named_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let header = "topic_id\tinitial_request\ttopic_desc\tclarification_need\tfacet_id\tfacet_desc\tquestion_id\tquestion\tanswer";
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        write(
            "question_bank.tsv",
            "question_id\tquestion\nQ00001\t\nQ2\twhich\nQ3\twhich\nQ2\tagain\n".to_owned(),
        );
        write(
            "train.tsv",
            format!("{header}\n1\ta\t\t9\tF1\tf\tQ2\twhich\ty\n1\ta\t\t2\tF1\tf\tQ9\twhat\ty\n"),
        );
        write("dev.tsv", format!("{header}\n1\ta\t\t2\tF2\tf\tQ2\twhat\ty\n1\ta\n"));
        let report = check(&DataDir::Folder(folder.path().to_owned())).unwrap();
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(
            kinds,
            [
                Contradiction,
                DuplicateId,
                LabelRange,
                UnknownQuestion,
                DuplicateId,
                Contradiction,
                FieldCount
            ]
        );
    }
}
