//! The postings of one token.

use super::{Pruner, WINDOW};
use crate::weighting::{MatchedToken, Weighting};
use clariq_core::Result;
use std::sync::Arc;
use tantivy::postings::BlockSegmentPostings;

/// The postings of a token, and those of them that were taken for the current window.
pub(super) struct List {
    blocks: BlockSegmentPostings,
    pub(super) doc_freq: usize,
    /// Mean number of postings in a window.
    per_window: usize,
    /// The factor of the saturation: idf and weight, as often as the request repeats the token.
    pub(super) factor: f64,
    bounds: Option<Arc<[f32]>>,
    /// An upper bound of every saturation.
    most: f32,
    pub(super) documents: Vec<u32>,
    pub(super) counts: Vec<u32>,
    /// The place of each document of the window among those that were taken.
    pub(super) places: Box<[u16; WINDOW]>,
}

impl List {
    pub(super) fn new(
        pruner: &Pruner,
        weighting: &Weighting,
        token: &MatchedToken,
    ) -> Result<Self> {
        Ok(Self {
            blocks: weighting.blocks(token)?,
            doc_freq: token.info.doc_freq as usize,
            per_window: token.info.doc_freq as usize / pruner.windows(),
            factor: 0.0,
            bounds: pruner.bounds(weighting, token)?,
            most: pruner.most,
            documents: Vec::new(),
            counts: Vec::new(),
            places: Box::new([0; WINDOW]),
        })
    }

    /// An upper bound of the contribution in a window; 0 if no document has the token.
    pub(super) fn bound(&self, window: usize) -> f64 {
        let saturation = match &self.bounds {
            Some(bounds) => bounds[window],
            None if self.may_have(window) => self.most,
            None => 0.0,
        };
        f64::from(saturation) * self.factor
    }

    /// False if the current block shows that no document of the window has the token.
    fn may_have(&self, window: usize) -> bool {
        let first = window * WINDOW;
        let end = first + WINDOW;
        let documents = self.blocks.docs();
        let next = documents.partition_point(|&document| (document as usize) < first);
        documents.get(next).map_or(!documents.is_empty(), |&next| (next as usize) < end)
    }

    pub(super) fn clear(&mut self) {
        self.documents.clear();
        self.counts.clear();
    }

    /// Takes the postings of the window that begins at `first`.
    pub(super) fn take_window(&mut self, first: u32) {
        let end = first.saturating_add(WINDOW as u32);
        let mut from = self.blocks.seek(first);
        while !self.blocks.docs().is_empty() {
            let documents = &self.blocks.docs()[from..];
            let count = documents.partition_point(|&document| document < end);
            self.documents.extend_from_slice(&documents[..count]);
            self.counts.extend_from_slice(&self.blocks.freqs()[from..][..count]);
            if count < documents.len() {
                break;
            }
            self.blocks.advance();
            from = 0;
        }
    }

    /// Takes at least the postings of the candidates in the window that begins at `first`.
    pub(super) fn take(&mut self, first: u32, candidates: &[u16]) {
        // Looking up a document takes about as long as taking 16 postings.
        if candidates.len() * 16 > self.per_window {
            return self.take_window(first);
        }
        for &at in candidates {
            let document = first + u32::from(at);
            let from = self.blocks.seek(document);
            if self.blocks.docs().get(from) == Some(&document) {
                self.documents.push(document);
                self.counts.push(self.blocks.freq(from));
            }
        }
    }

    /// The count of the token in a document, if its posting was taken.
    pub(super) fn count(&self, document: u32) -> Option<u32> {
        let place = usize::from(self.places[document as usize % WINDOW]);
        (*self.documents.get(place)? == document).then(|| self.counts[place])
    }
}
