//! Requests: a conversation so far, to which documents are ranked.

use crate::document::Doc;
use crate::id::RequestId;
use crate::judgements::Need;
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::Arc;

/// The speakers of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The person with an information need.
    User,
    /// The system, which answers or asks back.
    System,
}

/// An utterance of either speaker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Utterance {
    /// The speaker; consecutive utterances may have the same one.
    pub speaker: Speaker,
    /// The words; may be empty.
    pub text: String,
}

impl Utterance {
    /// An utterance of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::User, text: text.into() }
    }

    /// An utterance of the system.
    pub fn system(text: impl Into<String>) -> Self {
        Self { speaker: Speaker::System, text: text.into() }
    }
}

/// The utterances of a conversation so far, oldest first. The requests of a conversation share them:
/// [`up_to`](Self::up_to) copies nothing, and a change copies those of the one request.
///
/// ```
/// use clariq_core::{Said, Utterance};
///
/// let all = Said::from(vec![Utterance::user("tea"), Utterance::system("hot?")]);
/// let mut first = all.up_to(1);
/// first.push(Utterance::system("iced?"));
/// assert_eq!((&*all[1].text, &*first[1].text), ("hot?", "iced?"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Said {
    all: Arc<Vec<Utterance>>,
    /// The number of utterances that belong to this conversation so far.
    count: usize,
}

impl Said {
    /// The first `count` utterances.
    #[must_use]
    pub fn up_to(&self, count: usize) -> Self {
        Self { all: Arc::clone(&self.all), count: self.count.min(count) }
    }

    /// True if this begins with another part of the same conversation, without comparing texts.
    #[must_use]
    pub fn continues(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all) && self.count >= other.count
    }

    /// Adds an utterance.
    pub fn push(&mut self, utterance: Utterance) {
        self.extend([utterance]);
    }

    /// The utterances for a change, which no other conversation sees.
    fn own(&mut self) -> &mut Vec<Utterance> {
        if Arc::get_mut(&mut self.all).is_none() {
            self.all = Arc::new(self.to_vec());
        }
        let all = Arc::make_mut(&mut self.all);
        all.truncate(self.count);
        all
    }
}

impl Deref for Said {
    type Target = [Utterance];

    fn deref(&self) -> &[Utterance] {
        &self.all[..self.count]
    }
}

impl DerefMut for Said {
    fn deref_mut(&mut self) -> &mut [Utterance] {
        self.own()
    }
}

impl From<Vec<Utterance>> for Said {
    fn from(all: Vec<Utterance>) -> Self {
        Self { count: all.len(), all: Arc::new(all) }
    }
}

impl FromIterator<Utterance> for Said {
    fn from_iter<I: IntoIterator<Item = Utterance>>(utterances: I) -> Self {
        utterances.into_iter().collect::<Vec<_>>().into()
    }
}

impl Extend<Utterance> for Said {
    fn extend<I: IntoIterator<Item = Utterance>>(&mut self, utterances: I) {
        let all = self.own();
        all.extend(utterances);
        self.count = all.len();
    }
}

impl<'a> IntoIterator for &'a Said {
    type Item = &'a Utterance;
    type IntoIter = slice::Iter<'a, Utterance>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Said {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Said {}

/// A conversation so far. It contains only what a system may see: no label and no description of the
/// information need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its id in runs.
    pub id: RequestId,
    /// The utterances, oldest first. A request of a single turn has one.
    pub said: Said,
    /// The documents that can be ranked for it, in ascending order; `None` for all.
    pub candidates: Option<Vec<Doc>>,
    /// The need for clarification that a model predicted.
    pub need: Option<Need>,
    /// The statements of the user about themselves, for prompts.
    pub statements: Vec<String>,
}

/// An utterance of the system and the user's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn<'a> {
    /// The system's utterance.
    pub system: &'a str,
    /// The user's reply; empty where there was none.
    pub user: &'a str,
}

/// The first words of replies that reject the system's utterance.
const REFUSALS: [&str; 7] = ["nah", "neither", "never", "no", "none", "nope", "not"];

/// True if a reply begins with "no" or another refusal.
///
/// ```
/// use clariq_core::is_refusal;
///
/// assert!(is_refusal("No, a planet") && is_refusal("no"));
/// assert!(!is_refusal("nothing but the car") && !is_refusal("yes") && !is_refusal(""));
/// ```
pub fn is_refusal(reply: &str) -> bool {
    let first = reply.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| REFUSALS.iter().any(|refusal| word.eq_ignore_ascii_case(refusal)))
}

impl Turn<'_> {
    /// True if the user refused.
    pub fn is_refused(&self) -> bool {
        is_refusal(self.user)
    }
}

impl Request {
    /// A request of a single turn.
    pub fn new(id: impl Into<RequestId>, text: impl Into<String>) -> Self {
        let said = vec![Utterance::user(text)].into();
        Self { id: id.into(), said, candidates: None, need: None, statements: Vec::new() }
    }

    /// The text of the first utterance; empty if there is none.
    pub fn opening(&self) -> &str {
        self.said.first().map_or("", |first| &first.text)
    }

