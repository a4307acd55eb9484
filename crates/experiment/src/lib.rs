//! What the command `clariq` does, as a library: systems, learned models by name, runs, records,
//! tuning, training and the check of expected figures. It parses no arguments and prints nothing;
//! what there is to report goes to an
//! [`Observer`].
//!
//! A [`Session`] is a collection and what work on it needs. Everything else takes one:
//!
//! ```
//! use clariq_collections::DataDir;
//! use clariq_eval::parse_measures;
//! use clariq_experiment::tune::{Grid, Search};
//! use clariq_experiment::{Loaded, Options, Registry, Session, reproduce};
//!
//! let folder = tempfile::tempdir()?;
//! let collection = clariq_collections::open(&DataDir::Sample)?;
//! let options = Options { cache: folder.path().to_owned(), ..Options::default() };
//! let session = Session::new(&*collection, options)?;
//!
//! // Does the built-in system `bm25` reach the figures that its configuration expects?
//! let systems = [Loaded::open("bm25", &[])?];
//! let models = Registry::new(&session);
//! let runs = folder.path().join("runs");
//! let figures = reproduce::check(&session, &models, &systems, "dev", &runs)?;
//! assert!(figures.iter().all(|figure| figure.verdict == Some(reproduce::Verdict::Equal)));
//!
//! // Which of four pairs of parameters is best on train, and what is such a choice worth?
//! let grid = Grid::parse(&["bm25.k1=0.9,1.5", "bm25.b=0.4,0.75"])?;
//! let measures = parse_measures("R@30")?;
//! let (grid, measures) = (&grid, &measures);
//! let (system, split, task) = ("bm25", "train", None);
//! let tuned = Search { system, grid, split, task, measures, by: 0, folds: 2 }.run(&session)?;
//! println!("{}: {:.4} on held-out topics", tuned.best_first()[0], tuned.held_out().means[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Learned stages need an [engine](clariq_core::Engine), which [`Session::with_engine`] takes;
//! without one they say so.

pub mod answers;
pub mod cache;
mod contexts;
pub mod export;
mod measures;
mod models;
pub mod needs;
mod observer;
mod options;
pub mod pipelines;
mod ranker;
pub mod recipes;
pub mod record;
pub mod reproduce;
pub mod requests;
pub mod run;
mod session;
pub mod shards;
pub mod systems;
mod texts;
pub mod train;
pub mod tune;

pub use contexts::Contexts;
pub use models::Registry;
pub use observer::{Observer, Silent, Task};
pub use options::Options;
pub use ranker::{Ranked, RankedAnswer, RankedDocument, Ranker};
pub use session::Session;
pub use systems::Loaded;
pub use texts::KeptTexts;
