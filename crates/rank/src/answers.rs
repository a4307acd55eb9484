//! Readers of what chat models write: one for each use, each with its grammar.
//!
//! Models are asked for a line, a few lines, a digit, an order or a response, and often write more: a
//! preface, quotation marks, a fence around JSON, an explanation. A reader takes such clothes off. What
//! then is not what was asked for is no answer, and never the part of it that happens to come first.
//! Every reader takes time in proportion to the text.

use clariq_core::Completion;
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
/// them. Repeats are left out, and so is the last line of an answer that is cut.
pub fn lines(answer: &Completion, most: usize) -> Vec<String> {
    let body = body_of(&answer.text);
    let json = if answer.cut { None } else { texts_of_json(body) };
    if let Some(texts) = json {
        return distinct(texts.iter().map(String::as_str), most);
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
        distinct(marked(), most)
    } else {
        distinct(plain(), most)
    }
}

fn distinct<'t>(lines: impl Iterator<Item = &'t str>, most: usize) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in lines.filter_map(undressed) {
        if texts.len() == most {
            break;
        }
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The one digit of a range that stands alone: a bare one in the first or last line, as in `Grade: 2`,
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
/// others do not count; without brackets, the number of a list before a text does not. Repeats and numbers of no document are left out; documents that are not named follow in their
/// order. The last number of an answer that is cut may be half of one, and is left out.
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

/// The text inside a fence or a pair of tags, if there is one around the answer, or the whole text.
fn body_of(text: &str) -> &str {
    let text = text.trim();
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

/// The texts of a JSON string, of a list of strings, or of an object whose only value is one of them;
/// empty for any other JSON.
fn texts_of_json(text: &str) -> Option<Vec<String>> {
    let texts = |value: Value| match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(values) => {
            values.into_iter().map(|value| value.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    };
    let value = match json_of(text)? {
        Value::Object(object) if object.len() == 1 => object.into_iter().next()?.1,
        value => value,
    };
    Some(texts(value).unwrap_or_default())
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

/// Words that only answer the one who asked.
const COURTESIES: [&str; 6] = ["sure", "certainly", "of course", "absolutely", "okay", "ok"];

/// Words of which the labels before an answer consist.
const LABELS: &str = " a absolutely answer as ask assistant can certainly clarification clarifying course \
    could final follows following for grade here here's i i'd is label last level my need of ok okay \
    output q query question questions queries rating reformulated relevance rephrased request resolved \
    response result rewrite rewriting rewritten score search self-contained sentence standalone \
    stand-alone suggested sure text the this understood user user's utterance version would you your ";

/// Beginnings of an answer that refuses.
const REFUSALS: [&str; 4] = ["i'm sorry, but", "i am sorry, but", "as an ai ", "i apologize"];

/// True if all words are those of a label.
fn is_label(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'")
    });
    words.all(|word| word.is_empty() || LABELS.contains(&format!(" {word} ")))
}

/// True for a line that announces the next one.
fn is_preface(line: &str) -> bool {
    line.trim_end_matches(['*', '_', ' ']).ends_with([':', '：'])
}

/// True for a line that has no words but those of a label.
fn is_bare(line: &str) -> bool {
    is_label(&line.replace(|c: char| !c.is_alphabetic() && c != '\'' && c != '’', " "))
}

/// A line without the mark of a list, a label, a courtesy and the quotation marks around it; `None` if
/// nothing is left, or a refusal.
fn undressed(line: &str) -> Option<String> {
    let mut text = line.trim();
    text = without_mark(text).unwrap_or(text);
    text = without_quotes(text);
    for courtesy in COURTESIES {
        let head = text.get(..courtesy.len()).filter(|head| head.eq_ignore_ascii_case(courtesy));
        let rest = head.and_then(|_| text[courtesy.len()..].strip_prefix(['!', ',', '.']));
        text = rest.map_or(text, str::trim);
    }
    if let Some((label, rest)) = text.split_once(':')
        && !label.is_empty()
        && is_label(label)
    {
        text = without_quotes(rest.trim_start_matches(['*', '_']).trim());
    }
    let beginning: String = text.chars().take(20).collect();
    let beginning = beginning.to_lowercase().replace('’', "'");
    let refuses = REFUSALS.iter().any(|refusal| beginning.starts_with(refusal));
    (text.contains(char::is_alphanumeric) && !refuses).then(|| text.to_owned())
}

/// A text without the marks around it: quotation marks, and those of bold or code.
fn without_quotes(mut text: &str) -> &str {
    let pairs = [
        ("\"", "\""),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("**", "**"),
        ("`", "`"),
        ("'", "'"),
        ("‘", "’"),
        ("[", "]"),
    ];
    for (open, close) in pairs {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.contains(open) && !inner.contains(close)) {
            text = inner.trim();
        }
    }
    text
}

/// The text behind the mark of a list: `-`, `*`, `•`, `>`, `1.` or `1)`.
fn without_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[char] =
        if rest.len() < line.len() { &['.', ')'] } else { &['-', '*', '•', '>'] };
    let item = rest.strip_prefix(marks)?;
    item.starts_with(' ').then(|| item.trim_start())
}

