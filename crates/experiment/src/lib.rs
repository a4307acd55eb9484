//! The commands of `clariq` as a library: open systems, learned models by name, runs, records,
//! tuning, training and the check of expected scores. It parses no arguments and prints nothing;
//! notes and progress go to an [`Observer`].
//!
//! A [`Session`] is a collection and the options of the work on it. A system is opened in it
//! once, and then ranks:
//!
//! ```
//! use clariq_core::Request;
//! use clariq_experiment::{
//!     Contexts, NeedScope, RankedPart, Session, SessionOptions, UserRequest, open_system,
//! };
//! use clariq_systems::SystemConfig;
//!
//! # let folder = tempfile::tempdir()?;
//! # let options = SessionOptions { cache: folder.path().to_owned(), ..SessionOptions::default() };
//! let collection = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE)?;
//! let session = Session::new(&*collection, options)?;
//! let contexts = Contexts::new(&session);
//! let config = SystemConfig::open("bm25", &[])?;
//! let system = open_system(&contexts, &config, NeedScope::ForStages)?;
//! let query = UserRequest::from(Request::new("1", "how do I pitch a tent"));
//! let best = system.rank(&[query.clone()])?[0].ranking[0];
//! let question = &system.list(&query, RankedPart::Documents, &[best])?[0];
//! println!("{}: {}", question.id, question.text);
//! let traces = system.explain(&query, RankedPart::Documents, best.doc)?;
//! # assert_eq!(traces[0].stages[0].rank, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Systems that are opened in the same [`Contexts`] share indexes and vectors. A session checks and
//! tunes systems as well:
//!
//! ```
//! use clariq_eval::parse_measures;
//! use clariq_experiment::tune::{Grid, TuningLabels, GridSearch};
//! use clariq_experiment::{Session, SessionOptions, reproduce};
//! use clariq_systems::SystemConfig;
//!
//! let folder = tempfile::tempdir()?;
//! let collection = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE)?;
//! let options = SessionOptions { cache: folder.path().to_owned(), ..SessionOptions::default() };
//! let session = Session::new(&*collection, options)?;
//!
//! // Does the built-in system `bm25` reach the scores that its configuration expects?
//! let systems = [SystemConfig::open("bm25", &[])?];
//! let runs = folder.path().join("runs");
//! let dev = collection.find_split("dev")?;
//! reproduce::check(&session, &systems, dev, &runs, &mut |score| {
//!     assert_eq!(score.verdict, Some(reproduce::Verdict::Equal));
//! })?;
//!
//! // Which of four pairs of parameters is best on train, and how well does such a choice generalise?
//! let grid = Grid::parse(&["bm25.k1=0.9,1.5", "bm25.b=0.4,0.75"])?;
//! let measures = parse_measures("R@30")?;
//! let search = GridSearch {
//!     system: "bm25",
//!     rewrites: None,
//!     grid: &grid,
//!     labels: TuningLabels::Split(collection.find_split("train")?),
//!     task: None,
//!     measures: &measures,
//!     by: 0,
//!     folds: 2,
//! };
//! let tuned = search.run(&session)?;
//! println!("{}: {:.4} on held-out topics", tuned.best_first()[0], tuned.held_out().means[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Learned stages need an [engine](clariq_core::Engine), which is a field of the [`Session`];
//! without one they are refused.
//!
//! The statements of a user, and the sentences from which an answer is composed, are documents of their
//! own for that user and that request, indexed in memory. Vectors are cached: those of a collection's
//! documents in one file, those of requests, statements and sentences in one file each per encoder.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read the files that they have written")
)]
#![deny(missing_docs)]

pub mod ask;
pub mod cache;
pub mod divide;
pub mod endpoints;
pub mod export;
pub mod installed;
mod models;
mod needs;
mod ranker;
pub mod record;
pub mod reproduce;
pub mod requests;
mod respond;
pub mod run;
mod session;
mod text_stores;
pub mod training;
pub mod tune;

pub use clariq_core::{Job, Observer, Silent};
pub use models::needs_engine;
pub use needs::{HeldOutNeeds, NeedModels, NeedScope};
pub use ranker::{
    Answer, PipelineTrace, RankedPart, RankedText, Ranker, RankerOutcome, Statements, UserRequest,
};
pub use session::{Contexts, Session, SessionOptions};
pub use text_stores::TextStores;
pub use training::open_system;
