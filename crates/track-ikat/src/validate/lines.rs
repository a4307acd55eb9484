//! The rules of 2025.

use super::{CheckedRun, Overlooked, Rejected, Rule, Violations, Warned};
use crate::run::lines::{LineResponse, TurnLine};
use crate::topics::Year;
use clariq_collections::SubmittedAnswer;
use clariq_core::is_python_space;
use clariq_files::quoted;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;

pub(super) const RULES: &[Rule] = &[
    Rule {
        reaction: Rejected,
        expected: "a run_type of manual, automatic or generation-only",
        hint: "use one of these names",
        find: unknown_run_type,
    },
    // The official program cuts them, and then refuses what it has cut.
    Rule {
        reaction: Rejected,
        expected: "at most 1000 references",
        hint: "leave out the last ones",
        find: too_many_references,
    },
    Rule {
        reaction: Warned,
        expected: "a passage id such as clueweb22-en0004-50-00170:0",
        hint: "references are passages of ClueWeb22",
        find: passage_id_of_another_form,
    },
    Rule {
        reaction: Rejected,
        expected: "text, citations and ptkb_provenance in a response",
        hint: "they may be empty",
        find: missing_field_of_a_response,
    },
    Rule {
        reaction: Rejected,
        expected: "a citation that is a reference",
        hint: "cited passages have to be among the references of the turn",
        find: citation_that_is_not_a_reference,
    },
    Rule {
        reaction: Overlooked,
        expected: "at most 250 words in all responses",
        hint: "the official program drops whole responses from the end: write less",
        find: too_many_words,
    },
    Rule {
        reaction: Rejected,
        expected: "every turn of the topics",
        hint: "a run answers every turn of the topics",
        find: missing_turn,
    },
    Rule {
        reaction: Rejected,
        expected: "a turn of the topics",
        hint: "a run only answers the turns of these topics",
        find: unknown_turn,
    },
    Rule {
        reaction: Overlooked,
        expected: "the metadata of the first line",
        hint: "a file holds one run",
        find: other_metadata,
    },
];

fn unknown_run_type(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        let run_type = line.metadata.run_type.as_str();
        if !["manual", "automatic", "generation-only"].contains(&run_type) {
            found.push((Some(line.number), quoted(run_type)));
        }
    }
}

fn too_many_references(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        let count = line.references.0.len();
        if count > SubmittedAnswer::MOST_PASSAGES {
            found.push((Some(line.number), count.to_string()));
        }
    }
}

/// True for `clueweb22-en0004-50-00170:0`: four, two and five digits, and the number of the passage.
fn is_passage_id(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let id = id.strip_prefix("clueweb22-en").and_then(|id| id.split_once(':'));
    id.is_some_and(|(page, passage)| {
        let lengths: Vec<usize> = page.split('-').map(str::len).collect();
        lengths == [4, 2, 5] && page.split('-').all(digits) && digits(passage)
    })
}

fn passage_id_of_another_form(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        for (id, _) in &line.references.0 {
            if !is_passage_id(id) {
                found.push((Some(line.number), quoted(id)));
            }
        }
    }
}

/// The number of words of a text after compatibility normalization (NFKC), split as Python splits.
fn count_words(text: &str) -> usize {
    let normal: String = text.trim_matches(is_python_space).nfkc().collect();
    normal.split(is_python_space).filter(|word| !word.is_empty()).count()
}

/// The number of words of every response.
fn word_counts(line: &TurnLine) -> Vec<usize> {
    let responses = line.responses.iter().flatten();
    responses.map(|response| response.text.as_deref().map_or(0, count_words)).collect()
}

/// The responses that the official program checks: it drops whole responses from the end while all
/// of them have more than 250 words.
fn checked_responses(line: &TurnLine) -> &[LineResponse] {
    let responses = line.responses.as_deref().unwrap_or_default();
    let mut words: usize = word_counts(line).iter().sum();
    let mut count = responses.len();
    for of_response in word_counts(line).into_iter().rev() {
        if words <= Year::Y2025.response_limit().tokens {
            break;
        }
        words = words.saturating_sub(of_response);
        count = count.saturating_sub(1);
    }
    responses.get(..count).unwrap_or_default()
}

fn missing_field_of_a_response(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        for response in checked_responses(line) {
            for (name, is_there) in [
                ("text", response.text.is_some()),
                ("citations", response.citations.is_some()),
                ("ptkb_provenance", response.ptkb_provenance.is_some()),
            ] {
                if !is_there {
                    found.push((Some(line.number), format!("no {name}")));
                }
            }
        }
    }
}

fn citation_that_is_not_a_reference(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        let references: HashSet<&str> =
            line.references.0.iter().map(|(id, _)| id.as_str()).collect();
        let responses = checked_responses(line).iter();
        let citations = responses.filter_map(|response| response.citations.as_ref());
        for (id, _) in citations.flat_map(|citations| &citations.0) {
            if !references.contains(id.as_str()) {
                found.push((Some(line.number), quoted(id)));
            }
        }
    }
}

fn too_many_words(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        let words: usize = word_counts(line).iter().sum();
        if words > Year::Y2025.response_limit().tokens {
            found.push((Some(line.number), words.to_string()));
        }
    }
}

fn missing_turn(run: &CheckedRun, found: &mut Violations) {
    run.report_missing(run.lines.iter().map(|line| line.turn_id.as_str()), found);
}

fn unknown_turn(run: &CheckedRun, found: &mut Violations) {
    for line in run.lines {
        if run.topics.turn(&line.turn_id).is_none() {
            found.push((Some(line.number), quoted(&line.turn_id)));
        }
    }
}

fn other_metadata(run: &CheckedRun, found: &mut Violations) {
    let Some(first) = run.lines.first() else { return };
    for line in run.lines {
        if line.metadata != first.metadata {
            let metadata = &line.metadata;
            let all = [&*metadata.team_id, &metadata.run_id, &metadata.run_type].join(", ");
            found.push((Some(line.number), quoted(&all)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_python_splits_them() {
        for (text, count) in [
            ("", 0),
            (" a\u{a0}b\u{2003}c\n", 3),
            ("a\u{1c}b", 2),
            // The diaeresis is a space and a combining mark after normalization.
            ("a\u{a8}b", 2),
            ("a\u{200b}b", 1),
        ] {
            assert_eq!(count_words(text), count, "{text:?}");
        }
    }

    #[test]
    fn passage_ids_have_one_form() {
        assert!(is_passage_id("clueweb22-en0004-50-00170:0"));
        for id in [
            "",
            "clueweb22-en0004-50-00170",
            "clueweb22-en0004-50-00170:",
            "clueweb22-en0004-50-00170:1:2",
            "clueweb22-en0000-0-1:1",
            "clueweb22-de0004-50-00170:0",
            "MARCO_D1:1",
        ] {
            assert!(!is_passage_id(id), "{id}");
        }
    }
}
