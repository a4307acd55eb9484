//! A file of utterances that a model or people rewrote so that each can be understood alone. They
//! replace the utterances of the user, as resolved utterances do for manual systems of iKAT.

use clariq_collections::Collection;
use clariq_collections::requests::texts_in;
use clariq_core::{
    Checksum, Observer, Request, Result, Said, Speaker, Utterance, count_of, one_or,
};
use clariq_files::{MOST_OF_A_TABLE, Source};
use clariq_rank::Uses;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Rewritten utterances, each by the id of the request whose last utterance it replaces.
#[derive(Debug)]
pub struct Rewrites {
    /// The name of the file, for messages.
    name: String,
    file: RewritesFile,
    /// The author, as a system declares it.
    by: Uses,
    texts: HashMap<String, String>,
}

/// The id of the request that is some turns before another.
type TurnBefore<'a> = &'a dyn Fn(&str, usize) -> Option<String>;

/// The description of a file of rewrites in the record.
#[derive(Debug, Serialize)]
struct RewritesFile {
    file: String,
    sha256: Checksum,
}

impl Rewrites {
    /// Reads JSON lines or a table of ids and texts. `by` is [`Uses::RewritesByModel`] or
    /// [`Uses::RewritesByPeople`].
    ///
    /// # Errors
    ///
    /// A line of another form, an empty text, and a repeated id.
    pub fn read(source: &Source, by: Uses) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let sha256 = Checksum::of(&input.bytes);
        let texts = texts_in(&input)?;
        let file = input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        Ok(Self { name: input.name, file: RewritesFile { file, sha256 }, by, texts })
    }

    /// The name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the file up to its first dot, without its folder.
    pub(crate) fn stem(&self) -> &str {
        self.file.file.split('.').next().unwrap_or_default()
    }

    /// The SHA-256 of the file.
    pub(crate) fn checksum(&self) -> &Checksum {
        &self.file.sha256
    }

    /// The author, as a system declares it.
    pub(crate) fn by(&self) -> Uses {
        self.by
    }

    /// The ids of all rewrites, in no order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Describes the file in the record of a run.
    pub fn describe(&self) -> Value {
        json!(self.file)
    }

    /// True if the last utterance of a request has a rewrite.
    pub fn has(&self, request: &Request) -> bool {
        self.texts.contains_key(request.id.as_str())
    }

    /// Warns about the number of requests without a rewrite.
    pub fn report_missing(&self, missing: u64, all: u64, observer: &dyn Observer) {
        if missing > 0 {
            let name = &self.name;
            observer.note(&format!(
                "warning: {name}: {missing} of {} {} unchanged",
                count_of(all, "request"),
                one_or(missing, "has no rewrite and stays", "have no rewrite and stay")
            ));
        }
    }

    /// Replaces the utterances of the user in requests, earlier ones included. Utterances without a
    /// rewrite stay. The requests of a conversation share their rewritten utterances.
    pub(crate) fn apply(&self, collection: &dyn Collection, requests: &mut [Request]) {
        self.apply_with(&|request, back| collection.turn_before(request, back), requests);
    }

    fn apply_with(&self, turn_before: TurnBefore, requests: &mut [Request]) {
        // The conversation of the request behind, as it was and rewritten: the longest request of a
        // conversation is the last.
        let mut longest = (Said::default(), Said::default());
        for request in requests.iter_mut().rev() {
            let texts = self.texts_for(turn_before, request);
            let shared = longest.1.up_to(request.said.len());
            let is_said = |(said, (utterance, text)): (&Utterance, (&Utterance, Option<&str>))| {
                said.text == text.unwrap_or(&utterance.text)
            };
            let asked = request.said.iter().zip(texts.iter().copied());
            if longest.0.continues(&request.said) && shared.iter().zip(asked).all(is_said) {
                request.said = shared;
                continue;
            }
            let original = request.said.clone();
            for (utterance, text) in request.said.iter_mut().zip(texts) {
                if let Some(text) = text {
                    text.clone_into(&mut utterance.text);
                }
            }
            longest = (original, request.said.clone());
        }
    }

    /// The rewrites of the utterances of a request, each in its place.
    fn texts_for(&self, turn_before: TurnBefore, request: &Request) -> Vec<Option<&str>> {
        let mut texts = vec![None; request.said.len()];
        let utterances = request.said.iter().enumerate().rev();
        let of_user = utterances.filter(|(_, said)| said.speaker == Speaker::User);
        for (back, (place, _)) in of_user.enumerate() {
            let id = match back {
                0 => Some(request.id.to_string()),
                _ => turn_before(request.id.as_str(), back),
            };
            let Some(id) = id else { break };
            texts[place] = self.texts.get(&id).map(String::as_str);
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_a_conversation_share_their_rewritten_utterances() {
        let source =
            Source::memory("r.tsv", "t1\tfirst rewritten\nt3\tthird rewritten\n".as_bytes());
        let rewrites = Rewrites::read(&source, Uses::RewritesByModel).unwrap();
        let utterances = ["first", "second", "third", "fourth"].map(Utterance::user);
        let all = Said::from(utterances.to_vec());
        let request = |turn: usize| Request {
            said: all.up_to(turn),
            ..Request::new(format!("t{turn}").as_str(), "")
        };
        let before = |id: &str, back: usize| {
            Some(format!("t{}", id[1..].parse::<usize>().ok()?.checked_sub(back)?))
        };
        let texts = |request: &Request| -> Vec<String> {
            request.said.iter().map(|said| said.text.clone()).collect()
        };
        let mut together: Vec<Request> = (1..=4).map(request).collect();
        // The same conversation, for which the collection knows no earlier turns.
        together.push(Request { id: "t3".into(), ..request(3) });
        rewrites.apply_with(&before, &mut together[..4]);
        rewrites.apply_with(&|_, _| None, &mut together[4..]);
        for turn in 1..=4 {
            let mut alone = [request(turn)];
            rewrites.apply_with(&before, &mut alone);
            assert_eq!(alone[0], together[turn - 1]);
        }
        let expected = ["first rewritten", "second", "third rewritten", "fourth"];
        assert_eq!(texts(&together[3]), expected);
        assert_eq!(texts(&together[4]), ["first", "second", "third rewritten"]);
        assert!(together[3].said.continues(&together[0].said), "shared");
        assert_eq!(
            texts(&Request { said: all.clone(), ..request(1) })[0],
            "first",
            "the original stays"
        );
    }
}
