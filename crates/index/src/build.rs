//! Building an index. All segments are merged into one, so that a ranking cannot depend on how many threads built it.

use crate::analysis::Analyzer;
use crate::error::tantivy;
use crate::make::make_folder;
use clariq_core::Error;
use clariq_core::{Checksum, Doc, Documents};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use tantivy::directory::Directory as _;
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{Index, IndexWriter, TantivyDocument};

/// Raised whenever what is written changes: an index of another format is rebuilt.
pub(crate) const FORMAT: u32 = 3;

/// tantivy refuses a writer with less memory per thread.
pub(crate) const LEAST_MEMORY_PER_THREAD: usize = 15_000_000;

/// tantivy refuses a writer with more memory per thread, too.
const MOST_MEMORY_PER_THREAD: usize = 4_000_000_000;

/// How to build.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions {
    /// Threads that write; the result ranks the same with any number.
    pub threads: usize,
    /// Bytes that the writer may hold in memory before it writes a segment. At least 15 MB per
    /// thread is needed; where that is not given, fewer threads are used.
    pub memory: usize,
}

impl Default for BuildOptions {
    /// One thread and 64 MB.
    fn default() -> Self {
        Self { threads: 1, memory: 64_000_000 }
    }
}

/// What an index says of itself, in the payload of its last commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metadata {
    pub(crate) clariq_index_format: u32,
    pub(crate) analyzer: Analyzer,
    pub(crate) checksum: Checksum,
    pub(crate) documents: usize,
    pub(crate) tokens: u64,
}

/// The fields of the index.
pub(crate) struct Fields {
    pub(crate) text: Field,
    pub(crate) number: Field,
    pub(crate) length: Field,
}

pub(crate) const NUMBER: &str = "number";
pub(crate) const LENGTH: &str = "length";
pub(crate) const TEXT: &str = "text";

/// Nothing is stored beside the words: ids and texts are in the collection.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    // tantivy asks for a tokeniser it knows, but never runs it: an `Analyzer` makes the tokens
    // beforehand.
    let words = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::WithFreqs);
    let number = NumericOptions::default().set_fast();
    let fields = Fields {
        text: builder.add_text_field(TEXT, TextOptions::default().set_indexing_options(words)),
        number: builder.add_u64_field(NUMBER, number.clone()),
        length: builder.add_u64_field(LENGTH, number),
    };
    (builder.build(), fields)
}

/// Builds the index of `documents` in `folder`, which must not exist or hold an index to be
/// replaced.
pub(crate) fn build(
    folder: &Path,
    documents: &dyn Documents,
    analyzer: Analyzer,
    options: &BuildOptions,
) -> Result<(), Error> {
    make_folder(folder, |new, folder| {
        write_index(new, documents, analyzer, options).map_err(|failed| failed.at(folder))
    })
}

/// Up to so many documents, an index is made in memory by one thread and then written, each file
/// once. tantivy syncs every file of every step to the disk, which takes far longer than making
/// such an index does.
const SMALL: usize = 20_000;

/// Why an index could not be written.
pub(crate) enum Failed {
    Tantivy(tantivy::TantivyError),
    Documents(Error),
}

impl Failed {
    pub(crate) fn at(self, folder: &Path) -> Error {
        match self {
            Self::Tantivy(error) => tantivy(folder)(error),
            Self::Documents(error) => error,
        }
    }
}

impl From<tantivy::TantivyError> for Failed {
    fn from(error: tantivy::TantivyError) -> Self {
        Self::Tantivy(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Documents(error)
    }
}

fn write_index(
    folder: &Path,
    documents: &dyn Documents,
    analyzer: Analyzer,
    options: &BuildOptions,
) -> Result<(), Failed> {
    let (schema, fields) = schema();
    let small = documents.len() <= SMALL;
    let index =
        if small { Index::create_in_ram(schema) } else { Index::create_in_dir(folder, schema)? };
    let threads = if small { 1 } else { options.threads };
    let writer = write_segments(
        &index,
        &fields,
        documents,
        analyzer,
        &BuildOptions { threads, ..*options },
    )?;
    merge_into_one(&index, writer)?;
    if small {
        copy(&index, folder)?;
    }
    Ok(())
}

/// Writes the files of an index in memory to a folder.
fn copy(index: &Index, folder: &Path) -> tantivy::Result<()> {
    for name in index.directory().list_managed_files() {
        let bytes = index.directory().atomic_read(&name)?;
        // Not flushed to the disk: the list of checksums shows what a power cut has left out.
        fs::write(folder.join(&name), &bytes)?;
    }
    Ok(())
}

fn write_segments(
    index: &Index,
    fields: &Fields,
    documents: &dyn Documents,
    analyzer: Analyzer,
    options: &BuildOptions,
) -> Result<IndexWriter, Failed> {
    let threads = options.threads.clamp(1, (options.memory / LEAST_MEMORY_PER_THREAD).max(1));
    let total = |per_thread: usize| threads.saturating_mul(per_thread);
    let memory =
        options.memory.clamp(total(LEAST_MEMORY_PER_THREAD), total(MOST_MEMORY_PER_THREAD));
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, memory)?;
    // From eight segments on, tantivy would begin merges of its own, which `merge_into_one` would
    // be refused.
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let tokens = add_documents(&writer, documents, analyzer, fields)?;
    let metadata = Metadata {
        clariq_index_format: FORMAT,
        analyzer,
        checksum: documents.checksum().clone(),
        documents: documents.len(),
        tokens,
    };
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&serde_json::to_string(&metadata).unwrap_or_default());
    commit.commit()?;
    Ok(writer)
}

