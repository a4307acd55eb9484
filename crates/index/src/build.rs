//! Building an index. All segments are merged into one, so that a ranking cannot depend on how many
//! threads built it.

use crate::analysis::Analyzer;
use crate::checked::META;
use crate::folder::{self, refused};
use clariq_core::{Checksum, Doc, Documents, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use tantivy::directory::{Directory as _, RamDirectory};
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{Index, IndexWriter, TantivyDocument};

/// Version of the format. An index of another version is rebuilt.
pub(crate) const FORMAT: u32 = 5;

/// tantivy's limits on the memory of a writer per thread.
const LEAST_MEMORY_PER_THREAD: usize = 15_000_000;
const MOST_MEMORY_PER_THREAD: usize = 4_000_000_000;

/// An index of at most this many documents is built in memory and then written: tantivy syncs every
/// file of every step to the disk, which takes far longer than building a small index.
const SMALL: usize = 20_000;

/// Bytes from which tantivy derives the initial size of its table of terms, 2^12; the table grows.
const FIRST_TABLE: usize = 100_000;

/// Documents are analysed in blocks, so that all threads read texts that are near each other.
const BLOCK: usize = 16_384;

pub(crate) const NUMBER: &str = "number";
pub(crate) const LENGTH: &str = "length";
pub(crate) const TEXT: &str = "text";

/// The name of a tokeniser that tantivy knows.
const TOKENIZER: &str = "raw";

/// Options of a build.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions {
    /// Number of threads. Rankings do not depend on it.
    pub threads: usize,
    /// Bytes of memory of the writer. With less than 15 MB per thread, fewer threads are used.
    pub memory: usize,
}

impl Default for BuildOptions {
    /// One thread, and 64 MB of memory.
    fn default() -> Self {
        Self { threads: 1, memory: 64_000_000 }
    }
}

/// The payload of an index's last commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IndexMetadata {
    pub(crate) clariq_index_format: u32,
    pub(crate) analyzer: Analyzer,
    pub(crate) checksum: Checksum,
    pub(crate) documents: usize,
    pub(crate) tokens: u64,
}

impl IndexMetadata {
    fn new(documents: &dyn Documents, analyzer: Analyzer, tokens: u64) -> Self {
        Self {
            clariq_index_format: FORMAT,
            analyzer,
            checksum: documents.checksum().clone(),
            documents: documents.len(),
            tokens,
        }
    }
}

/// The fields of the index.
struct Fields {
    text: Field,
    number: Field,
    length: Field,
}

/// The schema. Ids and texts are not stored: they are in the collection.
fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    // An `Analyzer` makes the tokens, and [`writer`] tells tantivy how they are separated. tantivy's
    // lengths are not stored: it would compute bounds of its own scores for every block.
    let words = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_fieldnorms(false)
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
/// replaced. Returns the result of [`folder::make`].
pub(crate) fn build(
    folder: &Path,
    documents: &dyn Documents,
    analyzer: Analyzer,
    options: &BuildOptions,
) -> Result<Option<Vec<u8>>> {
    folder::make(folder, |new| {
        if documents.len() <= SMALL {
            let (index, metadata) = build_in_memory(documents, analyzer, folder)?;
            return copy(&index, &metadata, new).map_err(refused(folder));
        }
        let (schema, fields) = schema();
        let index = Index::create_in_dir(new, schema).map_err(refused(folder))?;
        let writer = writer(&index, options.threads, options.memory);
        let mut writer = writer.map_err(refused(folder))?;
        let tokens = add_documents(&writer, &fields, documents, analyzer, folder)?;
        let metadata = IndexMetadata::new(documents, analyzer, tokens);
        let finished = commit(&mut writer, &metadata)
            .and_then(|()| merge(&index, &mut writer))
            .and_then(|()| writer.wait_merging_threads());
        finished.map_err(refused(folder))
    })
}

/// Builds the index of a few documents in memory; `place` is for messages. The index has no
/// payload: the metadata is returned.
pub(crate) fn build_in_memory(
    documents: &dyn Documents,
    analyzer: Analyzer,
    place: &Path,
) -> Result<(Index, IndexMetadata)> {
    let (schema, fields) = schema();
    // An `IndexWriter` starts threads and clears a table of half a million terms, which takes longer
    // than indexing the statements of a user.
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TOKENIZER, TokenLines::default());
    let mut writer = Index::builder()
        .schema(schema)
        .tokenizers(tokenizers)
        .single_segment_index_writer(RamDirectory::default(), FIRST_TABLE)
        .map_err(refused(place))?;
    let mut tokens = 0;
    for block in documents.reading_order().rchunks(BLOCK) {
        let index = |doc: &Doc| Ok(indexed(*doc, &documents.text(*doc)?, &fields, analyzer));
        let block: Vec<_> = block.par_iter().rev().map(index).collect::<Result<_>>()?;
        for (document, length) in block {
            writer.add_document(document).map_err(refused(place))?;
            tokens += length;
        }
    }
    let index = writer.finalize().map_err(refused(place))?;
    Ok((index, IndexMetadata::new(documents, analyzer, tokens)))
}

