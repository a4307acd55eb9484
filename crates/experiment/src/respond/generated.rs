//! Responses that a chat model writes from passages, and the passages that they cite.

use super::{Material, shares};
use clariq_collections::{WrittenResponse, sentences, tokens};
use clariq_core::{ChatRequest, Completion, Doc, Documents, Result};
use clariq_rank::{Chat, Context, Conversation, Tallies, answers};
use clariq_systems::plan::{AnswerPlan, ResponseRule};
use serde::Serialize;

/// Numbers in brackets from here on are years, and no passages.
const FIRST_YEAR: usize = 1000;
/// Characters that a citation may have.
const WIDTH_OF_A_CITATION: usize = 60;

const EMPTY: &str = "answer: {count} of {all} answers of the model have no text";

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
            let has_text = !response.text.is_empty();
            chat.count_read(context, chat_request, &completion, EMPTY, has_text);
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
    /// True if the model was stopped in the middle of a sentence.
    is_unfinished: bool,
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
        let unfinished = "answer: {count} of {all} responses end with their last whole sentence, since \
                          the completions are not whole";
        tallies.add(unfinished, &chat_request.messages, usize::from(self.is_unfinished), 1);
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
    let written = answers::response(&completion.text).unwrap_or_default();
    let (mut text, citations) = without_citations(&written);
    let mut repairs = Repairs::default();
    if completion.cut && !text.is_empty() {
        repairs.is_unfinished = true;
        text.truncate(whole_sentences(&text));
    }
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

/// The length of the sentences of a text that come to an end.
fn whole_sentences(text: &str) -> usize {
    let unquoted = text.trim_end().trim_end_matches(['"', '”', '\'', ')', '*']);
    if unquoted.ends_with(['.', '!', '?', '…']) {
        return text.len();
    }
    let last = sentences::starts(text).last().copied().unwrap_or_default();
    text[..last].trim_end().len()
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

/// A text on one line without citations such as `[2]`, `[1, 3]` and `【1†source】`, and the cited numbers,
/// each with its position in the text.
fn without_citations(text: &str) -> (String, Vec<(usize, usize)>) {
    let line = one_line(text);
    let mut clean = String::with_capacity(line.len());
    let mut citations = Vec::new();
    let mut rest = line.as_str();
    while let Some(open) = rest.find(['[', '【']) {
        let inner = rest[open..].strip_prefix(['[', '【']).unwrap_or_default();
        let close =
            inner.char_indices().take(WIDTH_OF_A_CITATION).find(|(_, c)| matches!(c, ']' | '】'));
        let cited = close.and_then(|(at, c)| Some((at + c.len_utf8(), numbers(&inner[..at])?)));
        let Some((length, numbers)) = cited else {
            clean.push_str(&rest[..rest.len() - inner.len()]);
            rest = inner;
            continue;
        };
        clean.push_str(rest[..open].trim_end_matches('\\').trim_end());
        citations.extend(numbers.into_iter().map(|number| (number, clean.len())));
        rest = &inner[length..];
        // `[1]: It is …` is a list.
        if clean.is_empty() || clean.ends_with(['.', '!', '?']) {
            rest = rest.strip_prefix(':').unwrap_or(rest);
        }
    }
    clean.push_str(rest);
    let leading = clean.len() - clean.trim_start().len();
    for (_, at) in &mut citations {
        *at = at.saturating_sub(leading);
    }
    (clean.trim().to_owned(), citations)
}

/// The numbers between brackets, as in `1, 3`, `1-3`, `^1`, `Passage 1` and `1†source`; `None` if there is
/// anything else, or a year.
fn numbers(inner: &str) -> Option<Vec<usize>> {
    let inner = inner.split('†').next()?.trim_end_matches('\\').to_lowercase();
    let mut numbers: Vec<usize> = Vec::new();
    let mut is_range = false;
    for part in inner.split_inclusive(is_sign).flat_map(|part| {
        let sign = part.rfind(is_sign).unwrap_or(part.len());
        [&part[..sign], &part[sign..]]
    }) {
        match part.trim() {
            "" | "," | ";" | "^" | "and" | "passage" | "passages" | "doc" | "document"
            | "source" => {}
            "-" | "–" if !numbers.is_empty() => is_range = true,
            part => {
                let number = number_in(part).filter(|number| *number < FIRST_YEAR)?;
                let first = if is_range { numbers.last()? + 1 } else { number };
                numbers.extend(first..=number);
                is_range = false;
            }
        }
    }
    (!numbers.is_empty() && !is_range).then_some(numbers)
}

fn is_sign(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '-' | '–' | '^')
}

