//! Analysers, the tantivy index over documents, scorers over its postings (BM25, query likelihood), an
//! index of the weights that models give to words, and a store of texts on the disk. No other crate
//! knows tantivy.
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
