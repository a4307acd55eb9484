//! Stages that rank documents, and the systems that a configuration makes of them.
//!
//! A [`Stage`] takes the requests of a [`Batch`] with their rankings so far and returns new
//! rankings. A [`SystemFile`] is a list of stages in a TOML file, in the spirit of `bm25 % 30 >>
//! rerank`:
//!
//! ```
//! use clariq_track_clariq::{ClariQ, splits};
//! use clariq_core::Request;
//! use clariq_index::{BuildOptions, DocumentIndex};
//! use clariq_rank::{Batch, Context, SystemFile};
//!
//! let collection = ClariQ::open(clariq_track_clariq::SAMPLE)?;
//! let system = SystemFile::parse("example.toml", r#"
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
//! let context = Context::new(&collection.bank, |analyzer, documents| {
//!     let folder = folder.path().join(analyzer.name());
//!     let options = BuildOptions::default();
//!     Ok(DocumentIndex::open_or_build(&folder, documents, analyzer, &options)?.0)
//! });
//! let requests: Vec<Request> =
//!     collection.split(splits::DEV)?.topics.iter().map(Request::from).collect();
//! let batch = Batch::new(&context, &requests);
//! let rankings = system.pipeline.run(&batch, batch.unranked())?;
//! assert!(rankings.iter().all(|ranking| ranking.len() <= 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Texts of requests are encoded one by one, and a cross-encoder computes the pairs of one request
//! together, so that a request gets the same bytes alone and with any others. A space is a weighted mean
//! of cosines, or of dot products, of encoders and of character n-grams; `dense`, `feedback`,
//! `competition` and `distinct` share one. Before its first stage, a pipeline may have a model prepare the
//! requests: rewrite them, or write clarifying questions. If a request has several queries, the first
//! stage retrieves each, and the rankings are fused.

mod based_on;
mod build;
mod chat;
mod context;
mod fusion;
mod pipeline;
mod prompt;
mod rewrite;
mod rewriters;
mod shared_words;
mod space;
mod stage;
mod stages;
mod system;
mod table;
mod tally;
mod with_parameters;

pub use based_on::BasedOn;
pub use chat::{Chat, ChatDefaults, ChatUse, Conversation, QUESTION, write_questions};
pub use context::Context;
pub use pipeline::{Pipeline, StageTrace};
pub use prompt::Prompt;
pub use rewrite::REWRITE;
pub use shared_words::shared_words;
pub use space::SpaceConfig;
pub use stage::{About, Batch, Stage, Uses};
pub use stages::STOPS;
pub use system::{ConversationConfig, ExpectedScores, Sections, SystemFile, WrittenScores};
pub use table::{ConfigSection, Override, hint_of_table};
pub use tally::Tallies;
pub use with_parameters::with_parameters;
