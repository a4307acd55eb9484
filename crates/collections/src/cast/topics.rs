//! Topics of all four years in one model: conversations of turns, in order or, in 2022, as a tree.

use crate::json::{self, Node, Parsed};
use clariq_core::{Error, TopicId, Utterance, bail, problem};
use clariq_files::{Input, MOST_OF_A_TABLE, Sink, Source, read_strictly, shorten};
use std::collections::HashMap;

/// The files of topics that the track released, with the year in front.
pub(super) const FILES: [&str; 6] = [
    "2019_evaluation_topics_v1.0.json",
    "2020_manual_evaluation_topics_v1.0.json",
    "2021_manual_evaluation_topics_v1.0.json",
    "2022_automatic_evaluation_topics_tree_v1.0.json",
    "2022_evaluation_topics_flattened_duplicated_v1.0.json",
    "2022_evaluation_topics_tree_v1.0.json",
];

const FORM: &str = "topics are the JSON files that the track releases";

/// A file of topics, in file order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics {
    /// The file, for messages.
    pub name: String,
    /// All conversations. In the flattened file of 2022 every path of a tree is one, so that turns
    /// repeat.
    pub conversations: Vec<Conversation>,
}

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its number, `31`.
    pub number: String,
    /// The turns, each behind its parent.
    pub turns: Vec<Turn>,
}

/// A turn: what the user said, and in the years before 2022 what was answered. In the trees of 2022
/// the system's turns are turns of their own, without an utterance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The turn as runs call it: `31_1`, in 2022 `132_1-1`.
    pub id: TopicId,
    /// The position in the conversation of the turn that it follows, if it follows one.
    pub parent: Option<usize>,
    /// What the user said; `None` for a turn of the system.
    pub utterance: Option<String>,
    /// The utterance written by hand so that it can be understood alone.
    pub resolved: Option<String>,
    /// The same, written by a model.
    pub rewritten: Option<String>,
    /// What was answered, where the file has the text.
    pub response: Option<String>,
}

impl Topics {
    /// Reads topics of any year; the first problem is the error.
    pub fn read(source: &Source) -> Result<Self, Error> {
        read_strictly(source, MOST_OF_A_TABLE, Self::parse)
    }

    /// Reads what can be read: every problem goes to `sink`, and its conversation is left out.
    pub fn parse(input: &Input, sink: Sink) -> Self {
        let items = json::parse_list(input, "conversations", FORM, sink).unwrap_or_default();
        let conversations = items.iter().flat_map(|item| {
            conversation(item).map_err(|fault| sink(fault.in_file(&input.name, FORM)))
        });
        Self { name: input.name.clone(), conversations: conversations.collect() }
    }

    /// All turns of users with their conversations and positions in them, in file order.
    pub fn user_turns(&self) -> impl Iterator<Item = (&Conversation, usize)> {
        self.conversations.iter().flat_map(|conversation| {
            let is_user = |&index: &usize| conversation.turns[index].utterance.is_some();
            (0..conversation.turns.len()).filter(is_user).map(move |index| (conversation, index))
        })
    }

    /// Adds the resolved utterances that 2019 has in a file of its own, `<topic>_<turn>` TAB
    /// utterance. A turn without one keeps none; a line that names no turn is an error.
    pub fn add_resolved(&mut self, source: &Source) -> Result<(), Error> {
        let resolved = read_strictly(source, MOST_OF_A_TABLE, parse_resolved)?;
        let mut turns: HashMap<TopicId, &mut Turn> = self
            .conversations
            .iter_mut()
            .flat_map(|conversation| &mut conversation.turns)
            .map(|turn| (turn.id.clone(), turn))
            .collect();
        for (line, id, text) in resolved {
            let Some(turn) = turns.get_mut(id.as_str()) else {
                bail!(
                    (&*source.name(), line),
                    (format!("a turn of {}", self.name)),
                    (format!("`{}`", shorten(&id))),
                    "topics and resolved utterances must be of one year"
                );
            };
            turn.resolved = Some(text);
        }
        Ok(())
    }
}

impl Conversation {
    /// What was said up to the turn at `index` and in it, without what was answered to it.
    pub fn said(&self, index: usize) -> Vec<Utterance> {
        let mut path = vec![index];
        while let Some(parent) = self.turns[path[path.len() - 1]].parent {
            path.push(parent);
        }
        let mut said = Vec::with_capacity(path.len() * 2);
        for &position in path.iter().rev() {
            let turn = &self.turns[position];
            said.extend(turn.utterance.as_deref().map(|text| Utterance::user(text.trim())));
            if position != index || turn.utterance.is_none() {
                said.extend(turn.response.as_deref().map(|text| Utterance::system(text.trim())));
            }
        }
        said
    }
}

/// The lines `<topic>_<turn>` TAB utterance of the resolved utterances of 2019, with their numbers:
/// every problem goes to `sink`.
pub(super) fn parse_resolved(input: &Input, sink: Sink) -> Vec<(u64, String, String)> {
    let mut resolved = Vec::new();
    let fields = |_: u64, line| Ok(str::split_once(line, '\t').ok_or(line));
    json::for_each_line_as(input, fields, sink, |number, fields, sink| match fields {
        Ok((id, text)) => resolved.push((number, id.to_owned(), text.to_owned())),
        Err(line) => {
            let expected = "2 fields, `<topic>_<turn>` and an utterance, with a tab between";
            let found = format!("`{}`", shorten(line));
            sink(problem!((&*input.name, number), expected, found, FORM));
        }
    });
    resolved
}

fn conversation(node: &Node) -> Parsed<Conversation> {
    let number = node.name()?;
    let mut turns: Vec<Turn> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    let items = node.list_of("turn")?;
    node.check_turns(items)?;
    for item in items {
        let name = item.name()?;
        let turn = turn(item, TopicId::from(format!("{number}_{name}").as_str()), &positions)?;
        let found = format!("`{name}` again");
        if positions.insert(name, turns.len()).is_some() {
            let fault = item.fault("every turn of a conversation once", found);
            return Err(fault.hint("remove one of the two"));
        }
        turns.push(turn);
    }
    Ok(Conversation { number, turns })
}

fn turn(node: &Node, id: TopicId, positions: &HashMap<String, usize>) -> Parsed<Turn> {
    let text = |key| Parsed::Ok(node.optional_text(key)?.map(str::to_owned));
    let either = |key, other| match text(key)? {
        Some(text) => Ok(Some(text)),
        None => text(other),
    };
    let utterance = either("raw_utterance", "utterance")?;
    let response = either("passage", "response")?;
    if utterance.is_none() && response.is_none() {
        return Err(node.unlike("a turn with an utterance or a response"));
    }
    Ok(Turn {
        id,
        parent: parent(node, positions)?,
        utterance,
        resolved: text("manual_rewritten_utterance")?,
        rewritten: text("automatic_rewritten_utterance")?,
        response,
    })
}

/// In a tree the turn that is named; otherwise the one before. A tree is recognised by its turns'
/// participants.
fn parent(node: &Node, positions: &HashMap<String, usize>) -> Parsed<Option<usize>> {
    let Some(parent) = node.get("parent") else {
        let is_in_tree = node.get("participant").is_some();
        return Ok(if is_in_tree { None } else { positions.len().checked_sub(1) });
    };
    let position = parent.text().and_then(|name| positions.get(name).copied());
    position.map(Some).ok_or_else(|| {
        let expected = "a parent that is an earlier turn of the conversation";
        parent.unlike(expected).hint("turns follow their parents")
    })
}
