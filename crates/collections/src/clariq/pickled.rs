//! Errors of pickles, as problems of the file that holds them.

use clariq_core::{Error, problem};
use clariq_files::archive::Archive;
use clariq_pickle::PickleError;

/// The content is a pickle, and not of the form that is wanted.
pub(crate) fn unreadable(archive: &Archive, error: PickleError) -> Error {
    let (found, form) = (error.to_string(), archive.form());
    if let Some(error) = error.source {
        return archive.broken(error);
    }
    if error.is_global {
        let hint = "nothing in the file was run; if you trust it, save it again from Python with plain floats";
        return problem!(archive.name(), "text, numbers and dictionaries only", found, hint).into();
    }
    archive.problem(form.what, found)
}
