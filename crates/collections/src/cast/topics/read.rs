//! The forms of the four years, read into one.

use super::{Conversation, Topics, Turn};
use crate::json::{self, Node, Value};
use clariq_core::{Location, Problem, ProblemKind, TopicId};
use clariq_files::Input;
use clariq_files::table::{Sink, not_utf8, shorten};
use std::collections::HashMap;

const HINT: &str = "topics are the JSON files that the track releases";

type Fallible<T> = Result<T, Box<Problem>>;

pub(super) fn topics(input: &Input, sink: Sink) -> Topics {
    let mut topics = Topics { name: input.name.clone(), conversations: Vec::new() };
    let root = match json::parse(input) {
        Ok(root) => root,
        Err(problem) => {
            sink(*problem);
            return topics;
        }
    };
    let Some(items) = root.list() else {
        sink(root.unlike(&input.name, "a list of conversations").hint(HINT));
        return topics;
    };
    let reader = Reader { file: &input.name };
    for item in items {
        match reader.conversation(item) {
            Ok(conversation) => topics.conversations.push(conversation),
            Err(problem) => sink(*problem),
        }
    }
    topics
}

/// Lines `<topic>_<turn>` TAB utterance, with their numbers.
pub(super) fn resolved(input: &Input, sink: Sink) -> Vec<(u64, String, String)> {
    let mut resolved = Vec::new();
    for (number, line) in (1..).zip(input.bytes.split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let at = Location::line(&input.name, number);
        let Ok(line) = str::from_utf8(line) else {
            sink(not_utf8(at, "line", line));
            continue;
        };
        if let Some((id, text)) = line.split_once('\t') {
            resolved.push((number, id.to_owned(), text.to_owned()));
            continue;
        }
        let found = format!("`{}`", shorten(line));
        let expected = "2 fields, `<topic>_<turn>` and an utterance, with a tab between";
        sink(Problem::new(at, ProblemKind::FieldCount, expected, found).hint(HINT));
    }
    resolved
}

struct Reader<'a> {
    file: &'a str,
}

impl Reader<'_> {
    fn conversation(&self, node: &Node) -> Fallible<Conversation> {
        let number = self.name(node, "number")?;
        let turns = self.field(node, "turn")?;
        let items = turns.list().ok_or_else(|| Box::new(self.unlike(turns, "a list of turns")))?;
        let mut read: Vec<Turn> = Vec::with_capacity(items.len());
        let mut positions: HashMap<String, usize> = HashMap::new();
        for item in items {
            let (name, turn) = self.turn(item, &number, &positions)?;
            if positions.insert(name.clone(), read.len()).is_some() {
                let found = format!("`{name}` again");
                let kind = ProblemKind::DuplicateId;
                let problem =
                    item.problem(self.file, kind, "every turn of a conversation once", found);
                return Err(Box::new(problem.hint("remove one of the two")));
            }
            read.push(turn);
        }
        Ok(Conversation {
            number,
            title: self.text(node, "title")?.unwrap_or_default(),
            description: self.text(node, "description")?.unwrap_or_default(),
            turns: read,
            line: node.line,
        })
    }

    fn turn(
        &self,
        node: &Node,
        conversation: &str,
        positions: &HashMap<String, usize>,
    ) -> Fallible<(String, Turn)> {
        let name = self.name(node, "number")?;
        let utterance = match self.text(node, "raw_utterance")? {
            Some(utterance) => Some(utterance),
            None => self.text(node, "utterance")?,
        };
        let response = match self.text(node, "passage")? {
            Some(passage) => Some(passage),
            None => self.text(node, "response")?,
        };
        if utterance.is_none() && response.is_none() {
            return Err(Box::new(self.unlike(node, "a turn with an utterance or a response")));
        }
        let turn = Turn {
            id: TopicId::from(format!("{conversation}_{name}").as_str()),
            parent: self.parent(node, positions)?,
            utterance,
            resolved: self.text(node, "manual_rewritten_utterance")?,
            rewritten: self.text(node, "automatic_rewritten_utterance")?,
            response,
            line: node.line,
        };
        Ok((name, turn))
    }

    /// In a tree the turn that is named; otherwise the one before. A tree is told by its turns'
    /// participants.
    fn parent(&self, node: &Node, positions: &HashMap<String, usize>) -> Fallible<Option<usize>> {
        let Some(parent) = node.get("parent") else {
            let is_in_tree = node.get("participant").is_some();
            return Ok(if is_in_tree { None } else { positions.len().checked_sub(1) });
        };
        let position = parent.text().and_then(|name| positions.get(name).copied());
        position.map(Some).ok_or_else(|| {
            let expected = "a parent that is an earlier turn of the conversation";
            let problem =
                parent.problem(self.file, ProblemKind::UnknownId, expected, parent.describe());
            Box::new(problem.hint("turns follow their parents"))
        })
    }

    /// A number or a text.
    fn name(&self, node: &Node, key: &str) -> Fallible<String> {
        let value = self.field(node, key)?;
        let name = match &value.value {
            Value::Number(text) if value.integer().is_some() => (*text).to_owned(),
            Value::Text(text) => text.to_string(),
            _ => return Err(Box::new(self.unlike(value, "a number"))),
        };
        if name.is_empty() || name.contains(|c: char| c == '_' || c.is_whitespace()) {
            return Err(Box::new(self.unlike(value, "a number without blanks and without `_`")));
        }
        Ok(name)
    }

    fn text(&self, node: &Node, key: &str) -> Fallible<Option<String>> {
        let Some(value) = node.get(key) else { return Ok(None) };
        let text = value
            .text()
            .ok_or_else(|| Box::new(self.unlike(value, format!("`{key}` as a text"))))?;
        Ok(Some(text.to_owned()))
    }

    fn field<'n, 'a>(&self, node: &'n Node<'a>, key: &str) -> Fallible<&'n Node<'a>> {
        node.get(key).ok_or_else(|| Box::new(self.unlike(node, format!("a key `{key}`"))))
    }

    fn unlike(&self, node: &Node, expected: impl Into<String>) -> Problem {
        node.unlike(self.file, expected).hint(HINT)
    }
}
