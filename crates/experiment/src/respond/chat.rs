//! Responses that a chat model writes from passages, and the passages that they cite.

use super::{Material, shares};
use crate::plan::{AnswerPlan, ResponseRule};
use crate::ranker::{RankedPart, Ranker};
use clariq_collections::WrittenResponse;
use clariq_core::{ChatRequest, Completion, Doc, Documents, Observer, Result};
use clariq_rank::{Chat, ChatDefaults, Conversation};
use clariq_text::{sentences, tokens};
use serde::Serialize;
use std::num::NonZeroU32;

/// A response of 250 tokens has about 330 tokens of a language model, and citations.
pub(crate) const ANSWER: ChatDefaults = ChatDefaults {
    prompt: "answer",
    variables: &["passages", "words"],
    max_tokens: NonZeroU32::new(500).unwrap(),
};

/// The variables of the prompt of an answer.
#[derive(Serialize)]
struct AnswerValues<'m> {
    #[serde(flatten)]
    conversation: Conversation<'m>,
    passages: Vec<String>,
    words: usize,
}

impl Ranker<'_> {
    /// The responses to the requests of some materials: each is written from passages of its own.
    pub(super) fn chat_responses(
        &self,
        plan: &AnswerPlan,
        chat: &Chat,
        rule: &ResponseRule,
        materials: &[Material],
        answering: &[usize],
    ) -> Result<Vec<Vec<WrittenResponse>>> {
        let context = self.context(RankedPart::Documents)?;
        let mut asked = Vec::new();
        for &index in answering {
            let Material { request, passages } = materials[index];
            for passages in shares(plan, rule, passages) {
                asked.push(ask(chat, rule, context.documents, &Material { request, passages })?);
            }
        }
        let mut completions = chat.complete(context, &asked, &|_| {})?.into_iter();
        let mut repairs = Repairs::default();
        let mut all = Vec::with_capacity(answering.len());
        for &index in answering {
            let mut responses = Vec::new();
            for passages in shares(plan, rule, materials[index].passages) {
                let Some(completion) = completions.next() else { break };
                let given: Vec<Doc> = passages.iter().map(|hit| hit.doc).collect();
                responses.push(read_answer(&completion, &given, rule.tokens, &mut repairs));
            }
            all.push(responses);
        }
        repairs.report(context.observer);
        Ok(all)
    }
}

/// The request for a response from the passages of `material`.
fn ask(
    chat: &Chat,
    rule: &ResponseRule,
    documents: &dyn Documents,
    material: &Material,
) -> Result<ChatRequest> {
    let mut passages = Vec::with_capacity(material.passages.len());
    for hit in material.passages {
        passages.push(one_line(&documents.text(hit.doc)?));
    }
    let conversation = Conversation::of(material.request);
    // A word has a token or more, as spaCy counts them.
    let words = rule.tokens * 4 / 5;
    let about = format!("response to request {}", material.request.id);
    chat.request(about, &AnswerValues { conversation, passages, words })
}

/// Counts what was changed in responses.
#[derive(Debug, Default, PartialEq, Eq)]
struct Repairs {
    responses: usize,
    /// Responses that were longer than the limit.
    cut: usize,
    /// Responses without a citation.
    uncited: usize,
    /// Citations of passages that were not given.
    unknown: usize,
}

impl Repairs {
    fn report(&self, observer: &dyn Observer) {
        let Self { responses, cut, uncited, unknown } = self;
        if cut + uncited + unknown > 0 {
            observer.note(&format!(
                "note: of {responses} written responses, {cut} were cut at the limit and {uncited} \
                 cite no passage; {unknown} citations of passages that were not given are left out"
            ));
        }
    }
}

