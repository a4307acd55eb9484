//! Judgements: the clarification need of requests, and relevant documents.

use crate::document::Doc;
use crate::problem::Result;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The clarification need of a request, from 1 (clear) to 4 (ask back before answering).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Need(u8);

impl Need {
    /// All four labels, in order.
    pub const ALL: [Self; 4] = [Self(1), Self(2), Self(3), Self(4)];

    /// The label `value`, or `None` outside 1 to 4.
    pub fn new(value: u8) -> Option<Self> {
        (1..=4).contains(&value).then_some(Self(value))
    }

    /// The label of a field, or `None` if it is not one of `1`, `2`, `3`, `4`.
    pub fn parse(field: &str) -> Option<Self> {
        field.parse().ok().and_then(Self::new)
    }

    /// The label as a number from 1 to 4.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Need {
    type Error = String;

    fn try_from(value: u8) -> Result<Self, String> {
        Self::new(value).ok_or_else(|| format!("a clarification need from 1 to 4, found {value}"))
    }
}

impl From<Need> for u8 {
    fn from(need: Need) -> Self {
        need.0
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The judgements of one split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgedSplit {
    /// The file of the judgements, for messages.
    pub source: String,
    /// The opening of every request of the split.
    pub requests: Vec<String>,
    /// The documents judged relevant, without the empty question, each with the position of its request in
    /// `requests`.
    pub relevant: Vec<(Doc, usize)>,
}

/// Data that stages may use beyond one request and the documents, read on first use.
pub trait Surroundings: Send + Sync {
    /// The judgements of the splits before this one: train's for dev, train's and dev's for test.
    fn judged_before(&self) -> Result<&[JudgedSplit]>;

    /// The openings of the requests of this split.
    fn own_requests(&self) -> Result<&[String]>;

    /// The openings of the requests of all splits, each text once, in the order of the splits.
    fn all_requests(&self) -> Result<&[String]>;
}
