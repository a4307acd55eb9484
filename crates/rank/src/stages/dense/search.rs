//! Exact search: requests are compared with all documents, a portion at a time.

use super::texts::{TextRow, TextTable};
use crate::space::Space;
use clariq_core::{Best, Doc, Models, Progress, Ranking, Result, Role, WeightedText};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use std::collections::HashSet;

/// The number of similarities in memory at a time: 32 MB.
const SIMILARITIES: usize = 1 << 23;

/// The minimum number of documents in a portion of a large collection. Requests with more texts
/// than this allows are searched in several rounds.
const LEAST_DOCS: usize = 1 << 13;

/// A search for requests with the same documents.
pub(super) struct DenseSearch<'a> {
    pub(super) models: &'a dyn Models,
    pub(super) space: &'a Space,
    /// The documents, in ascending order.
    pub(super) docs: &'a [Doc],
    /// The number of documents of a ranking.
    pub(super) depth: usize,
    /// True if nothing is ranked without a text of the user.
    pub(super) needs_user: bool,
    /// Rank nothing if the best similarity to a text of the user is below this.
    pub(super) min_likeness: Option<f32>,
    /// Leave documents out that are at least as similar to a text of the system.
    pub(super) repeat: Option<f32>,
}

/// The best documents of a request so far.
struct BestDocuments {
    best: Best,
    /// Documents among the best that repeat an utterance of the system.
    repeats: HashSet<Doc>,
}

impl DenseSearch<'_> {
    /// Ranks documents for requests with these texts.
    pub(super) fn rank(
        &self,
        requests: &[Vec<WeightedText>],
        progress: Progress,
    ) -> Result<Vec<Ranking>> {
        let most_texts = SIMILARITIES / self.docs.len().clamp(1, LEAST_DOCS);
        let mut rankings = Vec::with_capacity(requests.len());
        while rankings.len() < requests.len() {
            let table = TextTable::fill(&requests[rankings.len()..], most_texts);
            rankings.extend(self.rank_table(&table)?);
            progress(table.requests.len() as u64);
        }
        Ok(rankings)
    }

    fn rank_table(&self, table: &TextTable) -> Result<Vec<Ranking>> {
        let vectors = self.space.encode(self.models, &table.distinct)?;
        let mut highest = vec![f32::NEG_INFINITY; table.distinct.len()];
        let mut found: Vec<BestDocuments> = Vec::with_capacity(table.requests.len());
        for _ in &table.requests {
            found.push(BestDocuments { best: Best::new(self.depth), repeats: HashSet::new() });
        }
        for docs in self.portions(table.distinct.len().max(table.requests.len())) {
            let all = 0..table.distinct.len();
            let rows = self.space.similarities(&table.distinct, &vectors, all, docs);
            for (highest, row) in highest.iter_mut().zip(rows.rows()) {
                *highest = row.iter().copied().fold(*highest, f32::max);
            }
            found.par_iter_mut().zip(&table.requests).for_each_init(
                Vec::new,
                |scores, (found, texts)| {
                    score(&rows, texts, scores);
                    found.best.add(docs, scores.iter().copied());
                    self.note_repeats(docs, &rows, texts, found);
                },
            );
        }
        let rankings = found.into_par_iter().zip(&table.requests).map(|(found, texts)| {
            if self.needs_user && !self.is_near(texts, &highest) {
                return Ranking::new();
            }
            let mut ranking = found.best.ranking();
            ranking.retain(|hit| !found.repeats.contains(&hit.doc));
            ranking
        });
        Ok(rankings.collect())
    }

    /// The portions of the documents for a comparison with so many texts.
    fn portions(&self, texts: usize) -> impl Iterator<Item = &[Doc]> {
        self.docs.chunks((SIMILARITIES / texts.max(1)).max(1))
    }

    /// True if a text of the user is similar enough to some document.
    fn is_near(&self, texts: &[TextRow], highest: &[f32]) -> bool {
        let least = self.min_likeness.unwrap_or(f32::NEG_INFINITY);
        texts.iter().any(|text| !text.role.is_system() && highest[text.row] >= least)
    }

    /// Notes which of the best documents repeat a text of the system.
    fn note_repeats(
        &self,
        docs: &[Doc],
        rows: &Array2<f32>,
        texts: &[TextRow],
        found: &mut BestDocuments,
    ) {
        let Some(same) = self.repeat else { return };
        let of_system: Vec<ArrayView1<f32>> = texts
            .iter()
            .filter(|text| text.role.is_system())
            .map(|text| rows.row(text.row))
            .collect();
        for hit in found.best.hits() {
            // The columns are in the order of the documents' numbers.
            let Ok(column) = docs.binary_search(&hit.doc) else { continue };
            if !of_system.iter().all(|row| row[column] < same) {
                found.repeats.insert(hit.doc);
            }
        }
    }

    /// The best similarity of texts to any document.
    pub(super) fn best_likeness(&self, texts: &[&str]) -> Result<f32> {
        let vectors = self.space.encode(self.models, texts)?;
        let mut best = f32::NEG_INFINITY;
        for docs in self.portions(texts.len()) {
            let rows = self.space.similarities(texts, &vectors, 0..texts.len(), docs);
            best = rows.iter().copied().fold(best, f32::max);
        }
        Ok(best)
    }
}

/// Writes the scores of documents (columns) for the texts of a request: the weighted sum of their
/// similarities. Of the texts with the role `Nearest`, only the most similar one counts.
fn score(rows: &Array2<f32>, texts: &[TextRow], scores: &mut Vec<f32>) {
    scores.clear();
    scores.resize(rows.ncols(), 0.0);
    let (nearest, summed): (Vec<&TextRow>, Vec<&TextRow>) =
        texts.iter().partition(|text| text.role == Role::Nearest);
    for text in summed {
        for (score, similarity) in scores.iter_mut().zip(rows.row(text.row)) {
            *score += text.weight * similarity;
        }
    }
    if let Some(first) = nearest.first() {
        for (column, score) in scores.iter_mut().enumerate() {
            let similarities = nearest.iter().map(|text| rows[[text.row, column]]);
            *score += first.weight * similarities.fold(f32::NEG_INFINITY, f32::max);
        }
    }
}
