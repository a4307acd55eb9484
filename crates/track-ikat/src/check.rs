//! The check of a folder with the track's files, which reports all problems at once.

use super::folder::{check_track_files, passage_files, track_file, unread_passage_files};
use super::splits::{self, SplitFiles};
use super::topics::TopicFile;
use clariq_collections::documents::{DocumentForm, Passage, check_documents};
use clariq_collections::{CheckReport, DataDir};
use clariq_core::{Error, Problem, Severity, problem};
use clariq_files::{Source, shorten};

/// The files of the track in a folder.
pub(super) fn files(data: &DataDir) -> Vec<Source> {
    let mut files = Vec::new();
    for split in splits::ALL {
        let SplitFiles { topics, labels, .. } = splits::files(split);
        files.extend(track_file(data, topics));
        files.extend(labels.iter().filter_map(|(name, _)| track_file(data, name)));
    }
    files.extend(passage_files(data).unwrap_or_default());
    files
}

/// Reads every file of a folder and reports all problems.
pub(super) fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut report = CheckReport::default();
    report.note(check_track_files(data))?;
    let mut valid_topics = Vec::new();
    for split in splits::ALL {
        let name = splits::files(split).topics;
        let topics = report.read(name, track_file(data, name), |input, sink| {
            let topics = TopicFile::parse(input, sink);
            if topics.year != splits::files(split).year && !topics.conversations.is_empty() {
                sink(super::folder::other_year((&*input.name, 1), topics.year, split));
            }
            topics
        })?;
        let findings = &report.findings;
        valid_topics
            .push(topics.filter(|topics| findings.count(&topics.name, Severity::Error) == 0));
    }
    for (split, topics) in splits::ALL.into_iter().zip(&valid_topics) {
        for &(name, kind) in splits::files(split).labels {
            // Few users have the labels of later years.
            let file = track_file(data, name);
            if file.is_some() || split == splits::TEST_2023 {
                report.read(name, file, |input, sink| kind.check(input, topics.as_ref(), sink))?;
            }
        }
    }
    let passages = report.note(passage_files(data))?.unwrap_or_default();
    if passages.is_empty() {
        report.absent.push("passages.jsonl".to_owned());
    }
    check_documents(
        &passages,
        &DocumentForm::default(),
        &mut report,
        without_text,
        |at, id, first| {
            let found = format!("`{id}` again, which is at {first} already");
            let hint = "it is an error if the texts differ";
            problem!(at, "every passage once", found, hint).warning()
        },
    )?;
    // Problems of the folder were reported above.
    report.add_unread(&unread_passage_files(data).unwrap_or_default());
    report.findings.sort(&report.files);
    Ok(report)
}

/// Some released passages hold their id and an address in place of a text.
fn without_text(file: &str, Passage { id, text, line }: &Passage) -> Option<Problem> {
    let is_address = !text.contains(char::is_whitespace) && text.contains("://");
    (is_address || text.is_empty()).then(|| {
        let found = format!("`{}` of `{id}`", shorten(text));
        let hint = "nothing has to be done: it is ranked as it is";
        problem!((file, *line), "the text of a passage", found, hint).warning()
    })
}
