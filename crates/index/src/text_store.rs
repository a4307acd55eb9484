//! Texts of a large collection on the disk, in tantivy's store, which is read where it lies. In
//! memory are four bytes a text.

use crate::build::{self, Failed, LEAST_MEMORY_PER_THREAD, merge};
use crate::error::damaged;
use crate::folder::{is_vacant, payload, read_checked};
use crate::make::make_folder;
use clariq_core::{Checksum, Doc, Documents, Error, Location, Problem, ProblemKind, Sha256Sum};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use tantivy::columnar::StrColumn;
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::{Field, STORED, Schema, TextOptions, Value};
use tantivy::store::StoreReader;
use tantivy::{Index, IndexWriter, SegmentReader, TantivyDocument};

const ID: &str = "id";
const TEXT: &str = "text";

/// Raised whenever what is written changes.
const FORMAT: u32 = 1;

/// Blocks of 16 KiB that are kept decoded.
const CACHED_BLOCKS: usize = 64;

/// Documents by ascending id, whose ids and texts are on the disk.
pub struct TextStore {
    folder: PathBuf,
    texts: Texts,
    checksum: Checksum,
}

/// What a store says of itself, in the payload of its last commit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    /// Its name marks a folder of this program, which may be replaced.
    clariq_index_format: u32,
    text_store_format: u32,
    /// Of what the texts were read from.
    source: Checksum,
    /// Of the ids and texts.
    checksum: Checksum,
}

impl TextStore {
    /// Opens the store in `folder` if it is whole and made of `source`, a checksum of what `fill`
    /// reads. Otherwise it is made of what `fill` adds, in any order; at most `memory` bytes are
    /// held meanwhile, and 8 for each text at the end.
    ///
    /// # Errors
    ///
    /// What `fill` returns, two texts of one id, and a folder with something else in it.
    pub fn open_or_build(
        folder: &Path,
        source: &Checksum,
        memory: usize,
        fill: &mut dyn FnMut(&mut TextWriter) -> Result<(), clariq_core::Error>,
    ) -> Result<Self, Error> {
        match Self::open(folder, source) {
            Ok(Some(store)) => return Ok(store),
            Ok(None) => {}
            Err(error) if error.kind() == Some(ProblemKind::Damaged) => {}
            Err(error) => return Err(error),
        }
        make_folder(folder, |new, folder| {
            write_store(new, source, memory, fill).map_err(|failed| failed.at(folder))
        })?;
        let built = Self::open(folder, source)?;
        built.ok_or_else(|| damaged(folder, "another program writes here at the same time"))
    }

    /// The store in the folder, if there is one of that source.
    fn open(folder: &Path, source: &Checksum) -> Result<Option<Self>, Error> {
        if is_vacant(folder)? {
            return Ok(None);
        }
        let Ok(metadata) = serde_json::from_str::<Metadata>(&payload(folder)?) else {
            return Ok(None);
        };
        if metadata.text_store_format != FORMAT || metadata.source != *source {
            return Ok(None);
        }
        let files = read_checked(folder)?;
        let broken = |error: tantivy::TantivyError| damaged(folder, error.to_string());
        let texts = Index::open(files).and_then(|index| Texts::open(&index));
        let (texts, _) = texts.map_err(broken)?;
        Ok(Some(Self { folder: folder.to_owned(), texts, checksum: metadata.checksum }))
    }

    fn refused(&self, source: io::Error) -> clariq_core::Error {
        clariq_core::Error::Io { action: "read", path: self.folder.clone(), source }
    }
}

impl Documents for TextStore {
    fn len(&self) -> usize {
        self.texts.places.len()
    }

