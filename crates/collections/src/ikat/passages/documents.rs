//! The passages of files as documents, in memory or kept on the disk.

use super::{Passage, for_each_passage};
use crate::{Bank, BankRow};
use clariq_core::{Checksum, Documents, Error, Location, ProblemKind, TextKeeper, bail, sha256};
use clariq_files::Source;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// All passages of files, in memory or kept by `keeper`.
pub(crate) fn read_all(
    files: &[Source],
    keeper: Option<&dyn TextKeeper>,
) -> Result<Box<dyn Documents>, Error> {
    let Some(keeper) = keeper.filter(|keeper| keeper.takes(size(files))) else {
        return Ok(Box::new(read_bank(files, &|_| true)?));
    };
    let sums: Vec<String> = files.par_iter().map(Source::checksum).collect::<Result<_, _>>()?;
    let source: Checksum = sha256(sums.iter().map(String::as_bytes));
    let kept = keeper.keep(&source, &|add| {
        let read = |file| {
            for_each_passage(file, |passage| {
                let passage = passage?;
                add(&passage.id, &passage.text).map(ControlFlow::Continue)
            })
        };
        // The error of the first file that has one, whichever thread is faster.
        files.par_iter().find_map_first(|file| read(file).err()).map_or(Ok(()), Err)
    });
    kept.map_err(|error| match error {
        // Read once more for the line with the second text.
        Error::Problem(problem) if problem.kind == ProblemKind::Contradiction => {
            let again = read_bank(files, &|id| id == problem.found);
            again.err().unwrap_or(Error::Problem(problem))
        }
        error => error,
    })
}

/// All documents of files as [`read_all`] reads them. In memory, each id may be there once.
pub(crate) fn read_unique(
    files: &[Source],
    keeper: Option<&dyn TextKeeper>,
) -> Result<Box<dyn Documents>, Error> {
    if keeper.is_some_and(|keeper| keeper.takes(size(files))) {
        return read_all(files, keeper);
    }
    let mut all = Vec::new();
    for (number, file) in files.iter().enumerate() {
        for_each_passage(file, |passage| {
            let Passage { id, text, line } = passage?;
            all.push((BankRow { id: id.as_str().into(), text }, number, line));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    // Stable: the second of two equal ids is the one that is refused.
    all.sort_by(|(a, ..), (b, ..)| a.id.cmp(&b.id));
    if let Some([(first, file, line), (_, again, at)]) =
        all.windows(2).find(|pair| pair[0].0.id == pair[1].0.id)
    {
        let first_at = Location::line(files[*file].name(), *line);
        let found = format!("`{}`, which is at {first_at} already", first.id);
        let hint = "remove one of the two, or give it an id of its own";
        bail!((&*files[*again].name(), *at), "an id that no other document has", found, hint);
    }
    Ok(Box::new(Bank::new(all.into_iter().map(|(row, ..)| row).collect(), "")))
}

/// Bytes of files as they are on the disk, packed or not.
fn size(files: &[Source]) -> u64 {
    let size = |file: &Source| match file {
        Source::Path(path) => std::fs::metadata(path).map_or(0, |found| found.len()),
        _ => 0,
    };
    files.iter().map(size).sum()
}

/// The passages of files whose ids `keep` wants, each once: files may share some.
pub(crate) fn read_bank(files: &[Source], keep: &dyn Fn(&str) -> bool) -> Result<Bank, Error> {
    let mut rows: HashMap<String, BankRow> = HashMap::new();
    for file in files {
        for_each_passage(file, |passage| {
            let passage = passage?;
            if !keep(&passage.id) {
                return Ok(ControlFlow::Continue(()));
            }
            let row = || BankRow { id: passage.id.as_str().into(), text: passage.text.clone() };
            let known = rows.entry(passage.id.clone()).or_insert_with(row);
            if known.text != passage.text {
                let found = format!("`{}` with another text", passage.id);
                let hint =
                    "the files are of different collections: keep them in folders of their own";
                bail!((&*file.name(), passage.line), "every passage with one text", found, hint);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(Bank::new(rows.into_values().collect(), ""))
}
