//! Conversations with the simulated users of TREC iKAT's interactive task: a system answers what the
//! server of the task says, until it has no more topics.
//!
//! The server's history is the request. A request that continues a conversation is not idempotent:
//! whenever nobody knows whether one was taken, the server is asked for the session. Everything that
//! is sent and heard stands in a journal beside the run, from which an interrupted run continues.

mod client;
mod dump;
mod talk;
#[cfg(test)]
mod tests;

pub use client::{Client, TOKEN, Waiting};

use crate::plan::MOST_TOKENS;
use crate::record::{self, describe};
use crate::system::{Part, Query, Statements, System};
use clariq_collections::Class;
use clariq_collections::ikat::Topics;
use clariq_collections::ikat::run::put_submission;
use clariq_core::{Doc, Hit, Observer, Request, Result, bail, is_python_space, printable};
use clariq_files::{Source, Staged, refuse_input, with_ending};
use clariq_rank::Uses;
use clariq_text::tokens;
use client::Journal;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::slice;
use talk::{Meaning, Session, Talk};

/// The number of citations that are judged.
const MOST_CITATIONS: usize = 10;
/// A user who has talked for so many turns will not end.
const MOST_TURNS: usize = 200;

/// What is talked about.
pub struct Asked<'a> {
    /// Whether the run is judged, and counts against the budget of runs.
    pub is_judged: bool,
    /// The name of the run, which all teams share and nobody uses twice.
    pub run_id: &'a str,
    /// What the run is, for the organisers.
    pub description: &'a str,
    /// Files of topics with the statements of users, where the server does not tell them.
    pub topics: &'a [Source],
    /// The team of the client's token.
    pub team: &'a str,
    /// Whether a run that was interrupted continues.
    pub resume: bool,
}

impl Asked<'_> {
    /// The kind of run by its name in the addresses of the server.
    pub fn mode(&self) -> &'static str {
        if self.is_judged { "run" } else { "debug" }
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Conversations.
    pub topics: usize,
    /// Responses.
    pub turns: usize,
    /// What the server's dump has otherwise than the journal. A run that is not judged has no dump.
    pub differences: Vec<String>,
}

/// Answers the user of a conversation, who has these statements: `response`, `citations` and `meta`
/// of a request to the server.
type Respond<'r> = &'r dyn Fn(Request, Vec<String>) -> Result<Value>;

/// Talks until the server has no more topics, and writes the run to `path`, with a record beside it.
///
/// # Errors
///
/// A system that does not answer automatically, a request that the server refuses, a server that
/// does not answer; what was said until then is in the journal.
pub fn simulate(client: Client, system: &System, asked: &Asked, path: &Path) -> Result<Done> {
    check_system(system)?;
    [path.to_owned(), record::path_of(path)].iter().try_for_each(|file| refuse_input(file))?;
    let topics = asked.topics.iter().map(Topics::read).collect::<Result<Vec<_>, _>>()?;
    let files = asked.topics.iter().map(Source::checksum).collect::<Result<Vec<_>, _>>()?;
    let mut made_by = describe(system, asked.run_id)?;
    made_by["simulation"] = json!({
        "mode": asked.mode(),
        "run_id": asked.run_id,
        "description": asked.description,
        "topics_sha256": files,
    });
    let fingerprint = record::fingerprint_of(&made_by);
    let observer = system.session().observer;
    let mut conversation =
        Conversation { client, talk: Talk::default(), asked, observer, sends: 0 };
    conversation.open(&with_ending(path, ".journal"), &fingerprint)?;
    conversation.hold(&topics, &|request, statements| respond(system, request, statements))?;
    let submission = conversation.submission();
    let differences = conversation.differences(&submission);
    let answered = submission.turns.iter().filter(|turn| !turn.responses.is_empty()).count();
    let sessions = conversation.talk.sessions.len();
    made_by["simulation"]["topics"] = sessions.into();
    made_by["simulation"]["turns"] = answered.into();
    let staged = Staged::new(path, |out| put_submission(out, &submission))?;
    record::put(path, made_by, vec![("submission", path.to_owned(), staged)])?;
    Ok(Done { topics: sessions, turns: answered, differences })
}

