//! Documents in parts: folders with a range of the ids each, which can be indexed by themselves, on
//! any machine, and are searched together.

use clariq_core::{Checksum, Doc, Documents, Error, Location, Problem, bail, problem, sha256};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Component, PathBuf};

/// Lists the files of documents of the parts, by ascending ids.
pub(crate) const LIST: &str = "parts.json";

const FORM: u32 = 1;

const HINT: &str = "`clariq data shard --parts` cuts the documents again";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    clariq_parts: u32,
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) file: PathBuf,
    pub(crate) sha256: String,
}

impl List {
    /// A list of these parts.
    pub(crate) fn new(parts: Vec<Part>) -> Self {
        Self { clariq_parts: FORM, parts }
    }
}

/// The name of the folder of a part.
pub fn part_name(part: usize) -> String {
    format!("part-{part:05}")
}

/// The files of the parts, where the files of documents are one list of them. Each must be as the
/// list says.
pub(crate) fn of_list(files: &[Source]) -> Result<Option<Vec<Source>>, Error> {
    let [Source::Path(list)] = files else { return Ok(None) };
    if list.file_name() != Some(LIST.as_ref()) {
        return Ok(None);
    }
    let text = files[0].read_at_most(MOST_OF_A_CONFIGURATION)?;
    let parsed: List = serde_json::from_slice(&text.bytes).map_err(|error| {
        let at = Location::line(text.name, error.line() as u64);
        Problem::of_serde(at, &error.to_string(), "a list of parts").hint(HINT)
    })?;
    if parsed.clariq_parts != FORM || parsed.parts.is_empty() {
        let found = format!("form {} with {} parts", parsed.clariq_parts, parsed.parts.len());
        bail!(list, "parts of form {FORM}", found, HINT);
    }
    let check = |Part { file, sha256 }: &Part| {
        if file.components().any(|part| !matches!(part, Component::Normal(_))) {
            bail!(list, "files below the list", (format!("`{}`", file.display())), HINT);
        }
        let source = Source::Path(list.with_file_name(file));
        if source.checksum()? != *sha256 {
            bail!(source.name(), "the part as it was cut", "another checksum", HINT);
        }
        Ok(source)
    };
    parsed.parts.par_iter().map(check).collect::<Result<_, Error>>().map(Some)
}

/// The documents of all parts.
pub(super) struct Parts {
    all: Vec<Box<dyn Documents>>,
    /// The number and the id of the first document of each.
    firsts: Vec<(u32, String)>,
    documents: usize,
    checksum: Checksum,
}

impl Parts {
    /// Puts the documents of parts together, whose ids must ascend; `files` are theirs.
    pub(super) fn new(parts: Vec<Box<dyn Documents>>, files: &[Source]) -> Result<Self, Error> {
        let (mut firsts, mut documents, mut last) = (Vec::new(), 0_usize, String::new());
        for (part, file) in parts.iter().zip(files) {
            let count = part.len();
            if count == 0 {
                bail!(file.name(), "a part with documents", "none", HINT);
            }
            let first = part.id(Doc(0)).into_owned();
            check_order(&file.name(), &last, &first)?;
            last = part.id(Doc(count as u32 - 1)).into_owned();
            firsts.push((documents as u32, first));
            documents += count;
        }
        if u32::try_from(documents).is_err() {
            let most = u32::MAX;
            bail!(files[0].name(), "at most {most} documents in all parts", "{documents}");
        }
        let sums = parts.iter().map(|part| part.checksum().as_str().as_bytes());
        let checksum = sha256(sums);
        Ok(Self { all: parts, firsts, documents, checksum })
    }

    /// The part of a document, and its number there.
    fn place(&self, doc: Doc) -> (&dyn Documents, Doc) {
        let part = self.firsts.partition_point(|(first, _)| *first <= doc.0) - 1;
        (&*self.all[part], Doc(doc.0 - self.firsts[part].0))
    }
}

/// Refuses a part whose first id does not come after the last one before.
pub(crate) fn check_order(file: &str, last: &str, first: &str) -> Result<(), Problem> {
    if last < first {
        return Ok(());
    }
    let expected = format!("ids behind those of the part before, up to `{last}`");
    Err(problem!(file, expected, "`{first}`", HINT))
}

impl Documents for Parts {
    fn len(&self) -> usize {
        self.documents
    }

    fn id(&self, doc: Doc) -> Cow<'_, str> {
        let (part, doc) = self.place(doc);
        part.id(doc)
    }

    fn text(&self, doc: Doc) -> Result<Cow<'_, str>, Error> {
        let (part, doc) = self.place(doc);
        part.text(doc)
    }

    fn find(&self, id: &str) -> Option<Doc> {
        let part = self.firsts.partition_point(|(_, first)| **first <= *id).checked_sub(1)?;
        self.all[part].find(id).map(|doc| Doc(doc.0 + self.firsts[part].0))
    }

    fn parts(&self) -> &[Box<dyn Documents>] {
        &self.all
    }

    /// Of the checksums of the parts, so that no text is read.
    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}