/// A writer that merges nothing by itself: from eight segments on, tantivy would begin merges that
/// [`merge`] would then be refused.
pub(crate) fn writer(index: &Index, threads: usize, memory: usize) -> tantivy::Result<IndexWriter> {
    let threads = threads.clamp(1, (memory / LEAST_MEMORY_PER_THREAD).max(1));
    let [least, most] = [LEAST_MEMORY_PER_THREAD, MOST_MEMORY_PER_THREAD]
        .map(|per_thread| threads.saturating_mul(per_thread));
    index.tokenizers().register(TOKENIZER, TokenLines::default());
    let writer = index.writer_with_num_threads(threads, memory.clamp(least, most))?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    Ok(writer)
}

/// Commits the added documents, with a payload.
pub(crate) fn commit(writer: &mut IndexWriter, payload: &impl Serialize) -> tantivy::Result<()> {
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&serde_json::to_string(payload).expect("plain data"));
    commit.commit().map(drop)
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

/// Writes the files of an index in memory to a folder, with a payload.
fn copy(index: &Index, payload: &impl Serialize, folder: &Path) -> tantivy::Result<()> {
    let mut metas = index.load_metas()?;
    metas.payload = Some(serde_json::to_string(payload).expect("plain data"));
    index.directory().atomic_write(Path::new(META), &serde_json::to_vec(&metas)?)?;
    for name in index.directory().list_managed_files() {
        let bytes = index.directory().atomic_read(&name)?;
        // Not flushed to the disk: the list of checksums shows what a power cut has left out.
        fs::write(folder.join(&name), &bytes)?;
    }
    Ok(())
}

/// Adds the documents for the index in `folder`, and counts their tokens.
fn add_documents(
    writer: &IndexWriter,
    fields: &Fields,
    documents: &dyn Documents,
    analyzer: Analyzer,
    folder: &Path,
) -> Result<u64> {
    let add = |doc: &Doc| -> Result<u64> {
        let (document, length) = indexed(*doc, &documents.text(*doc)?, fields, analyzer);
        writer.add_document(document).map_err(refused(folder))?;
        Ok(length)
    };
    let mut total = 0;
    // From the last to the first: ids often ascend in that order, and of documents with the same score
    // a search keeps those of the highest ids, so that it need not replace most of them again.
    for block in documents.reading_order().rchunks(BLOCK) {
        total += block.par_iter().rev().map(add).try_reduce(|| 0, |a, b| Ok(a + b))?;
    }
    Ok(total)
}

/// A document as it is indexed, and the number of its tokens.
fn indexed(doc: Doc, text: &str, fields: &Fields, analyzer: Analyzer) -> (TantivyDocument, u64) {
    let mut lines = String::with_capacity(text.len());
    let mut length = 0;
    analyzer.for_each_token(text, &mut |token| {
        lines.push_str(token);
        lines.push('\n');
        length += 1;
    });
    let mut document = TantivyDocument::default();
    document.add_u64(fields.number, doc.0.into());
    document.add_u64(fields.length, length);
    document.add_text(fields.text, lines);
    (document, length)
}

/// Reads the tokens that an [`Analyzer`] has made, one per line. tantivy's own form of
/// pre-tokenised text writes each document as JSON and reads it again, which takes a third of the
/// time.
#[derive(Clone, Default)]
struct TokenLines {
    token: Token,
}

struct LineStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for TokenLines {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, rest: &'a str) -> LineStream<'a> {
        self.token.reset();
        LineStream { rest, token: &mut self.token }
    }
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        // Faster than looking for a character, because lines are short.
        let Some(end) = self.rest.bytes().position(|byte| byte == b'\n') else { return false };
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        self.token.text.push_str(line);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::documents::{Bank, BankRow};

    /// Questions of twenty different words each, so that the writer's memory fills soon.
    fn bank(questions: usize) -> Bank {
        let word = |number: usize| format!("w{number}");
        let text =
            |place: usize| (place * 20..place * 20 + 20).map(word).collect::<Vec<_>>().join(" ");
        let row = |place| BankRow { id: format!("Q{place:06}").as_str().into(), text: text(place) };
        Bank::new((0..questions).map(row).collect(), "Q00001")
    }

    /// The number of segments that a build writes, and the number that are left after merging.
    fn segments(bank: &Bank, threads: usize, memory: usize) -> (usize, usize) {
        let (schema, fields) = schema();
        let index = Index::create_in_ram(schema);
        let mut writer = writer(&index, threads, memory).unwrap();
        add_documents(&writer, &fields, bank, Analyzer::English, Path::new("")).unwrap();
        commit(&mut writer, &"payload").unwrap();
        let written = index.searchable_segment_ids().unwrap().len();
        merge(&index, &mut writer).unwrap();
        writer.wait_merging_threads().unwrap();
        let metadata = index.load_metas().unwrap();
        assert!(metadata.payload.is_some_and(|payload| payload.contains("payload")));
        (written, metadata.segments.len())
    }

    #[test]
    fn any_number_of_segments_is_merged_into_one() {
        assert_eq!(segments(&bank(1), 1, 0), (1, 1));
        // From eight on, tantivy would merge some by itself. How many of several threads get a
        // document depends on the scheduler.
        for (questions, threads, memory, least) in
            [(10_000, 1, 0, 8), (3_000, 12, 12 * LEAST_MEMORY_PER_THREAD, 2)]
        {
            let (written, left) = segments(&bank(questions), threads, memory);
            assert!(
                written >= least,
                "{written} segments of {questions} questions by {threads} threads"
            );
            assert_eq!(left, 1);
        }
    }
}
