//! Responses that a chat model writes from passages, and the passages that they cite.

use super::{Material, shares};
use clariq_collections::WrittenResponse;
use clariq_core::{ChatRequest, Completion, Doc, Documents, Result};
use clariq_rank::{Chat, Context, Conversation, Tallies};
use clariq_systems::plan::{AnswerPlan, ResponseRule};
use clariq_track_ikat::{sentences, tokens};
use serde::Serialize;

/// The variables of the prompt of an answer.
#[derive(Serialize)]
struct AnswerValues<'m> {
    #[serde(flatten)]
    conversation: Conversation<'m>,
    passages: Vec<String>,
    words: usize,
}

/// The responses to the requests of some materials: each is written from passages of its own. A
/// request without any passage has an empty response, as in systems that write extracts.
pub(super) fn responses(
    context: &Context,
    plan: &AnswerPlan,
    chat: &Chat,
    rule: &ResponseRule,
    materials: &[Material],
    answering: &[usize],
) -> Result<Vec<Vec<WrittenResponse>>> {
    let mut chat_requests = Vec::new();
    for &index in answering {
        let Material { request, passages } = materials[index];
        for passages in shares(plan, rule, passages).into_iter().filter(|all| !all.is_empty()) {
            let material = Material { request, passages };
            chat_requests.push(build_request(chat, rule, context.documents, &material)?);
        }
    }
    let completions = chat.complete(context, &chat_requests)?;
    let mut answers = chat_requests.iter().zip(completions);
    let mut all = Vec::with_capacity(answering.len());
    for &index in answering {
        let mut responses = Vec::new();
        for passages in shares(plan, rule, materials[index].passages) {
            if passages.is_empty() {
                responses.push(WrittenResponse::default());
                continue;
            }
            let Some((chat_request, completion)) = answers.next() else { break };
            let docs: Vec<Doc> = passages.iter().map(|hit| hit.doc).collect();
            let (response, repairs) = read_answer(&completion, &docs, rule.tokens);
            repairs.count(&context.tallies, chat_request);
            responses.push(response);
        }
        all.push(responses);
    }
    Ok(all)
}

/// The request for a response from the passages of `material`.
fn build_request(
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
    // spaCy counts at least one token per word.
    let words = rule.tokens * 4 / 5;
    let about = format!("response to request {}", material.request.id);
    chat.request(about, &AnswerValues { conversation, passages, words })
}

/// The corrections of a response.
#[derive(Debug, Default, PartialEq, Eq)]
struct Repairs {
    /// True if it was longer than the limit.
    is_cut: bool,
    /// True if it cites no passage.
    is_uncited: bool,
    citations: usize,
    /// Citations of passages that were not given.
    unknown: usize,
}

impl Repairs {
    fn count(&self, tallies: &Tallies, chat_request: &ChatRequest) {
        let cut = "answer: {count} of {all} responses were cut at the limit";
        tallies.add(cut, &chat_request.messages, usize::from(self.is_cut), 1);
        let uncited = "answer: {count} of {all} responses cite no passage";
        tallies.add(uncited, &chat_request.messages, usize::from(self.is_uncited), 1);
        let unknown = "answer: {count} of {all} citations are of passages that were not given, and \
                       are left out";
        tallies.add(unknown, &chat_request.messages, self.unknown, self.citations);
    }
}

/// The response in a completion: its text without citations, and the passages that it cites.
fn read_answer(
    completion: &Completion,
    passages: &[Doc],
    max_tokens: usize,
) -> (WrittenResponse, Repairs) {
    let (mut text, citations) = without_citations(&completion.text);
    let mut repairs = Repairs::default();
    if tokens::count(&text) > max_tokens {
        text = cut(&text, max_tokens);
        repairs.is_cut = true;
    }
    let mut used = Vec::new();
    for (number, at) in citations {
        if at > text.len() {
            continue;
        }
        repairs.citations += 1;
        match number.checked_sub(1).and_then(|index| passages.get(index)) {
            Some(doc) if !used.contains(doc) => used.push(*doc),
            Some(_) => {}
            None => repairs.unknown += 1,
        }
    }
    repairs.is_uncited = used.is_empty();
    (WrittenResponse { text, used }, repairs)
}

/// The first sentences of a text that fit, or its first tokens if the first sentence is too long.
fn cut(text: &str, max_tokens: usize) -> String {
    let mut end = 0;
    let mut start = 0;
    for sentence in sentences::split(text) {
        start += text[start..].find(sentence).unwrap_or_default() + sentence.len();
        if tokens::count(&text[..start]) > max_tokens {
            break;
        }
        end = start;
    }
    if end == 0 {
        tokens::first(text, max_tokens).to_owned()
    } else {
        text[..end].trim_end().to_owned()
    }
}

/// A text on one line without citations such as `[2]` and `[1, 3]`, and the cited numbers, each
/// with its position in the text.
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

/// The text with white space replaced by single blanks: spaCy counts other white space as tokens.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, tokens: usize) -> (WrittenResponse, Repairs) {
        let completion = Completion { text: text.to_owned(), ..Completion::default() };
        read_answer(&completion, &[Doc(7), Doc(5), Doc(9)], tokens)
    }

    #[test]
    fn citations_become_passages() {
        let text = "Bees fly [2].\nThey sting [1, 2] [9]. An array [i] is none. [3]";
        let (response, repairs) = read(text, 250);
        assert_eq!(response.text, "Bees fly. They sting. An array [i] is none.");
        assert_eq!(response.used, [Doc(5), Doc(7), Doc(9)]);
        assert_eq!(repairs, Repairs { citations: 5, unknown: 1, ..Repairs::default() });
        let (response, repairs) = read("[0] No [", 250);
        assert_eq!((response.text.as_str(), response.used.len()), ("No [", 0));
        assert_eq!((repairs.is_uncited, repairs.unknown), (true, 1));
    }

    #[test]
    fn a_long_response_ends_with_its_last_sentence_that_fits() {
        let (response, repairs) = read("Bees fly. [1] They sting a lot. [2]", 6);
        assert_eq!(response.text, "Bees fly.");
        assert_eq!(response.used, [Doc(7)], "the sentence that cites the other passage is cut");
        assert!(repairs.is_cut);
        let (response, _) = read("One two three four five [3]", 3);
        assert_eq!(response.text, "One two three");
        assert!(response.used.is_empty());
    }
}
