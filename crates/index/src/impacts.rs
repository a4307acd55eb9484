//! The impacts of tokens, kept where there are few documents: what a token adds to each document's
//! score does not depend on the request, so its postings need not be decoded for every one.

use crate::document_index::DocumentIndex;
use clariq_core::Error;
use std::collections::HashMap;
use std::sync::OnceLock;
use tantivy::postings::TermInfo;

/// Up to so many tokens in all documents, impacts are kept: 16 bytes for each posting of the tokens
/// asked for, so 16 MB if all are.
const KEPT_TOKENS: u64 = 1 << 20;

/// What one token adds to the score of one document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Impact {
    pub(crate) document: u32,
    pub(crate) score: f64,
}

/// The impacts of a token, from the first request on that has it.
pub(crate) type Slot = OnceLock<Box<[Impact]>>;

/// The vocabulary of a small index, with the impacts of each token by one scorer.
pub(crate) type Impacts = HashMap<Box<str>, (TermInfo, Slot)>;

/// No impacts yet for each token of the index, or nothing where the index is too large to keep
/// them.
pub(crate) fn none_yet(index: &DocumentIndex) -> Result<Option<Impacts>, Error> {
    let tokens: u64 = index.lengths.iter().map(|&length| u64::from(length)).sum();
    if tokens > KEPT_TOKENS {
        return Ok(None);
    }
    let terms = index.postings.terms();
    let mut impacts = Impacts::with_capacity(terms.num_terms());
    let mut stream = terms.stream().map_err(Error::io("use", index.folder()))?;
    while let Some((token, info)) = stream.next() {
        impacts.insert(String::from_utf8_lossy(token).into(), (info.clone(), Slot::new()));
    }
    Ok(Some(impacts))
}
