//! The thoughts of a model before its answer, where its server leaves them in the text.
//!
//! Thoughts are told by marks alone: tags with a name for them, the channels of gpt-oss, or the pairs of
//! marks that a table names. The first mark may be missing, where the prompt has it already.

use super::special::behind_special_tokens;
use serde::{Deserialize, Serialize};

/// The key `thinking`: the marks at the beginning and the end of what a model thinks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<String>>", into = "Vec<[String; 2]>")]
pub(super) enum Marks {
    /// Tags by their names, and the channels of gpt-oss.
    #[default]
    Usual,
    Own(Vec<[String; 2]>),
}

impl TryFrom<Vec<Vec<String>>> for Marks {
    type Error = &'static str;

    fn try_from(marks: Vec<Vec<String>>) -> Result<Self, Self::Error> {
        let mut pairs = Vec::with_capacity(marks.len());
        for marks in marks {
            let pair: [String; 2] =
                marks.try_into().map_err(|_| "a mark at the beginning and one at the end")?;
            if pair.iter().any(|mark| mark.trim().is_empty()) {
                return Err("a mark that is empty");
            }
            pairs.push(pair);
        }
        Ok(Self::Own(pairs))
    }
}

impl From<Marks> for Vec<[String; 2]> {
    fn from(marks: Marks) -> Self {
        match marks {
            Marks::Usual => Vec::new(),
            Marks::Own(pairs) => pairs,
        }
    }
}

impl Marks {
    /// Where the answer in a text begins: behind the last mark that ends what the model thinks. `None` if
    /// the text, or what stands behind that mark, begins with thoughts that do not end.
    pub(super) fn start_of_answer(&self, text: &str) -> Option<usize> {
        match self {
            Self::Usual if text.contains(CHANNEL) => behind_channels(text),
            Self::Usual => {
                let start = behind_tags(text);
                let is_open = tag_at(behind_special_tokens(&text[start..]));
                is_open.is_none().then_some(start)
            }
            Self::Own(pairs) => {
                let ends = pairs.iter().filter_map(|[_, end]| Some(text.rfind(end)? + end.len()));
                let start = ends.max().unwrap_or(0);
                let rest = text[start..].trim_start();
                let is_open = pairs.iter().any(|[begin, _]| rest.starts_with(begin));
                (!is_open).then_some(start)
            }
        }
    }
}

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
const END: &str = "<|end|>";

/// Where the answer of gpt-oss begins: behind the head of its last message, if its channel is `final`. A
/// message of another channel must have ended; llama.cpp leaves the head of the answer out.
fn behind_channels(text: &str) -> Option<usize> {
    let channel = text.rfind(CHANNEL)? + CHANNEL.len();
    let message = channel + text[channel..].find(MESSAGE)? + MESSAGE.len();
    if text[channel..].starts_with("final") {
        return Some(message);
    }
    let end = message + text[message..].find(END)? + END.len();
    let is_head = text[end..].trim_start().starts_with("<|start|>");
    (!is_head && !text[end..].trim().is_empty()).then_some(end)
}

/// Words of the names of tags: `<think>`, `[THINK]`, `<seed:think>`, `<|START_THINKING|>`, `◁think▷`.
const NAMES: [&str; 5] = ["think", "thinking", "thought", "thoughts", "reasoning"];
const BRACKETS: [[char; 2]; 3] = [['<', '>'], ['[', ']'], ['◁', '▷']];
const BARS: [char; 2] = ['|', '｜'];

/// A tag at the beginning of a text.
struct ThoughtTag {
    /// True if it ends what the model thinks.
    is_end: bool,
    /// The position behind it.
    end: usize,
}

/// The position behind the last tag that ends what a model thinks; 0 without one.
fn behind_tags(text: &str) -> usize {
    let openings = BRACKETS.map(|[open, _]| open);
    let mut ends = text.match_indices(openings).filter_map(|(at, _)| {
        let tag = any_tag_at(&text[at..]).filter(|tag| tag.is_end)?;
        Some(at + tag.end)
    });
    ends.next_back().unwrap_or(0)
}

/// The tag with which a text begins, if thoughts begin with it.
fn tag_at(text: &str) -> Option<ThoughtTag> {
    any_tag_at(text).filter(|tag| !tag.is_end)
}