/// What only people know of a conversation is in none that takes place.
fn check_system(system: &System) -> Result<()> {
    let loaded = &system.loaded;
    if loaded.uses.contains(&Uses::EarlierConversations) {
        let (expected, found) =
            ("a system that knows one conversation", "uses = [\"earlier-conversations\"]");
        let hint = "the server does not tell which users come again; leave it out of `uses`";
        bail!(&*loaded.file, expected, found, hint);
    }
    let class = loaded.plan.answer().map(|config| config.class);
    if class == Some(Class::Automatic) {
        return Ok(());
    }
    let found = class.map_or("one that asks or ranks", Class::name);
    let hint = "`ikat-bm25` is one; `clariq systems` lists all";
    bail!(&*loaded.file, "a system that answers, of class automatic", found, hint);
}

/// The response of a system: within the limit by a count that is never below the server's, for which
/// white space beyond a blank is a token, and with citations by score, among which are the passages
/// that it is made of.
fn respond(system: &System, request: Request, statements: Vec<String>) -> Result<Value> {
    let query = Query { request, statements: Statements::Own(statements) };
    let outcome = system.rank(slice::from_ref(&query))?.pop().unwrap_or_default();
    let answer = outcome.answer.unwrap_or_default();
    let is_used = |hit: &&Hit| answer.used.contains(&hit.doc);
    let (used, others): (Vec<&Hit>, Vec<&Hit>) = outcome.ranking.iter().partition(is_used);
    let cited: HashSet<Doc> =
        used.into_iter().chain(others).take(MOST_CITATIONS).map(|hit| hit.doc).collect();
    let best = outcome.ranking.iter().filter(|hit| cited.contains(&hit.doc));
    let best = system.list(&query, Part::Documents, &best.copied().collect::<Vec<_>>())?;
    let chosen = system.list(&query, Part::Statements, &answer.chosen)?;
    let text = squeeze(&answer.text);
    let best = best.into_iter().map(|passage| (passage.id, json!(passage.score)));
    let chosen: Vec<String> = chosen.into_iter().map(|statement| statement.text).collect();
    Ok(json!({
        "response": tokens::first(&text, MOST_TOKENS),
        "citations": best.collect::<Map<_, _>>(),
        "meta": { "ptkb_provenance": chosen },
    }))
}

