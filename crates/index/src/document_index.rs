//! The index on disk: opening it, and rebuilding it if it is of other documents or another
//! analyser.

use crate::analysis::Analyzer;
use crate::build::{self, BuildOptions, FORMAT, IndexMetadata, LENGTH, NUMBER, TEXT};
use crate::folder::{self, damaged};
use clariq_core::{Doc, Documents, Error, IoAction, ProblemKind, Result, problem};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::postings::TermInfo;
use tantivy::termdict::TermStreamer;
use tantivy::{Index, InvertedIndexReader};

/// The outcome of opening an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenedIndex {
    /// An index was reused.
    Reused,
    /// An index was built.
    Built,
    /// Another index was replaced.
    Rebuilt {
        /// The reason why the old one does not fit.
        because: String,
    },
}

/// An opened index over documents.
pub struct DocumentIndex {
    pub(crate) folder: PathBuf,
    metadata: IndexMetadata,
    pub(crate) postings: Arc<InvertedIndexReader>,
    /// The document for each of tantivy's document numbers.
    pub(crate) docs: Vec<Doc>,
    /// The exact number of tokens of each document.
    pub(crate) lengths: Vec<u32>,
}

/// The figures of an index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndexStats {
    /// The analyser that made the tokens.
    pub analyzer: Analyzer,
    /// Number of documents.
    pub documents: usize,
    /// Number of tokens of all documents.
    pub tokens: u64,
    /// Number of different tokens.
    pub vocabulary: usize,
    /// Number of tokens of the longest document.
    pub longest: u32,
    /// Bytes on disk.
    pub bytes: u64,
}

impl DocumentIndex {
    /// Opens the index in `folder` if it is of these documents and this analyser, and builds it
    /// otherwise.
    ///
    /// A folder with something else in it, or an index whose files are damaged, is an error and is
    /// left as it is.
    pub fn open_or_build(
        folder: &Path,
        documents: &dyn Documents,
        analyzer: Analyzer,
        options: &BuildOptions,
    ) -> Result<(Self, OpenedIndex)> {
        let opened = if folder::is_vacant(folder)? {
            OpenedIndex::Built
        } else {
            match mismatch(folder, &folder::payload(folder)?, documents, analyzer)? {
                None => return Ok((Self::open(folder)?, OpenedIndex::Reused)),
                Some(because) => OpenedIndex::Rebuilt { because },
            }
        };
        Ok((Self::rebuild(folder, documents, analyzer, options)?, opened))
    }

    /// Builds the index, and replaces any index in `folder`, damaged ones included. A folder with
    /// other files is an error.
    pub fn rebuild(
        folder: &Path,
        documents: &dyn Documents,
        analyzer: Analyzer,
        options: &BuildOptions,
    ) -> Result<Self> {
        if documents.is_empty() {
            let expected = "at least one document, such as the empty question of ClariQ";
            return Err(problem!(folder, expected, "none").kind(ProblemKind::MissingData).into());
        }
        folder::check_replaceable(folder)?;
        let written = build::build(folder, documents, analyzer, options)?;
        // Another process may have built here at the same time and replaced this index.
        match mismatch(folder, &folder::payload(folder)?, documents, analyzer)? {
            None => Self::open_written(folder, written.as_deref()),
            Some(why) => {
                Err(damaged(folder, format!("another program writes here at the same time: {why}")))
            }
        }
    }

    /// Builds an index of a few documents that is only in memory.
    pub fn in_memory(documents: &dyn Documents, analyzer: Analyzer) -> Result<Self> {
        let place = Path::new("index in memory");
        let (index, metadata) = build::build_in_memory(documents, analyzer, place)?;
        let broken = |error: tantivy::TantivyError| damaged(place, error.to_string());
        Self::load(place, metadata, &index).map_err(broken)
    }

