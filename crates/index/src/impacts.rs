//! Must a token be looked up and its postings be decoded again for every request? Not over a small bank: what a token
//! adds to each question's score does not depend on the request.

use crate::bank_index::BankIndex;
use crate::error::Error;
use std::collections::HashMap;
use std::sync::OnceLock;
use tantivy::postings::TermInfo;

/// Up to so many tokens in a bank, impacts are kept: 16 bytes for each posting of the tokens asked for, so 16 MB if all
/// are.
const KEPT_TOKENS: u64 = 1 << 20;

/// What one token adds to the score of one question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Impact {
    pub(crate) document: u32,
    pub(crate) score: f64,
}

/// The impacts of a token, from the first request on that has it.
pub(crate) type Slot = OnceLock<Box<[Impact]>>;

/// The vocabulary of a small bank, with the impacts of each token by one scorer.
pub(crate) type Impacts = HashMap<Box<str>, (TermInfo, Slot)>;

/// No impacts yet for each token of the index, or nothing where the bank is too large to keep them.
pub(crate) fn none_yet(index: &BankIndex) -> Result<Option<Impacts>, Error> {
    let tokens: u64 = index.lengths.iter().map(|&length| u64::from(length)).sum();
    if tokens > KEPT_TOKENS {
        return Ok(None);
    }
    let terms = index.postings.terms();
    let mut impacts = Impacts::with_capacity(terms.num_terms());
    let mut stream = terms.stream().map_err(Error::io(index.folder()))?;
    while let Some((token, info)) = stream.next() {
        impacts.insert(String::from_utf8_lossy(token).into(), (info.clone(), Slot::new()));
    }
    Ok(Some(impacts))
}
