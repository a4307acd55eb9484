//! Texts of a large collection on the disk, in tantivy's store. Four bytes per text are in memory.

use crate::build::{self, commit, merge};
use crate::folder::{self, damaged, invalid, is_vacant, payload, refused};
use clariq_core::{
    AddText, Checksum, Doc, Documents, Error, IoAction, ProblemKind, Result, UnorderedSum, problem,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use tantivy::columnar::StrColumn;
use tantivy::schema::{Field, STORED, Schema, TextOptions, Value};
use tantivy::store::StoreReader;
use tantivy::{Index, IndexWriter, TantivyDocument};

const ID: &str = "id";
const TEXT: &str = "text";

/// The name of a new store in errors.
const STORE: &str = "the store of texts";

/// Version of the format.
const FORMAT: u32 = 2;

/// Number of decoded blocks of 16 KiB that are kept.
const CACHED_BLOCKS: usize = 64;

/// Documents by ascending id, with ids and texts on the disk.
pub struct TextStore {
    folder: PathBuf,
    texts: StoredTexts,
    checksum: Checksum,
}

/// The payload of a store's last commit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreMetadata {
    /// Its name marks a folder of this program, which may be replaced.
    clariq_index_format: u32,
    text_store_format: u32,
    /// The checksum of the source of the texts.
    source: Checksum,
    /// The checksum of the ids and texts in any order.
    checksum: Checksum,
}

impl TextStore {
    /// Opens the store in `folder` if it is complete and of `source`, the checksum of the source that
    /// `fill` reads. Otherwise builds it from the texts that `fill` adds, in any order and from any
    /// thread. Building takes `memory` bytes, and 8 bytes for each text at the end. Repeated ids must
    /// have the same text, which is kept once.
    ///
    /// # Errors
    ///
    /// An error of `fill`, two texts of one id, and a folder with other files.
    pub fn open_or_build(
        folder: &Path,
        source: &Checksum,
        memory: usize,
        fill: &dyn Fn(AddText) -> Result<()>,
    ) -> Result<Self> {
        match Self::open(folder, source, None) {
            Ok(Some(store)) => return Ok(store),
            Ok(None) => {}
            Err(error) if error.kind() == Some(ProblemKind::Damaged) => {}
            Err(error) => return Err(error),
        }
        let written = folder::make(folder, |new| write_store(new, folder, source, memory, fill))?;
        let built = Self::open(folder, source, written.as_deref())?;
        built.ok_or_else(|| damaged(folder, "another program writes here at the same time"))
    }

    /// The store of that source in the folder, if there is one.
    fn open(folder: &Path, source: &Checksum, written: Option<&[u8]>) -> Result<Option<Self>> {
        if is_vacant(folder)? {
            return Ok(None);
        }
        let Ok(metadata) = serde_json::from_str::<StoreMetadata>(&payload(folder)?) else {
            return Ok(None);
        };
        if metadata.text_store_format != FORMAT || metadata.source != *source {
            return Ok(None);
        }
        let texts = StoredTexts::open(&folder::open(folder, written)?);
        let (texts, _) = texts.map_err(|error| damaged(folder, error.to_string()))?;
        Ok(Some(Self { folder: folder.to_owned(), texts, checksum: metadata.checksum }))
    }
}

impl Documents for TextStore {
    fn len(&self) -> usize {
        self.texts.positions.len()
    }

