//! The check of a folder with the track's files: everything that is wrong with them, all at once.

use super::folder::{Folder, Split};
use super::passages::{Passage, for_each_passage};
use super::qrels::parse_statement_qrels;
use super::topics::Topics;
use crate::CheckReport;
use crate::cast::check_training_files;
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::table::Sink;
use clariq_files::{Input, Source, parse_qrels};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The files of judgements, and how each is read.
const JUDGEMENTS: [(&str, Parse); 3] = [
    ("ptkb_rel_org", |input, sink| drop(parse_statement_qrels(input, sink))),
    ("ptkb_rel_nist", |input, sink| drop(parse_statement_qrels(input, sink))),
    ("2023-qrels.all-turns.txt", |input, sink| drop(parse_qrels(input, sink))),
];

type Parse = fn(&Input, Sink);

/// Reads every file of a folder and names everything that is wrong.
pub(super) fn check(folder: &Folder) -> Result<CheckReport, Error> {
    let mut report = CheckReport::default();
    for split in Split::ALL {
        let name = split.topics_file();
        report.read(name, folder.file(name), |input, sink| {
            let topics = Topics::parse(input, sink);
            if topics.year != split.year() && !topics.conversations.is_empty() {
                sink(other_year(input, &topics, split));
            }
        })?;
    }
    for (name, parse) in JUDGEMENTS {
        report.read(name, folder.file(name), parse)?;
    }
    let passages = folder.passage_files();
    if passages.is_empty() {
        report.absent.push("passages.jsonl".to_owned());
    }
    let mut seen = HashMap::new();
    for file in passages {
        check_passages(&file, &mut seen, &mut report)?;
    }
    check_training_files(&mut report, |name| folder.file(name))?;
    report.findings.sort(&report.files);
    Ok(report)
}

fn other_year(input: &Input, topics: &Topics, split: Split) -> Problem {
    let expected = format!("topics in the form of {}", split.year());
    let found = format!("topics in the form of {}", topics.year);
    Problem::new(Location::line(&input.name, 1), ProblemKind::Contradiction, expected, found)
        .hint("each year has a form of its own: is the file another year's?")
}

/// Reads passages as a stream; `seen` holds the ids of all files so far.
fn check_passages(
    file: &Source,
    seen: &mut HashMap<String, String>,
    report: &mut CheckReport,
) -> Result<(), Error> {
    let name = file.name();
    report.files.push(name.clone());
    let findings = &mut report.findings;
    let read = for_each_passage(file, |passage| {
        match passage {
            Ok(passage) => {
                if let Some(problem) = without_text(&name, &passage) {
                    findings.add(problem);
                }
                let at = Location::line(&name, passage.line);
                if let Some(first) = seen.get(&passage.id) {
                    let found = format!("`{}` again, which is at {first} already", passage.id);
                    let expected = "every passage once";
                    let problem = Problem::new(at, ProblemKind::DuplicateId, expected, found);
                    findings.add(problem.hint("it is an error if the texts differ").warning());
                } else {
                    seen.insert(passage.id, at.to_string());
                }
            }
            Err(Error::Problem(problem)) => findings.add(*problem),
            Err(error) => return Err(error),
        }
        Ok(ControlFlow::Continue(()))
    });
    match read {
        Err(Error::Problem(problem)) => findings.add(*problem),
        other => other?,
    }
    Ok(())
}

/// Some released passages hold their id and an address in place of a text.
fn without_text(file: &str, passage: &Passage) -> Option<Problem> {
    let text = &passage.text;
    let is_address = !text.contains(char::is_whitespace) && text.contains("://");
    if !is_address && !text.is_empty() {
        return None;
    }
    let at = Location::line(file, passage.line);
    let found = format!("`{}` of `{}`", clariq_files::table::shorten(text), passage.id);
    Some(
        Problem::new(at, ProblemKind::EmptyField, "the text of a passage", found)
            .hint("nothing has to be done: it is ranked as it is")
            .warning(),
    )
}
