//! The file of the question bank, `question_bank.tsv`.

use crate::bank::{Bank, BankRow};
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::table::{Column, Sink, for_each_row, strictly};
use clariq_files::{Input, MOST_OF_A_TABLE, Source};

/// The id of the empty question: choosing it means "ask nothing".
pub const NO_QUESTION: &str = "Q00001";

const COLUMNS: &[Column] = &[&["question_id"], &["question"]];

impl Bank {
    /// Reads `question_bank.tsv`; the first problem is the error.
    pub fn read(source: &Source) -> Result<Self, Error> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        strictly(|sink| Self::parse(&input, sink))
    }

    /// Makes a bank of rows in any order; [`NO_QUESTION`] stands for asking nothing.
    ///
    /// # Panics
    ///
    /// If two rows share an id; [`Bank::read`] reports that as a problem instead.
    pub fn from_rows(rows: Vec<BankRow>) -> Self {
        Self::new(rows, NO_QUESTION)
    }

    /// Reads what can be read of a bank: every problem goes to `sink`, and its row is left out.
    pub fn parse(input: &Input, sink: Sink) -> Self {
        let mut lined: Vec<(u64, BankRow)> = Vec::new();
        for_each_row(input, COLUMNS, sink, |row, sink| {
            let [id, text] = row.fields[..] else { return };
            match row.check_id("question_id", id) {
                Ok(()) => {
                    lined.push((row.line(), BankRow { id: id.into(), text: text.to_owned() }));
                }
                Err(problem) => sink(*problem),
            }
        });
        // Stable: of two equal ids the first in the file stays first, and the second is reported.
        lined.sort_by(|a, b| a.1.id.cmp(&b.1.id));
        lined.dedup_by(|again, first| {
            let same = again.1.id == first.1.id;
            if same {
                sink(duplicate(input, first, again));
            }
            same
        });
        Self::from_rows(lined.into_iter().map(|(_, row)| row).collect())
    }
}

/// A row that says the same again changes nothing; with another text it is not clear which is
/// meant.
fn duplicate(input: &Input, first: &(u64, BankRow), again: &(u64, BankRow)) -> Problem {
    let at = Location::line(&input.name, again.0);
    if first.1.text == again.1.text {
        return Problem::new(
            at,
            ProblemKind::Repeated,
            "each question once",
            format!("`{}` again", again.1.id),
        )
        .hint("the first of equal rows counts")
        .warning();
    }
    let found = format!("`{}`, which stands on line {} with another text", again.1.id, first.0);
    Problem::new(at, ProblemKind::DuplicateId, "a question id that is unique in the bank", found)
        .hint("remove one of the two lines, or give one a new id")
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