/// The response in a completion: its text without citations, and the passages that it cites.
fn read_answer(
    completion: &Completion,
    given: &[Doc],
    most_tokens: usize,
    repairs: &mut Repairs,
) -> WrittenResponse {
    let (mut text, citations) = without_citations(&completion.text);
    repairs.responses += 1;
    if tokens::count(&text) > most_tokens {
        text = cut(&text, most_tokens);
        repairs.cut += 1;
    }
    let mut used = Vec::new();
    for (number, at) in citations {
        if at > text.len() {
            continue;
        }
        match number.checked_sub(1).and_then(|index| given.get(index)) {
            Some(doc) if !used.contains(doc) => used.push(*doc),
            Some(_) => {}
            None => repairs.unknown += 1,
        }
    }
    repairs.uncited += usize::from(used.is_empty());
    WrittenResponse { text, used }
}

/// The first sentences of a text that fit, or else its first tokens.
fn cut(text: &str, most_tokens: usize) -> String {
    let mut end = 0;
    let mut start = 0;
    for sentence in sentences::split(text) {
        start += text[start..].find(sentence).unwrap_or_default() + sentence.len();
        if tokens::count(&text[..start]) > most_tokens {
            break;
        }
        end = start;
    }
    if end == 0 {
        tokens::first(text, most_tokens).to_owned()
    } else {
        text[..end].trim_end().to_owned()
    }
}

/// A text on one line without marks such as `[2]` and `[1, 3]`, and their numbers, each with its place
/// in the text.
fn without_citations(text: &str) -> (String, Vec<(usize, usize)>) {
    let line = one_line(text);
    let mut clean = String::with_capacity(line.len());
    let mut citations = Vec::new();
    let mut rest = line.as_str();
    while let Some(open) = rest.find('[') {
        let inner = &rest[open + 1..];
        let numbers =
            inner.split_once(']').and_then(|(inner, after)| Some((numbers(inner)?, after)));
        let Some((numbers, after)) = numbers else {
            clean.push_str(&rest[..=open]);
            rest = inner;
            continue;
        };
        clean.push_str(rest[..open].trim_end());
        citations.extend(numbers.into_iter().map(|number| (number, clean.len())));
        rest = after;
    }
    clean.push_str(rest);
    let leading = clean.len() - clean.trim_start().len();
    for (_, at) in &mut citations {
        *at = at.saturating_sub(leading);
    }
    (clean.trim().to_owned(), citations)
}

/// The numbers between brackets; `None` if there is anything else.
fn numbers(inner: &str) -> Option<Vec<usize>> {
    inner.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// The text with single blanks in the place of white space: spaCy counts more of it as tokens.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, tokens: usize) -> (WrittenResponse, Repairs) {
        let completion = Completion { text: text.to_owned(), ..Completion::default() };
        let mut repairs = Repairs::default();
        let response = read_answer(&completion, &[Doc(7), Doc(5), Doc(9)], tokens, &mut repairs);
        (response, repairs)
    }

    #[test]
    fn citations_become_passages() {
        let text = "Bees fly [2].\nThey sting [1, 2] [9]. An array [i] is none. [3]";
        let (response, repairs) = read(text, 250);
        assert_eq!(response.text, "Bees fly. They sting. An array [i] is none.");
        assert_eq!(response.used, [Doc(5), Doc(7), Doc(9)]);
        assert_eq!(repairs, Repairs { responses: 1, unknown: 1, ..Repairs::default() });
        let (response, repairs) = read("[0] No [", 250);
        assert_eq!((response.text.as_str(), response.used.len()), ("No [", 0));
        assert_eq!((repairs.uncited, repairs.unknown), (1, 1));
    }

    #[test]
    fn a_long_response_ends_with_its_last_sentence_that_fits() {
        let (response, repairs) = read("Bees fly. [1] They sting a lot. [2]", 6);
        assert_eq!(response.text, "Bees fly.");
        assert_eq!(response.used, [Doc(7)], "what cites the other is not there any more");
        assert_eq!(repairs.cut, 1);
        let (response, _) = read("One two three four five [3]", 3);
        assert_eq!(response.text, "One two three");
        assert!(response.used.is_empty());
    }
}
