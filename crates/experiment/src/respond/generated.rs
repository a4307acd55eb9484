//! Responses that a chat model writes from passages, and the passages that they cite.

use super::{Material, ResponseWriter, shares};
use clariq_collections::{WrittenResponse, sentences, tokens};
use clariq_core::{Answer, AnswerForm, ChatRequest, CitedSentence, Doc, Result};
use clariq_rank::{Chat, ChatUse, Context, Conversation, Tallies};
use clariq_systems::plan::ResponseRule;
use serde::Serialize;

const UNREAD: &str =
    "answer: {count} of {all} answers of the model have no text; their responses are empty";

/// The variables of the prompt of an answer.
#[derive(Serialize)]
struct AnswerValues<'m> {
    #[serde(flatten)]
    conversation: Conversation<'m>,
    passages: Vec<String>,
    words: usize,
}

impl ResponseWriter<'_, '_> {
    /// The responses to the requests of some materials: each is written from passages of its own. A
    /// request without any passage has an empty response, as in systems that write extracts.
    pub(super) fn generated(
        &self,
        chat: &Chat,
        rule: &ResponseRule,
        materials: &[&Material],
    ) -> Result<Vec<Vec<WrittenResponse>>> {
        let Self { context, plan, .. } = *self;
        let mut chat_requests = Vec::new();
        for &&Material { request, passages } in materials {
            for passages in shares(plan, rule, passages).into_iter().filter(|all| !all.is_empty()) {
                let material = Material { request, passages };
                chat_requests.push(build_request(chat, rule, context, &material)?);
            }
        }
        let usage = ChatUse { answers: plan.config.responses, ..ChatUse::new(UNREAD) };
        let completions = chat.complete(context, usage, &chat_requests)?;
        let mut answers = chat_requests.iter().zip(completions);
        let mut all = Vec::with_capacity(materials.len());
        for material in materials {
            let mut responses = Vec::new();
            for passages in shares(plan, rule, material.passages) {
                if passages.is_empty() {
                    responses.push(WrittenResponse::default());
                    continue;
                }
                let Some((chat_request, completion)) = answers.next() else { break };
                let docs: Vec<Doc> = passages.iter().map(|hit| hit.doc).collect();
                let mut response = WrittenResponse::default();
                if let Some(Answer::Response(sentences)) = completion.answer {
                    let repairs;
                    (response, repairs) = compose(&sentences, &docs, rule.tokens);
                    repairs.count(&context.tallies, chat_request);
                }
                responses.push(response);
            }
            all.push(responses);
        }
        Ok(all)
    }
}

/// The request for a response from the passages of `material`.
fn build_request(
    chat: &Chat,
    rule: &ResponseRule,
    context: &Context,
    material: &Material,
) -> Result<ChatRequest> {
    let mut passages = Vec::with_capacity(material.passages.len());
    for hit in material.passages {
        passages.push(one_line(&context.documents.text(hit.doc)?));
    }
    let conversation = Conversation::of(material.request);
    // spaCy counts at least one token per word.
    let words = rule.tokens * 4 / 5;
    let about = format!("response to request {}", material.request.id);
    let values = AnswerValues { conversation, passages, words };
    chat.request(context, about, Some(AnswerForm::Response), &values)
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

/// The response of the first sentences that fit, on one line, and the passages that they cite.
fn compose(
    sentences: &[CitedSentence],
    passages: &[Doc],
    max_tokens: usize,
) -> (WrittenResponse, Repairs) {
    let mut repairs = Repairs::default();
    let mut response = WrittenResponse::default();
    for sentence in sentences {
        let space = if response.text.is_empty() { "" } else { " " };
        let longer = format!("{}{space}{}", response.text, one_line(&sentence.text));
        repairs.is_cut = tokens::count(&longer) > max_tokens;
        if repairs.is_cut && !response.text.is_empty() {
            break;
        }
        response.text = if repairs.is_cut { cut(&longer, max_tokens) } else { longer };
        for number in sentence.numbers() {
            repairs.citations += 1;
            let index = number.and_then(|number| number.checked_sub(1));
            match index.and_then(|index| passages.get(index)) {
                Some(doc) if !response.used.contains(doc) => response.used.push(*doc),
                Some(_) => {}
                None => repairs.unknown += 1,
            }
        }
        if repairs.is_cut {
            break;
        }
    }
    repairs.is_uncited = response.used.is_empty();
    (response, repairs)
}

/// The first sentences of a text that fit, or its first tokens if the first sentence is too long.
pub(super) fn cut(text: &str, max_tokens: usize) -> String {
    let first = tokens::first(text, max_tokens);
    let starts = sentences::starts(text);
    // A start behind white space is the end of the sentence before it.
    let fits = |start: &&usize| text[..**start].trim_end().len() <= first.len();
    match starts.iter().skip(1).take_while(fits).last() {
        Some(end) => text[..*end].trim_end().to_owned(),
        None => first.to_owned(),
    }
}

/// The text with white space replaced by single blanks: spaCy counts other white space as tokens.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(sentences: &[(&str, &[f64])], tokens: usize) -> (WrittenResponse, Repairs) {
        let sentence = |(text, sources): &(&str, &[f64])| CitedSentence {
            text: (*text).to_owned(),
            sources: sources.to_vec(),
        };
        let sentences: Vec<CitedSentence> = sentences.iter().map(sentence).collect();
        compose(&sentences, &[Doc(7), Doc(5), Doc(9)], tokens)
    }

    #[test]
    fn sources_become_passages() {
        let sentences: &[(&str, &[f64])] =
            &[("Bees\nfly.", &[2.0]), ("They sting.", &[1.0, 2.0, 9.0]), ("So.", &[0.0, 1.5])];
        let (response, repairs) = composed(sentences, 250);
        assert_eq!(response.text, "Bees fly. They sting. So.");
        assert_eq!(response.used, [Doc(5), Doc(7)]);
        assert_eq!(repairs, Repairs { citations: 6, unknown: 3, ..Repairs::default() });
        assert!(composed(&[("Bees fly.", &[])], 250).1.is_uncited);
    }

    #[test]
    fn a_long_response_ends_with_its_last_sentence_that_fits() {
        let long: &[(&str, &[f64])] = &[("Bees fly.", &[1.0]), ("They sting a lot.", &[2.0])];
        let (response, repairs) = composed(long, 6);
        assert_eq!(response.text, "Bees fly.");
        assert_eq!(response.used, [Doc(7)], "the sentence that cites the other passage is cut");
        assert!(repairs.is_cut);
        // One text of several sentences, as the format `text` has it.
        let (response, repairs) = composed(&[("Bees fly. They sting a lot.", &[])], 6);
        assert_eq!((response.text.as_str(), repairs.is_cut), ("Bees fly.", true));
        let (response, _) = composed(&[("One two three four five", &[3.0])], 3);
        assert_eq!((response.text.as_str(), &response.used[..]), ("One two three", &[Doc(9)][..]));
    }
}
