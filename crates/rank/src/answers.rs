//! Readers of what chat models write: one for each use, each with its grammar.
//!
//! Models are asked for a line, a few lines, a digit, an order or a response, and often write more: a
//! preface, quotation marks, a fence around JSON, an explanation. A reader takes such clothes off. What
//! then is not what was asked for is no answer, and never the part of it that happens to come first.
//! Every reader takes time in proportion to the text.

mod clothes;
mod lists;
mod numbers;
mod remarks;
mod tools;

use clariq_core::{Completion, begins_exchange, without_special_tokens};
use clothes::{
    begins_with_element, is_bare, is_blank, is_heading, is_label, is_nothing, is_placeholder,
    is_preface, undressed, without_mark, without_quotes,
};
use lists::{are_explained, has_explanation, is_several, items_of};
use numbers::{bare_numbers, bracketed, is_reversed, only_grade, only_number};
use serde_json::Value;
use std::ops::RangeInclusive;
use tools::calls_tool;

/// One line, such as a question or a query; `None` for an answer that is empty or cut, that has several
/// lines behind a preface, or that refuses.
pub fn line(answer: &Completion) -> Option<String> {
    if answer.cut {
        return None;
    }
    let body = body_of(&answer.text);
    if let Some(texts) = texts_of_json(body) {
        let mut texts = texts.iter().filter_map(|text| undressed(text));
        return texts.next().filter(|_| texts.next().is_none());
    }
    let mut lines = lines_of(body).peekable();
    let first = lines.next()?;
    let is_above = (first.starts_with('#') || is_heading(first)) && lines.peek().is_some();
    let only = if is_preface(first) || is_above { lines.next()? } else { first };
    if lines.next().is_some() {
        return None;
    }
    undressed(only)
}

/// Up to `most` lines, such as queries: those with the mark of a list alone, if there are as many of
/// them. Repeats are left out, what was `given` with the prompt is no answer, and neither is the last
/// line of an answer that is cut. A table, several on one line, and lines with explanations are none.
pub fn lines(answer: &Completion, most: usize, given: &[String]) -> Vec<String> {
    let body = body_of(&answer.text);
    if let Some(texts) = texts_of_json(body) {
        return distinct(texts.iter().map(String::as_str), most, given);
    }
    let body =
        if answer.cut { body.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { body };
    let Some(items) = items_of(body, most) else { return Vec::new() };
    let mut texts = distinct(items.into_iter(), most, given);
    texts.retain(|text| !has_explanation(text));
    if are_explained(&texts) || is_several(&texts, most) { Vec::new() } else { texts }
}

fn distinct<'t>(
    lines: impl Iterator<Item = &'t str>,
    most: usize,
    given: &[String],
) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in lines.filter_map(|line| undressed(tagged(line).unwrap_or(line))) {
        if texts.len() == most {
            break;
        }
        if !texts.contains(&text) && !given.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The digit of a range that stands alone: a bare one in the first or last line, as in `Grade: 2`,
/// or else the only number in the text, where a grade stands in prose. The range itself, as in `2/3` or `from 0 to 3`, does not count.
pub fn digit(answer: &Completion, range: &RangeInclusive<u8>) -> Option<u8> {
    if answer.cut {
        return None;
    }
    let body = body_of(&answer.text);
    if let Some(value) = json_of(body) {
        return number_of_json(&value).filter(|digit| range.contains(digit));
    }
    let first = lines_of(body).next()?;
    let last = lines_of(body).next_back()?;
    let bare = [first, last].map(|line| is_bare(line).then(|| only_number(line, range)).flatten());
    match bare {
        [Some(one), Some(other)] => (one == other).then_some(one),
        [Some(digit), None] | [None, Some(digit)] => Some(digit),
        [None, None] => only_grade(body, range),
    }
}

/// An order of documents, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// The documents in their order, those without a place behind the others.
    pub order: Vec<usize>,
    /// The number of documents that have a place in the text.
    pub named: usize,
    /// True if the text is a permutation of the documents and nothing else was in brackets.
    pub is_whole: bool,
}

/// The order of `count` documents in a text such as `[2] > [1]`. Of numbers in brackets, the longest chain
/// counts, or all of them; the others do not. Without brackets, those of JSON or of lines that consist of
/// numbers count, and not the number of a list before one. An order from the least relevant on is none.
/// Repeats and numbers of no document are left out; documents that are not named follow in their order.
/// The last number of an answer that is cut may be half of one, and is left out.
pub fn order(answer: &Completion, count: usize) -> Order {
    let numbers = numbers_of_order(body_of(&answer.text), answer.cut);
    let mut is_whole = !answer.cut;
    let mut is_named = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for number in numbers {
        let index = number.and_then(|number| number.checked_sub(1)).filter(|index| *index < count);
        match index {
            Some(index) if !is_named[index] => {
                is_named[index] = true;
                order.push(index);
            }
            _ => is_whole = false,
        }
    }
    let named = order.len();
    order.extend((0..count).filter(|index| !is_named[*index]));
    Order { order, named, is_whole: is_whole && named == count }
}

