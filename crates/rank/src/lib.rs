//! In which order should the questions be asked? Stages, and the pipelines that a configuration makes of them.
//!
//! A [`Stage`] takes all topics of a batch with their rankings so far and returns new rankings. A [`System`] is a
//! list of stages in a TOML file, in the spirit of `bm25 % 30 >> rerank`:
//!
//! ```
//! use clariq_collections::clariq::{Collection, DataDir, Split};
//! use clariq_index::{BankIndex, BuildOptions};
//! use clariq_rank::{Context, System};
//!
//! let collection = Collection::open(DataDir::Sample)?;
//! let system = System::parse("example.toml", r#"
//!     name = "example"
//!     [[stages]]
//!     stage = "bm25"
//!     analyzer = "english"
//!     depth = 30
//!     [[stages]]
//!     stage = "cutoff"
//!     depth = 3
//! "#, &[])?;
//! let folder = tempfile::tempdir()?;
//! let context = Context::new(&collection.bank, |analyzer, bank| {
//!     let folder = folder.path().join(analyzer.name());
//!     Ok(BankIndex::open_or_build(&folder, bank, analyzer, &BuildOptions::default())?.0)
//! });
//! let topics = collection.split(Split::Dev)?.topics;
//! let rankings = system.pipeline.run(&context, &topics)?;
//! assert!(rankings.iter().all(|ranking| ranking.len() <= 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod context;
mod engine;
mod error;
mod learned;
mod pipeline;
mod space;
mod stage;
mod stages;
mod table;

pub use clariq_index::Hit;
pub use config::{ConversationConfig, WrittenScores};
pub use config::{Expected, NeedConfig, Override, System, Uses};
pub use context::Context;
pub use engine::Engine;
pub use error::Error;
pub use learned::{
    ClassifiedTexts, Embeddings, Encoder, Models, NoModels, PairScorer, TextClassifier,
};
pub use pipeline::{Pipeline, StageTrace};
pub use space::SpaceConfig;
pub use stage::{Progress, Ranking, Stage};
