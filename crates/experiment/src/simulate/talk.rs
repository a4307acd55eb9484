//! What was said: the conversations of a run, as its requests and answers tell it. The journal of an
//! interrupted run is replayed through the same functions.

use super::client::{Heard, as_text, read};
use clariq_core::{Speaker, Utterance as Said};
use serde::Deserialize;
use serde_json::Value;

/// What the server says: everything said in a conversation so far, the user's words last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Utterance {
    pub(super) topic: String,
    /// Who talks: of some topics there are conversations with several users.
    user: String,
    pub(super) history: Vec<Said>,
    /// Whether this is a goodbye.
    pub(super) ends_topic: bool,
    pub(super) ends_run: bool,
    statements: Option<Vec<String>>,
}

/// The parts of an answer that are looked at; any others may be there.
#[derive(Deserialize)]
struct Fields {
    topic_id: Value,
    user_id: Option<Value>,
    history: Vec<Message>,
    last_response_of_session: Option<bool>,
    last_response_of_run: Option<bool>,
    user_meta: Option<Meta>,
}

#[derive(Deserialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
enum Message {
    User(String),
    Assistant(String),
}

#[derive(Deserialize)]
struct Meta {
    ptkb: Option<Vec<String>>,
}

impl Utterance {
    fn read(text: &str) -> Result<Self, String> {
        let fields = read(text).and_then(|body| {
            serde_json::from_value::<Fields>(body).map_err(|error| error.to_string())
        })?;
        if fields.history.is_empty() {
            return Err("a history without a message".to_owned());
        }
        let history = fields.history.into_iter().map(|message| match message {
            Message::User(text) => Said::user(text),
            Message::Assistant(text) => Said::system(text),
        });
        let is_id = |id: &Value| id.is_string() || id.is_i64();
        let id = |id: &Value| is_id(id).then(|| as_text(id)).ok_or_else(|| format!("the id {id}"));
        let ends_run = fields.last_response_of_run.unwrap_or_default();
        Ok(Self {
            topic: id(&fields.topic_id)?,
            user: fields.user_id.as_ref().map(id).transpose()?.unwrap_or_default(),
            history: history.collect(),
            ends_topic: ends_run || fields.last_response_of_session.unwrap_or_default(),
            ends_run,
            statements: fields.user_meta.and_then(|meta| meta.ptkb),
        })
    }

    fn is_of(&self, other: &Self) -> bool {
        (&self.topic, &self.user) == (&other.topic, &other.user)
    }

    /// Whether the user has spoken once since.
    fn continues(&self, other: &Self) -> bool {
        let new = self.history.strip_prefix(&*other.history).unwrap_or_default();
        new.iter().filter(|said| said.speaker == Speaker::User).count() == 1
    }
}

/// A conversation about one topic.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) topic: String,
    pub(super) user: String,
    /// What the server told of the user.
    pub(super) statements: Option<Vec<String>>,
    pub(super) turns: Vec<Turn>,
}

/// What the user said, and the request with the response to it.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) utterance: String,
    pub(super) response: Option<Value>,
    /// Whether the user failed to react at first. The dump then lacks the user's words.
    pub(super) failed: bool,
}

/// What an answer means.
#[derive(Debug)]
pub(super) enum Meaning {
    /// The request was taken, and the user waits for the next one.
    Taken,
    /// The request was not taken: all is as before it.
    Before,
    /// The response was stored, and then the simulated user failed: sending again is the only way on.
    Failed,
    /// The request was refused, and nothing changed.
    Refused(u16, String),
    /// The server failed, or nobody knows what it did: its status, if it gave one, and why.
    Broken(Option<u16>, String),
}

/// Everything said in a run.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) sessions: Vec<Session>,
    /// What the server said last.
    pub(super) known: Option<Utterance>,
    /// The last response, as long as nobody knows whether it was taken.
    pub(super) pending: Option<Value>,
    /// Requests to begin the run that were not refused.
    pub(super) starts: u32,
    pub(super) is_over: bool,
    /// The request whose answer comes next in a journal.
    sent: String,
}

