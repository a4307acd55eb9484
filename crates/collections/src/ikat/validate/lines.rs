//! The checks of 2025, line by line.
//!
//! The official program sees values as Python has them, so what it makes of other values than the
//! guidelines show follows from Python's rules: scores of one kind can be sorted, a text can be
//! split, everything else ends it.

use super::{Check, MOST_TOKENS};
use crate::ikat::run::Submission;
use crate::ikat::topics::Year;
use crate::json::{self, Node, Value};
use clariq_core::ProblemKind::{EmptyField, UnknownId, WrongValue};
use clariq_files::table::shorten;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;

const HINT: &str = "a line has metadata, turn_id, responses and references";
const TYPES: [&str; 3] = ["manual", "automatic", "generation-only"];
const MOST_REFERENCES: usize = 1000;

/// Reports all errors and warnings, and returns the run as far as it could be read.
pub(super) fn check(check: &mut Check) -> Submission {
    let input = check.input;
    let mut turns = HashSet::new();
    let mut broken = Vec::new();
    json::for_each_line(input, &mut |problem| broken.push(problem), |line, node, _| {
        if let Some(turn) = node.get("turn_id").and_then(Node::text) {
            turns.insert(turn.to_owned());
        }
        check.entry(line, &node);
    });
    for problem in broken {
        check.add(problem);
    }
    check.turn_names(&turns);
    Submission::parse(input, Year::Y2025, &mut |_| {})
}

/// Whether Python can sort the values: numbers with numbers, or texts with texts.
fn can_be_sorted(fields: &[(std::borrow::Cow<str>, Node)]) -> bool {
    let is_number = |node: &Node| matches!(node.value, Value::Number(_) | Value::Bool(_));
    fields.len() < 2
        || fields.iter().all(|(_, node)| is_number(node))
        || fields.iter().all(|(_, node)| node.text().is_some())
}

/// The number of words of a text after compatibility normalization (NFKC), split as Python splits.
fn words(text: &str) -> usize {
    let is_blank = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let normal: String = text.trim_matches(is_blank).nfkc().collect();
    normal.split(is_blank).filter(|word| !word.is_empty()).count()
}

/// `clueweb22-en0004-50-00170:0`: four, two and five digits, and the number of the passage.
fn is_passage_id(id: &str) -> bool {
    let digits = |text: &str, count: Option<usize>| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && count.is_none_or(|count| text.len() == count)
    };
    let Some((page, passage)) = id.strip_prefix("clueweb22-en").and_then(|id| id.split_once(':'))
    else {
        return false;
    };
    let parts: Vec<&str> = page.split('-').collect();
    let lengths = [4, 2, 5];
    parts.len() == lengths.len()
        && parts.iter().zip(lengths).all(|(part, length)| digits(part, Some(length)))
        && digits(passage, None)
}

