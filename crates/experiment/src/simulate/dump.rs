//! The run that a talk becomes, and what the server's dump of it has otherwise.

use super::Conversation;
use super::talk::{Session, Turn};
use clariq_collections::ikat::Year;
use clariq_collections::ikat::run::{
    INTERACTIVE, RankedPassage, RankedStatement, Response as Submitted, Submission, SubmittedTurn,
};
use clariq_files::Source;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

impl Conversation<'_> {
    /// The run as the journal has it.
    pub(super) fn submission(&self) -> Submission {
        let mut seen = HashSet::new();
        let mut turns = Vec::new();
        for session in &self.talk.sessions {
            let Session { topic, user, .. } = session;
            // Several users may talk about one topic.
            let is_first = seen.insert(topic);
            let name = if is_first { topic.clone() } else { format!("{topic}-{user}") };
            turns.extend((1..).zip(&session.turns).map(|(number, turn)| SubmittedTurn {
                id: format!("{name}_{number}"),
                utterance: Some(turn.utterance.clone()),
                responses: turn.response.iter().map(submitted).collect(),
                ..SubmittedTurn::default()
            }));
        }
        Submission {
            year: Year::Y2025,
            run_name: self.asked.run_id.to_owned(),
            run_type: INTERACTIVE.to_owned(),
            team: self.asked.team.to_owned(),
            turns,
            ..Submission::default()
        }
    }

    /// What the server's dump has otherwise than the journal, turn by turn.
    pub(super) fn differences(&mut self, ours: &Submission) -> Vec<String> {
        if !self.asked.is_judged {
            return Vec::new();
        }
        let path = self.path_of_run("dump");
        let dumped = match self.client.get(&path) {
            Ok((200, text)) => Submission::read(&Source::memory("dump", text.into_bytes()), None),
            Ok((status, text)) => Err(self.client.refused("the dump", status, &text).into()),
            Err(error) => Err(error),
        };
        let dumped = match dumped {
            Ok(dumped) => dumped,
            Err(error) => return vec![format!("no dump to compare with: {error}")],
        };
        let mut theirs: BTreeMap<&str, Vec<&SubmittedTurn>> = BTreeMap::new();
        for turn in dumped.turns.iter().rev() {
            theirs.entry(&turn.id).or_default().push(turn);
        }
        let mut differences = Vec::new();
        let sessions = self.talk.sessions.iter();
        let turns = sessions.flat_map(|one| (1..).zip(&one.turns).map(move |turn| (one, turn)));
        for ((session, (number, turn)), our) in turns.zip(&ours.turns) {
            let id = format!("{}_{number}", session.topic);
            match theirs.get_mut(id.as_str()).and_then(Vec::pop) {
                Some(their) => differences.extend(compare(turn, our, their)),
                None if our.responses.is_empty() => {}
                None => differences.push(format!("turn {id}: not in the dump")),
            }
        }
        let unknown = theirs.values().flatten().filter(|turn| !turn.responses.is_empty());
        differences.extend(unknown.map(|turn| format!("turn {}: not in the journal", turn.id)));
        differences
    }
}

/// A request as the run has it.
fn submitted(body: &Value) -> Submitted {
    let scores = body["citations"].as_object().into_iter().flatten();
    let passages = scores.map(|(id, score)| RankedPassage {
        id: id.clone(),
        score: score.as_f64().unwrap_or_default(),
        used: true,
        ..RankedPassage::default()
    });
    let statements = body["meta"]["ptkb_provenance"].as_array().into_iter().flatten();
    let statements = statements
        .filter_map(Value::as_str)
        .map(|text| RankedStatement { text: text.to_owned(), ..RankedStatement::default() });
    Submitted {
        rank: 1,
        text: body["response"].as_str().unwrap_or_default().to_owned(),
        passages: passages.collect(),
        statements: statements.collect(),
        line: 0,
    }
}

/// The differences of a turn.
fn compare(turn: &Turn, our: &SubmittedTurn, their: &SubmittedTurn) -> Vec<String> {
    // Where a user failed, the dump has the response that was sent first in place of the question.
    let mut parts = vec![("the utterance", turn.failed || our.utterance == their.utterance)];
    let scores = |response: &Submitted| -> HashMap<String, u64> {
        let passages = response.passages.iter();
        passages.map(|passage| (passage.id.clone(), passage.score.to_bits())).collect()
    };
    let texts = |response: &Submitted| -> Vec<String> {
        response.statements.iter().map(|statement| statement.text.clone()).collect()
    };
    match (our.responses.first(), their.responses.first()) {
        (Some(our), Some(their)) => parts.extend([
            ("the response", our.text == their.text),
            ("the citations", scores(our) == scores(their)),
            ("the statements", texts(our) == texts(their)),
        ]),
        (our, their) => parts.push(("whether there is a response", our == their)),
    }
    let differing = parts.iter().filter(|(_, same)| !same);
    differing.map(|(part, _)| format!("turn {}: {part}", their.id)).collect()
}
