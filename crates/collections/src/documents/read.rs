//! The passages of files as documents, in memory or on disk.

use super::{Bank, BankRow, DocumentForm, Passage};
use crate::CheckReport;
use clariq_core::{Checksum, Documents, Error, Location, Problem, ProblemKind, TextKeeper, bail};
use clariq_files::Source;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// All passages of files, in memory or kept by `keeper`.
pub fn read_all(
    files: &[Source],
    keeper: Option<&dyn TextKeeper>,
) -> Result<Box<dyn Documents>, Error> {
    read(files, &DocumentForm::default(), keeper, true)
}

/// The documents of a form, like [`read_all`], but a repeated id is an error if the documents are in memory.
pub(crate) fn read_unique(
    files: &[Source],
    form: &DocumentForm,
    keeper: Option<&dyn TextKeeper>,
) -> Result<Box<dyn Documents>, Error> {
    read(files, form, keeper, false)
}

/// The documents of files: in memory, or kept by `keeper` if they are too many for that.
fn read(
    files: &[Source],
    form: &DocumentForm,
    keeper: Option<&dyn TextKeeper>,
    may_share: bool,
) -> Result<Box<dyn Documents>, Error> {
    match keeper.filter(|keeper| keeper.takes(size(files))) {
        Some(keeper) => keep(files, form, keeper),
        None => Ok(Box::new(read_form(files, form, &|_| true, may_share)?)),
    }
}

/// The passages of files, kept by `keeper`.
fn keep(
    files: &[Source],
    form: &DocumentForm,
    keeper: &dyn TextKeeper,
) -> Result<Box<dyn Documents>, Error> {
    let sums: Vec<Checksum> = files.par_iter().map(Source::checksum).collect::<Result<_, _>>()?;
    let key = form.key(files);
    let pieces = sums.iter().map(|sum| sum.as_str().as_bytes());
    let source = Checksum::of_pieces(pieces.chain([key.as_bytes()]));
    let kept = keeper.keep(&source, &|add| {
        let read = |file| {
            form.for_each(file, |passage| {
                let passage = passage?;
                add(&passage.id, &passage.text).map(ControlFlow::Continue)
            })
        };
        // Return the error of the first file that has one, whichever thread is faster.
        files.par_iter().find_map_first(|file| read(file).err()).map_or(Ok(()), Err)
    });
    kept.map_err(|error| match error {
        // Read again to find the line with the second text.
        Error::Problem(problem) if problem.kind == ProblemKind::Contradiction => {
            let again = read_form(files, form, &|id| id == problem.found, true);
            again.err().unwrap_or(Error::Problem(problem))
        }
        error => error,
    })
}

/// The size of the files on disk in bytes, packed or not.
fn size(files: &[Source]) -> u64 {
    let size = |file: &Source| match file {
        Source::Path(path) => std::fs::metadata(path).map_or(0, |found| found.len()),
        _ => 0,
    };
    files.iter().map(size).sum()
}

/// Reads the documents whose ids `keep` accepts. An id may be repeated in several files with the same text.
pub fn read_bank(files: &[Source], keep: &dyn Fn(&str) -> bool) -> Result<Bank, Error> {
    read_form(files, &DocumentForm::default(), keep, true)
}

/// The most bytes of texts that are kept in memory. A small file may unpack to any number.
const MOST_IN_MEMORY: usize = 8 << 30;

#[allow(clippy::indexing_slicing, reason = "numbers of files are given here")]
fn read_form(
    files: &[Source],
    form: &DocumentForm,
    keep: &dyn Fn(&str) -> bool,
    may_share: bool,
) -> Result<Bank, Error> {
    let mut all = Vec::new();
    let mut bytes = 0;
    for (number, file) in files.iter().enumerate() {
        form.for_each(file, |passage| {
            let Passage { id, text, line } = passage?;
            if keep(&id) {
                bytes += id.len() + text.len();
                if bytes > MOST_IN_MEMORY {
                    let expected =
                        format!("at most {} GiB of documents, unpacked", MOST_IN_MEMORY >> 30);
                    let hint =
                        "unpack the files: those that are large on disk are not read into memory";
                    bail!((&*file.name(), line), expected, "more", hint);
                }
                all.push((BankRow { id: id.as_str().into(), text }, number, line));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    // Stable: the second of two equal ids is the one that is refused.
    all.sort_by(|(a, ..), (b, ..)| a.id.cmp(&b.id));
    for ((first, first_file, first_line), (again, file, line)) in all.iter().zip(all.iter().skip(1))
    {
        let at = (&*files[*file].name(), *line);
        if first.id == again.id && !may_share {
            let first_at = Location::line(files[*first_file].name(), *first_line);
            let found = format!("`{}`, which is at {first_at} already", first.id);
            let hint = "remove one of the two, or give it an id of its own";
            bail!(at, "an id that no other document has", found, hint);
        }
        if first.id == again.id && first.text != again.text {
            let found = format!("`{}` with another text", first.id);
            let hint = "the files are of different collections: keep them in folders of their own";
            bail!(at, "every passage with one text", found, hint);
        }
    }
    all.dedup_by(|(again, ..), (first, ..)| again.id == first.id);
    Ok(Bank::new(all.into_iter().map(|(row, ..)| row).collect(), ""))
}

/// Reads files of documents and reports their problems: those that `fault` finds in a document, and a
/// problem made by `repeated` for each repeated id. Returns the location of each id.
pub fn check_documents(
    files: &[Source],
    form: &DocumentForm,
    report: &mut CheckReport,
    fault: fn(&str, &Passage) -> Option<Problem>,
    repeated: fn(Location, &str, &str) -> Problem,
) -> Result<HashMap<String, String>, Error> {
    let mut seen: HashMap<String, String> = HashMap::new();
    for file in files {
        let name = file.name();
        report.files.push(name.clone());
        let CheckReport { findings, texts, .. } = report;
        let read = form.for_each(file, |passage| {
            let passage = match passage {
                Ok(passage) => passage,
                Err(Error::Problem(problem)) => {
                    findings.add(*problem);
                    return Ok(ControlFlow::Continue(()));
                }
                Err(error) => return Err(error),
            };
            if let Some(problem) = fault(&name, &passage) {
                findings.add(problem);
            }
            texts.add(&passage.text);
            let at = Location::line(&name, passage.line);
            if let Some(before) = seen.get(&passage.id) {
                findings.add(repeated(at, &passage.id, before));
            } else {
                seen.insert(passage.id, at.to_string());
            }
            Ok(ControlFlow::Continue(()))
        });
        report.note(read)?;
    }
    Ok(seen)
}
