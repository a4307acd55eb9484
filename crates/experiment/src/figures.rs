//! The figures that a collection has of its own, beside measures by name: those of an official
//! scorer, or of what is handed in.

mod clariq;
mod ikat;

use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::TopicId;
use clariq_files::Run;
use clariq_rank::Expected;
use std::path::Path;

/// What a system wrote for a split.
pub(crate) struct Written<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) loaded: &'a Loaded,
    /// The run, or what is handed in.
    pub(crate) path: &'a Path,
    /// The run, in a system of one task.
    pub(crate) run: Option<&'a Run>,
    /// The figures that are wanted.
    pub(crate) expected: Option<&'a Expected>,
}

/// The figures of a split by the collection's own definitions.
pub(crate) trait Own {
    /// The figures of a run by name.
    fn score(&self, written: &Written) -> Result<Vec<(String, f64)>, Error>;

    /// The value of a measure for every judged request, where the collection has a definition of
    /// its own.
    fn values(&self, run: &Run, measure: &str) -> Option<Vec<(TopicId, f64)>> {
        let _ = (run, measure);
        None
    }
}

type Opened<'c> = Result<Option<Box<dyn Own + 'c>>, Error>;
type Open = for<'c> fn(&'c dyn Collection, &'static str) -> Opened<'c>;

/// The collections with figures of their own. Each refuses the others by `None`.
const ALL: [Open; 2] = [clariq::open, ikat::open];

/// The figures of a split of a collection; `None` where it has measures by name alone.
pub(crate) fn open<'c>(collection: &'c dyn Collection, split: &'static str) -> Opened<'c> {
    for open in ALL {
        if let Some(own) = open(collection, split)? {
            return Ok(Some(own));
        }
    }
    Ok(None)
}
