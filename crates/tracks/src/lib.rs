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
use {clariq_track_clariq as clariq, clariq_track_ikat as ikat, clariq_track_mtrag as mtrag};

/// All collections, in the order in which a folder is compared with them; the first is the usual one.
pub static TRACKS: Tracks = Tracks::new(KINDS);

static KINDS: &[&Kind] = &[&clariq::KIND, &ikat::KIND, &mtrag::KIND, &OWN];
