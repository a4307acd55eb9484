//! Answers to requests, and the form in which a collection wants them handed in.

use clariq_core::{Doc, Hit, RequestId};
use std::io::{self, Write};

/// What a system answers to one request, and what the answer rests on.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The request.
    pub request: &'a RequestId,
    /// The text.
    pub text: &'a str,
    /// The statements of the user that it takes into account, best first.
    pub statements: &'a [Hit],
    /// The passages that are handed in, best first.
    pub passages: &'a [Hit],
    /// Those of them that the text is made of.
    pub used: &'a [Doc],
}

/// Writes answers as one file, in the form of a collection.
pub trait AnswerForm: Send + Sync {
    /// Writes the answer number `index`, from 0, of the run `name`. Whatever stands before the
    /// first answer is written with it.
    fn put(&self, out: &mut dyn Write, index: u64, name: &str, answer: &Answer) -> io::Result<()>;

    /// Writes what stands behind the last answer.
    fn put_end(&self, out: &mut dyn Write) -> io::Result<()>;
}
