//! What do the learned models say? Everything that touches libtorch: weights, tokens, encoders, cross-encoders and their
//! training. Other crates see the traits [`Encoder`](clariq_rank::Encoder) and [`PairScorer`](clariq_rank::PairScorer).
//!
//! ```no_run
//! use clariq_bert::{BertEncoder, Options};
//! use clariq_rank::Encoder;
//!
//! let encoder = BertEncoder::open("all-MiniLM-L6-v2".as_ref(), &Options { threads: 2, ..Options::default() })?;
//! let vectors = encoder.encode(&["tell me about jaguars", "do you mean the animal"], &|_| {})?;
//! let cosine: f32 = vectors.row(0).iter().zip(vectors.row(1)).map(|(a, b)| a * b).sum();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "libtorch counts in i64; no count here is near its limits, and none is negative"
)]

mod bank_cache;
mod cross_encoder;
mod encoder;
mod error;
mod folder;
mod network;
mod options;
mod streams;
mod tokens;
pub mod train;
mod weights;

pub use bank_cache::cached;
pub use cross_encoder::CrossEncoder;
pub use encoder::BertEncoder;
pub use error::Error;
pub use folder::{Activation, ModelFolder, Shape};
pub use network::Network;
pub use options::{Options, Precision, devices};
pub use tokens::{Tokenize, Tokens};
pub use weights::Weights;