impl Check<'_> {
    fn entry(&mut self, line: u64, node: &Node) {
        if node.object().is_none() {
            return self.wrong(line, "an object", node);
        }
        self.metadata(line, node.get("metadata"));
        let references = self.references(line, node.get("references"));
        match node.get("responses").map(|node| (node, node.list())) {
            None => {}
            Some((_, Some(responses))) => self.responses(line, responses, &references),
            Some((node, None)) => self.wrong(line, "responses as a list", node),
        }
    }

    fn metadata(&mut self, line: u64, node: Option<&Node>) {
        let Some(metadata) = node.filter(|node| node.object().is_some()) else {
            let found = node.map_or("nothing".to_owned(), Node::describe);
            return self.error(line, WrongValue, "metadata as an object", &found, HINT);
        };
        for key in ["team_id", "run_id", "run_type"] {
            if metadata.get(key).is_none() {
                self.error(line, EmptyField, &format!("`{key}` in the metadata"), "nothing", HINT);
            }
        }
        if let Some(kind) = metadata.get("run_type")
            && !kind.text().is_some_and(|kind| TYPES.contains(&kind))
        {
            let expected = format!("a run_type of {}", TYPES.join(", "));
            self.wrong(line, &expected, kind);
        }
    }

    /// The ids of the references, which citations are looked up in.
    fn references<'n>(&mut self, line: u64, node: Option<&'n Node>) -> HashSet<&'n str> {
        let Some(fields) = node.and_then(Node::object) else {
            let found = node.map_or("nothing".to_owned(), Node::describe);
            let expected = "references as an object of passage ids and scores";
            self.error(line, WrongValue, expected, &found, HINT);
            return HashSet::new();
        };
        if !can_be_sorted(fields) {
            let hint = "give numbers";
            self.error(
                line,
                WrongValue,
                "scores that can be sorted",
                "values of several kinds",
                hint,
            );
        }
        if fields.len() > MOST_REFERENCES {
            // The official program cuts them, and then refuses what it has cut.
            let found = fields.len().to_string();
            self.error(
                line,
                WrongValue,
                "at most 1000 references",
                &found,
                "leave out the last ones",
            );
        }
        for (id, _) in fields {
            if !is_passage_id(id) {
                let expected = "an id such as clueweb22-en0004-50-00170:0";
                let found = format!("`{}`", shorten(id));
                self.warn(
                    line,
                    WrongValue,
                    expected,
                    &found,
                    "references are passages of ClueWeb22",
                );
            } else if self.options.passage_ids.is_some_and(|ids| !ids.contains(id)) {
                let found = format!("`{}`", shorten(id));
                let hint = "the official program of 2025 does not look ids up";
                self.note(line, UnknownId, "a passage of the collection", &found, hint);
            }
        }
        fields.iter().map(|(id, _)| id.as_ref()).collect()
    }

    /// Whole responses are dropped from the end while all of them have more than 250 words; only
    /// the rest is checked.
    fn responses(&mut self, line: u64, responses: &[Node], references: &HashSet<&str>) {
        let mut lengths = Vec::with_capacity(responses.len());
        for response in responses {
            let text = response.get("text");
            if response.object().is_none() || text.is_some_and(|text| text.text().is_none()) {
                return self.wrong(line, "responses as objects with a text", response);
            }
            lengths.push(text.and_then(Node::text).map_or(0, words));
        }
        let mut kept = responses.len();
        let mut total: usize = lengths.iter().sum();
        while total > MOST_TOKENS && kept > 0 {
            kept -= 1;
            total -= lengths[kept];
            if responses[kept].get("text").is_none() {
                self.error(line, EmptyField, "the text of a response", "nothing", HINT);
            }
        }
        if kept < responses.len() {
            let found = format!("{}", lengths.iter().sum::<usize>());
            let hint = "the official program drops whole responses from the end: write less";
            self.note(line, WrongValue, "at most 250 words in all responses", &found, hint);
        }
        for response in &responses[..kept] {
            self.entry_response(line, response, references);
        }
    }

    fn entry_response(&mut self, line: u64, response: &Node, references: &HashSet<&str>) {
        for key in ["text", "citations", "ptkb_provenance"] {
            if response.get(key).is_none() {
                self.error(line, EmptyField, &format!("`{key}` in a response"), "nothing", HINT);
            }
        }
        let Some(citations) = response.get("citations") else { return };
        // Citations are looked at where statements are given, even by an empty list.
        if response.get("ptkb_provenance").is_none() {
            return;
        }
        let Some(fields) = citations.object().filter(|fields| can_be_sorted(fields)) else {
            return self.wrong(line, "citations as an object of passage ids and scores", citations);
        };
        for (id, _) in fields.iter().filter(|(id, _)| !references.contains(id.as_ref())) {
            let found = format!("`{}`", shorten(id));
            let hint = "what a response cites has to be among the references of the turn";
            self.error(line, UnknownId, "a citation that is a reference", &found, hint);
        }
    }

    fn turn_names(&mut self, given: &HashSet<String>) {
        let topics = self.topics;
        for (_, turn) in topics.turns().filter(|(_, turn)| !given.contains(turn.id.as_str())) {
            let hint = "a run answers every turn of the topics";
            self.error(
                1,
                EmptyField,
                &format!("turn {}", turn.id),
                "no such turn in the run",
                hint,
            );
        }
        let mut unknown: Vec<&str> =
            given.iter().map(String::as_str).filter(|id| topics.turn(id).is_none()).collect();
        unknown.sort_unstable();
        for id in unknown {
            let hint = "a run answers the turns of these topics alone";
            let found = format!("`{}`", shorten(id));
            self.error(1, UnknownId, "a turn of the topics", &found, hint);
        }
    }

    fn wrong(&mut self, line: u64, expected: &str, node: &Node) {
        self.error(line, WrongValue, expected, &node.describe(), HINT);
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
            assert_eq!(words(text), count, "{text:?}");
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
