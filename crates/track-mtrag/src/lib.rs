//! Reads MTRAG and MTRAG-UN as they are released, scores runs as their organisers do, and checks
//! submissions to SemEval-2026 Task 8 (`MTRAGEval`), which is played on them.
//!
//! MTRAG is retrieval and generation for conversations over the passages of several domains. A request
//! is a turn of a conversation; in MTRAG-UN, some are underspecified, and the reference response asks
//! a clarifying question.
//!
//! Source: the repository [IBM/mt-rag-benchmark](https://github.com/IBM/mt-rag-benchmark), whose
//! folder is the data folder; Katsis et al., *MTRAG: A Multi-Turn Conversational Benchmark for
//! Evaluating Retrieval-Augmented Generation Systems*, TACL 2025.
//!
//! A request is ranked over the passages of its own domain, with the statistics of that domain, which
//! [`Collection::part_of`](clariq_collections::Collection::part_of) names. A run over all domains is
//! scored in each of them and weighted, as the organisers do.

// No file may end the process: nothing is indexed or unwrapped but where it is said.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]

#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod answers;
mod asking;
mod check;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod collection;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod domains;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod evaluation;
mod folder;
mod forms;
mod ids;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod opened;
mod passages;
pub mod splits;
mod stats;
mod submission;
mod tasks;
mod validate;

pub use asking::asks;
pub use collection::KIND;
pub use domains::Domain;
pub use evaluation::{MtragEvaluation, ResponseScores};
pub use opened::{Mtrag, PASSAGES};
pub use submission::{MtragSubmission, SubmittedTask};
pub use tasks::{Answerability, MtragTask};
