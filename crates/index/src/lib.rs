//! Analysers, the tantivy index over documents, BM25 scorers over its postings, and a store of texts
//! on the disk. No other crate knows tantivy.
//!
//! ```
//! use clariq_collections::clariq::{ClariQ, DataDir};
//! use clariq_index::{Analyzer, DocumentIndex, Bm25, BuildOptions, Depth, Scorer, Scratch};
//! use std::sync::Arc;
//!
//! let bank = ClariQ::open(DataDir::Sample)?.bank;
//! let folder = tempfile::tempdir()?;
//! let (index, _) = DocumentIndex::open_or_build(folder.path(), &bank, Analyzer::Nltk, &BuildOptions::default())?;
//! let scorer = Scorer::new(&Arc::new(index), Bm25::okapi())?;
//! let tokens = Analyzer::Nltk.tokens("How do I look after a sourdough starter?");
//! let hits = scorer.top(&tokens, Depth::matching(5), &mut Scratch::default())?;
//! assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
mod block_max;
mod bm25;
mod build;
mod byte_length;
mod checked;
mod document_index;
mod error;
mod explain;
mod folder;
mod impacts;
mod make;
mod numpy_order;
mod scorer;
mod search;
mod text_store;
mod top;

pub use analysis::Analyzer;
pub use bm25::{Bm25, Variant};
pub use build::BuildOptions;
pub use byte_length::byte_length;
pub use document_index::{DocumentIndex, IndexStats, Opened};
pub use numpy_order::NumpyOrder;
pub use scorer::{Depth, Path, Query, Scorer, Scratch};
pub use text_store::{TextStore, TextWriter};