impl Talk {
    /// Notes an entry of a journal.
    pub(super) fn replay(&mut self, entry: &Value) {
        if let Some(path) = entry["request"].as_str() {
            self.send(path, &entry["body"]);
        } else if let Some(status) = entry["answer"].as_u64() {
            self.hear(Ok((status as u16, as_text(&entry["body"]))));
        } else if entry["decided"] == "topic" {
            self.end_topic();
        } else if entry["decided"] == "run" {
            self.end_topic();
            self.is_over = true;
        }
    }

    /// Notes a request.
    pub(super) fn send(&mut self, path: &str, body: &Value) {
        path.clone_into(&mut self.sent);
        if path.ends_with("/start") {
            self.starts += 1;
        } else if path.ends_with("/continue") {
            self.pending = Some(body.clone());
        }
    }

    /// Notes what was heard of the last request, and says what it means.
    pub(super) fn hear(&mut self, heard: Heard) -> Meaning {
        let talks = ["/start", "/continue", "/session"];
        let (status, text) = match heard {
            Err(why) => return Meaning::Broken(None, why),
            Ok(answer) => answer,
        };
        if !talks.iter().any(|path| self.sent.contains(path)) || status >= 500 {
            return Meaning::Broken(Some(status), format!("status {status}"));
        }
        if status != 200 {
            if self.sent.ends_with("/start") {
                self.starts -= 1;
            } else if self.sent.ends_with("/continue") {
                self.pending = None;
            }
            return Meaning::Refused(status, text);
        }
        match Utterance::read(&text) {
            Ok(utterance) => self.understand(utterance),
            Err(found) => Meaning::Broken(None, format!("an answer that is no utterance: {found}")),
        }
    }

    fn understand(&mut self, utterance: Utterance) -> Meaning {
        if utterance.history.last().is_some_and(|last| last.speaker == Speaker::System) {
            if let Some(turn) =
                self.sessions.last_mut().and_then(|session| session.turns.last_mut())
            {
                turn.failed = true;
            }
            return Meaning::Failed;
        }
        match &self.known {
            Some(known) if utterance.is_of(known) && utterance.history == known.history => {
                return Meaning::Before;
            }
            // Whoever talked on under this name, it was not this journal. A topic that is not over
            // is followed by no other.
            Some(known)
                if !known.ends_topic
                    && (self.pending.is_none()
                        || !utterance.is_of(known)
                        || !utterance.continues(known)) =>
            {
                let found = "another history than that of the journal";
                return Meaning::Broken(None, found.to_owned());
            }
            _ => {}
        }
        self.take(utterance);
        Meaning::Taken
    }

    fn take(&mut self, utterance: Utterance) {
        let goes_on = self.known.as_ref().is_some_and(|known| !known.ends_topic);
        self.end_turn();
        if !goes_on {
            let (topic, user) = (utterance.topic.clone(), utterance.user.clone());
            self.sessions.push(Session { topic, user, statements: None, turns: Vec::new() });
        }
        let said = utterance.history.last().map_or(String::new(), |last| last.text.clone());
        if let Some(session) = self.sessions.last_mut() {
            session.statements = utterance.statements.clone().or(session.statements.take());
            session.turns.push(Turn { utterance: said, response: None, failed: false });
        }
        self.known = Some(utterance);
    }

    /// The response that is pending was taken.
    fn end_turn(&mut self) {
        let pending = self.pending.take();
        if self.known.as_ref().is_some_and(|known| !known.ends_topic)
            && let Some(turn) =
                self.sessions.last_mut().and_then(|session| session.turns.last_mut())
        {
            turn.response = pending;
        }
    }

    /// The user left without a word that was heard.
    pub(super) fn end_topic(&mut self) {
        self.end_turn();
        if let Some(known) = &mut self.known {
            known.ends_topic = true;
        }
    }
}