/// A number in a text, and the position behind it; `None` for one with a sign or decimals.
struct Found {
    value: Option<u8>,
    start: usize,
    end: usize,
}

/// The numbers of a text that stand alone: they are no part of a word.
fn numbers_in(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        let mut is_whole = true;
        while at + 1 < bytes.len()
            && matches!(bytes[at], b'.' | b',')
            && bytes[at + 1].is_ascii_digit()
        {
            is_whole = false;
            at += 1;
            while at < bytes.len() && bytes[at].is_ascii_digit() {
                at += 1;
            }
        }
        let before = text[..start].chars().next_back();
        let after = text[at..].chars().next();
        let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            || after.is_some_and(|c| c.is_alphabetic() || c == '_');
        if is_in_word {
            continue;
        }
        let sign = matches!(before, Some('-' | '−' | '+'));
        // `0-3` has no sign.
        let two_before = text[..start].chars().rev().nth(1);
        is_whole &= !sign || two_before.is_some_and(|c| c.is_ascii_digit());
        let value = text[start..at].parse().ok().filter(|_| is_whole);
        found.push(Found { value, start, end: at });
    }
    found
}

/// The only number in a text, if it is in the range, whose own mention does not count.
fn only_number(text: &str, range: &RangeInclusive<u8>) -> Option<u8> {
    let found = numbers_in(text);
    let mut values = Vec::new();
    let mut index = 0;
    while let Some(number) = found.get(index) {
        let next = found.get(index + 1);
        let between = next.map_or("", |next| text[number.end..next.start].trim());
        let next = next.and_then(|next| next.value);
        let is_range = number.value == Some(*range.start())
            && next == Some(*range.end())
            && matches!(between, "-" | "–" | "—" | "to" | "and" | "..");
        if is_range {
            index += 2;
            continue;
        }
        values.push(number.value);
        let has_scale = next == Some(*range.end())
            && matches!(between, "/" | "out of" | "of" | "on a scale of");
        index += if has_scale { 2 } else { 1 };
    }
    let only = values.first().copied().flatten()?;
    (values.iter().all(|value| *value == Some(only)) && range.contains(&only)).then_some(only)
}

/// The numbers in brackets, as in `[2] > [1]` and `[2, 1]`; `None` for one that is too long.
fn bracketed(text: &str) -> Vec<Option<usize>> {
    let mut numbers = Vec::new();
    // Behind the last `[`, as long as only numbers, commas and blanks follow.
    let mut inside: Option<Vec<Option<usize>>> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Some(inside) = &mut inside {
                inside.push(rest[..digits].parse().ok());
            }
            rest = &rest[digits..];
            continue;
        }
        match c {
            '[' => inside = Some(Vec::new()),
            ']' => numbers.extend(inside.take().into_iter().flatten()),
            ',' | ' ' | '>' => {}
            _ => inside = None,
        }
        rest = &rest[c.len_utf8()..];
    }
    numbers
}

/// The numbers of a line. That of a list before a text is none of them.
fn bare_numbers(line: &str) -> impl Iterator<Item = Option<usize>> {
    let line = line.trim();
    let line = without_mark(line).unwrap_or(line);
    let digits = line.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().ok())
}