fn numbers_of_order(text: &str, is_cut: bool) -> Vec<Option<usize>> {
    if let Some(json) = json_of(text) {
        return numbers_of_json(&json).unwrap_or_default();
    }
    let Some(mut numbers) = bracketed(text).filter(|_| !is_reversed(text)) else {
        return Vec::new();
    };
    if numbers.is_empty() {
        numbers = text.lines().flat_map(bare_numbers).collect();
        if is_cut && text.ends_with(|c: char| c.is_ascii_digit()) {
            numbers.pop();
        }
    }
    numbers
}

/// A response of several sentences, without a preface such as `Here is the answer:`, a list of sources, and
/// what the model lets the user say next; `None` if it is empty, says that there is none, or begins with an
/// element of an unknown name. Its end may be cut.
pub fn response(text: &str) -> Option<String> {
    let mut body = undress(text, only_fenced);
    let json = json_of(body);
    if json.is_none() && body.starts_with('{') {
        return None;
    }
    let texts = json.map(|json| texts_of(json).unwrap_or_default());
    if let Some(texts) = &texts {
        let [only] = &texts[..] else { return None };
        body = only.trim();
    }
    body = behind_final_heading(body);
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let is_above = is_preface(first.trim()) && is_label(first) || is_heading(first.trim());
    if !rest.trim().is_empty() && is_above {
        body = rest.trim();
    } else if let Some((label, rest)) = body.split_once(':')
        && label.split(|c: char| !c.is_alphabetic()).any(is_name_of_response)
        && is_label(label)
        && !rest.trim().is_empty()
    {
        body = rest.trim_start_matches(['*', '_']).trim();
    }
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        if end > 0 && ends_response(line) {
            break;
        }
        end += line.len();
    }
    let body = without_quotes(body[..end].trim());
    let is_none = is_nothing(body) || is_placeholder(body) || begins_with_element(body);
    (body.contains(char::is_alphanumeric) && !is_none).then(|| body.to_owned())
}

/// The text behind the last heading `Final answer:`: a model reasons in plain words before it.
fn behind_final_heading(text: &str) -> &str {
    let mut found = text;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        let Some((label, rest)) = line.split_once(':') else { continue };
        let label = label.trim_matches(|c: char| !c.is_alphanumeric());
        let behind = text[end - rest.len()..].trim_start_matches(['*', '_']).trim();
        let is_final =
            ["final answer", "final response"].iter().any(|it| label.eq_ignore_ascii_case(it));
        if is_final && !behind.is_empty() {
            found = behind;
        }
    }
    found
}

fn is_name_of_response(word: &str) -> bool {
    let names = ["answer", "response", "assistant", "system"];
    names.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// True for the head of a list of sources, and for a turn that the model invents.
fn ends_response(line: &str) -> bool {
    let line = line.trim_matches(|c: char| !c.is_alphanumeric() && c != ':').to_lowercase();
    let head = line.split_once(':').map_or("", |(head, _)| head.trim_end_matches('*'));
    begins_exchange(&line)
        || matches!(line.trim_end_matches(':'), "sources" | "references" | "citations")
        || matches!(head, "sources" | "references" | "citations")
}

/// Pairs of marks, one inside the other, that are taken off.
const LAYERS: usize = 4;

/// The text inside pairs of tags, fences and special tokens around the answer.
fn body_of(text: &str) -> &str {
    undress(text, fenced)
}

fn undress<'t>(text: &'t str, fenced: impl Fn(&'t str) -> Option<&'t str>) -> &'t str {
    if calls_tool(text) {
        return "";
    }
    let mut text = without_special_tokens(text.trim_matches(is_blank));
    for _ in 0..LAYERS {
        let Some(inner) = tagged(text).or_else(|| fenced(text)) else { break };
        text = without_special_tokens(inner);
    }
    // The fence began before what the model thinks.
    let open = text.strip_suffix(FENCE).filter(|before| !before.contains(FENCE));
    open.map_or(text, str::trim_end)
}

/// Tags that models write around an answer. Their ends may be missing: the answer is cut, or the server
/// was told to stop there.
const TAGS: [&str; 10] = [
    "answer",
    "conclusion",
    "final",
    "final_answer",
    "output",
    "query",
    "question",
    "response",
    "rewrite",
    "solution",
];

