//! The parts of a turn that a system of a class may see, besides the statements of the user.
//!
//! The rules of the track are enforced by construction: requests are made from the results of these
//! functions and from nothing else, so a system cannot read a label by mistake.

use super::topics::{IkatConversation, IkatTurn, Year};
use clariq_collections::{Sight, SystemClass};
use clariq_core::Utterance;

/// The `run_type` of a run of a class.
///
/// 2023 had no class of systems that only respond: a run that answers from passages that people
/// chose is a manual one there. The guidelines of 2025 have no manual class, but its validator
/// accepts the name.
pub fn run_type(class: SystemClass, year: Year) -> &'static str {
    match (class, year) {
        (SystemClass::Automatic, _) => "automatic",
        (SystemClass::Manual, _) | (SystemClass::OnlyResponse, Year::Y2023) => "manual",
        (SystemClass::OnlyResponse, Year::Y2024) => "only_response",
        (SystemClass::OnlyResponse, Year::Y2025) => "generation-only",
    }
}

impl IkatConversation {
    /// The utterances up to the user's turn at `index` (from 0), as a system with this sight sees them:
    /// a manual one sees resolved utterances and, if the sight has them, the relevant statements.
    pub fn utterances(&self, index: usize, sight: impl Into<Sight>) -> Vec<Utterance> {
        let mut utterances = self.all_utterances(sight.into());
        utterances.truncate(2 * index + 1);
        utterances
    }

    /// All utterances, as a system with this sight sees them in a later conversation.
    pub(super) fn all_utterances(&self, sight: Sight) -> Vec<Utterance> {
        let mut utterances = Vec::with_capacity(2 * self.turns.len());
        for turn in &self.turns {
            let is_manual = sight.class == SystemClass::Manual;
            let utterance = if is_manual { turn.resolved_or_raw() } else { &turn.utterance };
            let mut text = utterance.to_owned();
            if is_manual && sight.relevant_statements {
                for statement in self.relevant_statements(turn) {
                    text.push(' ');
                    text.push_str(statement);
                }
            }
            utterances.push(Utterance::user(text));
            utterances.push(Utterance::system(turn.response.as_str()));
        }
        utterances
    }

    /// The statements that the labels call relevant to a turn.
    fn relevant_statements<'s>(&'s self, turn: &'s IkatTurn) -> impl Iterator<Item = &'s String> {
        let numbers = turn.relevant_statements.iter().flatten();
        numbers.filter_map(|&number| self.statements.get((number as usize).checked_sub(1)?))
    }

    /// The passages to answer the turn at `index` from, for systems that only respond: the organisers'
    /// ranking, or else the cited passages; empty if none were released.
    pub fn given_passages(&self, index: usize, class: SystemClass) -> Option<&[String]> {
        if class != SystemClass::OnlyResponse {
            return None;
        }
        let turn = self.turns.get(index)?;
        let passages = turn.sample_ranking.as_deref().or(turn.citations.as_deref());
        Some(passages.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TopicFile;
    use clariq_files::Source;
    use serde_json::{Value, json};

    fn topics(value: &Value) -> TopicFile {
        TopicFile::read(&Source::memory("topics.json", value.to_string().into_bytes())).unwrap()
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
    fn scramble(topics: &mut Value, index: usize, class: SystemClass) {
        topics[0]["title"] = json!("scrambled");
        for (number, turn) in topics[0]["turns"].as_array_mut().unwrap().iter_mut().enumerate() {
            if class != SystemClass::Manual || number > index {
                turn["resolved_utterance"] = json!("scrambled");
                turn["ptkb_provenance"] = json!([3, 1]);
            }
            if class != SystemClass::OnlyResponse || number != index {
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
    fn scrambling_the_parts_that_a_class_may_not_see_changes_nothing() {
        let plain = topics(&conversation());
        for class in SystemClass::ALL {
            for index in 0..3 {
                let mut value = conversation();
                scramble(&mut value, index, class);
                let scrambled = topics(&value);
                assert_ne!(plain, scrambled);
                let view = |topics: &TopicFile| {
                    let conversation = &topics.conversations[0];
                    let given = conversation.given_passages(index, class);
                    format!("{:?} {given:?}", conversation.utterances(index, class))
                };
                assert_eq!(view(&plain), view(&scrambled), "{class:?}, turn {index}");
                assert!(!view(&scrambled).contains("scrambled"));
            }
        }
    }

    #[test]
    fn systems_that_only_respond_see_the_sample_rankings_of_2024() {
        let topics = topics(&json!([{
            "number": "1-1",
            "title": "a title",
            "ptkb": {"1": "I like tea.", "2": "I am tall."},
            "turns": [{
                "turn_id": "1",
                "utterance": "utterance 1",
                "resolved_utterance": "resolved 1",
                "response": "response 1",
                "ptkb_provenance": ["2"],
                "response_provenance": [],
                "sample_passage_ranking": ["a:1", "a:3"],
            }],
        }]));
        assert_eq!(topics.year, Year::Y2024);
        let conversation = &topics.conversations[0];
        assert_eq!(conversation.turns[0].id.as_str(), "1-1_1");
        assert_eq!(conversation.turns[0].relevant_statements, Some(vec![2]));
        assert_eq!(
            conversation.given_passages(0, SystemClass::OnlyResponse).unwrap(),
            ["a:1", "a:3"]
        );
        assert_eq!(conversation.given_passages(0, SystemClass::Automatic), None);
    }

    #[test]
    fn every_class_sees_what_it_may() {
        let topics = topics(&conversation());
        let conversation = &topics.conversations[0];
        let utterances = |class| -> Vec<String> {
            conversation.utterances(1, class).into_iter().map(|utterance| utterance.text).collect()
        };
        let raw = ["utterance 1", "response 1", "utterance 2"];
        assert_eq!(utterances(SystemClass::Automatic), raw);
        assert_eq!(utterances(SystemClass::OnlyResponse), raw);
        assert_eq!(utterances(SystemClass::Manual), ["resolved 1", "response 1", "resolved 2"]);
        let labelled = Sight { relevant_statements: true, ..Sight::from(SystemClass::Manual) };
        let utterances: Vec<_> = conversation
            .utterances(1, labelled)
            .into_iter()
            .map(|utterance| utterance.text)
            .collect();
        // The statements of earlier turns and of this one, but not of the next.
        assert_eq!(utterances, ["resolved 1 I like tea.", "response 1", "resolved 2 I am tall."]);
        let automatic = Sight { relevant_statements: true, ..Sight::from(SystemClass::Automatic) };
        assert_eq!(
            conversation.utterances(1, automatic),
            conversation.utterances(1, SystemClass::Automatic)
        );
        let given = |class| conversation.given_passages(1, class);
        assert_eq!((given(SystemClass::Automatic), given(SystemClass::Manual)), (None, None));
        assert_eq!(given(SystemClass::OnlyResponse).unwrap(), ["clueweb22-en0000-00-00000:2"]);
    }
}
