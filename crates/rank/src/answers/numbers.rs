//! Numbers in what models write.

use super::clothes::{is_label, without_mark};
use std::ops::RangeInclusive;

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
            || after.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '%'));
        if is_in_word {
            continue;
        }
        let sign = matches!(before, Some('-' | '−' | '+'));
        // `0-3` has no sign.
        let two_before = text[..start].chars().rev().nth(1);
        is_whole &= !sign || two_before.is_some_and(|c| c.is_ascii_digit());
        is_whole &= !is_bound(&text[..start], &text[at..]);
        let value = text[start..at].parse().ok().filter(|_| is_whole);
        found.push(Found { value, start, end: at });
    }
    found
}

/// True if a number is a bound or a guess: `> 2`, `≤2`, `~2`, `2+`. `-> 2` and `<2>` are none.
fn is_bound(before: &str, after: &str) -> bool {
    let head = before.trim_end_matches(' ');
    let mark = head.chars().next_back();
    let is_arrow = head.ends_with("->") || head.ends_with("=>");
    // A line that begins with `> ` is quoted.
    let is_quoted = head.len() < before.len() && (head == ">" || head.ends_with("\n>"));
    after.starts_with('+')
        || matches!(mark, Some('≥' | '≤' | '~' | '≈'))
        || head.ends_with(">=")
        || head.ends_with("<=")
        || mark == Some('<') && !after.starts_with('>')
        || mark == Some('>') && !is_arrow && !is_quoted && !head.ends_with("]>")
}

/// The only number in a text, if it is in the range, whose own mention does not count.
pub(super) fn only_number(text: &str, range: &RangeInclusive<u8>) -> Option<u8> {
    let counting = counting(numbers_in(text), text, range);
    only(&counting, range)
}

/// The same in prose: the number must stand where a grade does, behind a word such as `grade` in the same
/// sentence or at the beginning, before a stop; or else the text must mention the range.
pub(super) fn only_grade(text: &str, range: &RangeInclusive<u8>) -> Option<u8> {
    let all = numbers_in(text);
    let count = all.len();
    let counting = counting(all, text, range);
    let grade = only(&counting, range)?;
    let ends = [counting.first()?, counting.last()?];
    let has_scale = counting.len() < count;
    ends.iter().any(|found| stands_as_grade(text, found, has_scale)).then_some(grade)
}

fn stands_as_grade(text: &str, found: &Found, has_scale: bool) -> bool {
    let before = &text[..found.start];
    let after = text[found.end..].trim_start();
    if !before.contains(char::is_alphanumeric) {
        let is_unit = ["point", "star"].iter().any(|unit| after.starts_with(unit));
        return is_unit || !after.starts_with(char::is_alphanumeric);
    }
    let sentence = before.rsplit(['.', '!', '?', '\n']).next().unwrap_or_default().to_lowercase();
    let sentence = sentence.replace('’', "'");
    let words = || sentence.split(|c: char| !c.is_alphanumeric() && c != '\'');
    if words().any(|word| word.ends_with("n't") || DENIALS.contains(&word)) {
        return false;
    }
    let mut last = words().filter(|word| !word.is_empty()).rev().take(WORDS_BEFORE_A_GRADE);
    let opening = [' ', '*', '[', '(', '"'];
    has_scale
        || sentence.trim_end_matches(opening).ends_with([':', '：', '='])
        || last.any(|word| GRADING.contains(&word))
}

/// Words behind which a number is a grade, and how many words may be between them.
const GRADING: [&str; 18] = [
    "answer",
    "assign",
    "boxed",
    "choice",
    "class",
    "give",
    "grade",
    "graded",
    "label",
    "level",
    "need",
    "option",
    "rate",
    "rated",
    "rating",
    "relevance",
    "say",
    "score",
];
const WORDS_BEFORE_A_GRADE: usize = 5;
const DENIALS: [&str; 14] = [
    "above", "below", "beyond", "cannot", "exceed", "half", "higher", "least", "less", "lower",
    "more", "never", "no", "not",
];

/// The numbers that count: neither the range itself nor its end behind a number, as in `2/3`.
fn counting(found: Vec<Found>, text: &str, range: &RangeInclusive<u8>) -> Vec<Found> {
    let mut counting = Vec::new();
    let mut found = found.into_iter().peekable();
    while let Some(mut number) = found.next() {
        let next = found.peek();
        let between = next.map_or("", |next| text[number.end..next.start].trim());
        let is_before_end = next.and_then(|next| next.value) == Some(*range.end());
        let is_range = number.value == Some(*range.start())
            && is_before_end
            && matches!(between, "-" | "–" | "—" | "to" | "and" | "..");
        let has_scale = is_before_end && matches!(between, "/" | "out of" | "of" | "on a scale of");
        if (is_range || has_scale)
            && let Some(end) = found.next()
        {
            number.end = end.end;
        }
        if !is_range {
            counting.push(number);
        }
    }
    counting
}

fn only(counting: &[Found], range: &RangeInclusive<u8>) -> Option<u8> {
    let only = counting.first()?.value?;
    let is_only = counting.iter().all(|found| found.value == Some(only));
    (is_only && range.contains(&only)).then_some(only)
}

