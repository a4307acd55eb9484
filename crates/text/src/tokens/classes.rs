//! The character classes that spaCy's rules are written in.
//!
//! After `spacy/lang/char_classes.py` of spaCy 3.8. Letters are those of Latin, Greek and Cyrillic,
//! which have case, and of scripts without case, whose letters count as lower and upper case alike.

use regex::Regex;
use std::sync::LazyLock;

/// Marks that are a token of their own at the start and at the end of a word.
const PUNCTUATION: &str = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪";
/// Quotation marks, and what spaCy lists with them.
const QUOTES: &str = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉〈〉⟦⟧";
/// Signs of currencies, a token of their own before a number and after one.
const CURRENCY: &str = "$£€¥฿₽﷼₴₠₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₵₶₷₸₹₺₻₼₾₿";
/// Dollars of a country, as in `US$5`.
pub(super) const DOLLARS: [&str; 3] = ["US$", "C$", "A$"];
/// Units of measurement, a token of their own after a digit.
pub(super) const UNITS: &str = "km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in \
     ft kg g mg µg t lb oz m/s km/h kmh mph hPa Pa mbar mb MB kb KB gb GB tb TB T G M K % км км² \
     км³ м м² м³ дм дм² дм³ см см² см³ мм мм² мм³ нм кг г мг м/с км/ч кПа Па мбар Кб КБ кб Мб МБ \
     мб Гб ГБ гб Тб ТБ тбكم كم² كم³ م م² م³ سم سم² سم³ مم مم² مم³ كم غرام جرام جم كغ ملغ كوب \
     اكواب";

/// Blocks of scripts without case: Hebrew, Arabic, Persian, the scripts of India, Sinhala,
/// Ethiopic, and those of East Asia.
const UNCASED: [(char, char); 13] = [
    ('\u{591}', '\u{5f4}'),
    ('\u{620}', '\u{64a}'),
    ('\u{66e}', '\u{6ff}'),
    ('\u{750}', '\u{77f}'),
    ('\u{900}', '\u{9ff}'),
    ('\u{b80}', '\u{bff}'),
    ('\u{c00}', '\u{cff}'),
    ('\u{d80}', '\u{dff}'),
    ('\u{1100}', '\u{137f}'),
    ('\u{2e80}', '\u{2fff}'),
    ('\u{3000}', '\u{32ff}'),
    ('\u{3400}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7af}'),
];

/// Symbols that are neither of currency nor of mathematics nor modifiers: emoji, `©`, `°`, arrows.
static ICON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\A\p{So}\z").expect("a valid expression"));

fn is_uncased(c: char) -> bool {
    c >= '\u{591}'
        && (UNCASED.iter().any(|&(first, last)| (first..=last).contains(&c))
            || ('\u{20000}'..='\u{2fa1f}').contains(&c))
}

/// A lower-case letter, or a letter of a script without case.
pub(super) fn is_lower(c: char) -> bool {
    c.is_ascii_lowercase() || (c >= 'ß' && c.is_lowercase() && !is_symbol(c)) || is_uncased(c)
}

/// An upper-case letter, or a letter of a script without case.
pub(super) fn is_upper(c: char) -> bool {
    c.is_ascii_uppercase() || (c >= 'À' && c.is_uppercase() && !is_symbol(c)) || is_uncased(c)
}

/// Whether the character is of the blocks of symbols, whose Roman numerals have case too.
fn is_symbol(c: char) -> bool {
    ('\u{2000}'..='\u{2bff}').contains(&c)
}

pub(super) fn is_letter(c: char) -> bool {
    is_lower(c) || is_upper(c)
}

pub(super) fn is_punctuation(c: char) -> bool {
    PUNCTUATION.contains(c)
}

pub(super) fn is_quote(c: char) -> bool {
    QUOTES.contains(c)
}

pub(super) fn is_currency(c: char) -> bool {
    CURRENCY.contains(c)
}

pub(super) fn is_icon(c: char) -> bool {
    c >= '\u{a6}' && ICON.is_match(c.encode_utf8(&mut [0; 4]))
}