    /// The id; empty if the disk cannot be read.
    fn id(&self, doc: Doc) -> Cow<'_, str> {
        self.texts.id(doc).unwrap_or_default().into()
    }

    fn text(&self, doc: Doc) -> Result<Cow<'_, str>> {
        self.texts.text(doc).map(Cow::Owned).map_err(Error::io(IoAction::Read, &self.folder))
    }

    fn find(&self, id: &str) -> Option<Doc> {
        let ord = self.texts.ids.dictionary().term_ord(id).ok()??;
        Some(Doc(ord as u32))
    }

    fn reading_order(&self) -> Vec<Doc> {
        let mut docs: Vec<Doc> = Doc::all(self.len()).collect();
        docs.par_sort_unstable_by_key(|doc| self.texts.positions[doc.index()]);
        docs
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// The single segment of a store.
struct StoredTexts {
    ids: StrColumn,
    store: StoreReader,
    text: Field,
    /// tantivy's document of each text, by ascending id.
    positions: Vec<u32>,
}

/// An id without a text.
const NOWHERE: u32 = u32::MAX;

impl StoredTexts {
    /// The texts, and tantivy's documents that repeat an id.
    fn open(index: &Index) -> tantivy::Result<(Self, Vec<u32>)> {
        let segment = folder::segment(index)?;
        let text = index.schema().get_field(TEXT)?;
        let ids = segment.fast_fields().str(ID)?.ok_or_else(|| invalid("no ids"))?;
        let store = segment.get_store_reader(CACHED_BLOCKS)?;
        let mut positions = vec![NOWHERE; ids.num_terms()];
        let mut repeats = Vec::new();
        for document in 0..segment.max_doc() {
            let ord = ids.ords().first(document).and_then(|ord| usize::try_from(ord).ok());
            match ord.and_then(|ord| positions.get_mut(ord)) {
                Some(position) if *position == NOWHERE => *position = document,
                Some(_) => repeats.push(document),
                None => return Err(invalid("a text without an id")),
            }
        }
        if positions.contains(&NOWHERE) {
            return Err(invalid("an id without a text"));
        }
        Ok((Self { ids, store, text, positions }, repeats))
    }

    fn id(&self, doc: Doc) -> io::Result<String> {
        let mut id = String::new();
        self.ids.ord_to_str(doc.0.into(), &mut id)?;
        Ok(id)
    }

    fn text(&self, doc: Doc) -> io::Result<String> {
        self.stored(self.positions[doc.index()])
    }

    /// The text of one of tantivy's documents.
    fn stored(&self, document: u32) -> io::Result<String> {
        let stored: TantivyDocument = self.store.get(document).map_err(io::Error::other)?;
        let text = stored.get_first(self.text).and_then(|value| value.as_str());
        text.map(str::to_owned).ok_or_else(|| io::Error::other("a document without a text"))
    }

    /// Refuses another text of the same id, and removes a repeated one from the checksum.
    fn check_same(&self, repeat: u32, sum: &UnorderedSum) -> Result<()> {
        let ord = self.ids.ords().first(repeat).unwrap_or_default();
        let doc = Doc(ord as u32);
        let refused = Error::io(IoAction::Read, STORE);
        let id = self.id(doc).map_err(&refused)?;
        let text = self.text(doc).map_err(&refused)?;
        if text != self.stored(repeat).map_err(&refused)? {
            let problem = problem!(STORE, "every id with one text", id);
            return Err(problem.kind(ProblemKind::Contradiction).into());
        }
        sum.remove(&pieces(&id, &text));
        Ok(())
    }
}

/// The bytes of a text for the checksum.
fn pieces<'t>(id: &'t str, text: &'t str) -> [&'t [u8]; 3] {
    [id.as_bytes(), b"\t", text.as_bytes()]
}

fn write_store(
    new: &Path,
    folder: &Path,
    source: &Checksum,
    memory: usize,
    fill: &dyn Fn(AddText) -> Result<()>,
) -> Result<()> {
    let mut builder = Schema::builder();
    let id = builder.add_text_field(ID, TextOptions::default().set_fast("raw"));
    let text = builder.add_text_field(TEXT, STORED);
    let index = Index::create_in_dir(new, builder.build()).map_err(refused(folder))?;
    // A single writer keeps up with many readers that unpack.
    let mut writer = build::writer(&index, 1, memory).map_err(refused(folder))?;
    let sum = UnorderedSum::default();
    fill(&|name, words| {
        sum.add(&pieces(name, words));
        let mut document = TantivyDocument::default();
        document.add_text(id, name);
        document.add_text(text, words);
        writer.add_document(document).map(drop).map_err(refused(folder))
    })?;
    let (texts, repeats) = merged(&index, &mut writer).map_err(refused(folder))?;
    for repeat in repeats {
        texts.check_same(repeat, &sum)?;
    }
    let metadata = StoreMetadata {
        clariq_index_format: build::FORMAT,
        text_store_format: FORMAT,
        source: source.clone(),
        checksum: sum.checksum(),
    };
    let finished = commit(&mut writer, &metadata).and_then(|()| writer.wait_merging_threads());
    finished.map_err(refused(folder))
}

/// Merges the added texts into one segment, and opens it as [`StoredTexts::open`] does.
fn merged(index: &Index, writer: &mut IndexWriter) -> tantivy::Result<(StoredTexts, Vec<u32>)> {
    writer.commit()?;
    if index.searchable_segment_ids()?.is_empty() {
        return Err(invalid("no texts"));
    }
    merge(index, writer)?;
    StoredTexts::open(index)
}
