//! The form in which a chat model is asked to answer, and the one reader of what it answers.
//!
//! A form is told to the model by a sentence in its prompt, to the server by a JSON schema, and read by
//! serde: all three are made here, so that they cannot differ. What does not have its form is not read; no
//! part of it is ever taken for the whole.

use crate::DistinctKeys;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// The kind of answer that a chat model is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerForm {
    /// A query: `{"query": "…"}`.
    Query,
    /// At most this number of queries: `{"queries": ["…", …]}`.
    Queries(usize),
    /// A question to the user: `{"question": "…"}`.
    Question,
    /// A whole number of a range: `{"grade": 2}`.
    Grade(RangeInclusive<u8>),
    /// The numbers of so many documents, counted from 1, the best first: `{"order": [3, 1, 2]}`.
    Order(usize),
    /// Sentences, each with the numbers of the passages that it rests on:
    /// `{"response": [{"text": "…", "sources": [1]}]}`.
    Response,
}

/// How a server is told the form of an answer: the key `format` of `[models.NAME]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerFormat {
    /// By a JSON schema in `response_format`.
    #[default]
    Schema,
    /// `response_format` asks for JSON; which one, the prompt says.
    Json,
    /// By the prompt alone.
    Prompt,
    /// For models that cannot write JSON: the answer, without outer blanks, is the text. There are no grades
    /// and no orders.
    Text,
}

/// An answer that has the form that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A query or a question, on one line.
    Text(String),
    /// Queries, each once.
    Queries(Vec<String>),
    /// A number of the range.
    Grade(u8),
    /// An order of documents.
    Order(DocumentOrder),
    /// The sentences of a response, none of them empty.
    Response(Vec<CitedSentence>),
}

/// An order of documents, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentOrder {
    /// Every document once; those that the model left out follow in their old order.
    pub order: Vec<usize>,
    /// Numbers that were left out, since they are of no document or repeated, and documents that were added.
    pub repairs: usize,
}

/// A sentence of a response.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CitedSentence {
    /// The sentence as it is shown.
    pub text: String,
    /// The passages that it rests on, as the model numbers them from 1.
    #[serde(default)]
    pub sources: Vec<f64>,
}

/// All line breaks of Unicode.
const LINE_BREAKS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

const FENCE: &str = "```";

impl AnswerForm {
    /// The key of the object that an answer is, and the name of its schema.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Queries(_) => "queries",
            Self::Question => "question",
            Self::Grade(_) => "grade",
            Self::Order(_) => "order",
            Self::Response => "response",
        }
    }

    /// False for grades and orders in plain text.
    pub fn is_offered(&self, format: AnswerFormat) -> bool {
        format != AnswerFormat::Text || !matches!(self, Self::Grade(_) | Self::Order(_))
    }

    /// The JSON schema of an answer, in the subset that strict servers take: all keys are required, and there
    /// are no others.
    pub fn schema(&self) -> Value {
        let text = json!({ "type": "string" });
        let list = |items: Value, least: usize, most: usize| json!({ "type": "array", "items": items, "minItems": least, "maxItems": most });
        let value = match self {
            Self::Query | Self::Question => text,
            Self::Queries(most) => list(text, 1, *most),
            Self::Grade(range) => {
                json!({ "type": "integer", "enum": range.clone().collect::<Vec<u8>>() })
            }
            Self::Order(count) => {
                let numbers: Vec<usize> = (1..=*count).collect();
                list(json!({ "type": "integer", "enum": numbers }), *count, *count)
            }
            Self::Response => {
                let sources = json!({ "type": "array", "items": { "type": "integer" } });
                let sentence = object([("text", text), ("sources", sources)]);
                json!({ "type": "array", "items": sentence })
            }
        };
        object([(self.key(), value)])
    }

    /// The value of `response_format` in a request; none if the prompt alone tells the form.
    pub fn response_format(&self, format: AnswerFormat) -> Option<Value> {
        match format {
            AnswerFormat::Schema => {
                let schema = json!({ "name": self.key(), "strict": true, "schema": self.schema() });
                Some(json!({ "type": "json_schema", "json_schema": schema }))
            }
            AnswerFormat::Json => Some(json!({ "type": "json_object" })),
            AnswerFormat::Prompt | AnswerFormat::Text => None,
        }
    }

    /// The sentence that tells the model the form: `{{ form }}` in prompts. Its example is no answer: the
    /// model may repeat it.
    pub fn sentence(&self, format: AnswerFormat) -> String {
        if format == AnswerFormat::Text {
            return match self {
                Self::Queries(_) => "Write each query alone, on a line of its own.".to_owned(),
                Self::Response => "Write the answer alone, as plain text.".to_owned(),
                _ => format!("Write the {} alone, on one line.", self.key()),
            };
        }
        let example = match self {
            Self::Query => r#"{"query": "…"}"#.to_owned(),
            Self::Queries(most) => {
                format!("{{\"queries\": [{}]}}", vec!["\"…\""; *most].join(", "))
            }
            Self::Question => r#"{"question": "…"}"#.to_owned(),
            Self::Grade(range) => {
                let numbers: Vec<String> = range.clone().map(|grade| grade.to_string()).collect();
                format!("{{\"grade\": {}}}", numbers.join(" | "))
            }
            Self::Order(_) => r#"{"order": [numbers of passages]}"#.to_owned(),
            Self::Response => {
                r#"{"response": [{"text": "…", "sources": [numbers of passages]}, …]}"#.to_owned()
            }
        };
        format!("Write JSON alone: {example}")
    }

    /// A grade as the model is asked to write it, for the examples of a prompt.
    pub fn example(grade: u8) -> String {
        format!("{{\"grade\": {grade}}}")
    }

    /// Reads the text of an answer: JSON, bare or in the only fence of the text, with the key of the form or
    /// its value alone; in plain text, the text itself. Further keys are ignored. `None` is an answer of
    /// another form: without text, of several lines where one is asked, of another type, with two values for
    /// a key, a number outside its range, an order with less than half of its documents.
    ///
    /// ```
    /// # use clariq_core::{Answer, AnswerForm, AnswerFormat};
    /// let query = |text| AnswerForm::Query.read(text, AnswerFormat::Schema);
    /// assert_eq!(query("{\"query\": \"tents\"}"), Some(Answer::Text("tents".to_owned())));
    /// assert_eq!(query("Sure! You could ask about tents."), None);
    /// ```
    pub fn read(&self, text: &str, format: AnswerFormat) -> Option<Answer> {
        match format {
            AnswerFormat::Text => self.of_text(text.trim()),
            _ => self.of_json(json_of(text.trim())?),
        }
    }

    fn of_text(&self, text: &str) -> Option<Answer> {
        match self {
            Self::Query | Self::Question => one_line(text).map(Answer::Text),
            Self::Queries(most) => {
                let lines = text.split(LINE_BREAKS).map(str::trim).filter(|line| !line.is_empty());
                queries(lines.map(str::to_owned).collect(), *most)
            }
            Self::Response => {
                sentences(vec![CitedSentence { text: text.to_owned(), sources: Vec::new() }])
            }
            Self::Grade(_) | Self::Order(_) => None,
        }
    }

    fn of_json(&self, json: Value) -> Option<Answer> {
        let value = match json {
            Value::Object(mut object) => object.remove(self.key())?,
            value => value,
        };
        match self {
            Self::Query | Self::Question => one_line(value.as_str()?).map(Answer::Text),
            Self::Queries(most) => queries(Vec::deserialize(value).ok()?, *most),
            Self::Grade(range) => {
                let grade = whole(value.as_f64()?).and_then(|grade| u8::try_from(grade).ok())?;
                range.contains(&grade).then_some(Answer::Grade(grade))
            }
            Self::Order(count) => order(&Vec::<f64>::deserialize(value).ok()?, *count),
            Self::Response => sentences(Vec::deserialize(value).ok()?),
        }
    }
}

