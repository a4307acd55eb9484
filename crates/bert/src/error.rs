//! Refusals of libtorch.

use clariq_core::{Error, problem};

/// Names what was being done when libtorch refused.
pub(crate) fn torch(action: &'static str) -> impl Fn(tch::TchError) -> Error {
    move |source| {
        let message = source.to_string();
        // libtorch appends a trace of its own functions to the first line.
        let first = message.lines().next().unwrap_or_default();
        problem!(
            "libtorch",
            action,
            first,
            "`clariq doctor` shows what was found; fewer tokens per batch need less memory"
        )
        .into()
    }
}
