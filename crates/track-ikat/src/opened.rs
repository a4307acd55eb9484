//! The track's files, opened: the topics of all splits, and the documents that are ranked for their
//! turns.

use crate::folder::{
    check_track_files, is_of_citations, passage_files, read_topics, track_file,
    unread_passage_files,
};
use crate::splits;
use crate::topics::{IkatConversation, TopicFile};
use clariq_collections::documents::{Bank, BankRow, read_all};
use clariq_collections::{DataDir, PerSplit, Split, Task};
use clariq_core::{Doc, Documents, Error, ProblemKind, TextKeeper, problem};
use std::collections::HashSet;
use std::path::PathBuf;

/// The statements of a user, of which each conversation has its own.
pub const STATEMENTS: Task = Task::new("statements");
/// The passages, which all conversations share.
pub const PASSAGES: Task = Task::new("passages");

/// The splits of a data folder with everything that is ranked for them.
pub struct Ikat {
    pub(super) data: DataDir,
    pub(super) topics: PerSplit<Option<TopicFile>>,
    pub(super) statements: Bank,
    pub(super) passages: Box<dyn Documents>,
    /// True if they are those that the organisers' responses cite, which stand in for the collection.
    pub(super) is_substitute: bool,
    /// Files in `passages` that are not read.
    pub(super) unread: Vec<PathBuf>,
}

impl Ikat {
    /// Opens a folder: reads the topics of all splits that it has, and the passages. `keeper` stores
    /// the passages if they are too many for memory.
    pub fn open(data: DataDir, keeper: Option<&dyn TextKeeper>) -> Result<Self, Error> {
        check_track_files(&data)?;
        let topics = splits::ALL.into_iter().map(|split| {
            let is_there = track_file(&data, splits::files(split).topics).is_some();
            Ok((split, is_there.then(|| read_topics(&data, split)).transpose()?))
        });
        let topics: PerSplit<Option<TopicFile>> = topics.collect::<Result<_, Error>>()?;
        let mut rows = Vec::new();
        for (split, topics) in topics.available() {
            for IkatConversation { number, statements, .. } in &topics.conversations {
                rows.extend((1..).zip(statements).map(|(statement, text)| BankRow {
                    id: statement_id(split, number, statement).as_str().into(),
                    text: text.clone(),
                }));
            }
        }
        let statements = Bank::new(rows, "");
        let unread = unread_passage_files(&data)?;
        let files = passage_files(&data)?;
        let passages = read_all(&files, keeper)?;
        let is_substitute = !files.is_empty() && files.iter().all(is_of_citations);
        Ok(Self { data, topics, statements, passages, is_substitute, unread })
    }

    /// The topics of a split, which the folder must have.
    pub fn topics(&self, split: Split) -> Result<&TopicFile, Error> {
        match &self.topics[split] {
            Some(topics) => Ok(topics),
            // Reading the file again gives the error.
            None => {
                Err(read_topics(&self.data, split).map_or_else(|error| error, |_| changed(split)))
            }
        }
    }

    /// The documents of a task, of which there may be none.
    pub fn ranked_in(&self, task: Task) -> &dyn Documents {
        if task == STATEMENTS { &self.statements } else { &*self.passages }
    }

    /// The statements of a conversation's user in the order of their numbers, continued by those of the
    /// conversations `before`; repeated texts are left out.
    pub(super) fn statements_of<'t>(
        &self,
        split: Split,
        conversation: &'t IkatConversation,
        before: impl Iterator<Item = &'t IkatConversation>,
    ) -> Vec<Doc> {
        let mut docs = Vec::new();
        let mut texts = HashSet::new();
        for part in std::iter::once(conversation).chain(before) {
            for (number, text) in (1..).zip(&part.statements) {
                if texts.insert(text) || part.number == conversation.number {
                    docs.extend(self.statements.find(&statement_id(split, &part.number, number)));
                }
            }
        }
        docs
    }

    /// The passages with these ids; `None` if the collection has none of them.
    pub(super) fn find_passages(&self, ids: &[String]) -> Option<Vec<Doc>> {
        let mut docs: Vec<Doc> = ids.iter().filter_map(|id| self.passages.find(id)).collect();
        docs.sort_unstable();
        docs.dedup();
        (!docs.is_empty()).then_some(docs)
    }
}

pub(super) fn changed(split: Split) -> Error {
    let hint = "the folder changed while it was read: try again";
    let expected = "the topics as they were opened";
    let found = "another file";
    problem!(splits::files(split).topics, expected, found, hint)
        .kind(ProblemKind::MissingFile)
        .into()
}

/// The id of a statement as a document, `2023-test/9-1/3`: its number is only unique in its
/// conversation.
fn statement_id(split: Split, conversation: &str, number: usize) -> String {
    format!("{split}/{conversation}/{number}")
}