    /// Opens an existing index of this format.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_written(folder, None)
    }

    fn open_written(folder: &Path, written: Option<&[u8]>) -> Result<Self> {
        // A folder without an index is reported as such, not as a missing file.
        folder::payload(folder)?;
        let index = folder::open(folder, written)?;
        let broken = |error: tantivy::TantivyError| damaged(folder, error.to_string());
        let payload = index.load_metas().map_err(broken)?.payload.unwrap_or_default();
        let metadata = parse(folder, &payload)?.map_err(|why| damaged(folder, why))?;
        Self::load(folder, metadata, &index).map_err(broken)
    }

    fn load(folder: &Path, metadata: IndexMetadata, index: &Index) -> tantivy::Result<Self> {
        let segment = folder::segment(index)?;
        let column = |name: &str| -> tantivy::Result<Vec<u32>> {
            let values = segment.fast_fields().u64(name)?;
            let value = |document| u32::try_from(values.first(document)?).ok();
            let column: Option<_> = (0..segment.max_doc()).map(value).collect();
            column.ok_or_else(|| folder::invalid(format!("a document without `{name}`")))
        };
        let docs: Vec<Doc> = column(NUMBER)?.into_iter().map(Doc).collect();
        if docs.len() != metadata.documents {
            let found = format!("{} documents in place of {}", docs.len(), metadata.documents);
            return Err(folder::invalid(found));
        }
        let lengths = column(LENGTH)?;
        let postings = segment.inverted_index(index.schema().get_field(TEXT)?)?;
        Ok(Self { folder: folder.to_owned(), metadata, postings, docs, lengths })
    }

    /// The folder it was opened from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The analyser that made its tokens.
    pub fn analyzer(&self) -> Analyzer {
        self.metadata.analyzer
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.docs.len()
    }

    /// The number of documents with a token.
    pub fn documents_with(&self, token: &str) -> Result<u64> {
        Ok(self.find(token)?.map_or(0, |info| info.doc_freq.into()))
    }

    /// The number of tokens of all documents.
    pub(crate) fn tokens(&self) -> u64 {
        self.metadata.tokens
    }

    pub(crate) fn find(&self, token: &str) -> Result<Option<TermInfo>> {
        self.postings.terms().get(token).map_err(Error::io(IoAction::Use, &self.folder))
    }

    /// The tokens in order.
    pub(crate) fn vocabulary(&self) -> Result<TermStreamer<'_>> {
        self.postings.terms().stream().map_err(Error::io(IoAction::Use, &self.folder))
    }

    /// The figures of the index.
    pub fn stats(&self) -> Result<IndexStats> {
        let files = fs::read_dir(&self.folder).map_err(Error::io(IoAction::Use, &self.folder))?;
        let bytes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum();
        Ok(IndexStats {
            analyzer: self.analyzer(),
            documents: self.documents(),
            tokens: self.tokens(),
            vocabulary: self.postings.terms().num_terms(),
            longest: self.lengths.iter().copied().max().unwrap_or(0),
            bytes,
        })
    }
}

/// The reason why the index with this payload does not fit, if it does not.
fn mismatch(
    folder: &Path,
    payload: &str,
    documents: &dyn Documents,
    analyzer: Analyzer,
) -> Result<Option<String>> {
    Ok(match parse(folder, payload)? {
        Err(why) => Some(why),
        Ok(found) if found.checksum != *documents.checksum() => {
            Some(format!("it is of other documents ({})", found.checksum.short()))
        }
        Ok(found) if found.analyzer != analyzer => {
            Some(format!("it was made with the analyser `{}`", found.analyzer))
        }
        Ok(_) => None,
    })
}

#[derive(Deserialize)]
struct IndexFormat {
    clariq_index_format: u32,
}

/// The metadata, or the reason why its format is refused. The format's number is read by itself
/// first, because another format may have other fields.
fn parse(folder: &Path, payload: &str) -> Result<Result<IndexMetadata, String>> {
    let bad = |error: serde_json::Error| damaged(folder, format!("its metadata: {error}"));
    let IndexFormat { clariq_index_format: format } = serde_json::from_str(payload).map_err(bad)?;
    if format != FORMAT {
        return Ok(Err(format!("its format is {format}, this version writes {FORMAT}")));
    }
    serde_json::from_str(payload).map(Ok).map_err(bad)
}
