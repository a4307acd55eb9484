//! Conversations: a request, the turns so far, and the next turn.
//!
//! Files have three forms, which are recognised by their content: the released dictionaries
//! `{record_id: {…}}`, plain or packed, the same records as JSON lines, and the table of conversations
//! between people. [`read_records`] reads all of them.

pub(super) mod dictionary;
mod draft;
mod human;
mod json_lines;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod synthesize;
#[cfg(test)]
mod tests;
mod write;

pub use synthesize::{ConversationShape, Synthesis, Synthesized, TurnOrder, synthesize};
pub use write::put_json_lines;

use crate::text_run::put_text_run_line;
use clariq_collections::documents::Bank;
use clariq_collections::{ConversationForm, SkippedRecords};
use clariq_core::{Doc, Error, FacetId, Location, Problem, Request, RequestId, Utterance, problem};
use clariq_files::Source;
use clariq_files::archive::{Archive, ExpectedContent};
use draft::Draft;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::ops::ControlFlow;

/// The most turns of a conversation; those of the data set have up to three.
pub const MOST_TURNS: usize = 20;

/// The form of a file of conversations, for messages.
pub(super) const FORM: ExpectedContent = ExpectedContent {
    what: "conversations",
    hint: "a file of conversations is a Python dictionary `{record_id: {\"initial_request\": …, \"conversation_context\": […], \
           \"context_id\": …}}`, the same records as JSON lines, or multi_turn_human_generated_data.tsv",
};

/// A question and the answer of the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClariqTurn {
    /// The question; empty if nothing was asked.
    pub question: String,
    pub answer: String,
}

/// A request and the turns that followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClariqConversation {
    /// `context_id`, the name in runs and evaluation tables.
    pub id: i64,
    /// The topic; empty if the file has none.
    pub topic: RequestId,
    /// The user's intended facet; empty if the file has none.
    pub facet: FacetId,
    pub request: String,
    /// The turns so far, oldest first.
    pub turns: Vec<ClariqTurn>,
}

impl ClariqConversation {
    /// True if a question was asked before; white space between words does not matter.
    pub(crate) fn has_asked(&self, question: &str) -> bool {
        let same =
            |turn: &ClariqTurn| turn.question.split_whitespace().eq(question.split_whitespace());
        self.turns.iter().any(same)
    }
}

impl From<&ClariqConversation> for Request {
    /// The conversation as systems see it.
    fn from(conversation: &ClariqConversation) -> Self {
        let id = RequestId::from(conversation.id.to_string().as_str());
        let mut request = Self::new(id, conversation.request.as_str());
        for turn in &conversation.turns {
            request.said.push(Utterance::system(turn.question.as_str()));
            request.said.push(Utterance::user(turn.answer.as_str()));
        }
        request
    }
}

/// A record of a file: a conversation, and the next turn if the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRecord {
    /// The record's own id.
    pub id: String,
    /// The conversation so far. Records that only differ in the next turn share it.
    pub conversation: ClariqConversation,
    /// The next question and its answer.
    pub next: Option<ClariqTurn>,
    /// True if an earlier record has the same context, so that only the next turn is new.
    pub again: bool,
}

/// Options for reading records.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordOptions<'a> {
    /// The questions that a conversation may hold; any, if there is no bank. The questions of the
    /// human-generated table are never looked up, because people used words of their own.
    pub bank: Option<&'a Bank>,
    /// True if bad records are counted and left out; otherwise the first one is an error.
    pub skip_bad: bool,
}

/// Reads a file of conversations in any form and calls `each` with its records in file order, until
/// it breaks.
pub fn read_records(
    source: &Source,
    reading: &RecordOptions,
    each: &mut dyn FnMut(ConversationRecord) -> ControlFlow<()>,
) -> Result<SkippedRecords, Error> {
    let archive = Archive::new(std::slice::from_ref(source), &FORM)?;
    let mut reader = RecordReader {
        texts: reading.bank.map(BankTexts::new),
        skip_bad: reading.skip_bad,
        contexts: HashMap::new(),
        is_empty: true,
        skipped: SkippedRecords::default(),
        each,
        end: None,
    };
    let head = archive.head(4096)?;
    if head.trim_ascii_start().first() == Some(&b'[') {
        let hint = "write each record on a line: `jq -c '.[]'` does so";
        return Err(problem!(archive.name(), (FORM.what), "a JSON array", hint).into());
    }
    if is_table(&head) {
        human::read(&archive, &mut reader)?;
    } else if begins_as_object(&head) {
        json_lines::read(&archive, &mut reader)?;
    } else {
        dictionary::read(&archive, &mut reader)?;
    }
    match reader.end {
        Some(EndOfReading::Bad(problem)) => Err(Error::Problem(problem)),
        None if reader.is_empty => {
            Err(problem!(archive.name(), "at least one conversation", "none", (FORM.hint)).into())
        }
        _ => Ok(reader.skipped),
    }
}

/// Conversations with questions of a bank. Their runs contain the texts of questions.
pub(crate) struct Conversations<'a>(pub(crate) &'a Bank);

