//! Models that think before they answer.
//!
//! Some servers leave what a model thinks in the text of its answer: between marks, with the first mark
//! missing where the prompt has it already, or with nothing between them where thinking is off. None of
//! it is part of the answer.

use serde::{Deserialize, Serialize};

/// The marks at the beginning and the end of what a model thinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<String>>", into = "Vec<[String; 2]>")]
pub(super) struct Marks {
    pairs: Vec<[String; 2]>,
    /// True for the usual marks: gpt-oss is read by its channels as well.
    has_channels: bool,
}

/// Marks `<name>` and `</name>`: of Qwen, `DeepSeek` and others; of `EXAONE`, Seed-OSS, K2 and `LongCat`.
const TAGS: [&str; 8] = [
    "think",
    "thinking",
    "thought",
    "reasoning",
    "seed:think",
    "think_fast",
    "think_faster",
    "longcat_think",
];

/// Marks of Magistral, Kimi, Command A, Solar Open, Apertus, `MedGemma`, Gemma 4, Granite 3.2,
/// `OpenThinker`, Apriel, s1, and models that are trained by Unsloth's example.
const PAIRS: [[&str; 2]; 12] = [
    ["[THINK]", "[/THINK]"],
    ["◁think▷", "◁/think▷"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|think|>", "<|content|>"],
    ["<|inner_prefix|>", "<|inner_suffix|>"],
    ["<unused94>", "<unused95>"],
    ["<|channel>thought", "<channel|>"],
    ["Here is my thought process:", "Here is my response:"],
    ["<|begin_of_thought|>", "<|end_of_thought|>"],
    ["Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"],
    ["<|im_start|>think", "<|im_start|>answer"],
    ["<start_working_out>", "<end_working_out>"],
];

impl Default for Marks {
    fn default() -> Self {
        let tags = TAGS.iter().map(|name| [format!("<{name}>"), format!("</{name}>")]);
        let pairs = tags.chain(PAIRS.map(|pair| pair.map(str::to_owned))).collect();
        Self { pairs, has_channels: true }
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
        Ok(Self { pairs, has_channels: false })
    }
}

impl From<Marks> for Vec<[String; 2]> {
    fn from(marks: Marks) -> Self {
        marks.pairs
    }
}

impl Marks {
    /// Where the answer in a text begins: behind the last mark that ends what the model thinks. `None`
    /// if it thinks again right behind that mark. Letters count in upper and lower case.
    pub(super) fn start_of_answer(&self, text: &str) -> Option<usize> {
        let mut start = if self.has_channels { behind_channels(text)? } else { 0 };
        let text = text.to_ascii_lowercase();
        for pair in &self.pairs {
            let [begin, end] = pair.each_ref().map(|mark| mark.to_ascii_lowercase());
            // Words are marks only where the text begins with their other half.
            if end.starts_with(char::is_alphabetic) && !begins(&text, &begin) {
                continue;
            }
            if let Some(at) = text.rfind(&end) {
                start = start.max(at + end.len());
            }
        }
        let rest = &text[start..];
        let is_open = self.pairs.iter().any(|[begin, _]| begins(rest, &begin.to_ascii_lowercase()));
        (!is_open).then_some(start)
    }
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
    if let Some(at) = text.rfind("assistantfinal") {
        return Some(at + "assistantfinal".len());
    }
    let thought = text.trim_start().strip_prefix("analysis");
    let is_thought = thought.is_some_and(|rest| rest.starts_with(char::is_uppercase));
    (!is_thought).then_some(0)
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
            ("analysis of tents", Some("analysis of tents")),
            ("Analysis: tents", Some("Analysis: tents")),
            ("final", Some("final")),
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
        for wrong in [r#"[["", "b"]]"#, r#"[["a"]]"#, r#"[["a", "b", "c"]]"#, r#"["a", "b"]"#] {
            assert!(serde_json::from_str::<Marks>(wrong).is_err(), "{wrong}");
        }
    }
}
