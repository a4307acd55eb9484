//! Documents in parts: folders with a range of the ids each, which can be indexed by themselves, on
//! any machine, and are searched together.

use super::{Passage, for_each_passage};
use crate::DataDir;
use crate::own::folder::Folder;
use clariq_core::{Checksum, Doc, Documents, Error, Location, Problem, bail, problem, sha256};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source, Staged};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::{panic, thread};

/// Lists the files of documents of the parts, by ascending ids.
pub(crate) const LIST: &str = "parts.json";

const FORM: u32 = 1;

/// So many ids say where to cut; an even number.
const SAMPLE: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// Lines that wait to be written.
const WAITING: usize = 256;

const HINT: &str = "`clariq data shard --parts` cuts the documents again";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    clariq_parts: u32,
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    file: PathBuf,
    sha256: String,
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

/// Cuts the documents of a file or a data folder into at most `count` parts of about the same
/// number of documents, in `folder`: a folder each, and the list of all, which takes its place last.
/// What is written depends on nothing but the files. Returns the files of the parts with the number
/// of their documents.
///
/// # Errors
///
/// A document that cannot be read, and what the disk refuses.
pub fn cut_documents(
    path: &Path,
    count: usize,
    folder: &Path,
) -> Result<Vec<(PathBuf, usize)>, Error> {
    let files = match Folder::of(&DataDir::Folder(path.to_owned())) {
        Some(folder) if path.is_dir() => folder.documents()?,
        _ => vec![Source::new(path).repeatable()?],
    };
    let files = of_list(&files)?.unwrap_or(files);
    let firsts = first_ids(&files, count)?;
    if firsts.is_empty() {
        bail!(path, "documents", "none", "a line is a document: {{\"id\": …, \"text\": …}}");
    }
    let write = |part: usize, lines: Receiver<String>| {
        let file = Path::new(&part_name(part)).join("documents.jsonl.gz");
        let mut documents = 0;
        let staged = Staged::new(&folder.join(&file), |out| {
            lines.into_iter().try_for_each(|line| {
                documents += 1;
                writeln!(out, "{line}")
            })
        })?;
        let sha256 = staged.source().checksum()?;
        Ok((Part { file, sha256 }, (staged, documents)))
    };
    let (read, written) = thread::scope(|scope| {
        let begin = |part| {
            let (send, lines) = sync_channel(WAITING);
            (send, scope.spawn(move || write(part, lines)))
        };
        let (senders, writers): (Vec<_>, Vec<_>) = (0..firsts.len()).map(begin).unzip();
        let read = for_each(&files, |passage| {
            let part = firsts.partition_point(|first| *first <= passage.id).saturating_sub(1);
            let line = json!({ "id": passage.id, "text": passage.text }).to_string();
            // Nobody takes it where the disk refused what was before.
            match senders[part].send(line) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        drop(senders);
        let join = |writer: thread::ScopedJoinHandle<_>| {
            writer.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        };
        (read, writers.into_iter().map(join).collect::<Result<Vec<_>, Error>>())
    });
    read?;
    let (parts, staged): (Vec<Part>, Vec<_>) = written?.into_iter().unzip();
    let list = folder.join(LIST);
    let found = parts.iter().map(|part| folder.join(&part.file)).collect::<Vec<_>>();
    let text = serde_json::to_string_pretty(&List { clariq_parts: FORM, parts });
    let list = Staged::new(&list, |out| writeln!(out, "{}", text?))?;
    let (staged, documents): (Vec<_>, Vec<_>) = staged.into_iter().unzip();
    staged.into_iter().chain([list]).try_for_each(Staged::commit)?;
    Ok(found.into_iter().zip(documents).collect())
}

/// The first id of each part, by a sample of all ids: every second one, fourth, eighth and so on.
fn first_ids(files: &[Source], count: usize) -> Result<Vec<String>, Error> {
    let (mut sample, mut step, mut number) = (Vec::new(), 1_usize, 0_usize);
    for_each(files, |passage| {
        if number % step == 0 {
            if sample.len() == SAMPLE {
                let mut keep = false;
                sample.retain(|_| {
                    keep = !keep;
                    keep
                });
                step *= 2;
            }
            sample.push(passage.id);
        }
        number += 1;
        ControlFlow::Continue(())
    })?;
    sample.sort_unstable();
    sample.dedup();
    let count = count.min(sample.len());
    Ok((0..count).map(|part| sample[part * sample.len() / count].clone()).collect())
}

fn for_each(
    files: &[Source],
    mut each: impl FnMut(Passage) -> ControlFlow<()>,
) -> Result<(), Error> {
    files.iter().try_for_each(|file| for_each_passage(file, |passage| Ok(each(passage?))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ikat::passages::{read_all, read_bank};
    use proptest::prelude::*;
    use std::fs;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]

        #[test]
        fn documents_in_parts_are_those_of_their_file(
            ids in prop::collection::vec("[a-cé/:]{1,3}", 1..60),
            count in 1..9_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("all.jsonl");
            let line = |id: &String| json!({ "id": id, "text": format!("of {id}") }).to_string() + "\n";
            fs::write(&file, ids.iter().map(line).collect::<String>()).unwrap();
            let cut = cut_documents(&file, count, folder.path()).unwrap();
            let whole = read_bank(&[Source::new(&file)], &|_| true).unwrap();
            prop_assert!(cut.len() <= count);
            prop_assert_eq!(cut.iter().map(|(_, documents)| documents).sum::<usize>(), ids.len());
            let parts = read_all(&[Source::new(folder.path().join(LIST))], None).unwrap();
            prop_assert_eq!(parts.parts().len(), cut.len());
            prop_assert_eq!(parts.len(), whole.len());
            for doc in Doc::all(whole.len()) {
                let id = whole.id(doc).as_str();
                prop_assert_eq!(&*parts.id(doc), id);
                prop_assert_eq!(&*parts.text(doc).unwrap(), whole.text(doc));
                prop_assert_eq!(parts.find(id), Some(doc));
            }
            for id in ["", "a-", "zzz"] {
                prop_assert_eq!(parts.find(id), None);
            }
        }
    }
}
