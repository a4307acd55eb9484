//! Readers of what chat models write: one for each use, each with its grammar.
//!
//! Models are asked for a line, a few lines, a digit, an order or a response, and often write more: a
//! preface, quotation marks, a fence around JSON, an explanation. A reader takes such clothes off. What
//! then is not what was asked for is no answer, and never the part of it that happens to come first.
//! Every reader takes time in proportion to the text.

mod clothes;
mod numbers;

use clariq_core::Completion;
use clothes::{is_bare, is_label, is_preface, undressed, without_mark};
use numbers::{bare_numbers, bracketed, only_number};
use serde_json::Value;
use std::ops::RangeInclusive;

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
    let mut lines = lines_of(body);
    let first = lines.next()?;
    let only = if is_preface(first) { lines.next()? } else { first };
    if lines.next().is_some() {
        return None;
    }
    undressed(only)
}

/// Up to `most` lines, such as queries: those with the mark of a list alone, if there are as many of
/// them. Repeats are left out, what was `given` with the prompt is no answer, and neither is the last
/// line of an answer that is cut.
pub fn lines(answer: &Completion, most: usize, given: &[String]) -> Vec<String> {
    let body = body_of(&answer.text);
    let json = if answer.cut { None } else { texts_of_json(body) };
    if let Some(texts) = json {
        return distinct(texts.iter().map(String::as_str), most, given);
    }
    let body =
        if answer.cut { body.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { body };
    let plain = || {
        let mut lines = lines_of(body).peekable();
        lines.next_if(|line| is_preface(line));
        lines
    };
    let marked = || plain().filter(|line| without_mark(line).is_some());
    if marked().take(most).count() == most {
        distinct(marked(), most, given)
    } else {
        distinct(plain(), most, given)
    }
}

fn distinct<'t>(
    lines: impl Iterator<Item = &'t str>,
    most: usize,
    given: &[String],
) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in lines.filter_map(undressed) {
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
/// or else the only number in the text. The range itself, as in `2/3` or `from 0 to 3`, does not count.
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
        [None, None] => only_number(body, range),
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

/// The order of `count` documents in a text such as `[2] > [1]`. If any number is in brackets, the
/// others do not count; without brackets, those of lines that consist of numbers count, and not the
/// number of a list before one. Repeats and numbers of no document are left out; documents that are not
/// named follow in their order. The last number of an answer that is cut may be half of one, and is left
/// out.
pub fn order(answer: &Completion, count: usize) -> Order {
    let text = &*answer.text;
    let mut numbers = bracketed(text);
    if numbers.is_empty() {
        numbers = text.lines().flat_map(bare_numbers).collect();
        if answer.cut && text.ends_with(|c: char| c.is_ascii_digit()) {
            numbers.pop();
        }
    }
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

/// A response of several sentences, without a preface such as `Here is the answer:`; `None` if it is
/// empty. Its end may be cut.
pub fn response(text: &str) -> Option<&str> {
    let text = body_of(text);
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_answer = !rest.trim().is_empty() && is_preface(first.trim()) && is_label(first);
    let text = if is_answer { rest.trim() } else { text };
    text.contains(char::is_alphanumeric).then_some(text)
}

/// Marks of the end of an answer that some servers leave in its text.
const ENDS: [&str; 8] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_solution|>",
    "<end_of_turn>",
    "</s>",
];

/// The text inside a fence or a pair of tags, if there is one around the answer, or the whole text.
fn body_of(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = ENDS.iter().find_map(|end| text.strip_suffix(end)) {
        text = rest.trim_end();
    }
    let inner = fenced(text).unwrap_or(text).trim();
    for tag in ["answer", "query", "question", "rewrite", "output", "response", "final"] {
        let open = inner.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag));
        if let Some(rest) = open.and_then(|rest| rest.strip_prefix('>')) {
            let rest = rest.strip_suffix('>').and_then(|rest| rest.strip_suffix(tag));
            return rest.and_then(|rest| rest.strip_suffix("</")).map_or(inner, str::trim);
        }
    }
    inner
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

/// The lines with a text. A line of dashes or stars separates others.
fn lines_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric))
}

fn json_of(text: &str) -> Option<Value> {
    text.starts_with(['{', '[', '"']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// The texts of JSON; empty for JSON with anything but texts of one kind.
fn texts_of_json(text: &str) -> Option<Vec<String>> {
    Some(texts_of(json_of(text)?).unwrap_or_default())
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

/// A number, also as a text, or the only number of an object or a list.
fn number_of_json(value: &Value) -> Option<u8> {
    let number = |value: &Value| match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|number| u8::try_from(number).ok()),
    };
    let all: Vec<&Value> = match value {
        Value::Object(object) => object.values().collect(),
        Value::Array(values) => values.iter().collect(),
        value => return number(value),
    };
    let mut numbers = all.into_iter().filter_map(number);
    numbers.next().filter(|_| numbers.next().is_none())
}