fn merge_into_one(index: &Index, mut writer: IndexWriter) -> tantivy::Result<()> {
    merge(index, &mut writer)?;
    writer.wait_merging_threads()
}

/// Merges all segments into one.
pub(crate) fn merge(index: &Index, writer: &mut IndexWriter) -> tantivy::Result<()> {
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
        writer.garbage_collect_files().wait()?;
    }
    Ok(())
}

/// Documents are analysed in blocks, so that all threads work and memory stays that of one block.
const BLOCK: usize = 16_384;

fn add_documents(
    writer: &IndexWriter,
    documents: &dyn Documents,
    analyzer: Analyzer,
    fields: &Fields,
) -> Result<u64, Failed> {
    let mut total = 0;
    let count = documents.len() as u32;
    for first in (0..count).step_by(BLOCK) {
        let block = first..count.min(first.saturating_add(BLOCK as u32));
        let analyse = |doc| documents.text(Doc(doc)).map(|text| analyzer.tokens(&text));
        let analysed: Vec<Vec<String>> =
            block.clone().into_par_iter().map(analyse).collect::<Result<_, _>>()?;
        for (doc, tokens) in block.map(Doc).zip(analysed) {
            let length = tokens.len() as u64;
            total += length;
            let mut document = TantivyDocument::default();
            document.add_u64(fields.number, doc.0.into());
            document.add_u64(fields.length, length);
            document.add_pre_tokenized_text(fields.text, pre_tokenized(tokens));
            writer.add_document(document)?;
        }
    }
    Ok(total)
}

fn pre_tokenized(tokens: Vec<String>) -> PreTokenizedString {
    let tokens = tokens.into_iter().enumerate().map(|(position, text)| Token {
        position,
        text,
        position_length: 1,
        ..Token::default()
    });
    // The text itself is not stored.
    PreTokenizedString { text: String::new(), tokens: tokens.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::clariq::{Bank, BankRow};

    /// Questions of twenty different words each, so that the writer's memory fills soon.
    fn bank(questions: usize) -> Bank {
        let word = |number: usize| format!("w{number}");
        let text =
            |place: usize| (place * 20..place * 20 + 20).map(word).collect::<Vec<_>>().join(" ");
        let row = |place| BankRow { id: format!("Q{place:06}").as_str().into(), text: text(place) };
        Bank::from_rows((0..questions).map(row).collect())
    }

    /// How many segments a build writes, and how many it leaves.
    fn segments(bank: &Bank, threads: usize, memory: usize) -> (usize, usize) {
        let (schema, fields) = schema();
        let index = Index::create_in_ram(schema);
        let options = BuildOptions { threads, memory };
        let writer =
            write_segments(&index, &fields, bank, Analyzer::English, &options).ok().unwrap();
        let written = index.searchable_segment_ids().unwrap().len();
        merge_into_one(&index, writer).unwrap();
        let metadata = index.load_metas().unwrap();
        assert!(metadata.payload.is_some_and(|payload| payload.contains("clariq_index_format")));
        (written, metadata.segments.len())
    }

    #[test]
    fn one_segment_is_left_of_any_number() {
        assert_eq!(segments(&bank(1), 1, 0), (1, 1));
        // From eight on, tantivy would merge some by itself.
        for (questions, threads, memory) in
            [(10_000, 1, 0), (3_000, 12, 12 * LEAST_MEMORY_PER_THREAD)]
        {
            let (written, left) = segments(&bank(questions), threads, memory);
            assert!(
                written >= 8,
                "{written} segments of {questions} questions by {threads} threads"
            );
            assert_eq!(left, 1);
        }
    }
}
