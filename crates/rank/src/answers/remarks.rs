//! Remarks of a model about its answer or its task, which are no part of a query or a question.

/// Labels of explanations, in lower case.
const EXPLANATIONS: [&str; 8] = [
    "explanation",
    "intent",
    "justification",
    "note",
    "purpose",
    "rationale",
    "reason",
    "reasoning",
];

/// Beginnings of remarks below an answer.
const CLOSINGS: [&str; 8] = [
    "feel free to",
    "hope this",
    "i hope th",
    "let me know",
    "please let me know",
    "these queries",
    "these questions",
    "these search",
];

/// Beginnings of remarks in parentheses behind an answer.
const IN_PARENTHESES: [&str; 8] = [
    "i changed",
    "i replaced",
    "i rewrote",
    "no change",
    "no rewrit",
    "rewritten",
    "the user",
    "unchanged",
];

/// Phrases about the task. The words of a label before an answer are taken off first.
const OF_THE_TASK: [&str; 16] = [
    "already self-contained",
    "already standalone",
    "can be understood alone",
    "haven't provided",
    "last utterance",
    "no change needed",
    "no changes needed",
    "no further clarification",
    "no rewrit",
    "nothing to clarify",
    "provide the conversation",
    "question is clear",
    "request is clear",
    "rewritten query",
    "rewritten utterance",
    "said about themselves",
];

/// Arrows from the text that was given to the one that is asked for, each in quotation marks.
const ARROWS: [&str; 3] = ["\" -> \"", "\" => \"", "\" → \""];

/// Characters of a line that tell what it is.
const SHOWN: usize = 40;

/// True for a line that explains an answer, or that takes leave.
pub(super) fn is_remark(line: &str) -> bool {
    let line: String = line.chars().take(SHOWN).collect();
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let label = line.split_once(':').map_or("", |(label, _)| label.trim_end_matches('*'));
    EXPLANATIONS.contains(&label) || CLOSINGS.iter().any(|words| line.starts_with(words))
}

/// True for a text that speaks of the task, and for one with an explanation. One that describes the request,
/// such as `The user wants to know …`, is a query of a kind.
pub(super) fn is_about_task(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    OF_THE_TASK.iter().any(|words| text.contains(words))
        || ARROWS.iter().any(|arrow| text.contains(arrow))
        || is_remark(&text)
        || has_remark(&text)
        || is_code(&text)
}

/// True if an explanation follows a sentence or stands in parentheses at the end.
fn has_remark(text: &str) -> bool {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let is_behind_stop = c == ' ' && matches!(before, '.' | '?' | '!' | '"' | '”' | ')');
        if is_behind_stop && (is_remark(rest) || rest.starts_with("a: ")) {
            return true;
        }
        if c == '('
            && (is_remark(rest) || IN_PARENTHESES.iter().any(|words| rest.starts_with(words)))
        {
            return true;
        }
        before = c;
    }
    false
}

/// True for `query = "…"`, `queries = [` and `search("…")`.
fn is_code(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let rest = &text[end..];
    let value = rest.strip_prefix('(').or_else(|| rest.trim_start().strip_prefix('='));
    end > 0 && value.is_some_and(|value| value.trim_start().starts_with(['"', '\'', '[']))
}
