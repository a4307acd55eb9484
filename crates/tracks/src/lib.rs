//! The registry of collections: the one place that names all tracks, a line each.
//!
//! ```
//! use clariq_tracks::TRACKS;
//!
//! let collection = TRACKS.open(&clariq_track_clariq::SAMPLE)?;
//! let task = collection.find_task("questions")?;
//! let dev = collection.find_split("dev")?;
//! let documents = collection.documents(task)?;
//! let first = collection.requests(dev, task)?.next().unwrap()?;
//! let qrels = collection.qrels(dev, task)?.unwrap();
//! assert!(documents.len() > 100 && !first.opening().is_empty());
//! assert!(qrels.topic(&first.id).is_some());
//! # Ok::<(), clariq_core::Error>(())
//! ```

use clariq_collections::{Kind, OWN, Tracks};

/// All collections, in the order in which a folder is compared with them; the first is the usual one.
pub static TRACKS: Tracks = Tracks::new(KINDS);

static KINDS: &[&Kind] =
    &[&clariq_track_clariq::KIND, &clariq_track_ikat::KIND, &clariq_track_mtrag::KIND, &OWN];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_know_their_places() {
        for kind in KINDS {
            for (place, split) in kind.splits.iter().enumerate() {
                assert_eq!(split.place(), place, "{} {split}", kind.name);
            }
            assert_eq!(kind.splits[kind.usual_split.place()], kind.usual_split, "{}", kind.name);
        }
    }
}
