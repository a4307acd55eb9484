//! Ids that are spelled otherwise than those of the judgements. Ids are compared letter by letter: where
//! case, zeros or invisible characters differ, nothing matches, and nobody sees why.

use clariq_core::{Documents, RequestId, count_of, one_or};
use clariq_eval::Qrels;
use clariq_files::{Run, shorten};
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use unicode_normalization::UnicodeNormalization;

/// An id without what its writers may vary: case, the composition of accents, invisible characters, blanks
/// and quotes around it, the signs between its parts, zeros before its numbers and `.0` behind a whole one.
fn plain_form(id: &str) -> Cow<'_, str> {
    if !id.is_ascii() {
        let visible = id.nfc().filter(|c| !is_invisible(*c));
        let composed: String = visible.flat_map(char::to_lowercase).collect();
        return Cow::Owned(plain_text(plain_part(&composed)));
    }
    let part = plain_part(id);
    let bytes = part.as_bytes();
    let has_zeros = bytes.windows(2).enumerate().any(|(at, pair)| {
        let is_first = at == 0 || !bytes[at - 1].is_ascii_digit();
        is_first && pair[0] == b'0' && pair[1].is_ascii_digit()
    });
    if !has_zeros && bytes.iter().all(|byte| plain_byte(*byte) == *byte) {
        return Cow::Borrowed(part);
    }
    Cow::Owned(plain_text(part))
}

/// A text in small letters, with one sign between parts, and without zeros before numbers.
fn plain_text(part: &str) -> String {
    let mut plain = String::with_capacity(part.len());
    let mut in_number = false;
    let mut rest = part.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '0' && !in_number && rest.peek().is_some_and(char::is_ascii_digit) {
            continue;
        }
        in_number = c.is_ascii_digit();
        plain.push(u8::try_from(c).map_or(c, |byte| plain_byte(byte).into()));
    }
    plain
}

/// An id without the blanks and the quotes around it, and without the `.0` of a whole number.
fn plain_part(id: &str) -> &str {
    let id = id.trim();
    let inside = |quote: char| id.strip_prefix(quote)?.strip_suffix(quote);
    let bare = inside('"').or_else(|| inside('\'')).unwrap_or(id);
    let is_whole = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    bare.strip_suffix(".0").filter(is_whole).unwrap_or(bare)
}

fn plain_byte(byte: u8) -> u8 {
    match byte {
        b'-' | b'.' | b':' | b'/' | b'#' => b'_',
        byte => byte.to_ascii_lowercase(),
    }
}

/// True for characters without a width, and for those that look like a blank and are none.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{a0}' | '\u{202f}'
    )
}

/// The other spellings of an id that a collection may have.
pub fn other_spellings(id: &str) -> impl Iterator<Item = String> + '_ {
    let with_signs = |sign: &str| id.replace(['-', '_', '.', ':', '/', '#'], sign);
    let spellings = [
        plain_form(id).into_owned(),
        id.to_lowercase(),
        id.to_uppercase(),
        id.nfc().collect(),
        id.nfd().collect(),
        id.chars().filter(|c| !is_invisible(*c)).collect(),
        format!("{id}.0"),
        with_signs("-"),
        with_signs("."),
        with_signs(":"),
        with_signs("/"),
        with_signs("#"),
    ];
    spellings.into_iter().chain(other_zeros(id)).filter(move |other| other != id)
}

/// The most zeros that are tried before a number of an id.
const MOST_ZEROS: usize = 8;

/// An id with other zeros before one of its numbers.
fn other_zeros(id: &str) -> Vec<String> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let mut spellings = Vec::new();
    let mut start = 0;
    for part in id.as_bytes().chunk_by(|a, b| is_digit(a) == is_digit(b)) {
        let end = start + part.len();
        if is_digit(&part[0]) {
            let number = id[start..end - 1].trim_start_matches('0');
            let number = &id[end - 1 - number.len()..end];
            for zeros in 0..=MOST_ZEROS {
                spellings.push([&id[..start], &"0".repeat(zeros), number, &id[end..]].concat());
            }
        }
        start = end;
    }
    spellings
}

/// The document that an id means by another spelling, in a collection that does not have the id.
pub(crate) fn meant_in(documents: &dyn Documents, id: &str) -> Option<String> {
    other_spellings(id).find(|other| documents.find(other).is_some())
}

