//! The words of a model around its answer: courtesies, labels, marks of lists and quotation marks.

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
pub(super) fn is_label(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'")
    });
    words.all(|word| word.is_empty() || LABELS.contains(&format!(" {word} ")))
}

/// True for a line that announces the next one.
pub(super) fn is_preface(line: &str) -> bool {
    line.trim_end_matches(['*', '_', ' ']).ends_with([':', '：'])
}

/// True for a line that has no words but those of a label.
pub(super) fn is_bare(line: &str) -> bool {
    is_label(&line.replace(|c: char| !c.is_alphabetic() && c != '\'' && c != '’', " "))
}

/// A line without the mark of a list, a label, a courtesy and the quotation marks around it; `None` if
/// nothing is left, or a refusal.
pub(super) fn undressed(line: &str) -> Option<String> {
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
pub(super) fn without_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[char] =
        if rest.len() < line.len() { &['.', ')'] } else { &['-', '*', '•', '>'] };
    let item = rest.strip_prefix(marks)?;
    item.starts_with(' ').then(|| item.trim_start())
}
