//! The checks of 2025, line by line.
//!
//! The official program sees values as Python has them, so what it makes of other values than the
//! guidelines show follows from Python's rules: scores of one kind can be sorted, a text can be
//! split, everything else ends it.

use super::{Check, MOST_TOKENS};
use crate::ikat::run::Submission;
use crate::ikat::run::lines::{FORM, METADATA, read};
use crate::json::{Node, Value};
use clariq_core::{is_python_space, problem};
use clariq_files::shorten;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;

const TYPES: [&str; 3] = ["manual", "automatic", "generation-only"];
const MOST_REFERENCES: usize = 1000;

/// Reports all errors and warnings, and returns the run as far as it could be read.
pub(super) fn check(check: &mut Check) -> Submission {
    let input = check.input;
    let (mut turns, mut heads, mut broken) = (HashSet::new(), Vec::new(), Vec::new());
    let mut check_line = |line: u64, node: &Node| {
        if let Some(turn) = node.get("turn_id").and_then(Node::text) {
            turns.insert(turn.to_owned());
        }
        let value = |key: &str| Some(node.get("metadata")?.get(key)?.text()?.to_owned());
        heads.push((line, METADATA.map(value)));
        check.entry(line, node);
    };
    let submission = read(input, &mut |problem| broken.push(problem), Some(&mut check_line));
    for problem in broken {
        check.add(problem);
    }
    check.turn_names(&turns);
    if !submission.turns.is_empty() {
        check.same_heads(&submission, heads);
    }
    submission
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
    let normal: String = text.trim_matches(is_python_space).nfkc().collect();
    normal.split(is_python_space).filter(|word| !word.is_empty()).count()
}

/// `clueweb22-en0004-50-00170:0`: four, two and five digits, and the number of the passage.
pub(super) fn is_passage_id(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let id = id.strip_prefix("clueweb22-en").and_then(|id| id.split_once(':'));
    id.is_some_and(|(page, passage)| {
        let lengths: Vec<usize> = page.split('-').map(str::len).collect();
        lengths == [4, 2, 5] && page.split('-').all(digits) && digits(passage)
    })
}

