//! Sentence boundaries by rules, close to those of spaCy's statistical segmenter.
//!
//! The passages of iKAT were cut with the `senter` of spaCy's `en_core_web_sm`, whose weights this
//! program does not carry. Its decisions are local: how a word ends, and how the next one begins.
//! The rules here state both, from "a full stop after an ordinary word: always" to "a number: only
//! before a word such as *The*", as observed in that segmenter's output.

use clariq_core::is_python_space;

/// Abbreviations that a sentence does not end with: a name or a number follows.
const TITLES: &str = "cu dr e.g gen gov i.e messrs mr mrs ms mt ph.d prof rep rev rs sen st vs";

/// Abbreviations of months, which a day follows more often than a sentence.
const MONTHS: &str = "jan feb apr aug sept sep oct nov dec";

/// Abbreviations that end a sentence only where the next word clearly opens one.
const OFTEN_INSIDE: &str = "etc no";

/// Abbreviations that end a sentence where the next word may open one.
const OFTEN_LAST: &str = "a.m al ave bros capt co col corp ft inc jr lt ltd p.m sr";

/// Words that, with a capital, all but prove that a sentence begins.
const CLEAR_OPENERS: &str = "according although an at but his in recently she so the they this \
    those thus well";

/// Words that, with a capital, usually begin a sentence.
const OPENERS: &str = "a about after along among another anything as before by currently do during either \
    everything first for from further furthermore he here hi how however if indeed is it its last \
    like may more my next no nothing now oh okay on one or other our perhaps regarding something \
    that their then there these though through to today up using we when while who whom with yes \
    yet";

/// Words that, with a capital, begin a sentence more often than not.
const FAINT_OPENERS: &str = "all also apart compared considering despite every fewer has her \
    lastly many meanwhile moreover most neither nevertheless of once only some thank thanks \
    toward under was what within without you";

/// Words before an ellipsis that leaves out their noun.
const DETERMINERS: &str = "a no the their";

/// The starts of the sentences of `text`, in bytes and in order. White space belongs to the sentence
/// before it, so that the first start is 0. An empty text has none.
pub fn starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    if text.is_empty() {
        return starts;
    }
    starts.push(0);
    let mut ending = SentenceEnd::Never;
    let mut last = "";
    let mut end = 0;
    for (start, word) in words_of(text) {
        if text[end..start].contains('\u{a0}') {
            ending = ending.before_no_break_space(last);
        }
        let is_first = ending != SentenceEnd::Never && ending.meets(Opening::of(word));
        if is_first {
            starts.push(start);
        }
        ending = SentenceEnd::of(word, is_first);
        last = word;
        end = start + word.len();
    }
    starts
}

/// The starts of the sentences of a page, which the official model also cuts inside words: the released
/// passages have `[ 4]` and `2 . Lack of control`, because their sentences are joined by spaces.
pub fn starts_of_page(text: &str) -> Vec<usize> {
    let usual = starts(text);
    let mut all = Vec::with_capacity(usual.len());
    let mut words = words_of(text).peekable();
    let mut last = "";
    let mut after = AfterWord::Usual;
    while let Some((start, word)) = words.next() {
        let next = words.peek().map_or("", |(_, next)| next);
        let bracketed = if word == "[" { Some(next) } else { word.strip_prefix('[') };
        let opens = bracketed.is_some_and(opens_bracket) && !last.ends_with(',');
        let is_first = match after {
            _ if all.is_empty() || opens => true,
            AfterWord::Usual => usual.binary_search(&start).is_ok(),
            AfterWord::Starts => true,
            AfterWord::GoesOn => false,
        };
        if is_first {
            all.push(start);
        }
        after = AfterWord::Usual;
        if is_first && is_cut_number(word) && next.starts_with(is_capital) {
            all.push(start + 1);
            after = AfterWord::GoesOn;
        } else if bracketed.is_some_and(|inside| inside.starts_with(char::is_alphanumeric)) {
            if word == "[" {
                after = AfterWord::Starts;
            } else {
                all.push(start + 1);
            }
        }
        last = word;
    }
    all
}

/// The meaning of a word for the one behind it, which may or may not start a sentence.
enum AfterWord {
    /// By the rules of both words.
    Usual,
    Starts,
    GoesOn,
}

/// True for the content of a bracket that is a sentence of its own: a reference or a name.
fn opens_bracket(content: &str) -> bool {
    content.starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase())
}

/// The numbers of lists whose full stop the official model takes for the beginning of the next sentence.
fn is_cut_number(word: &str) -> bool {
    matches!(word, "2." | "6." | "7.")
}

