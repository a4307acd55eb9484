//! Cutting documents into parts, which are read by [`documents`](crate::documents).

use super::folder::Folder;
use crate::DataDir;
use crate::documents::{LIST, List, Part, Passage, for_each_passage, of_list, part_name};
use clariq_core::{Error, bail};
use clariq_files::{Source, Staged};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::{panic, thread};

/// So many ids say where to cut; an even number.
const SAMPLE: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// Lines that wait to be written.
const WAITING: usize = 256;

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
    let text = serde_json::to_string_pretty(&List::new(parts));
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
    use crate::documents::{read_all, read_bank};
    use clariq_core::Doc;
    use clariq_core::Documents;
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
            let whole = read_bank(&[Source::new(&file)], &|_| true, true).unwrap();
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
