//! Topics: conversations, the statements of their users, and the organisers' labels.

mod read;

use clariq_collections::ResponseLimit;
use clariq_core::{Error, RequestId};
use clariq_files::{FileContent, MOST_OF_A_TABLE, Sink, Source, read_strictly};
use std::fmt;

/// A year of the track. The year decides the form of topics and runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Year {
    /// 2023: numbers such as `9-1`, statements by number.
    #[default]
    Y2023,
    /// 2024: whole numbers for conversations; runs name statements only by number.
    Y2024,
    /// 2025: lists of statements, other names for fields; runs are JSON lines.
    Y2025,
}

impl Year {
    /// True if runs have the form of 2025: JSON lines, which name statements by their text and list
    /// the passages of a turn as references. False if they are one JSON object.
    pub(crate) fn has_line_runs(self) -> bool {
        match self {
            Self::Y2023 | Self::Y2024 => false,
            Self::Y2025 => true,
        }
    }

    /// The limit on the responses to a turn: 250 tokens each or, in 2025, all together.
    pub(crate) fn response_limit(self) -> ResponseLimit {
        let together = match self {
            Self::Y2023 | Self::Y2024 => false,
            Self::Y2025 => true,
        };
        ResponseLimit { tokens: 250, together }
    }

    /// True if the conversations `3-1` and `3-2` are of one user.
    fn numbers_users(self) -> bool {
        match self {
            Self::Y2023 | Self::Y2024 => false,
            Self::Y2025 => true,
        }
    }
}

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Y2023 => "2023",
            Self::Y2024 => "2024",
            Self::Y2025 => "2025",
        })
    }
}

/// A file of topics, in file order.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicFile {
    /// The file, for messages.
    pub name: String,
    /// The year whose form the file has, 2023 if it has no conversation.
    pub year: Year,
    pub conversations: Vec<IkatConversation>,
}

/// One conversation of a user and a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IkatConversation {
    /// Its name: `9-1` (topic and persona), in 2024 a number, `0`.
    pub number: String,
    /// The organisers' title. No system may use it.
    pub title: String,
    /// The user's statements. Statement *n* of the files is at *n* − 1.
    pub statements: Vec<String>,
    /// The user's turns, in order.
    pub turns: Vec<IkatTurn>,
}

/// An utterance of the user, the response to it, and the labels if they were released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IkatTurn {
    /// The id in runs and labels: `9-1_3`.
    pub id: RequestId,
    /// Its number in the conversation, from 1.
    pub number: u32,
    /// The user's utterance.
    pub utterance: String,
    /// The utterance, rewritten by hand so that it can be understood alone; empty in one released turn.
    pub resolved: String,
    /// The organisers' response.
    pub response: String,
    /// The numbers (from 1) of the relevant statements; `None` if labels were not released.
    pub relevant_statements: Option<Vec<u32>>,
    /// The passages that the response was written from, `clueweb22-…:3`; `None` if labels were not
    /// released.
    pub citations: Option<Vec<String>>,
    /// The organisers' ranking of passages for systems that only respond, as in the example of the
    /// guidelines of 2024.
    pub sample_ranking: Option<Vec<String>>,
}

impl IkatTurn {
    /// The resolved utterance, or the utterance itself if there is none.
    pub fn resolved_or_raw(&self) -> &str {
        if self.resolved.trim().is_empty() { &self.utterance } else { &self.resolved }
    }
}

impl TopicFile {
    /// Reads a file of topics of any year; the first error is returned, warnings are ignored.
    pub fn read(source: &Source) -> Result<Self, Error> {
        read_strictly(source, MOST_OF_A_TABLE, Self::parse)
    }

    /// Reads topics leniently: every problem goes to `sink`. A conversation with an error is left out;
    /// a problem that changes no figure is a warning.
    pub fn parse(input: &FileContent, sink: Sink) -> Self {
        read::topics(input, sink)
    }

    /// All turns with their conversations, in file order.
    pub fn turns(&self) -> impl Iterator<Item = (&IkatConversation, &IkatTurn)> {
        self.conversations.iter().flat_map(|conversation| {
            conversation.turns.iter().map(move |turn| (conversation, turn))
        })
    }

    /// The conversation with this number.
    pub fn conversation(&self, number: &str) -> Option<&IkatConversation> {
        self.conversations.iter().find(|conversation| conversation.number == number)
    }

    /// The conversations that the same user had before this one. In 2025, `3-1` and `3-2` are of one
    /// user; in the other years, no two conversations are.
    pub fn before<'t>(
        &'t self,
        number: &'t str,
    ) -> impl Iterator<Item = &'t IkatConversation> + Clone {
        let user_of = |number: &'t str| number.rsplit_once('-').map(|(user, _)| user);
        let user = user_of(number).filter(|_| self.year.numbers_users());
        let before = self.conversations.iter().take_while(move |other| other.number != number);
        before.filter(move |other| user.is_some() && user_of(&other.number) == user)
    }

    /// The turn with this id, and its conversation.
    pub fn turn(&self, id: &str) -> Option<(&IkatConversation, &IkatTurn)> {
        let (number, _) = id.rsplit_once('_')?;
        let conversation = self.conversation(number)?;
        let turn = conversation.turns.iter().find(|turn| turn.id.as_str() == id)?;
        Some((conversation, turn))
    }
}