impl CitedSentence {
    /// The numbers of its passages; `None` for one that is no number of a passage.
    pub fn numbers(&self) -> impl Iterator<Item = Option<usize>> {
        self.sources.iter().map(|number| whole(*number))
    }
}

/// A schema of an object with these keys.
fn object<const N: usize>(keys: [(&str, Value); N]) -> Value {
    let required = keys.each_ref().map(|(key, _)| *key);
    let required = json!(required.as_slice());
    let properties: Map<String, Value> =
        keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// JSON that is the whole text, or the content of its only fence.
fn json_of(text: &str) -> Option<Value> {
    if let Ok(DistinctKeys(json)) = serde_json::from_str(text) {
        return Some(json);
    }
    let (_, rest) = text.split_once(FENCE)?;
    let (inner, after) = rest.split_once(FENCE)?;
    if after.contains(FENCE) {
        return None;
    }
    // The name of a language may follow the first fence.
    let inner = inner.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    serde_json::from_str(inner).ok().map(|DistinctKeys(json)| json)
}

/// True for a text that is nothing but JSON, bare or in a fence: marks in it are a part of the JSON.
pub fn is_json(text: &str) -> bool {
    let text = text.trim();
    let is_fenced = text.starts_with(FENCE) && text.ends_with(FENCE);
    serde_json::from_str::<IgnoredAny>(text).is_ok() || is_fenced && json_of(text).is_some()
}

/// A text of one line that has a letter or a digit, without outer blanks.
fn one_line(text: &str) -> Option<String> {
    let text = text.trim();
    let is_line = !text.contains(LINE_BREAKS) && text.contains(char::is_alphanumeric);
    is_line.then(|| text.to_owned())
}

/// The first distinct queries; none if one of them is no line.
fn queries(texts: Vec<String>, most: usize) -> Option<Answer> {
    let mut queries = Vec::new();
    for text in texts {
        let query = one_line(&text)?;
        if queries.len() < most && !queries.contains(&query) {
            queries.push(query);
        }
    }
    (!queries.is_empty()).then_some(Answer::Queries(queries))
}

/// As `RankGPT` and `RankLLM` read an order: unknown and repeated numbers are dropped, missing documents
/// follow. One that names less than half of the documents is none.
fn order(numbers: &[f64], count: usize) -> Option<Answer> {
    let mut is_named = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for number in numbers {
        let index = whole(*number).and_then(|number| number.checked_sub(1));
        if let Some(index) = index.filter(|index| is_named.get(*index) == Some(&false)) {
            is_named[index] = true;
            order.push(index);
        }
    }
    let named = order.len();
    if named * 2 < count {
        return None;
    }
    let repairs = numbers.len() - named + (count - named);
    order.extend((0..count).filter(|index| !is_named[*index]));
    Some(Answer::Order(DocumentOrder { order, repairs }))
}

fn sentences(mut sentences: Vec<CitedSentence>) -> Option<Answer> {
    sentences.retain(|sentence| sentence.text.contains(char::is_alphanumeric));
    (!sentences.is_empty()).then_some(Answer::Response(sentences))
}

/// A number that is whole and not negative: `3`, also as `3.0`.
#[expect(clippy::cast_sign_loss, reason = "the number is not negative")]
fn whole(number: f64) -> Option<usize> {
    (number.fract() == 0.0 && (0.0..1e9).contains(&number)).then_some(number as usize)
}

#[cfg(test)]
mod tests;
