//! Types and traits shared by all crates of `clariq`.
//!
//! A [`Request`] is a conversation so far; [`Documents`] are ranked for it; the result is a
//! [`Ranking`]. [`Encoder`], [`SparseEncoder`], [`PairScorer`] and [`TextGenerator`] are abilities of
//! learned models, and an [`Engine`] opens and trains them; a [`ChatModel`] is behind a server. An
//! [`Error`] is the error of every crate: most are a [`Problem`], which has a file and line, the expected
//! and the found content, and a hint. This crate knows no engine, no format and no collection.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read the files that they have written")
)]
#![deny(missing_docs)]

mod checksum;
mod defaults;
mod distinct_keys;
mod document;
mod embeddings;
mod encoder;
mod engine;
mod findings;
mod hint;
mod history;
mod id;
mod json;
mod judgements;
mod model;
mod model_options;
mod observer;
mod once_map;
mod printable;
mod problem;
mod processor;
mod python;
mod ranking;
mod reading;
mod recipe;
mod regular;
mod request;
mod similar;
mod sparse;
mod split_role;
mod token_vectors;

pub use checksum::{Checksum, Sha256Sum, UnorderedSum};
pub use defaults::{number, positive};
pub use distinct_keys::DistinctKeys;
pub use document::{AddText, Doc, Documents, TextKeeper};
pub use embeddings::Embeddings;
pub use encoder::{Decoding, DocumentVectors, Encoder, PairScorer, Progress, TextGenerator};
pub use engine::{
    Engine, JudgedQuestions, TopicEvaluation, Training, TrainingEvent, TrainingSummary,
    training_key,
};
pub use findings::{Finding, Findings};
pub use hint::Hint;
pub use history::{History, HistoryWeights, Role, WeightedText, ages};
pub use id::{DocId, FacetId, Name, RequestId};
pub use json::{parse_json, parse_python_json, problem_of_type};
pub use judgements::{JudgedSplit, Need, Surroundings};
pub use model::*;
pub use model_options::{ModelOptions, Precision, gpu_number};
pub use observer::{Job, Observer, Silent};
pub use once_map::OnceMap;
pub use printable::{
    Escaped, count_of, counted, fit, fixed, is_python_space, one_or, plural, printable, shorten,
};
pub use problem::{Error, IoAction, Location, Problem, ProblemKind, Result, Severity};
pub use processor::{instruction_set, multiplies_bf16};
pub use python::find_python;
pub use ranking::{Best, Explanation, Hit, Ranking, best_first, rank_by_score};
pub use reading::{CutTexts, Pooling, ReadingOverrides, Similarity, TextCounter};
pub use recipe::{ExampleForm, Objective, Recipe, Schedule};
pub use regular::{open_regular, read_regular};
pub use request::{Request, Said, Speaker, Turn, Utterance, is_refusal};
pub use similar::{meant, similar};
pub use sparse::{SparseEncoder, SparseVectors, encode_sparsely};
pub use split_role::{SplitRole, TrainOn};
pub use token_vectors::{RequestVectors, TextSide, TokenMatch, TokenVectors};
