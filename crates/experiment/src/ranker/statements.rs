//! The statements of one user as documents.

use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{Doc, Documents, Ranking, Request, Result};

/// The statements of one user as a bank of their own, so that document frequencies do not depend on
/// other users.
pub(super) struct UserStatements {
    pub(super) bank: Bank,
    /// The document in rankings of each row of the bank.
    docs: Vec<Doc>,
}

impl UserStatements {
    /// Texts that came with a request, numbered from 0 in rankings.
    pub(super) fn of_texts(texts: &[String]) -> Self {
        let mut statements = Vec::with_capacity(texts.len());
        for (doc, text) in Doc::all(texts.len()).zip(texts) {
            let number = (doc.index() + 1).to_string();
            statements.push((number, text.clone(), doc));
        }
        Self::new(statements)
    }

    /// Documents of the collection, which keep their ids.
    pub(super) fn of_documents(documents: &dyn Documents, docs: Vec<Doc>) -> Result<Self> {
        let mut statements = Vec::with_capacity(docs.len());
        for doc in docs {
            let id = documents.id(doc);
            let text = documents.text(doc)?;
            statements.push((id.into_owned(), text.into_owned(), doc));
        }
        Ok(Self::new(statements))
    }

    /// Statements with their ids, texts and documents in rankings.
    fn new(mut statements: Vec<(String, String, Doc)>) -> Self {
        // A bank orders its rows by id.
        statements.sort_by(|(id, ..), (other, ..)| id.cmp(other));
        let mut rows = Vec::with_capacity(statements.len());
        let mut docs = Vec::with_capacity(statements.len());
        for (id, text, doc) in statements {
            rows.push(BankRow { id: id.as_str().into(), text });
            docs.push(doc);
        }
        Self { bank: Bank::new(rows, ""), docs }
    }

    /// The request with all statements as candidates, so that no stage cuts them off.
    pub(super) fn request(&self, request: &Request) -> Request {
        let candidates = Some(Doc::all(self.docs.len()).collect());
        Request { candidates, ..request.clone() }
    }

    /// The row of a document of rankings.
    pub(super) fn find(&self, doc: Doc) -> Option<Doc> {
        let row = self.docs.iter().position(|known| *known == doc)?;
        Some(Doc(row as u32))
    }

    /// Replaces rows of the bank by documents in rankings.
    pub(super) fn to_docs(&self, mut rankings: Vec<Ranking>) -> Vec<Ranking> {
        for hit in rankings.iter_mut().flatten() {
            hit.doc = self.docs[hit.doc.index()];
        }
        rankings
    }
}