fn is_capital(c: char) -> bool {
    c.is_uppercase() || matches!(c, '"' | '“')
}

/// The sentences of `text`. A single space after a sentence is not part of it, as in spaCy.
pub fn split(text: &str) -> Vec<&str> {
    cut(text, &starts(text))
}

/// The sentences of `text` that start at these bytes.
pub fn cut<'t>(text: &'t str, starts: &[usize]) -> Vec<&'t str> {
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| without_one_space(&text[start..end])).collect()
}

fn without_one_space(sentence: &str) -> &str {
    match sentence.strip_suffix(' ') {
        Some(shorter) if !shorter.ends_with(is_python_space) => shorter,
        _ => sentence,
    }
}

/// The words of `text` between white space, with their positions.
fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(is_python_space)
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// The kind of a word at the end of a sentence, by the words that may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentenceEnd {
    /// It ends no sentence.
    Never,
    /// A word that clearly opens a sentence.
    ClearOpener,
    /// A word that usually opens a sentence.
    Opener,
    /// A word that may open a sentence.
    FaintOpener,
    /// A capital or a quotation.
    Capital,
    /// Anything but a word in lower case.
    NotLower,
    /// Anything that can begin a sentence, except the number of a list.
    Unnumbered,
    /// Anything that can begin a sentence.
    Anything,
}

/// The kind of a word at the beginning of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// It begins no sentence.
    Never,
    ClearOpener,
    Opener,
    FaintOpener,
    /// Any other capital.
    Capital,
    Quotation,
    /// A bracket, a dash, a bullet.
    Sign,
    /// The number of an entry in a list.
    Numbering,
    Lower,
    Number,
}

impl SentenceEnd {
    /// True if a word of this ending and one of `opening` make a boundary.
    fn meets(self, opening: Opening) -> bool {
        use Opening as O;
        let capital = matches!(opening, O::ClearOpener | O::Opener | O::FaintOpener | O::Capital);
        match self {
            Self::Never => false,
            Self::ClearOpener => opening == O::ClearOpener,
            Self::Opener => matches!(opening, O::ClearOpener | O::Opener),
            Self::FaintOpener => matches!(opening, O::ClearOpener | O::Opener | O::FaintOpener),
            Self::Capital => capital || opening == O::Quotation,
            Self::NotLower => !matches!(opening, O::Never | O::Lower),
            Self::Unnumbered => !matches!(opening, O::Never | O::Numbering),
            Self::Anything => opening != O::Never,
        }
    }

    /// The ending of `word`, which holds no white space and may be the first of its sentence.
    fn of(word: &str, is_first: bool) -> Self {
        if word.starts_with("http") || word.starts_with("www.") {
            return if word.ends_with('.') { Self::Anything } else { Self::ClearOpener };
        }
        let core = word.trim_end_matches(is_closing);
        let closing = &word[core.len()..];
        let Some(last) = core.chars().next_back() else { return Self::of_closing(closing) };
        if matches!(last, '.' | '!' | '?') && closing.contains(']') {
            return Self::Never;
        }
        match last {
            '.' => Self::of_full_stop(core, closing, is_first),
            '!' | '?' => Self::of_mark(core, closing),
            _ if closing.contains(')') => Self::of_closing(closing),
            ':' if closing.is_empty() && is_label(core) => Self::Opener,
            _ => Self::Never,
        }
    }

    /// The same ending before a no-break space. A full stop ends a sentence
    /// there whatever follows, and nothing else does.
    fn before_no_break_space(self, word: &str) -> Self {
        if self != Self::Never && word.ends_with('.') { Self::Anything } else { Self::Never }
    }

    /// A closing parenthesis with no full stop before it, as behind a heading.
    fn of_closing(closing: &str) -> Self {
        if closing.contains(')') { Self::Opener } else { Self::Never }
    }

    fn of_full_stop(core: &str, closing: &str, is_first: bool) -> Self {
        let stem = core.trim_end_matches('.');
        match core.len() - stem.len() {
            1 if is_list_number(stem) => Self::of_list_number(stem, is_first),
            1 => Self::of_stem(stem.trim_start_matches(is_opening), closing),
            2 => Self::FaintOpener,
            _ => Self::of_ellipsis(stem),
        }
    }

    fn of_ellipsis(stem: &str) -> Self {
        let lower = stem.to_lowercase();
        let is_cut = stem.ends_with(',') || DETERMINERS.split(' ').any(|word| word == lower);
        if is_cut { Self::Never } else { Self::Capital }
    }

