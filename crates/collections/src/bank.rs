//! A bank of questions in memory, by id and by number.

use clariq_core::{Checksum, Doc, Documents, Error, QuestionId, sha256};
use std::borrow::Cow;

/// One question of the bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// Its id, unique in the bank.
    pub id: QuestionId,
    /// Its text; empty for the question that stands for asking nothing.
    pub text: String,
}

/// All questions, sorted by id. A question's *number* is its place in that order, so that comparing
/// numbers is comparing ids: the tie rule of every ranking ("descending id") needs no text.
#[derive(Debug, Clone)]
pub struct QuestionBank {
    rows: Vec<QuestionRow>,
    silence: Option<Doc>,
    checksum: Checksum,
}

impl QuestionBank {
    /// Makes a bank of rows in any order. The question `silence`, if there is one of that id,
    /// stands for asking nothing.
    ///
    /// # Panics
    ///
    /// If two rows share an id; readers report that as a problem instead.
    pub fn new(mut rows: Vec<QuestionRow>, silence: &str) -> Self {
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        assert!(
            rows.windows(2).all(|pair| pair[0].id != pair[1].id),
            "question ids must be unique"
        );
        let pieces = rows
            .iter()
            .flat_map(|row| [row.id.as_str().as_bytes(), b"\t", row.text.as_bytes(), b"\n"]);
        let checksum = sha256(pieces);
        let mut bank = Self { rows, silence: None, checksum };
        bank.silence = bank.find(silence);
        bank
    }

    /// The number of questions, the empty one included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no question at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All questions in the order of their numbers.
    pub fn rows(&self) -> &[QuestionRow] {
        &self.rows
    }

    /// The number of the question `id`.
    pub fn find(&self, id: &str) -> Option<Doc> {
        let found = self.rows.binary_search_by(|row| row.id.as_str().cmp(id)).ok();
        found.map(|index| Doc(index as u32))
    }

    /// The id of a question.
    ///
    /// # Panics
    ///
    /// If the bank has no such number.
    pub fn id(&self, question: Doc) -> &QuestionId {
        &self.rows[question.index()].id
    }

    /// The text of a question.
    ///
    /// # Panics
    ///
    /// If the bank has no such number.
    pub fn text(&self, question: Doc) -> &str {
        &self.rows[question.index()].text
    }

    /// SHA-256 over `id TAB text LF` of all questions in id order: the same for a bank with CRLF,
    /// packed or not.
    pub fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

impl Documents for QuestionBank {
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
        self.find(id)
    }

    fn silence(&self) -> Option<Doc> {
        self.silence
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}
