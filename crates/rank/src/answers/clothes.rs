//! The words of a model around its answer: courtesies, labels, marks of lists and quotation marks.

use super::remarks::is_about_task;

/// Beginnings that only answer the one who asked.
const COURTESIES: [&str; 17] = [
    "alright",
    "sure",
    "certainly",
    "of course",
    "absolutely",
    "okay",
    "ok",
    "great question",
    "good question",
    "thanks for reaching out",
    "understood",
    "got it",
    "no problem",
    "i can help with that",
    "i can help you with that",
    "i'd be happy to help",
    "i'd be happy to help with that",
];

/// Words of which the labels before an answer consist.
const LABELS: &str = " a absolutely ai answer as ask assistant be bot can certainly clarification \
    clarifying could fifth final first follows following for fourth good grade here here's i i'd is label \
    last level my need of ok okay one output possible q query question questions queries rating \
    reformulated relevance rephrased request resolved response result rewrite rewriting rewritten score \
    search second self-contained sentence standalone stand-alone suggested sure system text the third this \
    understood user user's utterance version would you your ";

/// Beginnings of an answer that refuses, with plain apostrophes.
const REFUSALS: [&str; 20] = [
    "i'm sorry, but",
    "i am sorry, but",
    "i'm really sorry, but",
    "i'm very sorry, but",
    "i'm sorry for the confusion",
    "sorry for the confusion",
    "sorry, but i can",
    "i apologize",
    "i must decline",
    "i'm just an ai",
    "i am just an ai",
    "as an ai ",
    "as an ai,",
    "as a language model",
    "as a large language model",
    "i don't have enough information",
    "i do not have enough information",
    "抱歉",
    "很抱歉",
    "对不起",
];

/// Beginnings that refuse behind an apology, or before what is refused.
const INABILITIES: [&str; 8] = [
    "i can't ",
    "i cannot ",
    "i can not ",
    "i'm unable to ",
    "i am unable to ",
    "i'm not able to ",
    "i am not able to ",
    "i won't ",
];

/// Deeds that models refuse.
const REFUSED: [&str; 11] = [
    "answer that",
    "answer this",
    "assist",
    "comply",
    "do that",
    "do this",
    "fulfil",
    "help.",
    "help with",
    "help you",
    "provide",
];

const APOLOGIES: [&str; 4] = ["sorry", "unfortunately", "i'm sorry", "i am sorry"];

/// Words of which an answer consists that says that there is none.
const NOTHING: &str = " additional answer any are change changes clarification clarifying further is more n/a \
    nan necessary needed nil no none null output queries query question questions required response rewrite \
    rewriting undefined ";
/// The same, as a whole.
const NOTHINGS: [&str; 9] = [
    "empty",
    "n.a",
    "not applicable",
    "not needed",
    "same as above",
    "same as before",
    "silence",
    "tbd",
    "unchanged",
];

/// True if all words are those of a label.
pub(super) fn is_label(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'")
    });
    words.all(|word| word.is_empty() || LABELS.contains(&format!(" {word} ")))
}

/// True for a heading in marks that has no words but those of a label: `**Final Answer**` or `## Query`.
pub(super) fn is_heading(line: &str) -> bool {
    let is_bold = line.starts_with(['*', '_']) && line.trim_end_matches(':').ends_with(['*', '_']);
    let bare = line.trim_matches(['#', '*', '_', ':', ' ']);
    (is_bold || line.starts_with('#')) && bare.contains(char::is_alphabetic) && is_bare(bare)
}

/// Words that a label behind a sentence may have, too.
const CONCLUSIONS: &str = " hence so therefore thus ";
/// Words of which such a label must have one.
const ASKED_FOR: &str = " answer query question request rewrite utterance version ";

/// The text behind a label that follows a whole sentence, as in `They ask about it. So the query would be: …`.
fn behind_sentence(text: &str) -> Option<&str> {
    let (head, rest) = text.split_once(": ")?;
    let at = [". ", "! ", "? "].iter().filter_map(|stop| head.rfind(stop)).max()?;
    let label = head[at + 1..].to_lowercase();
    let words = || {
        label
            .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'')
            .filter(|it| !it.is_empty())
    };
    let is_in = |list: &str, word: &str| list.contains(&format!(" {word} "));
    let has_verb = words().any(|word| matches!(word, "is" | "be"));
    let is_label = words().all(|word| is_in(LABELS, word) || is_in(CONCLUSIONS, word));
    (has_verb && is_label && words().any(|word| is_in(ASKED_FOR, word))).then_some(rest)
}

/// Elements of HTML that stand within a text. Others have at most three letters.
const OF_HTML: [&str; 10] =
    ["abbr", "blockquote", "cite", "code", "mark", "section", "small", "span", "strong", "table"];