    /// The ending of the number of a list. The official model reads some digits as part of the
    /// heading that follows: three of them anywhere, one where a sentence has just ended.
    fn of_list_number(number: &str, is_first: bool) -> Self {
        match number.trim_start_matches('#') {
            "2" | "5" | "7" => Self::FaintOpener,
            "3" if is_first => Self::FaintOpener,
            _ => Self::Anything,
        }
    }

    /// The ending of a word before one full stop, which may belong to the word.
    fn of_stem(stem: &str, closing: &str) -> Self {
        let mut letters = stem.chars().rev();
        let last = letters.next();
        let before = letters.next();
        if last.is_some_and(char::is_alphabetic) && before.is_none() {
            return Self::Never;
        }
        let lower = stem.to_lowercase();
        let listed = |list: &str| list.split(' ').any(|word| word == lower);
        if listed(TITLES) {
            Self::Never
        } else if listed(MONTHS) && last.is_some_and(char::is_lowercase) {
            Self::ClearOpener
        } else if listed(OFTEN_INSIDE) {
            Self::Opener
        } else if listed(OFTEN_LAST) {
            Self::FaintOpener
        } else if last.is_some_and(char::is_uppercase)
            && !before.is_some_and(|c| c.is_uppercase() || c == '°')
        {
            // The full stop of `U.S.` or `5G.` is part of the word.
            if before.is_some_and(|c| c.is_ascii_digit()) { Self::Never } else { Self::ClearOpener }
        } else if closing.contains(')') {
            Self::NotLower
        } else {
            Self::Anything
        }
    }

    /// The ending of a word before `!` or `?`, which may belong to a name.
    fn of_mark(core: &str, closing: &str) -> Self {
        let stem = core.trim_end_matches(['!', '?', '.']).trim_start_matches(is_opening);
        let has_upper = stem.contains(char::is_uppercase);
        let is_name = has_upper && stem.starts_with(char::is_lowercase);
        if is_name && stem.chars().all(char::is_alphanumeric) {
            Self::Opener
        } else if has_upper && core.ends_with('!') {
            Self::Capital
        } else if !closing.is_empty() {
            Self::NotLower
        } else if core.ends_with('!') {
            Self::Unnumbered
        } else {
            Self::Anything
        }
    }
}

impl Opening {
    /// The opening of `word`, which holds no white space.
    fn of(word: &str) -> Self {
        let Some(first) = word.chars().next() else { return Self::Never };
        match first {
            '0'..='9' | '#' => Self::of_number(word),
            '\'' | '.' | ',' | ';' | ':' | '!' | '?' | '–' | ')' | ']' | '}' | '”' => {
                Self::Never
            }
            '"' | '“' => Self::Quotation,
            _ if first.is_uppercase() => Self::of_capital(word),
            _ if first.is_alphabetic() => Self::Lower,
            _ => Self::Sign,
        }
    }

    fn of_capital(word: &str) -> Self {
        let letters = word.split(|c: char| !c.is_alphabetic()).next().unwrap_or(word);
        let lower = letters.to_lowercase();
        let listed = |list: &str| list.split(' ').any(|word| word == lower);
        if listed(CLEAR_OPENERS) {
            Self::ClearOpener
        } else if listed(OPENERS) {
            Self::Opener
        } else if listed(FAINT_OPENERS) || lower.len() > 5 && lower.ends_with("ing") {
            Self::FaintOpener
        } else {
            Self::Capital
        }
    }

    fn of_number(word: &str) -> Self {
        let after = word.trim_start_matches('#').trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &word[..word.len() - after.len()];
        match after {
            "." if digits.starts_with('#') => Self::Numbering,
            // The official model takes a number from 8 on for the end of the sentence before it.
            "." if digits.len() == 1 && digits < "8" => Self::Numbering,
            _ if is_numbering(word) => Self::Never,
            _ if digits.starts_with('#') || after.starts_with(')') => Self::Sign,
            _ => Self::Number,
        }
    }
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '”' | '’' | '\'' | '»' | ')' | ']')
}

fn is_opening(c: char) -> bool {
    matches!(c, '"' | '“' | '‘' | '\'' | '«' | '(' | '[')
}

/// The number of an entry in a list, as in `2.` and `#2.`
fn is_list_number(text: &str) -> bool {
    is_short_number(text.trim_start_matches('#'))
}

/// A number that names a section, as `10.` and `1.2.` do.
fn is_numbering(word: &str) -> bool {
    word.ends_with('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// True for a label in capitals, as in `PRICE RANGE:`.
fn is_label(word: &str) -> bool {
    let Some(name) = word.strip_suffix(':') else { return false };
    name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(is_of_label)
}

fn is_of_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"/&-".contains(&byte)
}

fn is_short_number(text: &str) -> bool {
    (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
