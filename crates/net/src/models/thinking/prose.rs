//! The thoughts of a model in plain words, under headings: `**Thinking:** … **Answer:** …`.

/// Words of which a heading of what a model thinks consists, and those of which it must have one.
const THOUGHT_WORDS: &str =
    " a chain here here's here’s internal is my of process step-by-step steps the ";
const THOUGHTS: &str = " rationale reasoning thinking thought thoughts ";

/// Words of which a heading of the answer consists, and those of which it must have one.
const ANSWER_WORDS: &str = " clarifying final following is most my relevance rewritten search self-contained \
    so standalone stand-alone the therefore thus user's ";
const ANSWERS: &str = " answer conclusion output response ";
const OTHER_ANSWERS: &str = " grade level need order queries query question questions ranking rating result \
    rewrite score utterance ";

/// Words behind which such a heading says what the thoughts are for: `a thinking process that leads to …`.
const AIMS: [&str; 3] = [" that ", " to ", " leading "];

/// Beginnings of what a model thinks aloud, of which the server has taken out the marks. Models that do not
/// think begin responses with `The user is asking`, and some with `Okay, let's break down`.
const MONOLOGUES: [&str; 17] = [
    "let's think",
    "let me think",
    "let me analyze the",
    "let me rewrite",
    "the user wants me to",
    "the user asked me to",
    "the user is asking me to",
    "so the user wants",
    "first, the user wants",
    "first, the user is asking",
    "we need to rewrite",
    "we need to rephrase",
    "we need to answer ",
    "we need to output",
    "we need to respond with",
    "i need to rewrite the",
    "i need to rephrase the",
];
/// Words of surprise before such a beginning, and what a model says behind one of them.
const INTERJECTIONS: [&str; 5] = ["okay", "ok", "alright", "hmm", "got it"];
const SAID_BEHIND: [&str; 13] = [
    "so i ",
    "the user",
    "so the user",
    "let's see",
    "let's tackle",
    "let me think",
    "let me see",
    "let me try",
    "let me figure",
    "let me start",
    "let me tackle",
    "let me analyze",
    "let me rewrite",
];

fn is_monologue(text: &str) -> bool {
    let behind = |word: &&str| text.strip_prefix(*word)?.strip_prefix([',', '.', '!', ' ']);
    MONOLOGUES.iter().any(|words| text.starts_with(words))
        || INTERJECTIONS.iter().filter_map(behind).any(|rest| {
            let rest = rest.trim_start();
            SAID_BEHIND.iter().any(|words| rest.starts_with(words))
        })
}

/// Characters that a heading may have.
const WIDTH: usize = 60;

/// Where the answer begins in a text in lower case: behind the last heading of the answer, if the text
/// begins with a heading of what the model thinks, and 0 if it does not. `None` if it only thinks.
pub(super) fn behind_headings(text: &str) -> Option<usize> {
    let body = text.trim_start();
    let start = text.len() - body.len();
    if let Some(rest) = body.strip_prefix("```") {
        let (name, inner) = rest.split_once('\n').unwrap_or((rest, ""));
        if !is_made_of(name.trim(), "", " think thinking thought thoughts reasoning ") {
            return Some(0);
        }
        let end = inner.find("\n```").map(|at| text.len() - inner.len() + at + "\n```".len());
        return end.filter(|end| !text[*end..].trim().is_empty());
    }
    let first = body.lines().next().unwrap_or_default();
    if let Some(end) = end_of_aside(body) {
        let end = start + end;
        return Some(end).filter(|end| !text[*end..].trim().is_empty());
    }
    let is_monologue = is_monologue(body);
    let (label, rest) = first.split_once(':').unwrap_or((first, ""));
    let bare = without_marks(label);
    let aim = AIMS.iter().filter_map(|aim| bare.find(aim)).min();
    let name = bare.starts_with("here").then_some(aim).flatten().map_or(bare, |at| &bare[..at]);
    let is_heading = is_made_of(name, THOUGHT_WORDS, THOUGHTS);
    // `Thinking: fast and slow` may be a title.
    let is_alone = without_marks(rest).is_empty() && (first.contains(':') || bare != label.trim())
        || label.trim_start().starts_with(['*', '#']);
    if !is_monologue && !is_heading {
        return Some(0);
    }
    let head = if is_heading { label.len() } else { 0 };
    match answer_in(&body[head..]) {
        Some(at) => Some(start + head + at),
        None if is_monologue || is_alone => None,
        None => Some(0),
    }
}

