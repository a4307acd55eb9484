//! Errors of index folders.

use clariq_core::{Error, Problem, ProblemKind, problem};
use std::path::Path;

/// An index whose files are missing or changed.
pub(crate) fn damaged(folder: &Path, found: impl Into<String>) -> Error {
    let folder_shown = folder.display();
    let problem = Problem::at(folder, "the files as `clariq index build` wrote them", found)
        .hint(format!("`clariq index build --force --index {folder_shown}` builds it again"));
    problem.kind(ProblemKind::Damaged).into()
}

/// Names the folder where tantivy refused.
pub(crate) fn tantivy(folder: &Path) -> impl Fn(tantivy::TantivyError) -> Error {
    move |error| {
        let (found, folder_shown) = (error.to_string(), folder.display());
        problem!(
            folder,
            "an index folder with space, whose files nobody else changes meanwhile",
            found,
            "`clariq index build --force --index {folder_shown}` builds it again"
        )
        .into()
    }
}
