//! Analysers, the tantivy index over documents, scorers over its postings (BM25, query likelihood), an
//! index of the weights that models give to words, and a store of texts on the disk. No other crate
//! knows tantivy.
//!
//! Scores of BM25 are sums in `f64`, in the order of operations of `rank_bm25`, so that documents that tie
//! in the published baseline tie here. Large indexes are searched with pruning, which finds what the
//! exhaustive search finds, bit for bit; weights of models are searched exhaustively, in parts of 65,536
//! documents whose sums fit into a processor's cache. An index is verified completely before it is
//! opened, unless the process has just built it, and its large files are memory-mapped; so is the store
//! of texts that do not fit into memory, whose checksum no order of reading changes.
//!
//! ```
//! use clariq_track_clariq::ClariQ;
//! use clariq_index::{Analyzer, Bm25, BuildOptions, Depth, DocumentIndex, Query, Scorer};
//! use std::sync::Arc;
//!
//! let bank = ClariQ::open(clariq_track_clariq::SAMPLE)?.bank;
//! let folder = tempfile::tempdir()?;
//! let (index, _) = DocumentIndex::open_or_build(folder.path(), &bank, Analyzer::Nltk, &BuildOptions::default())?;
//! let scorer = Scorer::new(&Arc::new(index), Bm25::okapi())?;
//! let tokens = Analyzer::Nltk.tokens("How do I look after a sourdough starter?");
//! let query = Query::new(&tokens, Depth::matching(5));
//! let hits = scorer.rank(&query)?;
//! assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
mod bm25;
mod build;
mod byte_length;
mod checked;
mod document_index;
mod explain;
mod folder;
mod impacts;
mod model;
mod numpy_order;
mod pruned;
mod query_likelihood;
mod scorer;
mod text_store;
mod weighting;

pub use analysis::Analyzer;
pub use bm25::{Bm25, Bm25Form};
pub use build::BuildOptions;
pub use byte_length::byte_length;
pub use document_index::{DocumentIndex, IndexStats, OpenedIndex};
pub use impacts::{IMPACTS_FORMAT, ImpactIndex, ImpactWriter, WINDOW, map_file};
pub use model::{Variant, WeightingModel};
pub use numpy_order::NumpyOrder;
pub use query_likelihood::QueryLikelihood;
pub use scorer::Scorer;
pub use text_store::TextStore;
pub use weighting::{Depth, Query};
