//! The three forms of topics, read into one.

use super::{Conversation, Topics, Turn, Year};
use crate::json::{self, Fault, Node, Parsed, Value};
use clariq_core::TopicId;
use clariq_files::{Input, Sink, shorten};
use std::collections::{HashMap, HashSet};

const FORM: &str =
    "topics are the JSON files that the track releases, such as 2023_test_topics.json";

/// The fields that 2025 has under another name.
const RENAMED: [(&str, &str); 4] = [
    ("turns", "responses"),
    ("utterance", "user_utterance"),
    ("ptkb_provenance", "relevant_ptkbs"),
    ("response_provenance", "citations"),
];

pub(super) fn topics(input: &Input, sink: Sink) -> Topics {
    let items = json::parse_list(input, "conversations", FORM, sink).unwrap_or_default();
    let year = items.first().map_or(Year::Y2023, year_of);
    let mut topics = Topics { name: input.name.clone(), year, conversations: Vec::new() };
    let mut seen: HashMap<String, u64> = HashMap::new();
    for item in &items {
        let mut reader = Reader { year, warnings: Vec::new() };
        let conversation = reader.conversation(item, &mut seen);
        let conversation = conversation.map_err(|fault| sink(fault.in_file(&input.name, FORM)));
        topics.conversations.extend(conversation);
        for fault in reader.warnings {
            let hint = "nothing has to be done: this changes no figure";
            sink(fault.in_file(&input.name, hint).warning());
        }
    }
    topics
}

/// The year whose form a conversation has.
fn year_of(conversation: &Node) -> Year {
    if conversation.get("responses").is_some() {
        Year::Y2025
    } else if conversation.get("number").is_some_and(|number| number.integer().is_some()) {
        Year::Y2024
    } else {
        Year::Y2023
    }
}

struct Reader {
    year: Year,
    /// What is unusual in a conversation and changes no figure.
    warnings: Vec<Fault>,
}

impl Reader {
    fn conversation(
        &mut self,
        node: &Node,
        seen: &mut HashMap<String, u64>,
    ) -> Parsed<Conversation> {
        if node.object().is_none() {
            return Err(node.unlike("a conversation as an object"));
        }
        if year_of(node) != self.year {
            let found = format!("one of {}", year_of(node));
            let expected = format!("a conversation in the form of {}, as the first one", self.year);
            let hint = "the years have different forms: keep them in files of their own";
            return Err(node.fault(expected, found).hint(hint));
        }
        let number = node.name()?;
        if let Some(first) = seen.insert(number.clone(), node.line) {
            let found = format!("`{number}`, which begins on line {first} already");
            let fault = node.fault("a number that is unique", found);
            return Err(fault.hint("remove one of the two, or give it a new number"));
        }
        let title = node.get("title").and_then(Node::text).unwrap_or_default().to_owned();
        let statements = self.statements(node.field("ptkb")?)?;
        let turns = self.turns(node, &number, &statements)?;
        Ok(Conversation { number, title, statements, turns, line: node.line })
    }

    fn statements(&mut self, node: &Node) -> Parsed<Vec<String>> {
        let statements = match &node.value {
            Value::List(items) => {
                let text = |item: &Node| Ok(item.as_text("ptkb")?.to_owned());
                items.iter().map(text).collect::<Parsed<Vec<_>>>()?
            }
            Value::Object(fields) => numbered_statements(node, fields)?,
            _ => return Err(node.unlike("statements as an object or a list")),
        };
        let mut seen = HashSet::new();
        for statement in statements.iter().filter(|statement| !seen.insert(*statement)) {
            let found = format!("`{}` again", shorten(statement));
            self.warn(node, "statements that differ", found);
        }
        Ok(statements)
    }

    fn turns(
        &mut self,
        node: &Node,
        conversation: &str,
        statements: &[String],
    ) -> Parsed<Vec<Turn>> {
        let items = node.list_of(self.key("turns"))?;
        node.check_turns(items)?;
        let mut turns: Vec<Turn> = Vec::with_capacity(items.len());
        for item in items {
            let turn = self.turn(item, conversation, statements)?;
            let last = turns.last().map_or(0, |last| last.number);
            let found = format!("{} after {last}", turn.number);
            if turn.number <= last {
                let hint = "what was said before a turn is read from the order of the turns";
                return Err(item.fault("turn numbers that rise", found).hint(hint));
            }
            if turn.number != last + 1 {
                self.warn(item, "turn numbers without gaps", found);
            }
            turns.push(turn);
        }
        Ok(turns)
    }