impl Check<'_> {
    fn entry(&mut self, line: u64, node: &Node) {
        if node.object().is_none() {
            return self.wrong(line, "an object", Some(node));
        }
        self.metadata(line, node.get("metadata"));
        let references = self.references(line, node.get("references"));
        match node.get("responses").map(|node| (node, node.list())) {
            None => {}
            Some((_, Some(responses))) => self.responses(line, responses, &references),
            Some((node, None)) => self.wrong(line, "responses as a list", Some(node)),
        }
    }

    fn metadata(&mut self, line: u64, node: Option<&Node>) {
        let Some(metadata) = node.filter(|node| node.object().is_some()) else {
            return self.wrong(line, "metadata as an object", node);
        };
        for key in METADATA.into_iter().filter(|key| metadata.get(key).is_none()) {
            self.add(problem!(self.at(line), "`{key}` in the metadata", "nothing", FORM));
        }
        if let Some(kind) = metadata.get("run_type")
            && !kind.text().is_some_and(|kind| TYPES.contains(&kind))
        {
            self.wrong(line, &format!("a run_type of {}", TYPES.join(", ")), Some(kind));
        }
    }

    /// The ids of the references, which citations are looked up in.
    fn references<'n>(&mut self, line: u64, node: Option<&'n Node>) -> HashSet<&'n str> {
        let Some(fields) = node.and_then(Node::object) else {
            self.wrong(line, "references as an object of passage ids and scores", node);
            return HashSet::new();
        };
        if !can_be_sorted(fields) {
            let (expected, found) = ("scores that can be sorted", "values of several kinds");
            self.add(problem!(self.at(line), expected, found, "give numbers"));
        }
        if fields.len() > MOST_REFERENCES {
            // The official program cuts them, and then refuses what it has cut.
            let (found, hint) = (fields.len().to_string(), "leave out the last ones");
            self.add(problem!(self.at(line), "at most 1000 references", found, hint));
        }
        for (id, _) in fields {
            if !is_passage_id(id) {
                let expected = "an id such as clueweb22-en0004-50-00170:0";
                let hint = "references are passages of ClueWeb22";
                let found = format!("`{}`", shorten(id));
                self.warn(problem!(self.at(line), expected, found, hint));
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
                return self.wrong(line, "responses as objects with a text", Some(response));
            }
            lengths.push(text.and_then(Node::text).map_or(0, words));
        }
        let mut kept = responses.len();
        let all: usize = lengths.iter().sum();
        let mut total = all;
        while total > MOST_TOKENS && kept > 0 {
            kept -= 1;
            total -= lengths[kept];
            if responses[kept].get("text").is_none() {
                self.wrong(line, "the text of a response", None);
            }
        }
        if kept < responses.len() {
            let expected = "at most 250 words in all responses";
            let hint = "the official program drops whole responses from the end: write less";
            self.note(problem!(self.at(line), expected, "{all}", hint));
        }
        for response in &responses[..kept] {
            self.response_of_line(line, response, references);
        }
    }

    fn response_of_line(&mut self, line: u64, response: &Node, references: &HashSet<&str>) {
        for key in ["text", "citations", "ptkb_provenance"] {
            if response.get(key).is_none() {
                self.wrong(line, &format!("`{key}` in a response"), None);
            }
        }
        let Some(citations) = response.get("citations") else { return };
        // Citations are looked at where statements are given, even by an empty list.
        if response.get("ptkb_provenance").is_none() {
            return;
        }
        let Some(fields) = citations.object().filter(|fields| can_be_sorted(fields)) else {
            let expected = "citations as an object of passage ids and scores";
            return self.wrong(line, expected, Some(citations));
        };
        for (id, _) in fields.iter().filter(|(id, _)| !references.contains(id.as_ref())) {
            let found = format!("`{}`", shorten(id));
            let hint = "what a response cites has to be among the references of the turn";
            self.add(problem!(self.at(line), "a citation that is a reference", found, hint));
        }
    }

    fn turn_names(&mut self, given: &HashSet<String>) {
        let topics = self.topics;
        for (_, turn) in topics.turns().filter(|(_, turn)| !given.contains(turn.id.as_str())) {
            let expected = format!("turn {}", turn.id);
            let hint = "a run answers every turn of the topics";
            self.add(problem!(self.at(1), expected, "no such turn in the run", hint));
        }
        let mut unknown: Vec<&str> =
            given.iter().map(String::as_str).filter(|id| topics.turn(id).is_none()).collect();
        unknown.sort_unstable();
        for id in unknown {
            let found = format!("`{}`", shorten(id));
            let hint = "a run answers the turns of these topics alone";
            self.add(problem!(self.at(1), "a turn of the topics", found, hint));
        }
    }

    /// The head of the run is repeated on every line, and the official program does not compare
    /// them.
    fn same_heads(&mut self, submission: &Submission, heads: Vec<(u64, [Option<String>; 3])>) {
        let first = [&submission.team, &submission.run_name, &submission.run_type];
        for (line, head) in heads {
            for ((key, first), value) in METADATA.into_iter().zip(first).zip(head) {
                let Some(value) = value.filter(|value| value != first) else { continue };
                let expected = format!("the {key} of the first turn, `{}`", shorten(first));
                let found = format!("`{}`", shorten(&value));
                self.note(problem!(self.at(line), expected, found, "a file holds one run"));
            }
        }
    }

    /// An error at a value that is something else, or missing.
    fn wrong(&mut self, line: u64, expected: &str, node: Option<&Node>) {
        let found = node.map_or("nothing".to_owned(), Node::describe);
        self.add(problem!(self.at(line), expected, found, FORM));
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