/// The numbers of the longest chain of brackets, as in `[2] > [1]`, or else all numbers in brackets, as in
/// `[2, 1]`; a number is `None` if it is too long. `None` if a chain goes the other way, as in `[1] < [2]`, if
/// each has a grade that is not in their order, as in `[1]: 2, [2]: 3`, or if a text describes one passage
/// after the other.
pub(super) fn bracketed(text: &str) -> Option<Vec<Option<usize>>> {
    let groups = groups_in(text);
    let grades: Option<Vec<f64>> =
        groups.iter().map(|group| grade_at(&text[group.end..])).collect();
    if grades.is_some_and(|grades| !grades.is_sorted_by(|one, next| one >= next)) {
        return None;
    }
    let mut longest: &[Group] = &[];
    let mut start = 0;
    for index in 1..=groups.len() {
        let link = groups.get(index).map_or("", |next| &text[groups[index - 1].end..next.start]);
        match without_parentheses(link).trim_matches([' ', '\n', '\r', '*']) {
            "<" | "<=" | "≤" => return None,
            ">" | ">=" | "≥" | "=" | "->" | "→" => continue,
            _ => {}
        }
        if index - start > longest.len().max(1) {
            longest = &groups[start..index];
        }
        start = index;
    }
    if longest.is_empty() && describes(text, &groups) {
        return None;
    }
    let read = if longest.is_empty() { &groups[..] } else { longest };
    Some(read.iter().flat_map(|group| group.numbers.iter().copied()).collect())
}

/// True if a text goes through the passages from the first on, with words between them, or names one that is
/// not relevant before another one.
fn describes(text: &str, groups: &[Group]) -> bool {
    let [first, .., last] = groups else { return false };
    let is_counting = groups.iter().zip(1..).all(|(group, number)| group.numbers == [Some(number)]);
    let between = |(one, next): (&Group, &Group)| &text[one.end..next.start];
    let mut pairs = groups.iter().zip(&groups[1..]).map(between);
    let low = text[..last.start].to_lowercase();
    let is_low = ["not relevant", "irrelevant", "least relevant", "not related", "unrelated"];
    is_counting && first.numbers.len() == 1 && pairs.all(|it| it.contains(char::is_alphanumeric))
        || is_low.iter().any(|words| low.contains(words))
}

/// The number behind a colon or `=` at the beginning of a text.
fn grade_at(text: &str) -> Option<f64> {
    let rest = text
        .trim_start_matches(['*', ' '])
        .strip_prefix([':', '='])?
        .trim_start_matches(['*', ' ']);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

/// Numbers in a pair of brackets, and its place.
struct Group {
    numbers: Vec<Option<usize>>,
    start: usize,
    end: usize,
}

fn groups_in(text: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    // Behind the last `[`, as long as only numbers, commas and blanks follow.
    let mut inside: Option<Group> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        if c.is_ascii_digit() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Some(inside) = &mut inside {
                inside.numbers.push(rest[..digits].parse().ok());
            }
            rest = &rest[digits..];
            continue;
        }
        match c {
            '[' => inside = Some(Group { numbers: Vec::new(), start: at, end: at }),
            ']' => {
                let group = inside.take().filter(|group| !group.numbers.is_empty());
                groups.extend(group.map(|group| Group { end: at + 1, ..group }));
            }
            ',' | ' ' | '>' => {}
            _ => inside = None,
        }
        rest = &rest[c.len_utf8()..];
    }
    groups
}

/// A text without what is in parentheses, such as scores.
fn without_parentheses(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once('(') {
        let Some((_, after)) = inner.split_once(')') else { break };
        bare.push_str(before);
        rest = after;
    }
    bare.push_str(rest);
    bare
}

/// Words beside the numbers in a line that is an order.
const WORDS_OF_ORDERS: &str = " best doc document documents from first least most order passage passages \
    rank ranked ranking relevant to top ";

/// The numbers of a line that has no other words than an order has: behind its last colon, or all. That
/// of a list before a text is none of them, nor are scores in parentheses. A row of a table has none.
pub(super) fn bare_numbers(line: &str) -> Vec<Option<usize>> {
    let mut line = line.trim();
    if !line.starts_with(['(', '[']) {
        line = without_mark(line).unwrap_or(line);
    }
    let has_numbers = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let bare = without_parentheses(line);
    let line = if has_numbers(&bare) { &bare } else { line };
    let mut words = line.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let is_order = words.all(|word| {
        is_label(word) || WORDS_OF_ORDERS.contains(&format!(" {} ", word.to_lowercase()))
    });
    if !is_order || line.contains(['|', '<']) {
        return Vec::new();
    }
    let behind = line.rsplit([':', '：']).next().unwrap_or_default();
    let head = line[..line.len() - behind.len()].trim_end_matches([':', '：', ' ']);
    let name = head.trim_end_matches(|c: char| c.is_ascii_digit());
    // `Passage 1: 2` is a grade.
    let is_graded = name.len() < head.len()
        && ["passage", "document", "doc"].iter().any(|it| name.trim().to_lowercase().ends_with(it));
    if is_graded && has_numbers(behind) {
        return Vec::new();
    }
    let line = if has_numbers(behind) { behind } else { line };
    let digits = line.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().ok()).collect()
}

/// True for an order that begins with the least relevant document: it says so, or its list counts down.
pub(super) fn is_reversed(text: &str) -> bool {
    let low = text.to_lowercase();
    let says = [
        "least to most",
        "least to the most",
        "least relevant to",
        "least relevant first",
        "ascending order",
        "increasing order",
        "increasing relevance",
    ];
    if says.iter().any(|words| low.contains(words)) {
        return true;
    }
    let number = |line: &str| -> Option<usize> {
        let line = line.trim_start();
        without_mark(line)?;
        line.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let mut numbers = text.lines().filter_map(number);
    let first = numbers.next();
    numbers.next_back().zip(first).is_some_and(|(last, first)| last < first)
}