/// The words of a text with one blank between them.
fn squeeze(text: &str) -> String {
    text.split(is_python_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What is done next.
enum Next {
    Start,
    /// The server is asked what it knows, because the last answer did not come. It may still be at
    /// work on the request, unless it is `known` that it has failed.
    Ask {
        known: bool,
    },
    /// The user is answered, or the next topic fetched.
    Say,
    End,
}

/// A run that takes place.
struct Conversation<'a> {
    client: Client,
    talk: Talk,
    asked: &'a Asked<'a>,
    observer: &'a dyn Observer,
    /// How often the last request was sent.
    sends: u32,
}

impl Conversation<'_> {
    /// Opens the journal; what it knows of an earlier command is where this one begins.
    fn open(&mut self, path: &Path, made_by: &str) -> Result<()> {
        let Asked { run_id, description, resume, .. } = self.asked;
        let head = json!({
            "mode": self.asked.mode(),
            "run_id": run_id,
            "description": description,
            "made_by": made_by,
        });
        let talk = &mut self.talk;
        let journal = Journal::open(path, &head, *resume, |entry| {
            talk.replay(entry);
        })?;
        self.client.journal = Some(journal);
        Ok(())
    }

    fn hold(&mut self, topics: &[Topics], respond: Respond) -> Result<()> {
        let mut next = match &self.talk {
            Talk { is_over: true, .. } => Next::End,
            Talk { starts: 0, .. } => Next::Start,
            Talk { known: Some(known), .. } if known.ends_run => Next::End,
            talk => Next::Ask { known: talk.pending.is_none() && talk.known.is_some() },
        };
        let progress = self.observer.begin("simulate", None);
        loop {
            next = match next {
                Next::Start => self.start()?,
                Next::Ask { known } => self.ask(known)?,
                Next::Say => self.say(topics, respond)?,
                Next::End => return Ok(()),
            };
            progress.advance(u64::from(matches!(next, Next::Say)));
        }
    }

    fn path(&self, name: &str) -> String {
        format!("/{}/{name}", self.asked.mode())
    }

    fn path_of_run(&self, name: &str) -> String {
        format!("{}?run_id={}", self.path(name), self.asked.run_id)
    }

    /// Sends a request of the conversation, once.
    fn exchange(&mut self, path: &str, body: Option<&Value>) -> Result<Meaning> {
        self.talk.send(path, body.unwrap_or(&Value::Null));
        let heard = self.client.exchange(path, body)?;
        let meaning = self.talk.hear(heard);
        if matches!(meaning, Meaning::Taken) {
            self.sends = 0;
        }
        Ok(meaning)
    }

    /// Counts a request that changes something, which is sent again so often and no more.
    fn count(&mut self, why: &str) -> Result<()> {
        self.sends += 1;
        if self.sends > self.client.waiting.retries + 1 {
            return Err(self.client.unanswered(why).into());
        }
        Ok(())
    }

    fn start(&mut self) -> Result<Next> {
        self.count("the run cannot be begun")?;
        let path = self.path("start");
        let Asked { run_id, description, .. } = self.asked;
        let body = json!({ "run_id": run_id, "description": description });
        match self.exchange(&path, Some(&body))? {
            Meaning::Taken => Ok(Next::Say),
            // By a request of this journal, whose answer did not come.
            Meaning::Refused(412, _) if self.talk.starts > 0 => Ok(Next::Ask { known: true }),
            Meaning::Refused(status, text) => {
                if let Some(journal) = self.client.journal.take_if(|_| self.talk.starts == 0) {
                    journal.remove()?;
                }
                let problem = self.client.refused("a run that begins", status, &text);
                let hint = match status {
                    403 => "the budget is used up, or the token is another team's",
                    412 => "the name is taken, perhaps by another team: choose another --run-id",
                    _ => return Err(problem.into()),
                };
                Err(problem.hint(hint).into())
            }
            Meaning::Broken(status, _) => Ok(Next::Ask { known: status == Some(500) }),
            Meaning::Before | Meaning::Failed => Ok(Next::Ask { known: true }),
        }
    }

    /// Asks for the session: whether the last request was taken.
    fn ask(&mut self, known: bool) -> Result<Next> {
        let path = self.path_of_run("session");
        let retries = self.client.waiting.retries;
        let mut trouble = String::new();
        for attempt in 0..=retries {
            self.client.pause(attempt);
            let is_sure = known || attempt == retries;
            match self.exchange(&path, None)? {
                Meaning::Taken => return Ok(Next::Say),
                Meaning::Before | Meaning::Failed if is_sure => return Ok(Next::Say),
                Meaning::Before | Meaning::Failed => {}
                Meaning::Refused(428, _) if !is_sure => {}
                Meaning::Refused(428, _) if self.talk.known.is_none() => return Ok(Next::Start),
                Meaning::Refused(428, _) => return self.without_session(),
                // One such answer may be a fault that passes.
                Meaning::Broken(Some(500), _) if is_sure && attempt >= retries.min(1) => {
                    return self.without_session();
                }
                Meaning::Broken(_, why) => trouble = why,
                Meaning::Refused(status, text) => {
                    return Err(self.client.refused("a session", status, &text).into());
                }
            }
        }
        Err(self.client.unanswered(&trouble).into())
    }

    /// No session is open: between two topics, before the first, or after the last. Where a
    /// goodbye did not come, the status says whether a topic follows.
    fn without_session(&mut self) -> Result<Next> {
        let goes_on = !self.asked.is_judged || self.has_open_topics()?;
        if let Some(known) = self.talk.known.as_ref().filter(|known| !known.ends_topic) {
            self.observer.note(&format!("warning: how topic {} ended was not heard", known.topic));
            self.decide(if goes_on { "topic" } else { "run" })?;
        }
        Ok(if self.talk.is_over { Next::End } else { Next::Say })
    }

    /// Notes in the journal what follows from several answers.
    fn decide(&mut self, ended: &str) -> Result<()> {
        let entry = json!({ "decided": ended });
        self.client.note(&entry)?;
        self.talk.replay(&entry);
        self.sends = 0;
        Ok(())
    }

    /// Whether topics are left that were not begun. One counts as done as soon as it begins. A
    /// server that was started again forgets a run without a response.
    fn has_open_topics(&mut self) -> Result<bool> {
        let path = self.path_of_run("status");
        let expected = "the status of the run";
        let (status, text) = self.client.get(&path)?;
        let body = match status {
            200 => client::read(&text).unwrap_or_default(),
            404 => json!({ "status": "unknown" }),
            _ => return Err(self.client.refused(expected, status, &text).into()),
        };
        let open = ["open_topics", "open_user_topic_pairs"].iter().find_map(|key| body.get(key));
        if let Some(found @ ("inactive" | "unknown")) = body["status"].as_str() {
            let problem = self.client.problem("a run that goes on", format!("status {found}"));
            let hint = "the server was started again and lost the conversation: ask the organisers; \
                        the journal has what was said";
            return Err(problem.hint(hint).into());
        }
        match open.and_then(|open| open.as_array()) {
            Some(open) => Ok(!open.is_empty()),
            None => Err(self.client.problem(expected, printable(&text, 300).into_owned()).into()),
        }
    }

    /// Answers the user, or fetches the next topic with an empty response.
    fn say(&mut self, topics: &[Topics], respond: Respond) -> Result<Next> {
        let is_question = match &self.talk.known {
            Some(known) if known.ends_run => return Ok(Next::End),
            Some(known) => !known.ends_topic,
            None => false,
        };
        let path = self.path("continue");
        let mut body = match self.talk.pending.take() {
            Some(pending) => pending,
            None if is_question => self.respond(topics, respond)?,
            None => json!({ "run_id": self.asked.run_id, "response": "" }),
        };
        self.count("the user does not react")?;
        loop {
            return match self.exchange(&path, Some(&body))? {
                Meaning::Taken => Ok(Next::Say),
                // The service may count otherwise.
                Meaning::Refused(422, text) if text.contains("too long") && shorten(&mut body) => {
                    continue;
                }
                Meaning::Refused(status, text) => self.take_refusal(is_question, status, &text),
                Meaning::Broken(status, _) => Ok(Next::Ask { known: status == Some(500) }),
                Meaning::Before | Meaning::Failed => Ok(Next::Ask { known: true }),
            };
        }
    }

    /// What follows from a refusal: no more topics, or an error.
    fn take_refusal(&mut self, of_answer: bool, status: u16, text: &str) -> Result<Next> {
        let problem = self.client.refused("a response that the server takes", status, text);
        let is_debug = !self.asked.is_judged && self.talk.known.is_some();
        match status {
            400 if !of_answer => {}
            403 | 428 if !of_answer && is_debug => {
                let why = if status == 403 { "the budget is used up" } else { "the run is gone" };
                self.observer.note(&format!("note: no more topics: {why}"));
            }
            _ => return Err(problem.into()),
        }
        self.decide("run")?;
        Ok(Next::End)
    }

    /// The request with the system's response to what the user said last.
    fn respond(&self, topics: &[Topics], respond: Respond) -> Result<Value> {
        let known = self.talk.known.as_ref().map(|known| known.history.clone());
        let Some((session, mut said)) = self.talk.sessions.last().zip(known) else {
            return Ok(Value::Null);
        };
        // The server keeps a response twice that was sent again because the user failed.
        said.dedup();
        let Session { topic, turns, .. } = session;
        if turns.len() > MOST_TURNS {
            let found = format!("more of topic {topic}");
            let problem = self.client.problem("at most 200 turns of a conversation", found);
            return Err(problem.hint("the user does not end it: ask the organisers").into());
        }
        let statements = match &session.statements {
            Some(told) => told.clone(),
            None => statements_of(topics, topic),
        };
        if statements.is_empty() && turns.len() == 1 {
            self.observer.note(&format!("warning: no statements of the user of topic {topic}"));
        }
        let statements = statements.into_iter().filter(|text| !text.trim().is_empty()).collect();
        let id = format!("{topic}_{}", turns.len());
        let mut body = respond(Request { said, ..Request::new(id.as_str(), "") }, statements)?;
        if body["response"] == "" {
            self.observer.note(&format!("warning: an empty response to turn {id}"));
        }
        body["run_id"] = self.asked.run_id.into();
        Ok(body)
    }
}

/// Cuts a tenth of the tokens off a response, if there is anything to cut.
fn shorten(body: &mut Value) -> bool {
    let text = body["response"].as_str().unwrap_or_default();
    let most = tokens::count(text) * 9 / 10;
    let shorter = tokens::first(text, most).to_owned();
    let is_shorter = !shorter.is_empty() && shorter.len() < text.len();
    body["response"] = shorter.into();
    is_shorter
}

/// The statements of the user of a topic: of `9-1`, or of `ikat2023-test-9-1` in topics of 2023.
fn statements_of(topics: &[Topics], topic: &str) -> Vec<String> {
    let number = |year| {
        let rest = topic.strip_prefix(&format!("ikat{year}-"));
        rest.and_then(|rest| Some(rest.split_once('-')?.1)).unwrap_or(topic)
    };
    let of_file =
        |topics: &Topics| Some(topics.conversation(number(topics.year))?.statements.clone());
    topics.iter().find_map(of_file).unwrap_or_default()
}