/// The end of what a model thinks as an aside at the beginning of a text: quoted lines below a heading, a line in
/// parentheses or in italics, or one that says how long it took.
fn end_of_aside(text: &str) -> Option<usize> {
    let first = text.lines().next()?;
    if first.starts_with('>') {
        let heading = first.trim_matches(|c: char| !c.is_alphanumeric());
        let label = heading.split_once(':').map_or(heading, |(label, _)| label);
        if !is_made_of(without_marks(label), THOUGHT_WORDS, THOUGHTS) {
            return None;
        }
        let quoted = text.split_inclusive('\n').take_while(|line| line.starts_with('>'));
        return Some(quoted.map(str::len).sum());
    }
    let line = first.trim();
    let inside = |[open, close]: [&str; 2]| line.strip_prefix(open)?.strip_suffix(close);
    let inside = [["(", ")"], ["[", "]"], ["**", "**"], ["*", "*"], ["_", "_"]]
        .into_iter()
        .find_map(inside)
        .and_then(|inside| inside.split_once(':'))
        .is_some_and(|(label, rest)| {
            is_made_of(label, THOUGHT_WORDS, THOUGHTS) && rest.contains(char::is_alphanumeric)
        });
    let time = without_marks(line).strip_prefix("thought for ");
    let unit = time.and_then(|time| time.split_whitespace().next_back());
    let is_time = unit.is_some_and(|unit| TIMES.contains(&unit.trim_end_matches('.')));
    (inside || is_time).then_some(first.len())
}

/// Units of the time that a model thinks, as user interfaces show it.
const TIMES: [&str; 6] = ["second", "seconds", "minute", "minutes", "moment", "s"];

/// Where the answer begins behind the last of its headings; those that call it an answer come first.
/// Numbered ones, such as `Query 1:`, are part of the answer from the first on.
fn answer_in(text: &str) -> Option<usize> {
    let mut places = [None; 2];
    let mut numbered = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let label = line.trim_end().trim_end_matches(':');
        let bare = without_marks(label);
        if let Some(rank) = rank_of(bare).filter(|_| bare != label.trim() || line.contains(':')) {
            places[rank] = Some(at + line.len());
            at += line.len();
            continue;
        }
        for (colon, _) in line.match_indices(':') {
            let label = label_before(&line[..colon]);
            let bare = without_marks(label);
            let word = bare.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
            let Some(rank) = rank_of(word) else { continue };
            if word.len() < bare.len() {
                numbered.get_or_insert(at + colon - label.len());
            } else {
                let rest = &line[colon + 1..];
                places[rank] = Some(at + line.len() - rest.trim_start_matches(['*', '_']).len());
            }
        }
        at += line.len();
    }
    let [answer, other] = places;
    answer.or(other).or(numbered)
}

/// 0 for a heading that calls the answer one, 1 for another heading of it.
fn rank_of(label: &str) -> Option<usize> {
    [ANSWERS, OTHER_ANSWERS].iter().position(|nouns| is_made_of(label, ANSWER_WORDS, nouns))
}

/// The end of a text from its last sentence on, if it is short enough for a heading.
fn label_before(text: &str) -> &str {
    let mut start = text.len().saturating_sub(2 * WIDTH);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let end = &text[start..];
    let label = [". ", "! ", "? ", ".** ", ", "]
        .iter()
        .filter_map(|mark| end.rfind(mark).map(|at| &end[at + mark.len()..]))
        .min_by_key(|label| label.len())
        .unwrap_or(end);
    if label.len() > WIDTH { "" } else { label }
}

fn without_marks(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | ':' | '`'))
}

