//! Files of conversations in a collection's own form, and runs over them.

use clariq_core::{Doc, Error, Observer, Problem, Request, RequestId};
use clariq_files::Source;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Bad records that a reader skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedRecords {
    /// Their number.
    pub count: u64,
    /// The problem of the first.
    pub first: Option<Problem>,
}

impl SkippedRecords {
    /// Warns about skipped records of `file`.
    pub fn report(&self, file: &str, observer: &dyn Observer) {
        if let Some(first) = &self.first {
            let bad = self.count;
            observer.note(&format!(
                "warning: {file}: {bad} bad records are left out; the first: {first}"
            ));
        }
    }
}

/// How a collection writes conversations, and the runs over them.
pub trait ConversationForm: Send + Sync {
    /// Sends every conversation of a file once, until `send` breaks. With `skip_bad`, bad records are
    /// counted and left out; otherwise the first one is an error.
    fn read(
        &self,
        source: &Source,
        skip_bad: bool,
        send: &mut dyn FnMut(Request) -> ControlFlow<()>,
    ) -> Result<SkippedRecords, Error>;

    /// Writes a document of the ranking for a conversation, at a rank as the form counts them.
    fn put_hit(
        &self,
        out: &mut dyn Write,
        conversation: &RequestId,
        hit: (Doc, usize, f64),
        tag: &str,
    ) -> io::Result<()>;
}
