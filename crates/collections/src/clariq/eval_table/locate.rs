//! The location of an evaluation table.

use crate::clariq::collection::DataDir;
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::Source;

/// The file of the table `stem` in a data folder, or its pieces; `None` where it has neither.
pub fn locate(data: &DataDir, stem: &str) -> Option<Vec<Source>> {
    let packed = format!("{stem}.pkl.tar.gz");
    if let Some(source) = data.file(&format!("{stem}.pkl")).or_else(|| data.file(&packed)) {
        return Some(vec![source]);
    }
    // The names that the command `split` gives to pieces.
    let letters = || 'a'..='z';
    let suffixes =
        letters().flat_map(|first| letters().map(move |second| format!("{first}{second}")));
    let pieces: Vec<Source> =
        suffixes.map_while(|suffix| data.file(&format!("{packed}.{suffix}"))).collect();
    (!pieces.is_empty()).then_some(pieces)
}

pub(super) fn missing(data: &DataDir, stem: &str) -> Error {
    let expected =
        format!("`{stem}.pkl`, `.pkl.gz`, `.pkl.tar.gz`, or its pieces `.pkl.tar.gz.aa`, `.ab`, …");
    Problem::new(
        Location::file(data.to_string()),
        ProblemKind::MissingFile,
        expected,
        "none of them",
    )
    .hint("`clariq data fetch` downloads the released tables; not every split has one")
    .into()
}
