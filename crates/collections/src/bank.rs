//! A bank of texts in memory (questions, statements, passages), by id and by number.

use clariq_core::{
    Checksum, Doc, Documents, Error, Location, Problem, QuestionId, problem, sha256,
};
use clariq_files::table::{Column, for_each_row};
use clariq_files::{Input, MOST_OF_A_TABLE, Sink, Source, read_strictly};
use std::borrow::Cow;
use std::fmt;

/// The id of `ClariQ`'s empty question: choosing it means "ask nothing".
pub const NO_QUESTION: &str = "Q00001";

const COLUMNS: &[Column] = &[&["question_id"], &["question"]];

/// One text of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRow {
    /// Its id, unique in the bank.
    pub id: QuestionId,
    /// The text; empty for the one that stands for saying nothing.
    pub text: String,
}

/// Texts sorted by id. The *number* of a text is its index in that order, so that comparing numbers
/// is comparing ids: the tie rule of every ranking ("descending id") needs no text.
#[derive(Debug, Clone)]
pub struct Bank {
    rows: Vec<BankRow>,
    silence: Option<Doc>,
    checksum: Checksum,
}

impl Bank {
    /// Makes a bank of rows in any order. The text with the id `silence`, if there is one, stands
    /// for saying nothing.
    ///
    /// # Panics
    ///
    /// If two rows share an id; readers report that as a problem instead.
    pub fn new(mut rows: Vec<BankRow>, silence: &str) -> Self {
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        assert!(rows.windows(2).all(|pair| pair[0].id != pair[1].id), "ids must be unique");
        let pieces = rows
            .iter()
            .flat_map(|row| [row.id.as_str().as_bytes(), b"\t", row.text.as_bytes(), b"\n"]);
        let checksum = sha256(pieces);
        let mut bank = Self { rows, silence: None, checksum };
        bank.silence = bank.find(silence);
        bank
    }

    /// Makes a bank of `ClariQ`'s questions in any order.
    pub fn from_rows(rows: Vec<BankRow>) -> Self {
        Self::new(rows, NO_QUESTION)
    }

    /// Reads `question_bank.tsv`; the first problem is the error.
    pub fn read(source: &Source) -> Result<Self, Error> {
        read_strictly(source, MOST_OF_A_TABLE, Self::parse)
    }

    /// Reads what can be read of `question_bank.tsv`: every problem goes to `sink`, and its row is
    /// left out.
    pub fn parse(input: &Input, sink: Sink) -> Self {
        let mut lined: Vec<(u64, BankRow)> = Vec::new();
        for_each_row(input, COLUMNS, sink, |row, sink| {
            let [id, text] = row.fields[..] else { return };
            if let Err(problem) = row.check_id("question_id", id) {
                return sink(*problem);
            }
            lined.push((row.line(), BankRow { id: id.into(), text: text.to_owned() }));
        });
        // Stable: of two equal ids the first in the file stays first, and the second is reported.
        lined.sort_by(|a, b| a.1.id.cmp(&b.1.id));
        lined.dedup_by(|(line, again), (first, row)| {
            if again.id == row.id {
                let same = again.text == row.text;
                sink(repeated((&*input.name, *line), "question", &row.id, *first, same));
            }
            again.id == row.id
        });
        Self::from_rows(lined.into_iter().map(|(_, row)| row).collect())
    }

    /// All texts in the order of their numbers.
    pub fn rows(&self) -> &[BankRow] {
        &self.rows
    }

    /// The id of a text.
    pub fn id(&self, doc: Doc) -> &QuestionId {
        &self.rows[doc.index()].id
    }

    /// A text.
    pub fn text(&self, doc: Doc) -> &str {
        &self.rows[doc.index()].text
    }
}

impl Documents for Bank {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn id(&self, doc: Doc) -> Cow<'_, str> {
        self.id(doc).as_str().into()
    }

    fn text(&self, doc: Doc) -> Result<Cow<'_, str>, Error> {
        Ok(self.text(doc).into())
    }

    fn find(&self, id: &str) -> Option<Doc> {
        let found = self.rows.binary_search_by(|row| row.id.as_str().cmp(id)).ok();
        found.map(|index| Doc(index as u32))
    }

    fn silence(&self) -> Option<Doc> {
        self.silence
    }

    /// SHA-256 over `id TAB text LF` of all texts in id order: the same for a bank with CRLF,
    /// packed or not.
    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// An id on a second row. If it says the same again, nothing changes; with another text it is not
/// clear which is meant.
pub(crate) fn repeated(
    at: impl Into<Location>,
    what: &str,
    id: impl fmt::Display,
    first: u64,
    same: bool,
) -> Problem {
    if same {
        let hint = "the first of equal rows counts";
        return problem!(at, "each {what} once", "`{id}` again", hint).warning();
    }
    problem!(
        at,
        "a {what} id that is unique in the file",
        "`{id}`, which is on line {first} with another text",
        "remove one of the two lines, or give one a new id"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Doc;
    use std::borrow::Cow;

    fn bank(text: &str) -> (Bank, Vec<Problem>) {
        let input =
            Input { name: "bank.tsv".to_owned(), bytes: Cow::Owned(text.as_bytes().to_vec()) };
        let mut problems = Vec::new();
        let bank = Bank::parse(&input, &mut |problem| problems.push(problem));
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
