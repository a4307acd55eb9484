//! What lies around the requests of a split: judgements of earlier splits, and other requests.

use crate::document::Doc;
use crate::problem::Error;

/// The judgements of one split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// Where they were read, for messages.
    pub source: String,
    /// The opening of every request of the split.
    pub requests: Vec<String>,
    /// The documents judged relevant, silence left out, each with the position of its request in
    /// `requests`.
    pub relevant: Vec<(Doc, usize)>,
}

/// What stages may look at beyond one request and the documents. Each part is read when a stage
/// first asks, and once.
pub trait Surroundings: Send + Sync {
    /// The judgements of the splits before this one: what train judged for dev, what train and dev
    /// judged for test.
    fn judged_before(&self) -> Result<&[Judged], Error>;

    /// The openings of the requests of this split.
    fn own_requests(&self) -> Result<&[String], Error>;

    /// The openings of the requests of all splits, each text once, in the order of the splits.
    fn all_requests(&self) -> Result<&[String], Error>;
}

impl<T: Surroundings + ?Sized> Surroundings for &T {
    fn judged_before(&self) -> Result<&[Judged], Error> {
        (**self).judged_before()
    }

    fn own_requests(&self) -> Result<&[String], Error> {
        (**self).own_requests()
    }

    fn all_requests(&self) -> Result<&[String], Error> {
        (**self).all_requests()
    }
}
