//! What do stages work on? The question bank, and the indexes over it, opened when a stage first asks.

use crate::error::Error;
use clariq_corpus::QuestionBank;
use clariq_index::{Analyzer, BankIndex};
use std::sync::{Arc, Mutex};

type OpenIndex<'a> = dyn Fn(Analyzer, &QuestionBank) -> Result<BankIndex, Error> + Sync + 'a;

/// What all stages of a run share.
pub struct Context<'a> {
    /// All questions.
    pub bank: &'a QuestionBank,
    open_index: Box<OpenIndex<'a>>,
    indexes: Mutex<Vec<Arc<BankIndex>>>,
}

impl<'a> Context<'a> {
    /// `open_index` says where the index of an analyser is; it is called at most once per analyser.
    pub fn new(
        bank: &'a QuestionBank,
        open_index: impl Fn(Analyzer, &QuestionBank) -> Result<BankIndex, Error> + Sync + 'a,
    ) -> Self {
        Self { bank, open_index: Box::new(open_index), indexes: Mutex::new(Vec::new()) }
    }

    /// The index whose tokens this analyser made.
    pub fn index(&self, analyzer: Analyzer) -> Result<Arc<BankIndex>, Error> {
        // A poisoned lock means that another thread panicked while opening; the list itself is whole.
        let mut indexes = self.indexes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(index) = indexes.iter().find(|index| index.analyzer() == analyzer) {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new((self.open_index)(analyzer, self.bank)?);
        indexes.push(Arc::clone(&index));
        Ok(index)
    }
}
