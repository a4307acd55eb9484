//! Errors of pickles, as problems of the file that holds them.

use clariq_core::{Error, Location, Problem};
use clariq_files::archive::Archive;
use clariq_pickle::{PickleError, PickleErrorKind};

/// The content is a pickle, and not of the form that is wanted.
pub(crate) fn unreadable(archive: &Archive, error: PickleError) -> Error {
    let (found, form) = (error.to_string(), archive.form());
    match error.kind {
        PickleErrorKind::Io(error) => archive.broken(error),
        PickleErrorKind::Global { .. } => {
            Problem::new(Location::file(archive.name()), form.kind, "text, numbers and dictionaries only", found)
                .hint("nothing in the file was run; if you trust it, save it again from Python with plain floats")
                .into()
        }
        _ => archive.problem(form.what, found),
    }
}
