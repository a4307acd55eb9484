//! Completions in pieces, as events (`data: …`). Some servers send them although a whole answer is asked for, and
//! some models answer in no other way.

use super::json::without_halves;
use serde_json::{Deserializer, Value, json};

/// The event behind the last piece.
const DONE: &str = "[DONE]";

/// The whole answer of which the pieces are sent as events; `None` if these are none.
pub(super) fn joined(bytes: &[u8]) -> Option<Result<Value, String>> {
    let is_stream = ["data:", "event:", "id:", "retry:"]
        .iter()
        .any(|field| bytes.starts_with(field.as_bytes()));
    is_stream.then(|| join(&String::from_utf8_lossy(bytes)))
}

fn join(text: &str) -> Result<Value, String> {
    let mut pieces = String::new();
    let mut whole = Whole::default();
    for line in text.lines() {
        let data = match line.split_once(':') {
            Some(("data", data)) => data,
            Some(("" | "event" | "id" | "retry", _)) => continue,
            // Some write a line break behind `data:`.
            _ => line,
        };
        if data.trim() == DONE {
            whole.is_ended = true;
            break;
        }
        pieces.push_str(data);
        pieces.push('\n');
    }
    let pieces = read_pieces(&pieces)
        .or_else(|error| read_pieces(&without_halves(&pieces)).map_err(|_| error.to_string()))?;
    for piece in pieces {
        // A ping, an error, or an answer of another kind.
        let Value::Array(choices) = &piece["choices"] else { return Ok(piece) };
        whole.has_choice |= !choices.is_empty();
        // Another answer than the first is not asked for.
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            whole.add(choice);
        }
        for (known, key) in
            [(&mut whole.model, "model"), (&mut whole.usage, "usage"), (&mut whole.error, "error")]
        {
            if !piece[key].is_null() {
                *known = piece[key].clone();
            }
        }
    }
    whole.answer()
}

fn read_pieces(text: &str) -> serde_json::Result<Vec<Value>> {
    Deserializer::from_str(text).into_iter().collect()
}

/// The answer that the pieces so far make up.
#[derive(Default)]
struct Whole {
    is_ended: bool,
    has_choice: bool,
    /// Parts of the text.
    content: Vec<Value>,
    refusal: String,
    /// Tokens with their log-probabilities.
    tokens: Vec<Value>,
    finish_reason: Value,
    model: Value,
    usage: Value,
    error: Value,
}

impl Whole {
    fn add(&mut self, choice: &Value) {
        // Perplexity also sends a message, which repeats the text so far.
        let delta = &choice["delta"];
        let piece = if delta.is_object() { delta } else { &choice["message"] };
        match &piece["content"] {
            Value::Null => {}
            Value::Array(parts) => self.content.extend(parts.iter().cloned()),
            Value::String(text) => self.content.push(json!({ "text": text })),
            other => self.content.push(other.clone()),
        }
        self.refusal.push_str(piece["refusal"].as_str().unwrap_or_default());
        if let Value::Array(tokens) = &choice["logprobs"]["content"] {
            self.tokens.extend(tokens.iter().cloned());
        }
        for (known, key) in [(&mut self.finish_reason, "finish_reason"), (&mut self.error, "error")]
        {
            if !choice[key].is_null() {
                *known = choice[key].clone();
            }
        }
    }

    fn answer(self) -> Result<Value, String> {
        let is_ended = self.is_ended || !self.finish_reason.is_null() || !self.error.is_null();
        if !is_ended {
            return Err("pieces of an answer without its end".to_owned());
        }
        let choice = json!({
            "message": { "content": self.content, "refusal": self.refusal },
            "finish_reason": self.finish_reason,
            "logprobs": { "content": self.tokens },
        });
        let choices = if self.has_choice { vec![choice] } else { Vec::new() };
        Ok(json!({
            "model": self.model, "usage": self.usage, "error": self.error, "choices": choices,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(answer: &Value) -> String {
        let parts = answer["choices"][0]["message"]["content"].as_array().unwrap();
        parts.iter().map(|part| part["text"].as_str().unwrap()).collect()
    }

    fn piece(content: &str) -> String {
        format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{content}}}}}]}}")
    }

    #[test]
    fn pieces_are_joined_whatever_stands_between_them() {
        let (red, tents) = (piece("\"red \""), piece("\"tents\""));
        for text in [
            format!("data: {red}\n\ndata: {tents}\n\ndata: [DONE]\n\n"),
            format!("data:{red}\r\n\r\ndata:{tents}\r\n\r\ndata:[DONE]\r\n"),
            format!("event: message\nid: 1\ndata: {red}\n\n: ping\n\ndata: {tents}\ndata: [DONE]"),
            format!("data:\n {red}\n\ndata:\n {tents}\n\ndata: [DONE]\n"),
            format!(
                "retry: 5\ndata: {red}\ndata: {{\"choices\":\ndata: []}}\ndata: {tents}\ndata: [DONE]"
            ),
            format!(
                "data: {red}\ndata: {}\n",
                tents.replace("}}", "},\"finish_reason\":\"stop\"}")
            ),
        ] {
            assert_eq!(text_of(&joined(text.as_bytes()).unwrap().unwrap()), "red tents", "{text}");
        }
        for text in ["{\"data\": 1}", "", "<html>", "database"] {
            assert!(joined(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_comes_once_is_kept() {
        let lines = [
            r#"{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"model":"m","choices":[{"delta":{"reasoning_content":"Hm"},"index":0}]}"#,
            r#"{"model":"m","choices":[{"index":1,"delta":{"content":"cars"}}]}"#,
            r#"{"choices":[{"delta":{"content":"tents"},"logprobs":{"content":[{"token":"tents"}]}}]}"#,
            r#"{"choices":[{"delta":{},"message":{"content":"tents"},"finish_reason":"length"}]}"#,
            r#"{"choices":[],"usage":{"completion_tokens":3}}"#,
        ];
        let text = format!("data: {}\n", lines.join("\n\ndata: "));
        let answer = joined(text.as_bytes()).unwrap().unwrap();
        assert_eq!((text_of(&answer).as_str(), &answer["model"]), ("tents", &json!("m")));
        let choice = &answer["choices"][0];
        assert_eq!(choice["finish_reason"], "length");
        assert_eq!(choice["logprobs"]["content"], json!([{ "token": "tents" }]));
        assert_eq!(answer["usage"]["completion_tokens"], 3);
    }

    #[test]
    fn an_answer_without_its_end_is_none() {
        let whole = format!("data: {}\n\ndata: [DONE]\n", piece("\"tents\""));
        for end in 5..whole.len() - "[DONE]\n".len() {
            let answer = joined(&whole.as_bytes()[..end]).unwrap();
            assert!(answer.is_err(), "{}", &whole[..end]);
        }
        assert_eq!(joined(b"data: [DONE]\n").unwrap().unwrap()["choices"], json!([]));
        let error = joined(b"data: {\"error\":{\"message\":\"gone\"}}\n\ndata: [DONE]\n");
        assert_eq!(error.unwrap().unwrap()["error"]["message"], "gone");
        let late = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"error\":{\"message\":\"gone\"}}]}";
        assert_eq!(joined(late.as_bytes()).unwrap().unwrap()["error"]["message"], "gone");
        let half = format!("data: {}\ndata: [DONE]", piece("\"tents \\ud83d\""));
        assert_eq!(text_of(&joined(half.as_bytes()).unwrap().unwrap()), "tents \u{fffd}");
    }
}