/// The tag with which a text begins: `<name>`, also with attributes, `</name>`, `<|name|>`, `<|/name|>`,
/// `<|END_NAME|>`, `[NAME]`.
fn any_tag_at(text: &str) -> Option<ThoughtTag> {
    let [open, close] = BRACKETS.into_iter().find(|[open, _]| text.starts_with(*open))?;
    let rest = &text[open.len_utf8()..];
    let at = rest.find([open, close]).filter(|at| rest[*at..].starts_with(close))?;
    let bare = rest[..at].trim_matches(BARS).trim();
    let name = bare.trim_matches('/').trim();
    let (name, attributes) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    let is_for_thoughts = words.any(|word| NAMES.iter().any(|it| word.eq_ignore_ascii_case(it)));
    if !is_for_thoughts || !(attributes.is_empty() || attributes.contains('=')) {
        return None;
    }
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    let is_end = bare.contains('/') && attributes.is_empty()
        || words.any(|word| word.eq_ignore_ascii_case("end"));
    Some(ThoughtTag { is_end, end: open.len_utf8() + at + close.len_utf8() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_text_behind_the_last_mark() {
        let marks = Marks::default();
        for (text, answer) in [
            ("tents", Some("tents")),
            ("<think>\nHm.\n</think>\n\ntents", Some("\n\ntents")),
            ("<think>\n\n</think>\n\ntents", Some("\n\ntents")),
            ("Hm, <b>so</b>.\n</think>\n\ntents", Some("\n\ntents")),
            ("<think>a</think>b<think>c</think>tents", Some("tents")),
            ("<THINK>a</Think>tents", Some("tents")),
            ("<thinking>a</thinking> tents", Some(" tents")),
            ("<reasoning>a<think>b</think></reasoning>tents", Some("tents")),
            ("[THINK]a[/THINK]tents", Some("tents")),
            ("◁think▷ä◁/think▷tents", Some("tents")),
            ("<seed:think>a</seed:think>tents", Some("tents")),
            ("<longcat_think>a</longcat_think>tents", Some("tents")),
            ("<think duration=\"3s\">a</think>tents", Some("tents")),
            ("<|START_THINKING|>a<|END_THINKING|>tents", Some("tents")),
            ("<|begin_of_thought|>a<|end_of_thought|>tents", Some("tents")),
            ("<|think|>a<|/think|>tents", Some("tents")),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant\
                 <|channel|>final<|message|>tents",
                Some("tents"),
            ),
            ("<|channel|>analysis<|message|>a<|end|>tents", Some("tents")),
            ("<|channel|>final <|constrain|>json<|message|>tents", Some("tents")),
            ("<think>a", None),
            ("<s>[THINK]a", None),
            ("<think>a</think><think>b", None),
            ("<|channel|>analysis<|message|>a", None),
            ("<|channel|>analysis<|message|>a<|end|>", None),
            ("<|channel|>analysis<|message|>a<|end|><|start|>assistant", None),
            ("<|channel|>analysis", None),
            ("", Some("")),
            ("<thinker>", Some("<thinker>")),
            ("[think about it]", Some("[think about it]")),
            ("Use the <thought> element.", Some("Use the <thought> element.")),
        ] {
            assert_eq!(marks.start_of_answer(text).map(|at| &text[at..]), answer, "{text}");
        }
        let own: Marks = serde_json::from_str(r#"[["{{", "}}"]]"#).unwrap();
        for (text, start) in [("{{a}}<think>", Some(5)), ("<think>a", Some(0)), ("{{a", None)] {
            assert_eq!(own.start_of_answer(text), start, "{text}");
        }
        for wrong in [r#"[["", "b"]]"#, r#"[["a"]]"#, r#"[["a", "b", "c"]]"#, r#"["a", "b"]"#] {
            assert!(serde_json::from_str::<Marks>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tags_are_found_in_one_pass() {
        // A reader that takes quadratic time would not finish.
        for text in ["<", "[", "◁", "<think", "<a b", "[<", "< >"] {
            let text = text.repeat((1 << 18) / text.len());
            assert_eq!(behind_tags(&text), 0);
        }
    }
}