/// The text between a tag at the beginning, such as `<answer>`, and its end at the end.
fn tagged(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    if name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-".contains(&c)) {
        return None;
    }
    let end = format!("</{name}>");
    let is_around_answer = TAGS.contains(&&*name.to_ascii_lowercase());
    match rest.find(&end) {
        Some(at) if at + end.len() == rest.len() => Some(&rest[..at]),
        // Another pair of the same name may follow.
        Some(at) if is_around_answer && !rest[at + end.len()..].contains(&end[2..]) => {
            Some(&rest[..at])
        }
        Some(_) => None,
        None => is_around_answer.then_some(rest),
    }
}

const FENCE: &str = "```";

/// The text of the only fenced block.
fn fenced(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once(FENCE)?;
    if before.lines().filter(|line| !line.trim().is_empty()).count() > 1 {
        return None;
    }
    let (inner, after) = rest.split_once(FENCE)?;
    if after.contains(FENCE) {
        return None;
    }
    // A name of a language follows the first fence.
    Some(inner.split_once('\n').map_or(inner, |(_, inner)| inner))
}

/// The text of the only fenced block, if nothing but a preface is beside it.
fn only_fenced(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(FENCE)?;
    let is_alone = before.trim().is_empty() || is_preface(before.trim());
    if is_alone && text.ends_with(FENCE) { fenced(text) } else { None }
}

/// The lines with a text. A line of dashes or stars separates others.
fn lines_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric))
}

fn json_of(text: &str) -> Option<Value> {
    text.starts_with(['{', '[', '"']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// The texts of JSON; empty for JSON with anything but texts of one kind, and for what only begins as JSON.
fn texts_of_json(text: &str) -> Option<Vec<String>> {
    let json = json_of(text);
    if json.is_none() && (!text.starts_with(['{', '[']) || without_mark(text).is_some()) {
        return None;
    }
    Some(json.and_then(texts_of).unwrap_or_default())
}

/// A string, the only text of an object, or those of a list of these; or the texts of an object whose
/// keys are numbered, such as `query1` and `query2`.
fn texts_of(value: Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(values) => {
            let texts = |value: Value| match value {
                Value::Array(_) => None,
                value => texts_of(value).filter(|texts| texts.len() == 1),
            };
            let texts: Option<Vec<Vec<String>>> = values.into_iter().map(texts).collect();
            Some(texts?.concat())
        }
        Value::Object(object) if object.len() == 1 => texts_of(object.into_iter().next()?.1),
        Value::Object(object) => {
            let name = |key: &str| key.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
            let first = name(object.keys().next()?);
            let is_numbered = object.keys().all(|key| name(key) == first && *key != first);
            let mut texts: Vec<(String, Value)> = object.into_iter().collect();
            texts.sort_by(|(one, _), (other, _)| one.len().cmp(&other.len()).then(one.cmp(other)));
            let texts = texts.into_iter().map(|(_, value)| value.as_str().map(str::to_owned));
            if is_numbered { texts.collect() } else { None }
        }
        _ => None,
    }
}

/// The numbers of a list, or of the only list of an object.
fn numbers_of_json(value: &Value) -> Option<Vec<Option<usize>>> {
    match value {
        Value::String(text) => bracketed(text),
        Value::Object(object) if object.len() == 1 => numbers_of_json(object.values().next()?),
        Value::Array(values) => {
            let number = |value: &Value| match value {
                Value::Array(values) if values.len() == 1 => values[0].as_u64(),
                Value::String(text) => text.trim_matches(['[', ']', ' ']).parse().ok(),
                value => value.as_u64(),
            };
            let numbers: Option<Vec<u64>> = values.iter().map(number).collect();
            Some(numbers?.into_iter().map(|number| usize::try_from(number).ok()).collect())
        }
        _ => None,
    }
}

/// Names of grades in JSON with several values.
const GRADES: [&str; 9] =
    ["answer", "class", "grade", "label", "level", "need", "rating", "relevance", "score"];

/// A number, also as a text, or the only number of an object or a list: of an object with several values, the
/// one that is named as a grade.
fn number_of_json(value: &Value) -> Option<u8> {
    let number = |value: &Value| match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|number| u8::try_from(number).ok()),
    };
    let all: Vec<&Value> = match value {
        Value::Object(object) if object.len() > 1 => {
            let named = object.iter().map(|(key, value)| (key.to_lowercase(), value));
            let grades = named.filter(|(key, _)| GRADES.iter().any(|name| key.contains(name)));
            grades.map(|(_, value)| value).collect()
        }
        Value::Object(object) => object.values().collect(),
        Value::Array(values) => values.iter().collect(),
        value => return number(value),
    };
    let mut numbers = all.into_iter().filter_map(number);
    numbers.next().filter(|_| numbers.next().is_none())
}