    /// The id, or nothing where the disk refuses to read it.
    fn id(&self, doc: Doc) -> Cow<'_, str> {
        self.texts.id(doc).unwrap_or_default().into()
    }

    fn text(&self, doc: Doc) -> Result<Cow<'_, str>, clariq_core::Error> {
        self.texts.text(doc).map(Cow::Owned).map_err(|source| self.refused(source))
    }

    fn find(&self, id: &str) -> Option<Doc> {
        let ord = self.texts.ids.dictionary().term_ord(id).ok()??;
        Some(Doc(ord as u32))
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// The one segment of a store.
struct Texts {
    ids: StrColumn,
    store: StoreReader,
    text: Field,
    /// tantivy's number of each text, by ascending id.
    places: Vec<u32>,
}

/// No text yet.
const NOWHERE: u32 = u32::MAX;

impl Texts {
    /// The texts, and those of an id that another text before them has.
    fn open(index: &Index) -> tantivy::Result<(Self, Vec<u32>)> {
        let searcher = index.reader()?.searcher();
        let [segment]: &[SegmentReader] = searcher.segment_readers() else {
            let found = format!("{} segments in place of one", searcher.segment_readers().len());
            return Err(invalid(found));
        };
        let text = index.schema().get_field(TEXT)?;
        let ids = segment.fast_fields().str(ID)?.ok_or_else(|| invalid("no ids"))?;
        let store = segment.get_store_reader(CACHED_BLOCKS)?;
        let (mut places, mut again) = (vec![NOWHERE; ids.num_terms()], Vec::new());
        for document in 0..segment.max_doc() {
            let ord = ids.ords().first(document).and_then(|ord| usize::try_from(ord).ok());
            let place = ord.and_then(|ord| places.get_mut(ord));
            match place.ok_or_else(|| invalid("a text without an id"))? {
                place if *place == NOWHERE => *place = document,
                _ => again.push(document),
            }
        }
        if places.contains(&NOWHERE) {
            return Err(invalid("an id without a text"));
        }
        Ok((Self { ids, store, text, places }, again))
    }

    fn id(&self, doc: Doc) -> io::Result<String> {
        let mut id = String::new();
        self.ids.ord_to_str(doc.0.into(), &mut id)?;
        Ok(id)
    }

    fn text(&self, doc: Doc) -> io::Result<String> {
        self.stored(self.places[doc.index()])
    }

    /// The text of one of tantivy's documents.
    fn stored(&self, document: u32) -> io::Result<String> {
        let stored: TantivyDocument = self.store.get(document).map_err(io::Error::other)?;
        let text = stored.get_first(self.text).and_then(|value| value.as_str());
        text.map(str::to_owned).ok_or_else(|| io::Error::other("a document without a text"))
    }

    /// What a bank in memory of the same texts has for a checksum.
    fn checksum(&self) -> io::Result<Checksum> {
        let mut sum = Sha256Sum::default();
        let mut ids = self.ids.dictionary().stream()?;
        let mut docs = Doc::all(self.places.len());
        while let (true, Some(doc)) = (ids.advance(), docs.next()) {
            for piece in [ids.key(), b"\t", self.text(doc)?.as_bytes(), b"\n"] {
                sum.update(piece);
            }
        }
        Ok(sum.checksum())
    }

    /// Refuses another text of the same id.
    fn check_same(&self, again: u32) -> Result<(), Failed> {
        let ord = self.ids.ords().first(again).unwrap_or_default();
        let doc = Doc(ord as u32);
        let texts = (self.text(doc), self.stored(again));
        let (Ok(first), Ok(again)) = texts else {
            return Err(invalid("an unreadable text").into());
        };
        if first == again {
            return Ok(());
        }
        let id = self.id(doc).unwrap_or_default();
        let at = Location::file("the store of texts");
        let expected = "every id with one text";
        let problem = Problem::new(at, ProblemKind::Contradiction, expected, id);
        Err(clariq_core::Error::from(problem).into())
    }
}

/// Takes the texts of a store that is made.
pub struct TextWriter {
    writer: IndexWriter,
    id: Field,
    text: Field,
}

impl TextWriter {
    /// Adds a text. One that comes again with the same id must be the same, and is kept once.
    ///
    /// # Errors
    ///
    /// What the disk refuses.
    pub fn add(&mut self, id: &str, text: &str) -> Result<(), clariq_core::Error> {
        let mut document = TantivyDocument::default();
        document.add_text(self.id, id);
        document.add_text(self.text, text);
        let added = self.writer.add_document(document);
        added.map(drop).map_err(|error| clariq_core::Error::Io {
            action: "write",
            path: "the store of texts".into(),
            source: io::Error::other(error),
        })
    }
}

fn invalid(found: impl Into<String>) -> tantivy::TantivyError {
    tantivy::TantivyError::InvalidArgument(found.into())
}

fn write_store(
    folder: &Path,
    source: &Checksum,
    memory: usize,
    fill: &mut dyn FnMut(&mut TextWriter) -> Result<(), clariq_core::Error>,
) -> Result<(), Failed> {
    let mut builder = Schema::builder();
    let id = builder.add_text_field(ID, TextOptions::default().set_fast("raw"));
    let text = builder.add_text_field(TEXT, STORED);
    let index = Index::create_in_dir(folder, builder.build())?;
    let writer: IndexWriter =
        index.writer_with_num_threads(1, memory.max(LEAST_MEMORY_PER_THREAD))?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let mut writer = TextWriter { writer, id, text };
    fill(&mut writer)?;
    let mut writer = writer.writer;
    writer.commit()?;
    if index.searchable_segment_ids()?.is_empty() {
        return Err(invalid("no texts").into());
    }
    merge(&index, &mut writer)?;
    let (texts, again) = Texts::open(&index)?;
    again.into_iter().try_for_each(|again| texts.check_same(again))?;
    let checksum = texts.checksum().map_err(tantivy::TantivyError::from)?;
    let metadata = Metadata {
        clariq_index_format: build::FORMAT,
        text_store_format: FORMAT,
        source: source.clone(),
        checksum,
    };
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&serde_json::to_string(&metadata).unwrap_or_default());
    commit.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}
