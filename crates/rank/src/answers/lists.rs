//! Several lines as models write them: as they are, with the marks of a list, or numbered.

use super::clothes::{is_heading, is_preface, without_mark};
use super::remarks::is_remark;
use clariq_core::begins_user_turn;

/// The lines with a text, without headings, a preface, remarks and what the user says next; `None` for a
/// table. Those with the mark of a list alone, if there are `most` of them, or those that are numbered one by
/// one.
pub(super) fn items_of(body: &str, most: usize) -> Option<Vec<&str>> {
    let mut items: Vec<&str> = Vec::new();
    let mut is_below_mark = false;
    for line in body.lines() {
        let text = line.trim();
        let is_number = text.chars().all(|c| c.is_ascii_digit() || ".)(".contains(c));
        if is_number || !text.contains(char::is_alphanumeric) || is_heading(text) {
            continue;
        }
        if !items.is_empty() && begins_user_turn(text) {
            break;
        }
        if is_remark(text) {
            continue;
        }
        if text.starts_with('|') && text.ends_with('|') {
            return None;
        }
        let is_marked = without_mark(text).is_some();
        // An explanation is indented below its item.
        if is_marked || !is_below_mark || !line.starts_with([' ', '\t']) {
            items.push(text);
            is_below_mark = is_marked;
        }
    }
    if items.first().is_some_and(|first| is_preface(first)) {
        items.remove(0);
    }
    // A quotation before the others is no item.
    if items.first().is_some_and(|first| first.starts_with('>')) {
        let is_quoted = |item: &&str| item.starts_with('>');
        if !items.iter().all(is_quoted) {
            items.retain(|item| !is_quoted(item));
        }
    }
    let numbered = numbered(&items);
    if numbered.len() > 1 {
        return Some(numbered);
    }
    let is_marked = |line: &&str| without_mark(line).is_some();
    if items.iter().copied().filter(|line| is_marked(line)).take(most).count() == most {
        items.retain(is_marked);
    } else if items.len() > most && is_sentence(items[0]) && !is_sentence(items[1]) {
        items.remove(0);
    }
    Some(items)
}

fn is_sentence(line: &str) -> bool {
    line.ends_with(['.', '!'])
}

/// The texts behind numbers that count from 1, or letters from a. Alone, `1984: a novel` has no such number.
fn numbered<'t>(items: &[&'t str]) -> Vec<&'t str> {
    let mut texts = Vec::new();
    for item in items {
        texts.extend(behind_number(item, texts.len() + 1));
    }
    texts
}

/// The text behind a number or its letter: `1: `, `1 - `, `#1 `, `**1.** `, `a) ` or `a. `.
fn behind_number(item: &str, number: usize) -> Option<&str> {
    let letter = u8::try_from(number).ok().filter(|number| *number <= 26);
    let letter = letter.map(|number| char::from(b'a' + number - 1));
    let digits = number.to_string();
    let (mark, rest) = item.split_once(' ')?;
    let rest = rest.trim_start();
    if mark == digits {
        return rest.strip_prefix("- ").or_else(|| rest.strip_prefix("– ")).map(str::trim_start);
    }
    let is_bold = mark.starts_with("**");
    let mark = mark.trim_matches('*');
    let is_number = mark
        .strip_prefix(&*digits)
        .is_some_and(|end| end == ":" || is_bold && matches!(end, "." | ")"))
        || mark.strip_prefix('#').is_some_and(|end| end.trim_end_matches([':', '.']) == digits);
    let is_letter = letter.is_some_and(|letter| {
        mark.strip_prefix([letter, letter.to_ascii_uppercase()])
            .is_some_and(|end| matches!(end, ")" | "."))
    });
    (is_number || is_letter).then_some(rest)
}

/// True for a text in bold or quotation marks with more behind it: `**red foxes**: finds them`.
pub(super) fn has_explanation(text: &str) -> bool {
    [("**", "**"), ("\"", "\""), ("“", "”")].iter().any(|(open, close)| {
        let parts = text.strip_prefix(open).and_then(|rest| rest.split_once(close));
        parts.is_some_and(|(inner, rest)| inner.ends_with(':') || explains(rest))
    })
}

fn explains(rest: &str) -> bool {
    let rest = rest.trim_start();
    [":", "(", "- ", "– ", "— "].iter().any(|mark| rest.starts_with(mark))
}

/// True for texts that all go on with an explanation behind a dash or in parentheses.
pub(super) fn are_explained(texts: &[String]) -> bool {
    texts.len() > 1
        && (texts.iter().all(|text| [" - ", " – ", " — "].iter().any(|dash| text.contains(dash)))
            || texts.iter().all(|text| text.contains(" (") && text.ends_with(')')))
}

/// True for one text where several were asked for, if it has the marks between them.
pub(super) fn is_several(texts: &[String], most: usize) -> bool {
    let [text] = texts else { return false };
    let is_quoted = text.starts_with('"') && text.ends_with('"') && text.matches('"').count() > 3;
    most > 1
        && ([";", " | ", "\\n", " OR ", " 2. ", " 2) ", "uery 2:"]
            .iter()
            .any(|it| text.contains(it))
            || is_quoted
            || most > 2 && text.matches(", ").count() + 1 == most)
}
