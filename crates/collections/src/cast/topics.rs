//! Topics of all four years in one model: conversations of turns, in order or, in 2022, as a tree.

mod read;

use clariq_core::{Error, Location, Problem, ProblemKind, TopicId, Utterance};
use clariq_files::table::{Sink, shorten, strictly};
use clariq_files::{Input, Source};
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
    /// What it is about; in 2019 alone.
    pub title: String,
    /// The same at length; in 2019 alone.
    pub description: String,
    /// The turns, each behind its parent.
    pub turns: Vec<Turn>,
    /// The line on which it begins.
    pub line: u64,
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
    /// The line on which it begins.
    pub line: u64,
}

/// Reads the resolved utterances of 2019: every problem goes to `sink`.
pub(super) fn parse_resolved(input: &Input, sink: Sink) {
    drop(read::resolved(input, sink));
}

/// Something that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said<'a> {
    /// By the user.
    User(&'a str),
    /// By the system.
    System(&'a str),
}

impl From<Said<'_>> for Utterance {
    fn from(said: Said<'_>) -> Self {
        match said {
            Said::User(text) => Self::user(text.trim()),
            Said::System(text) => Self::system(text.trim()),
        }
    }
}

impl Topics {
    /// Reads topics of any year; the first problem is the error.
    pub fn read(source: &Source) -> Result<Self, Error> {
        let input = source.read()?;
        strictly(|sink| Self::parse(&input, sink))
    }

    /// Reads what can be read: every problem goes to `sink`, and its conversation is left out.
    pub fn parse(input: &Input, sink: Sink) -> Self {
        read::topics(input, sink)
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
        let input = source.read()?;
        let resolved = strictly(|sink| read::resolved(&input, sink))?;
        let mut turns: HashMap<TopicId, &mut Turn> = self
            .conversations
            .iter_mut()
            .flat_map(|conversation| &mut conversation.turns)
            .map(|turn| (turn.id.clone(), turn))
            .collect();
        for (line, id, text) in resolved {
            let Some(turn) = turns.get_mut(id.as_str()) else {
                let at = Location::line(&input.name, line);
                let found = format!("`{}`", shorten(&id));
                let expected = format!("a turn of {}", self.name);
                let problem = Problem::new(at, ProblemKind::UnknownId, expected, found);
                return Err(problem
                    .hint("topics and resolved utterances must be of one year")
                    .into());
            };
            turn.resolved = Some(text);
        }
        Ok(())
    }
}

impl Conversation {
    /// What was said up to the turn at `index` and in it, without what was answered to it.
    ///
    /// # Panics
    ///
    /// If the conversation has no such turn.
    pub fn said(&self, index: usize) -> Vec<Said<'_>> {
        let mut path = vec![index];
        while let Some(parent) = self.turns[path[path.len() - 1]].parent {
            path.push(parent);
        }
        let mut said = Vec::with_capacity(path.len() * 2);
        for &position in path.iter().rev() {
            let turn = &self.turns[position];
            said.extend(turn.utterance.as_deref().map(Said::User));
            if position != index || turn.utterance.is_none() {
                said.extend(turn.response.as_deref().map(Said::System));
            }
        }
        said
    }
}
