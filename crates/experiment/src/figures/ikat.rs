//! iKAT's figures: rankings and sets of statements, passages, and responses.

use super::{Opened, Own, Written};
use crate::ikat::{Evaluated, Labels, figures};
use clariq_collections::Collection;
use clariq_collections::ikat::{Ikat, Split};
use clariq_core::Error;

/// The labels of a split.
struct Track<'a> {
    ikat: &'a Ikat,
    split: Split,
    labels: Labels,
}

pub(super) fn open<'c>(collection: &'c dyn Collection, split: &'static str) -> Opened<'c> {
    let Some((ikat, split)) = collection.downcast::<Ikat>().zip(Split::parse(split)) else {
        return Ok(None);
    };
    Ok(Some(Box::new(Track { ikat, split, labels: Labels::read(ikat, split)? })))
}

impl Own for Track<'_> {
    fn score(&self, written: &Written) -> Result<Vec<(String, f64)>, Error> {
        if written.run.is_some() {
            return Ok(Vec::new());
        }
        figures(&Evaluated::of_run(self.ikat, self.split, written.path)?, &self.labels)
    }
}
