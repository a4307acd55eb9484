//! Models that think before they answer.
//!
//! Some servers leave what a model thinks in the text of its answer: between marks, with the first mark
//! missing where the prompt has it already, or with nothing between them where thinking is off. None of
//! it is part of the answer.

mod prose;
mod tags;

use clariq_core::behind_special_tokens;
use serde::{Deserialize, Serialize};
use tags::{behind_blocks, tag_at};

/// The marks at the beginning and the end of what a model thinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<String>>", into = "Vec<[String; 2]>")]
pub(super) struct Marks {
    pairs: Vec<[String; 2]>,
    /// True for the usual marks: tags are known by their names, gpt-oss is read by its channels, and
    /// headings such as `**Thinking:**` count.
    is_usual: bool,
}

/// Marks of Solar Open, Apertus, `MedGemma`, Gemma 4, Granite 3.2, Apriel, s1, Kimi K3, Inkling, Muse Glimmer,
/// Pangu, `HyperCLOVA` X, and models that are trained by Unsloth's example; and those that Ollama's command and
/// servers such as Dify write.
const PAIRS: [[&str; 2]; 17] = [
    ["<|think|>", "<|content|>"],
    ["<|inner_prefix|>", "<|inner_suffix|>"],
    ["<unused94>", "<unused95>"],
    ["<|channel>thought", "<channel|>"],
    ["Here is my thought process:", "Here is my response:"],
    ["Here's my thought process:", "Here's my response:"],
    ["Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"],
    ["<|im_start|>think", "<|im_start|>answer"],
    ["<start_working_out>", "<end_working_out>"],
    ["<details", "</details>"],
    ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
    ["<|content_thinking|>", "<|content_text|>"],
    ["<|message_model|><|content_thinking|>", "<|content_text|>"],
    ["to=self<|message|>", "to=user<|message|>"],
    ["[unused16]", "[unused17]"],
    ["/think\n", "<|im_start|>assistant"],
    ["Thinking...", "...done thinking."],
];

impl Default for Marks {
    fn default() -> Self {
        Self { pairs: PAIRS.map(|pair| pair.map(str::to_owned)).into(), is_usual: true }
    }
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
        Ok(Self { pairs, is_usual: false })
    }
}

impl From<Marks> for Vec<[String; 2]> {
    fn from(marks: Marks) -> Self {
        marks.pairs
    }
}

impl Marks {
    /// Where the answer in a text begins: behind the last mark that ends what the model thinks. `None`
    /// if it thinks again behind that mark. Letters count in upper and lower case.
    pub(super) fn start_of_answer(&self, text: &str) -> Option<usize> {
        let mut start = if self.is_usual { behind_channels(text)? } else { 0 };
        let text = text.to_ascii_lowercase();
        for pair in &self.pairs {
            let [begin, end] = pair.each_ref().map(|mark| mark.to_ascii_lowercase());
            // A text that is also used otherwise is a mark only where the text begins with its other half.
            let is_common = end.starts_with(char::is_alphabetic)
                || matches!(&*end, "</details>" | "<|im_start|>assistant");
            if is_common && !begins(&text, &begin) {
                continue;
            }
            if let Some(at) = text.rfind(&end) {
                start = start.max(at + end.len());
            }
        }
        if self.is_usual {
            start = start.max(behind_tags(&text));
            start += behind_blocks(&text[start..]);
        }
        let rest = &text[start..];
        if self.is_open(rest) {
            return None;
        }
        if !self.is_usual {
            return Some(start);
        }
        prose::behind_headings(rest).map(|at| start + at)
    }

    /// True if a text in lower case begins with a mark, or if a line does: with a tag, or as a whole.
    fn is_open(&self, text: &str) -> bool {
        self.opens(text)
            || self.opens(behind_special_tokens(text))
            || text.lines().any(|line| self.is_begin(line.trim()))
    }

    fn opens(&self, text: &str) -> bool {
        let is_tag = self.is_usual && tag_at(text.trim_start()).is_some_and(|tag| !tag.is_end);
        is_tag || self.pairs.iter().any(|[begin, _]| begins(text, &begin.to_ascii_lowercase()))
    }

    fn is_begin(&self, line: &str) -> bool {
        self.is_usual && tag_at(line).is_some_and(|tag| !tag.is_end)
            || self.pairs.iter().any(|[begin, _]| begin.eq_ignore_ascii_case(line))
    }
}

