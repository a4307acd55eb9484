//! Utterances that people resolved: labels that models are trained on.

use clariq_core::{Error, Location, Problem, ProblemKind, Utterance};

/// An utterance of a user in its conversation, and the same as people wrote it so that it can be
/// understood alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedTurn {
    /// The turn, unique in its collection: `2019/31_2`.
    pub id: String,
    /// The conversation: `2019/31`.
    pub conversation: String,
    /// Everything said up to the utterance, which is the last, oldest first.
    pub said: Vec<Utterance>,
    /// The utterance, resolved.
    pub resolved: String,
}

/// The problem that a collection has no resolved utterances to train on.
pub(crate) fn no_resolved(location: String, kind: &str) -> Error {
    let expected = "a collection with resolved utterances to train on";
    Problem::new(Location::file(location), ProblemKind::Argument, expected, kind)
        .hint(
            "--data names a folder of CAsT's files, or one of iKAT's with them in `cast` below it",
        )
        .into()
}
