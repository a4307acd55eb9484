//! The best documents of a pruned search so far, and the scores that further ones need.

use clariq_core::{Doc, Hit, Ranking};

/// The best documents so far.
pub(super) struct BestHits {
    limit: usize,
    /// The [`key`]s of the best hits and of others, which are dropped when there are `room` keys.
    found: Vec<u128>,
    room: usize,
    /// The share of a score that rounding may take from its upper bound.
    margin: f64,
    /// A lower bound of the key of the last of the best hits: the key of the last so far, or the
    /// expected one.
    pub(super) floor: u128,
    /// The expected key of the last of the best hits; 0 without an expectation.
    expected: u128,
    /// Further hits have upper bounds of at least this score.
    pub(super) least: f64,
    /// The same, as a sum in a window.
    pub(super) needed: f32,
}

impl BestHits {
    /// Prepares for sums of `tokens` tokens.
    pub(super) fn new(limit: usize, tokens: usize) -> Self {
        // Each product and each sum of `f32` is off by at most half of its last digit.
        let margin = (tokens + 4) as f64 * f64::from(f32::EPSILON);
        let found = Vec::new();
        let needed = f32::MIN_POSITIVE;
        Self { limit, found, room: limit, margin, floor: 0, expected: 0, least: 0.0, needed }
    }

    /// The lowest sum with which a document may still be a hit if `rest` may be added to it. It is
    /// above 0, the sum of documents without a token.
    pub(super) fn needed(&self, rest: f64) -> f32 {
        ((self.least - rest) as f32).next_down().max(f32::MIN_POSITIVE)
    }

    pub(super) fn add(&mut self, key: u128) {
        self.found.push(key);
        if self.found.len() < self.room {
            return;
        }
        let worst = self.nth(self.limit);
        self.found.truncate(self.limit);
        self.room = self.limit + (self.limit / 4).max(16);
        self.raise(worst);
    }

    /// Moves the n highest of the keys found to the front, and returns the lowest of these.
    fn nth(&mut self, nth: usize) -> u128 {
        *self.found.select_nth_unstable_by(nth - 1, |a, b| b.cmp(a)).1
    }

    /// Raises the lower bound of the keys of further hits.
    fn raise(&mut self, key: u128) {
        self.floor = self.floor.max(key);
        self.least = hit(self.floor).score * (1.0 - self.margin);
        self.needed = self.needed(0.0);
    }

    /// Estimates the last of the best hits, assuming that each part of the index has its share of
    /// the best documents. If documents are in random order, a margin of four standard deviations
    /// makes it rare that the search has to be repeated.
    pub(super) fn expect(&mut self, searched: usize, windows: usize) {
        let expected = self.limit * searched / windows;
        let enough = expected + 4 * expected.isqrt() + 8;
        if enough < self.limit.min(self.found.len()) {
            // Tied scores may be followed by any order of documents.
            let score = hit(self.nth(enough)).score;
            self.expected = self.expected.max(key(score, Doc(0)));
            self.raise(self.expected);
        }
    }

    /// True if no hit can be missing.
    pub(super) fn is_complete(&self) -> bool {
        self.expected == 0
            || self.found.iter().filter(|&&key| key >= self.expected).count() >= self.limit
    }

    pub(super) fn hits(mut self) -> Ranking {
        self.found.sort_unstable_by(|a, b| b.cmp(a));
        self.found.truncate(self.limit);
        self.found.into_iter().map(hit).collect()
    }
}

/// A whole number that orders hits as `best_first` does, backwards; scores are not negative.
/// Comparing two fields of hits would be two branches, half of which are mispredicted.
pub(super) fn key(score: f64, doc: Doc) -> u128 {
    u128::from(score.to_bits()) << 32 | u128::from(doc.0)
}

fn hit(key: u128) -> Hit {
    Hit { doc: Doc(key as u32), score: f64::from_bits((key >> 32) as u64) }
}
