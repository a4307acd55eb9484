//! The distinct texts of several requests. Many conversations share few texts: a file of 1.7
//! million conversations has some 12,000 distinct ones.

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
    /// Fills a table with the first requests, as many as have at most `most` distinct texts. A
    /// single request may have more.
    pub(super) fn fill(requests: &'a [Vec<WeightedText>], most: usize) -> Self {
        let mut table = Self::default();
        for texts in requests {
            let known = &table.rows;
            let new = texts.iter().filter(|weighted| !known.contains_key(&*weighted.text)).count();
            if !table.requests.is_empty() && table.distinct.len() + new > most {
                break;
            }
            table.add(texts);
        }
        table
    }

    fn add(&mut self, weighted_texts: &'a [WeightedText]) {
        let mut texts = Vec::with_capacity(weighted_texts.len());
        for weighted in weighted_texts {
            let row = *self.rows.entry(&weighted.text).or_insert_with(|| {
                self.distinct.push(&weighted.text);
                self.distinct.len() - 1
            });
            texts.push(TextRow { row, role: weighted.role, weight: weighted.weight as f32 });
        }
        self.requests.push(texts);
    }
}