impl ConversationForm for Conversations<'_> {
    /// A conversation with questions outside the bank is a bad record.
    fn read(
        &self,
        source: &Source,
        skip_bad: bool,
        send: &mut dyn FnMut(Request) -> ControlFlow<()>,
    ) -> Result<SkippedRecords, Error> {
        let reading = RecordOptions { bank: Some(self.0), skip_bad };
        read_records(source, &reading, &mut |record| {
            if record.again {
                ControlFlow::Continue(())
            } else {
                send(Request::from(&record.conversation))
            }
        })
    }

    fn put_hit(
        &self,
        out: &mut dyn Write,
        conversation: &RequestId,
        (doc, rank, score): (Doc, usize, f64),
        tag: &str,
    ) -> io::Result<()> {
        put_text_run_line(out, conversation, self.0.text(doc), rank, score, tag)
    }
}

/// The first byte of a pickle.
const PICKLE: u8 = 0x80;

fn begins_as_object(head: &[u8]) -> bool {
    head.trim_ascii_start().first() == Some(&b'{')
}

/// True if a file begins with a header of tab-separated names, or is text in UTF-16, which the reader
/// of tables refuses by name.
fn is_table(head: &[u8]) -> bool {
    if head.first() == Some(&PICKLE) {
        return false;
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return true;
    }
    // In UTF-16, every other byte of a header is a NUL.
    let head: Vec<u8> = head.iter().copied().filter(|&byte| byte != 0).collect();
    let mut lines = head.split(|byte| matches!(byte, b'\n' | b'\r'));
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    if begins_as_object(line) {
        return false;
    }
    // The reader of tables refuses other separators by name.
    let mut fields = line.split(|byte| b"\t,;".contains(byte));
    if fields.any(|field| field.trim_ascii() == b"initial_request") {
        return true;
    }
    // A comment is refused for the columns that it lacks. A dictionary whose texts look like a header
    // still has bytes that no header has.
    line.starts_with(b"#")
        || line.contains(&b'\t')
            && line.iter().all(|&byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}

/// The texts of a bank. The released conversations differ from them in white space, which is ignored.
struct BankTexts<'a> {
    exact: HashSet<&'a str>,
    words: HashSet<String>,
}

impl<'a> BankTexts<'a> {
    fn new(bank: &'a Bank) -> Self {
        let texts = || bank.rows().iter().map(|row| row.text.as_str());
        Self { exact: texts().collect(), words: texts().map(join_words).collect() }
    }

    fn has(&self, text: &str) -> bool {
        self.exact.contains(text) || self.words.contains(&join_words(text))
    }
}

/// The words of a text, with single blanks between them.
fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The reason for ending before the end of the file.
enum EndOfReading {
    /// No more records are wanted.
    Stopped,
    Bad(Box<Problem>),
}

/// Receives records and problems.
struct RecordReader<'a> {
    texts: Option<BankTexts<'a>>,
    skip_bad: bool,
    /// A hash of each context's conversation: an id may stand for one conversation only.
    contexts: HashMap<i64, u64>,
    /// True until a record is found, good or bad.
    is_empty: bool,
    skipped: SkippedRecords,
    each: &'a mut dyn FnMut(ConversationRecord) -> ControlFlow<()>,
    end: Option<EndOfReading>,
}

impl RecordReader<'_> {
    /// Checks a draft and passes the record on.
    fn finish(&mut self, draft: Draft, id: String, at: Location) -> ControlFlow<()> {
        let record = draft.finish(id, at.clone(), self.texts.as_ref());
        let record = record.and_then(|record| self.check_context(record, at));
        self.take(record)
    }

    fn check_context(
        &mut self,
        mut record: ConversationRecord,
        at: Location,
    ) -> Result<ConversationRecord, Box<Problem>> {
        let ClariqConversation { id, request, turns, .. } = &record.conversation;
        let mut hasher = DefaultHasher::new();
        (request, turns).hash(&mut hasher);
        let now = hasher.finish();
        match self.contexts.insert(*id, now) {
            before if before.is_none_or(|before| before == now) => {
                record.again = before.is_some();
                return Ok(record);
            }
            // The id stays with its first conversation.
            before => self.contexts.extend(before.map(|before| (*id, before))),
        }
        let hint = "records with one `context_id` only differ in `question` and `answer`; \
                    --skip-bad keeps the first";
        let found = "another one than in an earlier record";
        Err(Box::new(problem!(at, "one conversation with the `context_id` {id}", found, hint)))
    }

    /// Passes a record or a problem on. Breaks when no further record is wanted.
    fn take(&mut self, record: Result<ConversationRecord, Box<Problem>>) -> ControlFlow<()> {
        self.is_empty = false;
        let end = match record {
            Ok(record) => (self.each)(record).is_break().then_some(EndOfReading::Stopped),
            Err(problem) if self.skip_bad => {
                self.skipped.count += 1;
                self.skipped.first.get_or_insert(*problem);
                None
            }
            Err(problem) => Some(EndOfReading::Bad(problem)),
        };
        match end {
            None => ControlFlow::Continue(()),
            end => {
                self.end = end;
                ControlFlow::Break(())
            }
        }
    }
}
