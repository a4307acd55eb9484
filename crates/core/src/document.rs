//! Documents by number, id and text.

use crate::checksum::Checksum;
use crate::problem::Error;
use std::borrow::Cow;

/// The number of a document. Numbers ascend with ids, so that comparing numbers is comparing ids:
/// the tie rule of every ranking ("descending id") needs no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Doc(pub u32);

impl Doc {
    /// The number as a position in a list of all documents.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The first `count` documents, in order.
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..count).map(|index| Self(index as u32))
    }
}

/// Documents that can be ranked: a question bank, a person's statements, passages.
///
/// Methods that take a [`Doc`] may panic if there is no such document.
pub trait Documents: Send + Sync {
    /// The number of documents.
    fn len(&self) -> usize;

    /// True if there are no documents.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a document.
    fn id(&self, doc: Doc) -> Cow<'_, str>;

    /// The text of a document. Reading it from disk may fail.
    fn text(&self, doc: Doc) -> Result<Cow<'_, str>, Error>;

    /// The document of that id.
    fn find(&self, id: &str) -> Option<Doc>;

    /// The document that stands for saying nothing, if the collection has one.
    fn empty_question(&self) -> Option<Doc> {
        None
    }

    /// All documents in the order in which their texts are read fastest.
    fn reading_order(&self) -> Vec<Doc> {
        Doc::all(self.len()).collect()
    }

    /// The checksum of all ids and texts.
    fn checksum(&self) -> &Checksum;
}

/// Adds an id and its text. Several threads may call it at once.
pub type AddText<'a> = &'a (dyn Fn(&str, &str) -> Result<(), Error> + Sync);

/// Stores documents on disk that do not fit into memory.
pub trait TextKeeper: Sync {
    /// True if documents in files of this size, in bytes, should be stored on disk.
    fn takes(&self, bytes: u64) -> bool;

    /// Stores the documents that `fill` adds, in any order. Documents stored earlier are reused if
    /// `source`, a checksum of the input of `fill`, is the same. The same text may be added twice
    /// under its id.
    ///
    /// # Errors
    ///
    /// Errors of `fill` and of the disk, and a second text for an id.
    fn keep(
        &self,
        source: &Checksum,
        fill: &dyn Fn(AddText) -> Result<(), Error>,
    ) -> Result<Box<dyn Documents>, Error>;
}