/// Warns of documents of a run that are spelled otherwise in the collection.
pub fn unknown_spelled_otherwise(run: &Run, documents: &dyn Documents) -> Option<String> {
    let mut pairs: BTreeMap<&str, String> = BTreeMap::new();
    for id in run.lines.iter().map(|line| line.document.as_str()) {
        if !pairs.contains_key(id)
            && documents.find(id).is_none()
            && let Some(meant) = meant_in(documents, id)
        {
            pairs.insert(id, meant);
        }
    }
    let (first, meant) = pairs.first_key_value()?;
    Some(described(pairs.len(), ["document", "collection"], first, meant))
}

/// Known ids by their plain forms. A run has millions of ids to look up, which takes a fast hash.
pub(super) struct Spellings<'a>(HashMap<Cow<'a, str>, &'a str, RandomState>);

impl<'a> Spellings<'a> {
    pub(super) fn of(known: impl Iterator<Item = &'a str>) -> Self {
        let mut spellings: HashMap<Cow<str>, &str, RandomState> = HashMap::default();
        for id in known {
            let first = spellings.entry(plain_form(id)).or_insert(id);
            *first = id.min(first);
        }
        Self(spellings)
    }

    /// The known id that is meant by another spelling of it.
    pub(super) fn meant_by(&self, id: &str) -> Option<&'a str> {
        self.0.get(&*plain_form(id)).copied().filter(|known| *known != id)
    }
}

/// Warns of topics of a run that are spelled otherwise than those of the labels.
pub(super) fn topics_spelled_otherwise(run: &Run, known: &HashSet<RequestId>) -> Option<String> {
    // The lines of a topic are usually consecutive.
    let blocks = run.lines.chunk_by(|one, next| one.topic == next.topic);
    let given: HashSet<&RequestId> = blocks.map(|lines| &lines[0].topic).collect();
    let unknown: BTreeSet<&RequestId> =
        given.iter().copied().filter(|topic| !known.contains(*topic)).collect();
    if unknown.is_empty() {
        return None;
    }
    let unanswered = known.iter().filter(|topic| !given.contains(topic));
    let spellings = Spellings::of(unanswered.map(RequestId::as_str));
    let mut pairs = unknown.iter().filter_map(|topic| {
        let topic = topic.as_str();
        Some((topic, spellings.meant_by(topic)?))
    });
    let (first, meant) = pairs.next()?;
    Some(described(1 + pairs.count(), ["topic", "labels"], first, meant))
}

/// Warns of documents of a run whose judgements have another spelling.
pub fn spelled_otherwise(run: &Run, qrels: &Qrels) -> Option<String> {
    let mut pairs: BTreeSet<(&str, &str, &RequestId)> = BTreeSet::new();
    // The lines of a topic are usually consecutive.
    let mut of_topics: HashMap<&RequestId, Spellings> = HashMap::new();
    for lines in run.lines.chunk_by(|one, next| one.topic == next.topic) {
        let topic = &lines[0].topic;
        let Some(judged) = qrels.topic(topic) else { continue };
        let spellings = of_topics.entry(topic).or_insert_with(|| {
            Spellings::of(judged.documents().map(|(document, _)| document.as_str()))
        });
        for line in lines {
            let document = line.document.as_str();
            if let Some(meant) = spellings.meant_by(document)
                && judged.grade(&line.document).is_none()
            {
                pairs.insert((document, meant, topic));
            }
        }
    }
    if pairs.is_empty() {
        return None;
    }
    // A collection may have a document of each spelling.
    let ranked: HashSet<(&str, &RequestId)> =
        run.lines.iter().map(|line| (line.document.as_str(), &line.topic)).collect();
    pairs.retain(|(_, meant, topic)| !ranked.contains(&(*meant, *topic)));
    let (first, meant, _) = pairs.first()?;
    Some(described(pairs.len(), ["document", "judgements"], first, meant))
}

fn described(count: usize, [what, labels]: [&str; 2], id: &str, meant: &str) -> String {
    let [id, meant] = [id, meant].map(shown);
    format!(
        "{} of the run {} spelled otherwise in the {labels}, such as `{id}` for `{meant}`: ids are \
         compared letter by letter",
        count_of(count, what),
        one_or(count, "is", "are")
    )
}