/// The end of the last tag that ends what a model thinks, in a text in lower case; 0 without one.
fn behind_tags(text: &str) -> usize {
    let mut ends = text.match_indices(tags::OPENINGS).filter_map(|(at, _)| {
        let tag = tag_at(&text[at..]).filter(|tag| tag.is_end)?;
        Some(at + tag.end)
    });
    ends.next_back().unwrap_or(0)
}

/// True if a text begins with a mark, or with a tag of the same name with attributes.
fn begins(text: &str, mark: &str) -> bool {
    let text = text.trim_start();
    let Some(tag) = mark.strip_suffix('>').filter(|tag| tag.starts_with('<')) else {
        return text.starts_with(mark);
    };
    text.strip_prefix(tag).is_some_and(|rest| {
        let attributes = &rest[..rest.find(['<', '>']).unwrap_or(rest.len())];
        rest[attributes.len()..].starts_with('>')
            && (attributes.is_empty() || attributes.starts_with(char::is_whitespace))
    })
}

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
const END: &str = "<|end|>";

/// Where the answer of gpt-oss begins: behind the head of its last message, if its channel is `final`.
/// A message of another channel must have ended; llama.cpp leaves the head of the answer out.
/// Some servers leave out the marks, and `analysisThe user…assistantfinalThe answer` remains.
fn behind_channels(text: &str) -> Option<usize> {
    let channel = text.rmatch_indices(CHANNEL).map(|(at, _)| at + CHANNEL.len()).find(|at| {
        ["analysis", "commentary", "final"].iter().any(|name| text[*at..].starts_with(name))
    });
    if let Some(channel) = channel {
        let message = channel + text[channel..].find(MESSAGE)? + MESSAGE.len();
        if text[channel..].starts_with("final") {
            return Some(message);
        }
        let end = message + text[message..].find(END)? + END.len();
        let rest = text[end..].trim_start();
        let is_head = rest.starts_with("<|start|>") && !rest.contains(MESSAGE);
        return (!rest.is_empty() && !is_head).then_some(end);
    }
    for (begin, end) in [("", "assistantfinal"), ("analysis\n", "\nassistant\nfinal\n")] {
        if let Some(at) = text.rfind(end)
            && text.trim_start().starts_with(begin)
        {
            return Some(at + end.len());
        }
    }
    let behind = |channel: &str| {
        let rest = text.trim_start().strip_prefix(channel)?;
        rest.starts_with(char::is_uppercase).then_some(text.len() - rest.len())
    };
    match behind("analysis") {
        Some(_) => None,
        None => Some(behind("final").unwrap_or(0)),
    }
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
            ("<|START_THINKING|>a<|END_THINKING|>tents", Some("tents")),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant\
                 <|channel|>final<|message|>tents",
                Some("tents"),
            ),
            ("<|channel|>analysis<|message|>a<|end|>tents", Some("tents")),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary\
                 <|message|>b<|end|><|start|>assistant<|channel|>final<|message|>tents<|return|>",
                Some("tents<|return|>"),
            ),
            ("<|channel|>final <|constrain|>text<|message|>tents", Some("tents")),
            ("<|channel|>final<|message|>tents", Some("tents")),
            ("a<|end|><|start|>assistant<|channel|>final<|message|>tents", Some("tents")),
            ("what is <|channel|>?", Some("what is <|channel|>?")),
            ("analysisThe user wants a.assistantfinaltents", Some("tents")),
            ("The user wants a.assistantfinaltents", Some("tents")),
            ("analysisA.assistantcommentaryB.assistantfinaltents", Some("tents")),
            ("analysis\n\nA.\n\nassistant\nfinal\n\ntents", Some("\ntents")),
            ("tents\nassistant\nfinal\na", Some("tents\nassistant\nfinal\na")),
            ("\\u003cthink\\u003ea\\u003c/think\\u003etents", Some("tents")),
            ("<plan>a</plan>\ntents", Some("\ntents")),
            ("<think>a</think><plan>b</plan>tents", Some("tents")),
            ("analysis of tents", Some("analysis of tents")),
            ("Analysis: tents", Some("Analysis: tents")),
            ("final", Some("final")),
            ("finalTents", Some("Tents")),
            ("final tents", Some("final tents")),
            ("what does an assistant finally do", Some("what does an assistant finally do")),
            ("<|think|>a<|end|><|begin|>assistant<|content|>tents", Some("tents")),
            ("<|inner_prefix|>a<|inner_suffix|>tents", Some("tents")),
            ("<unused94>thought\na<unused95>tents", Some("tents")),
            ("<think duration=\"3s\">a</think>tents", Some("tents")),
            ("<longcat_think>a</longcat_think>tents", Some("tents")),
            ("Here are my reasoning steps:\na\n[BEGIN FINAL RESPONSE]\ntents", Some("\ntents")),
            ("<|im_start|>think\na\n<|im_start|>answer\ntents", Some("\ntents")),
            ("<start_working_out>a<end_working_out>tents", Some("tents")),
            ("<|channel>thought\n<channel|>tents", Some("tents")),
            ("<|channel>thought\nHm.<channel|>tents", Some("tents")),
            ("Here is my thought process: a. Here is my response: tents", Some(" tents")),
            ("<|begin_of_thought|>a<|end_of_thought|>tents", Some("tents")),
            ("Sure.\n<think>a</think>\ntents", Some("\ntents")),
            ("<|im_start|>assistant\n<think>a</think>\ntents", Some("\ntents")),
            ("<|think|>a<|/think|>tents", Some("tents")),
            ("<details type=\"reasoning\" done=\"true\">\na\n</details>\ntents", Some("\ntents")),
            ("See <details>a</details> tents", Some("See <details>a</details> tents")),
            ("<|im_start|>assistant\n<think>\na", None),
            ("<s>[THINK]a", None),
            ("tents\n<think>\na", None),
            ("tents\n<think>a", None),
            ("tents\n  [THINK] \na", None),
            ("<details type=\"reasoning\">\na", None),
            ("<|channel|>analysis<|message|>a", None),
            ("<|channel|>analysis<|message|>a<|end|>", None),
            ("<|channel|>analysis", None),
            ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>fi", None),
            ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final", None),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=b",
                None,
            ),
            ("analysisThe user wants", None),
            ("<|think|>a<|end|>", None),
            ("<|inner_prefix|>a", None),
            ("<unused94>thought\na", None),
            ("<think duration=\"3s\">a", None),
            ("<think\n>a", None),
            ("<|channel>thought\nHm", None),
            ("Here is my thought process: a", None),
            ("<think>\nHm, the user", None),
            ("<think>a</think><think>b", None),
            ("<think>", None),
            ("", Some("")),
            ("<thinker>", Some("<thinker>")),
            ("Use the <thought> element.", Some("Use the <thought> element.")),
            ("A. Here is my response: see above.", Some("A. Here is my response: see above.")),
            ("\n <think>a", None),
        ] {
            assert_eq!(marks.start_of_answer(text).map(|at| &text[at..]), answer, "{text}");
        }
        let own: Marks = serde_json::from_str(r#"[["{{", "}}"]]"#).unwrap();
        assert_eq!(own.start_of_answer("{{a}}<think>"), Some(5));
        assert_eq!(own.start_of_answer("analysisThe end"), Some(0));
        assert_eq!(own.start_of_answer("**Thinking:** a\n\n**Answer:** tents"), Some(0));
        for wrong in [r#"[["", "b"]]"#, r#"[["a"]]"#, r#"[["a", "b", "c"]]"#, r#"["a", "b"]"#] {
            assert!(serde_json::from_str::<Marks>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn newer_families_and_headings_have_marks() {
        let marks = Marks::default();
        for (text, answer) in [
            ("Here's my thought process: a. Here's my response: tents", Some(" tents")),
            (
                "<|open|>think<|sep|>a<|close|>think<|sep|><|open|>response<|sep|>tents",
                Some("<|open|>response<|sep|>tents"),
            ),
            ("a<|close|>think<|sep|>tents", Some("tents")),
            (
                "<|message_model|><|content_thinking|>a<|end_message|><|message_model|>\
                 <|content_text|>tents<|end_message|>",
                Some("tents<|end_message|>"),
            ),
            ("<|message_model|><|content_thinking|>a", None),
            (
                "to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>tents<|eot|>",
                Some("tents<|eot|>"),
            ),
            ("to=self<|message|>a", None),
            ("[unused16]a[unused17]tents", Some("tents")),
            ("[unused16]a", None),
            ("/think\na<|im_end|>\n<|im_start|>assistant\ntents", Some("\ntents")),
            ("<ifm|think_fast>a</ifm|think_fast>tents", Some("tents")),
            ("<|think:start|>a<|think:end|>tents", Some("tents")),
            ("Thinking...\na\n...done thinking.\n\ntents", Some("\n\ntents")),
            ("Thinking...\na", None),
            ("**Thinking:** a\n\n**Answer:** tents", Some(" tents")),
            ("<think></think>Reasoning: a. Answer: tents", Some(" tents")),
            ("<think></think>**Thinking**\n\na", None),
        ] {
            assert_eq!(marks.start_of_answer(text).map(|at| &text[at..]), answer, "{text}");
        }
    }
}
