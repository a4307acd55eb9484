//! What a system of a class may see of a turn.
//!
//! The rules of the track are enforced by construction: a [`View`] is made of what its class allows
//! and of nothing else, so a system that gets a view cannot read a label by mistake.

use super::topics::{Conversation, Turn, Year};
use clariq_core::TopicId;

/// The class of a system, which the track calls the type of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Sees what a user and a system have said so far, and the user's statements.
    Automatic,
    /// Sees also the resolved utterances and the relevant statements, of this turn and of earlier
    /// ones.
    Manual,
    /// Sees what an automatic system sees, and the passages to answer from.
    OnlyResponse,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::Manual, Self::OnlyResponse];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
            Self::OnlyResponse => "only-response",
        }
    }

    /// The class of this name, in any spelling of the track.
    ///
    /// ```
    /// use clariq_collections::ikat::Class;
    ///
    /// assert_eq!(Class::parse("generation-only"), Some(Class::OnlyResponse));
    /// assert_eq!(Class::parse("auto"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "automatic" => Some(Self::Automatic),
            "manual" => Some(Self::Manual),
            "only-response" | "only_response" | "generation-only" => Some(Self::OnlyResponse),
            _ => None,
        }
    }

    /// The `run_type` of a run of this class.
    ///
    /// 2023 had no class of systems that only respond: a run that answers from passages that people
    /// chose is a manual one there. The guidelines of 2025 have no manual class, but its validator
    /// accepts the name.
    pub fn run_type(self, year: Year) -> &'static str {
        match (self, year) {
            (Self::Automatic, _) => "automatic",
            (Self::Manual, _) | (Self::OnlyResponse, Year::Y2023) => "manual",
            (Self::OnlyResponse, Year::Y2024) => "only_response",
            (Self::OnlyResponse, Year::Y2025) => "generation-only",
        }
    }
}

/// A turn as a system of some class may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View<'a> {
    /// The turn to answer.
    pub turn: &'a TopicId,
    /// What the user says about themselves; statement *n* of the files is at *n* − 1.
    pub statements: &'a [String],
    /// What was said before, in order.
    pub earlier: Vec<Exchange<'a>>,
    /// What the user says now.
    pub utterance: &'a str,
    /// What only a manual system sees.
    pub manual: Option<Manual<'a>>,
    /// The passages to answer from, which only a system that answers alone sees; empty where none
    /// were released.
    pub passages: Option<&'a [String]>,
}

/// An earlier turn: what the user said and what was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange<'a> {
    /// What the user said.
    pub utterance: &'a str,
    /// The organisers' response.
    pub response: &'a str,
}

/// What people added to the turns up to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manual<'a> {
    /// The resolved utterances of all earlier turns, and this one's last.
    pub resolved: Vec<&'a str>,
    /// The numbers of the relevant statements, turn by turn; empty where none were released.
    pub relevant_statements: Vec<&'a [u32]>,
}

impl Conversation {
    /// The turn at `index` (from 0) as a system of `class` may see it.
    ///
    /// # Panics
    ///
    /// If the conversation has no such turn.
    pub fn view(&self, index: usize, class: Class) -> View<'_> {
        let turn = &self.turns[index];
        View {
            turn: &turn.id,
            statements: &self.statements,
            earlier: self.turns[..index]
                .iter()
                .map(|turn| Exchange { utterance: &turn.utterance, response: &turn.response })
                .collect(),
            utterance: &turn.utterance,
            manual: (class == Class::Manual).then(|| manual(&self.turns[..=index])),
            passages: (class == Class::OnlyResponse)
                .then(|| turn.citations.as_deref().unwrap_or_default()),
        }
    }
}

fn manual(turns: &[Turn]) -> Manual<'_> {
    Manual {
        resolved: turns.iter().map(Turn::resolved_or_raw).collect(),
        relevant_statements: turns
            .iter()
            .map(|turn| turn.relevant_statements.as_deref().unwrap_or_default())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ikat::Topics;
    use clariq_files::Source;
    use serde_json::{Value, json};

    fn topics(value: &Value) -> Topics {
        Topics::read(&Source::memory("topics.json", value.to_string().into_bytes())).unwrap()
    }

    fn conversation() -> Value {
        let turn = |number: u32| {
            json!({
                "turn_id": number,
                "utterance": format!("utterance {number}"),
                "resolved_utterance": format!("resolved {number}"),
                "response": format!("response {number}"),
                "ptkb_provenance": [number],
                "response_provenance": [format!("clueweb22-en0000-00-00000:{number}")],
            })
        };
        json!([{
            "number": "1-1",
            "title": "a title",
            "ptkb": {"1": "I like tea.", "2": "I am tall.", "3": "I have a cat."},
            "turns": [turn(1), turn(2), turn(3)],
        }])
    }

    /// Replaces everything that a system of `class` must not see at the turn at `index`.
    fn scramble(topics: &mut Value, index: usize, class: Class) {
        topics[0]["title"] = json!("scrambled");
        for (number, turn) in topics[0]["turns"].as_array_mut().unwrap().iter_mut().enumerate() {
            if class != Class::Manual || number > index {
                turn["resolved_utterance"] = json!("scrambled");
                turn["ptkb_provenance"] = json!([3, 1]);
            }
            if class != Class::OnlyResponse || number != index {
                turn["response_provenance"] = json!(["scrambled"]);
            }
            if number >= index {
                turn["response"] = json!("scrambled");
            }
            if number > index {
                turn["utterance"] = json!("scrambled");
            }
        }
    }

    #[test]
    fn scrambling_what_a_class_may_not_see_changes_nothing() {
        let plain = topics(&conversation());
        for class in Class::ALL {
            for index in 0..3 {
                let mut value = conversation();
                scramble(&mut value, index, class);
                let scrambled = topics(&value);
                assert_ne!(plain, scrambled);
                let view =
                    |topics: &Topics| format!("{:?}", topics.conversations[0].view(index, class));
                assert_eq!(view(&plain), view(&scrambled), "{class:?}, turn {index}");
                assert!(!view(&scrambled).contains("scrambled"));
            }
        }
    }

    #[test]
    fn every_class_sees_what_it_may() {
        let topics = topics(&conversation());
        let view = |class| topics.conversations[0].view(1, class);
        let automatic = view(Class::Automatic);
        assert_eq!(automatic.utterance, "utterance 2");
        assert_eq!(
            automatic.earlier,
            [Exchange { utterance: "utterance 1", response: "response 1" }]
        );
        assert_eq!((automatic.manual, automatic.passages), (None, None));
        let manual = view(Class::Manual).manual.unwrap();
        assert_eq!(manual.resolved, ["resolved 1", "resolved 2"]);
        assert_eq!(manual.relevant_statements, [[1], [2]]);
        assert_eq!(view(Class::OnlyResponse).passages.unwrap(), ["clueweb22-en0000-00-00000:2"]);
    }
}
