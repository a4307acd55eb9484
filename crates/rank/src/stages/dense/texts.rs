//! The distinct texts of several requests. Few texts make many conversations: a file of 1.7 million
//! has some 12,000 of them.

use clariq_core::{Role, WeightedText};
use std::collections::HashMap;

/// Each text once, and the texts of each request by their rows.
#[derive(Default)]
pub(super) struct TextTable<'a> {
    pub(super) distinct: Vec<&'a str>,
    rows: HashMap<&'a str, usize>,
    pub(super) requests: Vec<Vec<TextRow>>,
}

/// A text of a request: its row among the distinct texts, and its weight.
pub(super) struct TextRow {
    pub(super) row: usize,
    pub(super) role: Role,
    pub(super) weight: f32,
}

impl<'a> TextTable<'a> {
    /// Fills a table with requests from the first on, as long as it has at most `most` texts. A
    /// single request may have more.
    pub(super) fn fill(requests: &'a [Vec<WeightedText>], most: usize) -> Self {
        let mut table = Self::default();
        for said in requests {
            let is_new = |said: &&WeightedText| !table.rows.contains_key(&*said.text);
            let new = said.iter().filter(is_new).count();
            if !table.requests.is_empty() && table.distinct.len() + new > most {
                break;
            }
            table.add(said);
        }
        table
    }

    fn add(&mut self, said: &'a [WeightedText]) {
        let mut texts = Vec::with_capacity(said.len());
        for said in said {
            let row = *self.rows.entry(&said.text).or_insert_with(|| {
                self.distinct.push(&said.text);
                self.distinct.len() - 1
            });
            texts.push(TextRow { row, role: said.role, weight: said.weight as f32 });
        }
        self.requests.push(texts);
    }
}