    /// The user's last utterance, or an empty text.
    pub fn last_said(&self) -> String {
        let last = self.said.iter().rev().find(|said| said.speaker == Speaker::User);
        last.map_or(String::new(), |said| said.text.clone())
    }

    /// The depth of a stage whose depth is `usual`: candidates of a request are never cut.
    pub fn depth(&self, usual: usize) -> usize {
        self.candidates.as_ref().map_or(usual, |own| usual.max(own.len()))
    }

    /// True if there is an utterance after the opening.
    pub fn has_turns(&self) -> bool {
        self.said.len() > 1
    }

    /// The turns after the opening, oldest first: each utterance of the system with the user's reply.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = Turn<'_>> {
        let later = self.said.get(1..).unwrap_or_default();
        later.chunk_by(is_reply).map(|said| match said {
            [system, user] => Turn { system: &system.text, user: &user.text },
            [one] if one.speaker == Speaker::System => Turn { system: &one.text, user: "" },
            // The user speaks again unprompted; there is no other chunk.
            [one, ..] => Turn { system: "", user: &one.text },
            [] => Turn { system: "", user: "" },
        })
    }

    /// All utterances as one text, with a blank between them.
    ///
    /// ```
    /// use clariq_core::{Request, Utterance};
    ///
    /// let mut request = Request::new("7", "Tell me about Saturn.");
    /// assert_eq!(request.flatten(), "Tell me about Saturn.");
    /// request.said.push(Utterance::system("which one"));
    /// request.said.push(Utterance::user("the car"));
    /// assert_eq!(request.flatten(), "Tell me about Saturn. which one the car");
    /// ```
    pub fn flatten(&self) -> Cow<'_, str> {
        if !self.has_turns() {
            return Cow::Borrowed(self.opening());
        }
        let texts = self.said.iter().map(|said| said.text.as_str());
        Cow::Owned(texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
    }

    /// All utterances as one text, with a blank before those of the user and nothing before those of
    /// the system.
    ///
    /// ```
    /// use clariq_core::{Request, Utterance};
    ///
    /// let mut request = Request::new("7", "Tell me about Saturn.");
    /// request.said.push(Utterance::system("which one"));
    /// request.said.push(Utterance::user("the car"));
    /// assert_eq!(request.glue(), "Tell me about Saturn.which one the car");
    /// ```
    pub fn glue(&self) -> Cow<'_, str> {
        if !self.has_turns() {
            return Cow::Borrowed(self.opening());
        }
        let mut text = self.opening().to_owned();
        for utterance in &self.said[1..] {
            if utterance.speaker == Speaker::User {
                text.push(' ');
            }
            text.push_str(&utterance.text);
        }
        Cow::Owned(text)
    }
}

fn is_reply(one: &Utterance, next: &Utterance) -> bool {
    (one.speaker, next.speaker) == (Speaker::System, Speaker::User)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(said: &[Utterance]) -> Vec<(String, String)> {
        let request = Request { said: said.to_vec().into(), ..Request::new("1", "") };
        request.turns().map(|turn| (turn.system.to_owned(), turn.user.to_owned())).collect()
    }

    #[test]
    fn requests_of_a_conversation_share_their_utterances() {
        let all =
            Said::from(vec![Utterance::user("a"), Utterance::system("b"), Utterance::user("c")]);
        let mut first = all.up_to(1);
        assert!(std::ptr::eq(&raw const first[0], &raw const all[0]) && first.len() == 1);
        first[0].text.push('!');
        assert_eq!((&*first[0].text, &*all[0].text, all.up_to(9).len()), ("a!", "a", 3));
        assert_eq!(all.up_to(2).iter().count(), (&all.up_to(2)).into_iter().count());
    }

    #[test]
    fn utterances_are_joined_with_one_blank() {
        let (user, system) = (Utterance::user, Utterance::system);
        let flat = |said: &[Utterance]| {
            Request { said: said.to_vec().into(), ..Request::new("1", "") }.flatten().into_owned()
        };
        let both = [user("tea"), system("Hot or iced?"), user("hot"), system("Now?"), system("")];
        assert_eq!(flat(&both), "tea Hot or iced? hot Now?");
        assert_eq!(flat(&[user(""), system("a"), system("b"), user("c")]), "a b c");
    }

    #[test]
    fn a_turn_is_what_the_system_said_and_the_reply_to_it() {
        let (user, system) = (Utterance::user, Utterance::system);
        let pair = |system: &str, user: &str| (system.to_owned(), user.to_owned());
        assert_eq!(turns(&[]), []);
        assert_eq!(turns(&[user("a")]), []);
        let both = [user("a"), system("b"), user("c"), system("d"), user("e")];
        assert_eq!(turns(&both), [pair("b", "c"), pair("d", "e")]);
        assert_eq!(turns(&[user("a"), system("b"), system("c")]), [pair("b", ""), pair("c", "")]);
        assert_eq!(turns(&[user("a"), user("b"), system("c")]), [pair("", "b"), pair("c", "")]);
    }
}
