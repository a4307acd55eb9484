//! The types and traits that every crate of `clariq` speaks in.
//!
//! A [`Request`] is a conversation so far; [`Documents`] are what is ranked for it; a [`Ranking`]
//! is what comes out. [`Encoder`] and [`PairScorer`] are what learned models can do, and an
//! [`Engine`] opens and trains them. An [`Error`] is the error of every crate: most are a
//! [`Problem`], which names the file and line of whatever is wrong, what was expected there, what
//! was found, and a hint. No engine, no format and no collection is known here.

mod checksum;
mod document;
mod engine;
mod examples;
mod explanation;
mod findings;
mod history;
mod id;
mod isa;
mod model;
mod name;
mod need;
mod printable;
mod problem;
mod ranking;
mod recipe;
mod request;
mod surroundings;
mod train_on;
mod training;

pub use checksum::{
    Checksum, Sha256Sum, hex, sha256, sha256_hex, sha256_of_file, sha256_of_stream,
};
pub use document::{AddText, Doc, Documents, TextKeeper};
pub use engine::Engine;
pub use examples::Examples;
pub use explanation::Explanation;
pub use findings::{Finding, Findings};
pub use history::{History, HistoryWeights, Role, Said, ages, sentences};
pub use id::{FacetId, QuestionId, RequestId, TopicId};
pub use isa::Isa;
pub use model::{
    ConversationEncoder, Embeddings, Encoder, ModelKind, ModelName, Models, NoModels, PairScorer,
    Progress, untrained_vectors, weighted_sum,
};
pub use name::{BadName, Name};
pub use need::Need;
pub use printable::{fixed, printable};
pub use problem::{Error, Location, Problem, ProblemKind, Result, Severity};
pub use ranking::{Hit, Ranking, best_first, rank_by_score};
pub use recipe::{Objective, Recipe, Schedule};
pub use request::{Request, Speaker, Turn, Utterance, is_refusal};
pub use surroundings::{Judged, Surroundings};
pub use train_on::TrainOn;
pub use training::{ModelOptions, Precision, Trained, Training, TrainingEvent, training_key};
