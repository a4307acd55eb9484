//! The check of a data folder, which reports all problems at once.

use crate::collection::{Disjoint, RELEASE, check_single, unknown_questions};
use crate::conversation::{RecordOptions, read_records};
use crate::eval_table::{EvalTable, locate};
use crate::labelled::{Labelled, LabelledTopic, parse_requests};
use crate::question_bank::NO_QUESTION;
use crate::question_bank::parse_question_bank;
use crate::splits;
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
                let hint = "its scores cannot be compared with published ones";
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
        let skipped = self.read(HUMAN, |input, _| {
            let source = Source::memory(&*input.name, &*input.bytes);
            read_records(&source, &reading, &mut |_| ControlFlow::Continue(()))
        })?;
        if let Some(skipped) = skipped
            && let Some(skipped) = self.report.note(skipped)?
            && let Some(first) = skipped.first
        {
            self.report.findings.add_times(first, skipped.count as usize);
        }
        Ok(())
    }

    fn read_splits(&mut self, bank: Option<&Bank>) -> Result<(), Error> {
        let mut disjoint = Disjoint::default();
        let mut test = None;
        for split in splits::ALL {
            let Some(labelled) = self.read(splits::labelled_file(split), Labelled::parse)? else {
                continue;
            };
            check_labelled(&labelled, bank, &mut self.report.findings);
            for problem in disjoint.add(&labelled) {
                self.report.findings.add(problem);
            }
            if split == splits::TEST {
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
mod tests;
