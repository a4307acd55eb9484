//! Everything that touches libtorch: weights, encoders, sparse encoders, cross-encoders and their
//! training, and T5.
//! Other crates see the trait [`Engine`](clariq_core::Engine), which [`Torch`] implements, and the
//! models that it opens.
//!
//! Documents are computed in groups of equal length, without padding, one group per thread, and the
//! result does not depend on the number of threads. Its last digits depend on the processor: the record
//! of a run names the instruction set.
//!
//! ```no_run
//! use clariq_bert::BertEncoder;
//! use clariq_core::{Encoder, ModelOptions};
//!
//! let options = ModelOptions { threads: 2, ..ModelOptions::default() };
//! let encoder = BertEncoder::open("all-MiniLM-L6-v2".as_ref(), &options)?;
//! let vectors = encoder.encode(&["tell me about jaguars", "do you mean the animal"], &|_| {})?;
//! let cosine: f32 = vectors.row(0).iter().zip(vectors.row(1)).map(|(a, b)| a * b).sum();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "libtorch counts in i64; no count here is near its limits, and none is negative"
)]

/// Held by tests that draw from libtorch's generator: a process has one.
#[cfg(test)]
static GENERATOR: parking_lot::Mutex<()> = parking_lot::Mutex::new(());

mod batch;
mod engine;
mod inference;
mod late;
mod memory;
mod models;
mod names;
mod network;
mod pooling;
mod products;
mod sparse;
mod t5;
pub mod train;
mod weights;

pub use engine::Torch;
pub use models::{BertEncoder, CrossEncoder};
pub use sparse::SparseBert;
pub use t5::{MonoT5, T5};
pub use weights::Weights;
