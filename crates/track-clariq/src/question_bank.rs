//! `question_bank.tsv`: the questions that a system may ask.

use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{Error, Location, Problem, problem};
use clariq_files::table::{ColumnNames, for_each_row};
use clariq_files::{FileContent, MOST_OF_A_TABLE, Sink, Source, quoted, read_strictly};
use std::fmt;

/// The id of the empty question: choosing it means "ask nothing".
pub const NO_QUESTION: &str = "Q00001";

const COLUMNS: &[ColumnNames] = &[&["question_id"], &["question"]];

/// Reads `question_bank.tsv`; the first problem is the error.
pub fn read_question_bank(source: &Source) -> Result<Bank, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_question_bank)
}

/// Reads the valid rows of `question_bank.tsv`. Every problem goes to `sink`, and its row is left
/// out.
pub fn parse_question_bank(input: &FileContent, sink: Sink) -> Bank {
    let mut rows: Vec<(u64, BankRow)> = Vec::new();
    for_each_row(input, COLUMNS, sink, |row, sink| {
        let [id, text] = row.fields[..] else { return };
        if let Err(problem) = row.check_id("question_id", id) {
            return sink(*problem);
        }
        rows.push((row.line(), BankRow { id: id.into(), text: text.to_owned() }));
    });
    if let Some((line, row)) =
        rows.iter().find(|(_, row)| row.id.as_str() == NO_QUESTION && !row.text.is_empty())
    {
        let expected = format!("an empty text for `{NO_QUESTION}`");
        let found = quoted(&row.text);
        sink(problem!((&*input.name, *line), expected, found, "choosing it means asking nothing"));
    }
    // Stable: of two equal ids the first in the file stays first, and the second is reported.
    rows.sort_by(|a, b| a.1.id.cmp(&b.1.id));
    rows.dedup_by(|(line, again), (first_line, first)| {
        if again.id == first.id {
            let same_text = again.text == first.text;
            let at = (&*input.name, *line);
            sink(repeated(at, "question", &first.id, *first_line, same_text));
        }
        again.id == first.id
    });
    Bank::new(rows.into_iter().map(|(_, row)| row).collect(), NO_QUESTION)
}

/// The problem of an id on a second row: a warning if the text is the same, an error otherwise.
pub(crate) fn repeated(
    at: impl Into<Location>,
    what: &str,
    id: impl fmt::Display,
    first_line: u64,
    same_text: bool,
) -> Problem {
    if same_text {
        let hint = "the first of equal rows counts";
        return problem!(at, "each {what} once", "`{id}` again", hint).warning();
    }
    problem!(
        at,
        "a {what} id that is unique in the file",
        "`{id}`, which is on line {first_line} with another text",
        "remove one of the two lines, or give one a new id"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{Doc, Documents};
    use std::borrow::Cow;

    fn bank(text: &str) -> (Bank, Vec<Problem>) {
        let input = FileContent {
            name: "bank.tsv".to_owned(),
            bytes: Cow::Owned(text.as_bytes().to_vec()),
        };
        let mut problems = Vec::new();
        let bank = parse_question_bank(&input, &mut |problem| problems.push(problem));
        (bank, problems)
    }

    #[test]
    fn the_empty_question_is_a_question() {
        let (bank, problems) = bank("question_id\tquestion\nQ2\twhich one\nQ1\t\n");
        assert!(problems.is_empty());
        assert_eq!(
            (bank.find("Q1"), bank.find("Q2"), bank.find("Q3")),
            (Some(Doc(0)), Some(Doc(1)), None)
        );
        assert_eq!(bank.text(Doc(0)), "");
    }

    #[test]
    fn the_checksum_is_of_the_content_not_of_the_bytes() {
        let plain = bank("question_id\tquestion\nQ1\t\nQ2\twhich\n").0;
        let other = bank("question\tquestion_id\r\n\"which\"\tQ2\r\n\tQ1\r\n").0;
        assert_eq!(plain.checksum(), other.checksum());
        assert_ne!(plain.checksum(), bank("question_id\tquestion\nQ1\t\nQ2\twhat\n").0.checksum());
    }

    #[test]
    fn duplicates_name_both_lines() {
        let (bank, problems) = bank("question_id\tquestion\nQ2\ta\nQ1\tb\nQ2\tc\n");
        assert_eq!(bank.len(), 2);
        assert_eq!(problems[0].at.line, Some(4));
        assert!(problems[0].found.contains("line 2"), "{}", problems[0]);
    }
}