    fn turn(&mut self, node: &Node, conversation: &str, statements: &[String]) -> Parsed<Turn> {
        let number = node.field("turn_id")?;
        let index = number.integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
        let index = index.ok_or_else(|| number.unlike("a turn number from 1"))?;
        let id = format!("{conversation}_{index}");
        let text = |key| Parsed::Ok(node.optional_text(key)?.unwrap_or_default().to_owned());
        let utterance = node.text_of(self.key("utterance"))?.to_owned();
        let resolved = text("resolved_utterance")?;
        for (what, text) in [("an utterance", &utterance), ("a resolved utterance", &resolved)] {
            if text.trim().is_empty() {
                self.warn(node, what, format!("nothing in turn {id}"));
            }
        }
        Ok(Turn {
            id: TopicId::from(id.as_str()),
            number: index,
            utterance,
            resolved,
            response: text("response")?,
            relevant_statements: self.relevant(node, &id, statements)?,
            citations: self.citations(node, &id)?,
            line: node.line,
        })
    }

    /// Labels of statements, by number or, in 2025, by text.
    fn relevant(
        &mut self,
        node: &Node,
        turn: &str,
        statements: &[String],
    ) -> Parsed<Option<Vec<u32>>> {
        let key = self.key("ptkb_provenance");
        let Some(labels) = node.get(key) else { return Ok(None) };
        let (mut relevant, mut seen) = (Vec::new(), HashSet::new());
        // Of equal statements, the first.
        let numbers: HashMap<&str, usize> =
            statements.iter().enumerate().rev().map(|(n, text)| (&**text, n + 1)).collect();
        for item in labels.as_list(key)? {
            let number = match &item.value {
                Value::Text(text) => numbers.get(&**text).copied(),
                _ => item.integer().and_then(|n| usize::try_from(n).ok()),
            };
            let Some(number) = number.filter(|n| (1..=statements.len()).contains(n)) else {
                let expected = format!("one of the {} statements of this user", statements.len());
                let hint = "a label that names no statement counts against every system";
                return Err(item.unlike(expected).hint(hint));
            };
            if seen.insert(number) {
                relevant.push(number as u32);
            } else {
                let found = format!("statement {number} twice in turn {turn}");
                self.warn(item, "every statement once", found);
            }
        }
        Ok(Some(relevant))
    }

    fn citations(&mut self, node: &Node, turn: &str) -> Parsed<Option<Vec<String>>> {
        let key = self.key("response_provenance");
        let Some(citations) = node.get(key) else { return Ok(None) };
        let (mut passages, mut seen) = (Vec::new(), HashSet::new());
        for item in citations.as_list(key)? {
            let passage = item.as_text(key)?;
            if seen.insert(passage) {
                passages.push(passage.to_owned());
            } else {
                let found = format!("`{}` twice in turn {turn}", shorten(passage));
                self.warn(item, "every cited passage once", found);
            }
        }
        Ok(Some(passages))
    }

    /// What the year calls a field.
    fn key(&self, name: &'static str) -> &'static str {
        let renamed = RENAMED.iter().find(|(old, _)| self.year == Year::Y2025 && *old == name);
        renamed.map_or(name, |(_, new)| new)
    }

    fn warn(&mut self, node: &Node, expected: &str, found: String) {
        self.warnings.push(node.fault(expected, found));
    }
}

/// Statements by number, `"1"` to `"n"` in any order.
fn numbered_statements(node: &Node, fields: &json::Fields) -> Parsed<Vec<String>> {
    let mut statements = vec![None; fields.len()];
    for (key, value) in fields {
        let index = key.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(slot) = index.and_then(|index| statements.get_mut(index)) else {
            let expected = format!("numbers from 1 to {} for {0} statements", fields.len());
            let hint = "labels name statements by number: number them without gaps";
            return Err(value.fault(expected, format!("`{}`", shorten(key))).hint(hint));
        };
        *slot = Some(value.as_text(key)?.to_owned());
    }
    let whole: Option<Vec<String>> = statements.into_iter().collect();
    // Two spellings of one number, such as `1` and `01`, leave another one without a text.
    whole.ok_or_else(|| node.unlike("every number once, from 1"))
}