/// True for a text that begins with an element of a name that is not known, such as `<notes>…</notes>`.
pub(super) fn begins_with_element(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return false;
    };
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_-: ".contains(c));
    let is_of_html = name.len() <= 3 || OF_HTML.contains(&&*name.to_ascii_lowercase());
    is_name && !is_of_html && rest.contains(&format!("</{name}>"))
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
/// nothing is left, or a refusal, a placeholder, or JSON that is none.
pub(super) fn undressed(line: &str) -> Option<String> {
    let mut text = line.trim_matches(is_blank);
    text = without_mark(text).unwrap_or(text);
    // A line of a list in the form of JSON, without its brackets.
    if let Some(item) = text.strip_suffix(',').filter(|item| item.ends_with('"')) {
        text = item;
    }
    text = without_quotes(text);
    while let Some(rest) = COURTESIES.iter().find_map(|courtesy| behind(text, courtesy)) {
        text = rest;
    }
    if let Some((label, rest)) = text.split_once([':', '：'])
        && let label = label.trim_end_matches(|c: char| c.is_ascii_digit())
        && !label.is_empty()
        && is_label(label)
    {
        text = without_quotes(rest.trim_start_matches(['*', '_']).trim());
    } else if let Some(rest) = behind_sentence(text) {
        text = without_quotes(rest.trim());
    }
    let is_text = text.contains(char::is_alphanumeric) && !text.starts_with(['{', '[']);
    let is_none = is_placeholder(text)
        || begins_with_element(text)
        || refuses(text)
        || is_nothing(text)
        || is_about_task(text);
    (is_text && !is_none).then(|| text.to_owned())
}

/// True for `<your question here>` and `[your answer]`.
pub(super) fn is_placeholder(text: &str) -> bool {
    [('<', '>'), ('[', ']')].iter().any(|(open, close)| {
        let inner = text.strip_prefix(*open).and_then(|rest| rest.strip_suffix(*close));
        inner.is_some_and(|inner| {
            !inner.contains([*open, *close]) && inner.contains(char::is_alphabetic)
        })
    })
}

/// True for white space, and for characters that show nothing.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// The text behind a courtesy and its stop.
fn behind<'t>(text: &'t str, courtesy: &str) -> Option<&'t str> {
    let head = text.get(..courtesy.len())?;
    let rest = text[courtesy.len()..].strip_prefix(['!', ',', '.'])?;
    head.eq_ignore_ascii_case(courtesy).then(|| rest.trim())
}

fn refuses(text: &str) -> bool {
    let beginning: String = text.chars().take(80).collect();
    let beginning = beginning.to_lowercase().replace('’', "'");
    let (head, rest) = beginning.split_once([',', '.', '!']).unwrap_or_default();
    let is_apology = APOLOGIES.contains(&head);
    let statement = if is_apology { rest.trim_start() } else { &beginning };
    let refused = INABILITIES.iter().find_map(|words| statement.strip_prefix(words));
    refused.is_some_and(|what| is_apology || REFUSED.iter().any(|known| what.starts_with(known)))
        || REFUSALS.iter().any(|refusal| beginning.starts_with(refusal))
}

/// True for `None`, `N/A`, `NO_CHANGE`, `No clarifying question is needed.` and the like.
pub(super) fn is_nothing(text: &str) -> bool {
    let text = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('_', " ");
    if NOTHINGS.contains(&&*text) {
        return true;
    }
    let begins = ["no ", "none", "null", "nil", "n/a", "nan", "undefined"];
    begins.iter().any(|begin| text.starts_with(begin))
        && text.split_whitespace().all(|word| NOTHING.contains(&format!(" {word} ")))
}

/// A text without the marks around it: quotation marks, and those of bold or code.
pub(super) fn without_quotes(mut text: &str) -> &str {
    let pairs = [
        ("\"\"\"", "\"\"\""),
        ("\"", "\""),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("**", "**"),
        ("*", "*"),
        ("__", "__"),
        ("_", "_"),
        ("\\boxed{", "}"),
        ("`", "`"),
        ("'", "'"),
        ("‘", "’"),
    ];
    for (open, close) in pairs {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.contains(open) && !inner.contains(close)) {
            text = inner.trim();
        }
    }
    text
}

/// The text behind the mark of a list or of a heading: `-`, `- [ ]`, `*`, `•`, `>`, `#`, `1.`, `1)`, `(1)` or
/// `[1]`.
pub(super) fn without_mark(line: &str) -> Option<&str> {
    let open = line.strip_prefix(['(', '[']);
    let numbered = open.unwrap_or(line);
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < numbered.len();
    let marks: &[char] = match line.chars().next() {
        Some('(') => &[')'],
        Some('[') => &[']'],
        _ if is_numbered => &['.', ')'],
        Some('#') => return line.trim_start_matches('#').strip_prefix(' ').map(str::trim_start),
        _ => &['-', '–', '—', '*', '+', '•', '·', '>'],
    };
    if open.is_some() && !is_numbered {
        return None;
    }
    let item = rest.strip_prefix(marks)?.strip_prefix(' ')?.trim_start();
    let boxes = ["[ ] ", "[x] "];
    Some(boxes.iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item))
}
