//! Ids that were read, each with its line, in memory that is bounded.

use clariq_core::{Error, Location, Problem, RequestId, bail, printable, problem, sha256_hex};
use std::collections::HashMap;

/// So many ids are kept at most, in 570 MB; a million take 36 MB.
const MOST: usize = 25_000_000;

/// So much of an id is shown.
const SHOWN: usize = 200;

/// The first 96 bits of an id's SHA-256. In one of 10¹⁴ files, two of the most ids that are kept
/// would share them.
type Key = [u32; 3];

/// The lines of ids.
#[derive(Debug, Default)]
pub(super) struct UniqueIds {
    lines: HashMap<Key, u32>,
}

impl UniqueIds {
    /// Keeps an id that `at` has; what is wrong where a line before has it, too. More ids than are
    /// kept are an error.
    pub(super) fn insert(
        &mut self,
        id: &RequestId,
        at: Location,
    ) -> Result<Option<Problem>, Error> {
        let key = key(id.as_str());
        if let Some(first) = self.lines.get(&key) {
            let found = format!("`{}`, as in line {first}", printable(id.as_str(), SHOWN));
            let expected = "a request with an id of its own";
            let hint = "a run has one ranking for an id; --skip-bad keeps the first request";
            return Ok(Some(problem!(at, expected, found, hint)));
        }
        if self.lines.len() == MOST {
            let hint = "put the rest into a file of its own";
            bail!(at, "at most {MOST} requests", "more of them", hint);
        }
        let line = at.line.and_then(|line| u32::try_from(line).ok()).unwrap_or(u32::MAX);
        self.lines.insert(key, line);
        Ok(None)
    }
}

fn key(id: &str) -> Key {
    let digits = sha256_hex(id.as_bytes());
    [0, 8, 16].map(|start| u32::from_str_radix(&digits[start..start + 8], 16).unwrap_or_default())
}
