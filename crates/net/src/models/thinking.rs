//! Models that think before they answer.
//!
//! Some servers leave what a model thinks in the text of its answer: between marks, with the first mark
//! missing where the prompt has it already, or with nothing between them where thinking is off. None of
//! it is part of the answer.

use serde::{Deserialize, Serialize};

/// The marks at the beginning and the end of what a model thinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[String; 2]>", into = "Vec<[String; 2]>")]
pub(super) struct Marks(Vec<[String; 2]>);

impl Default for Marks {
    /// The marks of Qwen, `DeepSeek` and others, of Seed-OSS, Magistral, Kimi, Command A, gpt-oss, Gemma 4,
    /// Granite 3.2 and `OpenThinker`.
    fn default() -> Self {
        let names = ["think", "thinking", "thought", "reasoning", "seed:think"];
        let mut marks: Vec<[String; 2]> =
            names.iter().map(|name| [format!("<{name}>"), format!("</{name}>")]).collect();
        for pair in [
            ["[THINK]", "[/THINK]"],
            ["◁think▷", "◁/think▷"],
            ["<|START_THINKING|>", "<|END_THINKING|>"],
            ["<|channel|>analysis<|message|>", "<|channel|>final<|message|>"],
            ["<|channel>thought", "<channel|>"],
            ["Here is my thought process:", "Here is my response:"],
            ["<|begin_of_thought|>", "<|end_of_thought|>"],
        ] {
            marks.push(pair.map(str::to_owned));
        }
        Self(marks)
    }
}

impl TryFrom<Vec<[String; 2]>> for Marks {
    type Error = &'static str;

    fn try_from(marks: Vec<[String; 2]>) -> Result<Self, Self::Error> {
        let is_empty = |pair: &[String; 2]| pair.iter().any(|mark| mark.trim().is_empty());
        if marks.iter().any(is_empty) { Err("a mark that is empty") } else { Ok(Self(marks)) }
    }
}

impl From<Marks> for Vec<[String; 2]> {
    fn from(marks: Marks) -> Self {
        marks.0
    }
}

impl Marks {
    /// Where the answer in a text begins: behind the last mark that ends what the model thinks. `None`
    /// if a mark after that begins it again. Letters count in upper and lower case.
    pub(super) fn start_of_answer(&self, text: &str) -> Option<usize> {
        let text = text.to_ascii_lowercase();
        let mut start = 0;
        for [_, end] in &self.0 {
            if let Some(at) = text.rfind(&end.to_ascii_lowercase()) {
                start = start.max(at + end.len());
            }
        }
        let rest = &text[start..];
        let is_open = self.0.iter().any(|[begin, _]| rest.contains(&begin.to_ascii_lowercase()));
        (!is_open).then_some(start)
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
            ("<|channel>thought\n<channel|>tents", Some("tents")),
            ("<|channel>thought\nHm.<channel|>tents", Some("tents")),
            ("Here is my thought process: a. Here is my response: tents", Some(" tents")),
            ("<|begin_of_thought|>a<|end_of_thought|>tents", Some("tents")),
            ("<|channel>thought\nHm", None),
            ("Here is my thought process: a", None),
            ("<think>\nHm, the user", None),
            ("<think>a</think><think>b", None),
            ("<think>", None),
            ("", Some("")),
            ("<thinker>", Some("<thinker>")),
        ] {
            assert_eq!(marks.start_of_answer(text).map(|at| &text[at..]), answer, "{text}");
        }
        let own: Marks = serde_json::from_str(r#"[["{{", "}}"]]"#).unwrap();
        assert_eq!(own.start_of_answer("{{a}}<think>"), Some(5));
        assert!(serde_json::from_str::<Marks>(r#"[["", "b"]]"#).is_err());
    }
}