/// True if a text consists of these words and has one of the others.
fn is_made_of(text: &str, words: &str, nouns: &str) -> bool {
    let is_in = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let mut has_noun = false;
    for word in text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
    {
        if is_in(nouns, word) {
            has_noun = true;
        } else if !is_in(words, word) {
            return false;
        }
    }
    has_noun
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_thinks_under_a_heading_is_no_answer() {
        for (text, answer) in [
            ("tents", Some("tents")),
            ("**thinking:** a\n\n**answer:** tents", Some("tents")),
            ("**thinking**: a\n\n**final answer**: tents", Some("tents")),
            ("**thinking:** a\n\n**answer:** tents. result: b", Some("tents. result: b")),
            ("**thinking**\n\na\n\n**answer**\n\ntents", Some("tents")),
            ("### thought process\na: b\n### response\ntents", Some("tents")),
            ("reasoning: a.\nanswer: tents", Some("tents")),
            ("reasoning: a. answer: tents", Some("tents")),
            ("reasoning: answer: a? no. answer: tents", Some("tents")),
            ("thought: a\nfinal answer: tents", Some("tents")),
            ("my reasoning steps:\n1. a\n2. b\n\nrewritten query: tents", Some("tents")),
            ("let's think step by step. a. therefore, the answer is: tents", Some("tents")),
            ("okay, the user wants a.\n\nanswer: tents", Some("tents")),
            ("thinking process:\na\n\nquery 1: a\nquery 2: b", Some("query 1: a\nquery 2: b")),
            ("**reasoning:** a\n\ngrade: 2", Some("2")),
            ("```thinking\na\n```\ntents", Some("tents")),
            ("```reasoning\na\n```\n\n```\ntents\n```", Some("```\ntents\n```")),
            ("```text\ntents\n```", Some("```text\ntents\n```")),
            ("> **thinking**\n> a\n\ntents", Some("tents")),
            ("> 💭 thinking: a\n>\n> b\ntents", Some("tents")),
            ("> a quotation\n\ntents", Some("> a quotation\n\ntents")),
            ("(thinking: a)\n\ntents", Some("tents")),
            ("*thinking: a*\ntents", Some("tents")),
            ("**thinking: a**\ntents", Some("tents")),
            ("thought for 3 seconds\n\ntents", Some("tents")),
            ("*thought for a few seconds*\n\ntents", Some("tents")),
            ("thought for food", Some("thought for food")),
            ("(tents: green)", Some("(tents: green)")),
            ("> thinking\n> a", None),
            ("(thinking: a)", None),
            ("**thinking:** a\n\ntents", None),
            ("**thinking**\n\na\n\ntents", None),
            ("thinking process:\n\n1. a\n2. b", None),
            ("## reasoning\na", None),
            ("okay, so the user asks about a.\n\ntents", None),
            ("let me think. a", None),
            ("```thinking\na", None),
            ("```think\na\n```", None),
            ("here's a thinking process:\n\n1.  **analyze user input:**\n   - a", None),
            ("here's a thinking process that leads to the suggested answer:\n1. a", None),
            ("here is my reasoning:\na\n\nanswer: tents", Some("tents")),
            ("here's a thinking process to arrive at it:\na\nfinal output: tents", Some("tents")),
            ("here is a process:\n1. a", Some("here is a process:\n1. a")),
            ("here is a way to do it: a", Some("here is a way to do it: a")),
            ("okay, let's see. the user asks about a.", None),
            ("alright, let me try to figure this out. a", None),
            ("got it, the user wants a.", None),
            ("hmm, so the user wants a.\nquery: tents", Some("tents")),
            ("we need to rewrite the last utterance. a", None),
            ("the user wants me to rewrite a.", None),
            ("okay, let's break it down [1].", Some("okay, let's break it down [1].")),
            ("okay, i need a diet", Some("okay, i need a diet")),
            ("we need to protect bees [1].", Some("we need to protect bees [1].")),
            ("thinking: fast and slow", Some("thinking: fast and slow")),
            ("chain of thought: what is it?", Some("chain of thought: what is it?")),
            ("thinking, fast and slow: a summary", Some("thinking, fast and slow: a summary")),
            ("reasoning", Some("reasoning")),
            ("**reasoning about tents**", Some("**reasoning about tents**")),
            ("analysis: a. result: b", Some("analysis: a. result: b")),
            ("okay google: a", Some("okay google: a")),
            ("the user is asking for tents.", Some("the user is asking for tents.")),
            ("", Some("")),
        ] {
            assert_eq!(behind_headings(text).map(|at| text[at..].trim()), answer, "{text}");
        }
    }

    #[test]
    fn headings_are_found_in_one_pass() {
        // A reader that takes quadratic time would not finish.
        for text in ["answer: ", "a: ", "**", "\n", ". ", "answer\n", ":"] {
            let _ = behind_headings(&format!("reasoning: {}", text.repeat((1 << 18) / text.len())));
        }
    }
}
