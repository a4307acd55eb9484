//! A bank of texts in memory (questions, statements, passages), by id and by number.

use clariq_core::{Checksum, Doc, DocId, Documents, Error};
use std::borrow::Cow;

/// A text of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRow {
    /// Its id, unique in the bank.
    pub id: DocId,
    /// The text; empty for the empty question.
    pub text: String,
}

/// Texts sorted by id. The *number* of a text is its index in that order, so that numbers compare as
/// the ids do: the tie rule of every ranking ("descending id") compares numbers.
#[derive(Debug, Clone)]
pub struct Bank {
    rows: Vec<BankRow>,
    empty_question: Option<Doc>,
    checksum: Checksum,
}

#[allow(
    clippy::indexing_slicing,
    reason = "a document's number is one of this bank, not of a file"
)]
impl Bank {
    /// Makes a bank of rows in any order. The text with the id `empty_question`, if there is one, is
    /// the empty question: choosing it means asking nothing.
    ///
    /// # Panics
    ///
    /// If two rows share an id; readers report that as a problem instead.
    pub fn new(mut rows: Vec<BankRow>, empty_question: &str) -> Self {
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        assert!(
            rows.iter().zip(rows.iter().skip(1)).all(|(one, next)| one.id != next.id),
            "ids must be unique"
        );
        let pieces = rows
            .iter()
            .flat_map(|row| [row.id.as_str().as_bytes(), b"\t", row.text.as_bytes(), b"\n"]);
        let checksum = Checksum::of_pieces(pieces);
        let mut bank = Self { rows, empty_question: None, checksum };
        bank.empty_question = bank.find(empty_question);
        bank
    }

    /// All texts in the order of their numbers.
    pub fn rows(&self) -> &[BankRow] {
        &self.rows
    }

    /// The id of a text.
    pub fn id(&self, doc: Doc) -> &DocId {
        &self.rows[doc.index()].id
    }

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

    fn empty_question(&self) -> Option<Doc> {
        self.empty_question
    }

    /// SHA-256 over `id TAB text LF` of all texts in id order: the same for a bank with CRLF,
    /// packed or not.
    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}