/// An id with its other characters as escapes: two spellings may look the same.
pub(crate) fn shown(id: &str) -> String {
    shorten(id)
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_files::{Judgement, Source, read_run};

    fn run(text: &str) -> Run {
        read_run(&Source::memory("a.run", text.as_bytes())).unwrap()
    }

    fn qrels(judged: &[(&str, &str)]) -> Qrels {
        let judgements: Vec<Judgement> = judged
            .iter()
            .map(|(topic, document)| Judgement {
                topic: (*topic).into(),
                document: (*document).into(),
                relevance: 1,
            })
            .collect();
        Qrels::from_judgements("a", &judgements).unwrap()
    }

    #[test]
    fn ids_that_differ_in_what_nobody_sees_are_noticed() {
        for (given, judged) in [
            ("D1", "d1"),
            ("cafe\u{301}", "caf\u{e9}"),
            ("d1\u{200b}", "d1"),
            ("d\u{a0}1", "d1"),
            ("007", "7"),
            ("7.0", "7"),
            ("0", "00"),
            ("Q0001", "Q00001"),
            ("p_007-1.5", "p_7-01.5"),
            ("\"d1\"", "d1"),
            ("'d1'", "d1"),
            ("1-1_2", "1_1_2"),
            ("a/B:0", "a_b_0"),
            ("p-00#3", "p-00:3"),
            ("\"\u{e9}-1\"", "\u{c9}_1"),
        ] {
            let run = run(&format!("q1 0 {given} 1 2 t\nq1 0 x 2 1 t\n"));
            let warning = spelled_otherwise(&run, &qrels(&[("q1", judged)]));
            let [given, judged] = [given, judged].map(shown);
            let expected = format!(
                "1 document of the run is spelled otherwise in the judgements, such as `{given}` for \
                 `{judged}`: ids are compared letter by letter"
            );
            assert_eq!(warning, Some(expected));
        }
    }

    #[test]
    fn other_ids_and_those_of_which_the_run_has_both_are_no_spellings() {
        for (given, judged) in [
            ("d10", "d1"),
            ("d1.0", "d1"),
            ("d-1", "d1"),
            ("d1", "d1"),
            ("00", "1"),
            ("Q0010", "Q001"),
        ] {
            let run = run(&format!("q1 0 {given} 1 2 t\n"));
            assert_eq!(spelled_otherwise(&run, &qrels(&[("q1", judged)])), None, "{given}");
        }
        let both = run("q1 0 D1 1 2 t\nq1 0 d1 2 1 t\n");
        assert_eq!(spelled_otherwise(&both, &qrels(&[("q1", "d1")])), None);
        let of_another_topic = run("q2 0 D1 1 2 t\n");
        assert_eq!(spelled_otherwise(&of_another_topic, &qrels(&[("q1", "d1")])), None);
    }

    #[test]
    fn topics_with_other_zeros_are_noticed() {
        let known = ["1", "2", "q3"].map(RequestId::from).into_iter().collect();
        let run = run("001 0 d 1 2 t\n2 0 d 1 2 t\nQ3 0 d 1 2 t\n9 0 d 1 2 t\n");
        let expected = "2 topics of the run are spelled otherwise in the labels, such as `001` for `1`: ids are \
                        compared letter by letter";
        assert_eq!(topics_spelled_otherwise(&run, &known).unwrap(), expected);
    }

    #[test]
    fn the_spellings_of_an_id_are_other_ids() {
        let spellings: BTreeSet<String> = other_spellings("D\u{e9}1").collect();
        let mut expected: BTreeSet<String> =
            ["d\u{e9}1", "D\u{c9}1", "De\u{301}1", "D\u{e9}1.0"].map(str::to_owned).into();
        expected.extend((1..=MOST_ZEROS).map(|zeros| format!("D\u{e9}{}1", "0".repeat(zeros))));
        assert_eq!(spellings, expected);
        for (id, other) in [
            ("1-1", "1_1"),
            ("1_1", "1.1"),
            ("7", "7.0"),
            ("07", "7"),
            ("q00", "q0"),
            ("Q0001", "Q00001"),
            ("a1_02", "a01_02"),
        ] {
            assert!(other_spellings(id).any(|spelling| spelling == other), "{id}");
        }
    }
}
