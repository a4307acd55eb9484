//! iKAT and `CAsT`: topics, passages, runs and their validation.

use super::{NAME, both, read_back};
use clariq_collections::DataDir;
use clariq_collections::ikat::run::{Submission, put_submission};
use clariq_collections::ikat::validate::{MAX_WARNINGS, ValidationOptions, Verdict, validate};
use clariq_collections::ikat::{Class, Split, Topics, Year, convert, for_each_passage};
use clariq_collections::{cast, ikat};
use clariq_core::{Error, Findings};
use clariq_files::Source;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// Topics give every class its view of every turn, and labels that name statements of the user.
pub fn ikat_topics(bytes: &[u8]) {
    let Some(topics) = both(bytes, Topics::parse, Topics::read) else { return };
    for conversation in &topics.conversations {
        for (index, turn) in conversation.turns.iter().enumerate() {
            for class in Class::ALL {
                assert_eq!(conversation.said(index, class).len(), 2 * index + 1);
                let given = conversation.given_passages(index, class);
                assert_eq!(given.is_some(), class == Class::OnlyResponse);
            }
            assert_eq!(topics.turn(turn.id.as_str()), Some((conversation, turn)));
        }
    }
    for label in ikat::statement_judgements(&topics) {
        let (conversation, _) = topics.turn(&label.topic).expect("a turn");
        let number: usize = label.document.parse().expect("a number");
        assert!((1..=conversation.statements.len()).contains(&number));
    }
}

/// Passages have ids without blanks and texts without blanks around them, on lines that rise; and they come back as JSON.
pub fn ikat_passages(bytes: &[u8]) {
    let mut passages: Vec<ikat::Passage> = Vec::new();
    let result = for_each_passage(&Source::memory(NAME, bytes), |passage| {
        match passage {
            Ok(passage) => passages.push(passage),
            Err(error) => is_helpful(&error),
        }
        Ok(ControlFlow::Continue(()))
    });
    if let Err(error) = result {
        is_helpful(&error);
    }
    assert!(passages.windows(2).all(|pair| pair[0].line < pair[1].line));
    let mut lines = String::new();
    for ikat::Passage { id, text, .. } in &passages {
        assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{id:?}");
        assert_eq!(text, text.trim());
        lines.extend(["{\"id\": ", &json(id), ", \"contents\": ", &json(text), "}\n"]);
    }
    if passages.is_empty() {
        return;
    }
    let again = read_back(lines.into_bytes(), ikat::read_passages);
    let content = |passages: &[ikat::Passage]| {
        let pair = |passage: &ikat::Passage| (passage.id.clone(), passage.text.clone());
        passages.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(content(&again), content(&passages));
}

/// A run of any year is written and read back, converted, and validated to a verdict that agrees with its reader.
pub fn ikat_run(bytes: &[u8]) {
    let topics = DataDir::Sample.topics(Split::Test2023).expect("the sample");
    for year in [Year::Y2023, Year::Y2024, Year::Y2025] {
        let submission = both(
            bytes,
            |input, sink| Submission::parse(input, Some(year), sink),
            |source| Submission::read(source, Some(year)),
        );
        let topics = Topics { year, ..topics.clone() };
        let tokens = |text: &str| text.split_whitespace().count();
        let options =
            ValidationOptions { passage_ids: None, tokens: &tokens, max_warnings: MAX_WARNINGS };
        let Ok(validation) = validate(&Source::memory(NAME, bytes), &topics, &options) else {
            continue;
        };
        for findings in [&validation.official, &validation.let_through] {
            all_helpful(findings);
        }
        match submission {
            Some(submission) => comes_back(&submission),
            // What the reader of 2023 and 2024 refuses, the validator refuses.
            None => assert!(year == Year::Y2025 || validation.verdict == Verdict::Error),
        }
    }
}

fn comes_back(submission: &Submission) {
    let mut lines = Vec::new();
    if let Err(error) = convert::put_trec(&mut lines, submission, NAME) {
        is_helpful(&error);
    }
    let mut written = Vec::new();
    // Numbers that are not finite and empty files have no form.
    if put_submission(&mut written, submission).is_err() || written.is_empty() {
        return;
    }
    let again = read_back(written, |source| Submission::read(source, Some(submission.year)));
    let mut lines_again = Vec::new();
    if convert::put_trec(&mut lines_again, &again, NAME).is_ok() {
        assert_eq!(lines, lines_again);
    }
}

/// `CAsT`'s topics and question pool: what is read is consistent.
pub fn cast(bytes: &[u8]) {
    if let Some(topics) = both(bytes, cast::Topics::parse, cast::Topics::read) {
        for (conversation, index) in topics.user_turns() {
            let said = conversation.said(index);
            assert!(said.len() <= 2 * conversation.turns.len());
            let last = conversation.turns[index].utterance.as_deref();
            assert_eq!(said.last().map(|said| said.text.as_str()), last.map(str::trim));
        }
    }
    let _ = both(bytes, cast::parse_pool, cast::read_pool);
}

fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\0'..='\u{1f}' => write!(quoted, "\\u{:04x}", c as u32).expect("a text takes all"),
            _ => quoted.push(c),
        }
    }
    quoted + "\""
}

fn all_helpful(findings: &Findings) {
    for problem in findings.iter().map(|finding| &finding.first) {
        assert_eq!(problem.at.file, NAME);
        assert!(problem.at.line.is_some() && !problem.hint.is_empty(), "{problem:?}");
    }
}

fn is_helpful(error: &Error) {
    let report = error.to_problem();
    assert!(report.title().starts_with(NAME) && !report.hint.is_empty(), "{report:?}");
}