/// A number in digits of any width.
fn number_in(text: &str) -> Option<usize> {
    text.chars().map(digit).collect::<Option<String>>()?.parse().ok()
}

fn digit(c: char) -> Option<char> {
    match c {
        '０'..='９' => char::from_digit(c as u32 - '０' as u32, 10),
        c => c.is_ascii_digit().then_some(c),
    }
}

/// The text with white space replaced by single blanks: spaCy counts other white space as tokens.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, tokens: usize) -> (WrittenResponse, Repairs) {
        read_completion(text, false, tokens)
    }

    fn read_completion(text: &str, cut: bool, tokens: usize) -> (WrittenResponse, Repairs) {
        let completion = Completion { text: text.to_owned(), cut, ..Completion::default() };
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
    fn citations_have_many_forms() {
        for (text, clean, used) in [
            ("Bees fly [1-3].", "Bees fly.", &[7, 5, 9][..]),
            ("Bees fly [1; 2].", "Bees fly.", &[7, 5]),
            ("Bees fly [1 and 3].", "Bees fly.", &[7, 9]),
            ("Bees fly [Passage 1].", "Bees fly.", &[7]),
            ("Bees fly [passages 1, 2].", "Bees fly.", &[7, 5]),
            ("Bees fly 【2†source】.", "Bees fly.", &[5]),
            ("Bees fly [^2].", "Bees fly.", &[5]),
            ("Bees fly \\[3\\].", "Bees fly.", &[9]),
            ("Bees fly [２].", "Bees fly.", &[5]),
            ("[1]: Bees fly.\n[2]: They sting.", "Bees fly. They sting.", &[7, 5]),
            ("In [2024] bees flew [1].", "In [2024] bees flew.", &[7]),
            ("Bees [-] fly [1-] [see 2] [] [1", "Bees [-] fly [1-] [see 2] [] [1", &[]),
        ] {
            let (response, _) = read(text, 250);
            let docs: Vec<u32> = response.used.iter().map(|doc| doc.0).collect();
            assert_eq!((&*response.text, &docs[..]), (clean, used), "{text}");
        }
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
    #[test]
    fn a_response_that_the_model_did_not_finish_ends_with_its_last_whole_sentence() {
        let (response, repairs) = read_completion("Bees fly [1]. They sting a l", true, 250);
        assert_eq!((response.text.as_str(), &response.used[..]), ("Bees fly.", &[Doc(7)][..]));
        assert!(repairs.is_unfinished);
        let (response, repairs) = read_completion("Bees fly [1]. They sting [2].", true, 250);
        assert_eq!(response.text, "Bees fly. They sting.");
        assert!(repairs.is_unfinished);
        let (response, repairs) = read_completion("Bees that fly", true, 250);
        assert_eq!(response, WrittenResponse::default());
        assert!(repairs.is_unfinished);
    }

    #[test]
    fn long_texts_of_brackets_and_sentences_are_read_in_one_pass() {
        // A reader that takes quadratic time would not finish.
        assert_eq!(read(&"[".repeat(1_000_000), 250).0.text.len(), 0);
        let (response, _) = read(&"[1] A bee. ".repeat(10_000), 250);
        assert!(response.text.starts_with("A bee. A bee."), "{}", response.text);
    }
}
