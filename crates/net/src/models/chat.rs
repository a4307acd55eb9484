//! Chat models: `POST /chat/completions`.

use super::calls::{Call, CallAnswer};
use super::completion::{Alternative, ChatResponse, Content, ResponseMessage, ResponseToken};
use super::endpoint::{Asked, Endpoint};
use super::parameters::{Parameters, RESPONSE_FORMAT};
use super::server::{MOST_OF_AN_ANSWER, without_folder};
use super::special::{behind_special_tokens, without_special_tokens};
use super::table::{Dialect, ModelTable, ServedKind, ServerConfig, is_default, table};
use super::thinking::Marks;
use clariq_core::{
    AnswerFormat, ChatModel, ChatRequest, Checksum, Completion, EachCompletion, Error, Location,
    ModelKind, Result, Thinking, bail, is_json, number, positive, printable,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of an answer beside its tokens, and of a token: its text, escaped, and with what the model
/// thinks twice, or the event of a stream that it comes in. Alternatives with their log-probabilities are
/// about 150 bytes each.
const BYTES_BESIDE_TOKENS: u64 = 64 << 10;
const BYTES_OF_A_TOKEN: u64 = 512;
const BYTES_OF_AN_ALTERNATIVE: u64 = 512;
/// Characters of a reason for the end of a completion.
const SHOWN: usize = 60;
/// How far a log-probability may be above 0 by the rounding of a server.
const ROUNDING: f64 = 0.01;

const KIND: ServedKind = ServedKind {
    name: "chat",
    model: ModelKind::Chat,
    paths: &[(Dialect::V1, "chat/completions")],
};

table! { KIND;
    /// A chat model behind a server.
    ChatConfig {
        /// `v1` alone has chat models.
        #[serde(default)]
        dialect: Dialect,
        /// How the server is told the form of an answer: `schema` (default), `json`, `prompt` or `text`.
        #[serde(default)]
        pub(super) format: AnswerFormat,
        /// The largest share of answers that may have another form than was asked for, where the table that uses the
        /// model has no such key; 0.1 if neither has.
        #[serde(skip_serializing)]
        pub(super) unread: Option<f64>,
        /// Pairs of marks around what the model thinks before it answers, as in `[["<think>", "</think>"]]`; `[]` for none,
        /// the usual marks if left out.
        #[serde(default, skip_serializing)]
        pub(super) thinking: Marks,
        /// Parameters of requests that are set, given another name, or left out.
        #[serde(default, rename(serialize = "server_parameters"), skip_serializing_if = "is_default")]
        pub(super) parameters: Parameters,
    }
}

impl ChatConfig {
    /// Refuses shares and parameters that no server has.
    pub(super) fn check(&self, at: &Location) -> Result<()> {
        if let Some(share) = self.unread.filter(|share| !(0.0..=1.0).contains(share)) {
            bail!(at, "`unread` as a share from 0 to 1", (share.to_string()));
        }
        self.parameters.check(at)
    }
}

/// Why a completion ends.
#[derive(PartialEq)]
enum End {
    /// The model ended it.
    Whole,
    AtMaxTokens,
    /// The server's reason.
    Other(String),
}

impl End {
    /// The end for a reason, as `OpenAI` documents it and text-generation-inference (`eos_token`,
    /// `stop_sequence`); some servers name none. Whatever else is named is no whole answer.
    fn of(reason: &str) -> Self {
        match reason {
            "stop" | "eos_token" | "stop_sequence" | "" => Self::Whole,
            "length" => Self::AtMaxTokens,
            other => Self::Other(printable(other, SHOWN).into_owned()),
        }
    }
}

impl Endpoint<ChatConfig> {
    fn call(&self, request: &ChatRequest) -> Call {
        let mut content = Map::new();
        content.insert("messages".to_owned(), json!(request.messages));
        content.insert("parameters".to_owned(), json!(request.parameters));
        let form = request.form.as_ref();
        if let Some(form) = form.and_then(|form| form.response_format(self.keys.format)) {
            content.insert(RESPONSE_FORMAT.to_owned(), form);
        }
        Call {
            about: request.about.clone(),
            request: self.server.request(content),
            items: 1,
            bytes: request.messages.iter().map(|message| message.content.len() as u64).sum(),
            most_tokens: self
                .keys
                .parameters
                .most_tokens(request.parameters.max_tokens.get().into()),
        }
    }

    /// An error of a server that refuses `response_format` names the key that leaves it out.
    fn with_hint_of_format(&self, error: Error) -> Error {
        let instead = match self.keys.format {
            AnswerFormat::Schema => "json",
            AnswerFormat::Json => "prompt",
            AnswerFormat::Prompt | AnswerFormat::Text => return error,
        };
        let Error::Problem(problem) = error else { return error };
        let is_about_format = [RESPONSE_FORMAT, "json_schema", "json_object"]
            .iter()
            .any(|it| problem.found.contains(it));
        if !is_about_format {
            return Error::Problem(problem);
        }
        let name = &self.server.caller.name;
        Error::from(problem.hint(format!(
            "the server does not take this `response_format`: `format = \"{instead}\"` in [models.{name}] \
             (`--set models.{name}.format={instead}`) asks in another way"
        )))
    }

    fn read(&self, mut answer: ChatResponse, most_tokens: u64) -> Result<Completion, String> {
        // A server that gives more than one may do so in any order.
        let first = answer.choices.iter().position(|choice| choice.index == 0);
        let choice = answer.choices.swap_remove(first.unwrap_or(0));
        let tokens = choice.logprobs.and_then(|logprobs| logprobs.content).unwrap_or_default();
        let first = self.first_of_answer(tokens).and_then(|token| token.top_logprobs);
        let mask = |text: &str| self.server.mask(text);
        let mut first_token = Vec::new();
        for Alternative { token, logprob } in first.unwrap_or_default() {
            if logprob > ROUNDING {
                return Err(format!("the log-probability {logprob}, which is above 0"));
            }
            first_token.push((mask(&token), logprob));
        }
        first_token.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let completion_tokens = answer.usage["completion_tokens"].as_u64();
        let mut end = End::of(&choice.finish_reason.unwrap_or_default());
        // Some servers say `stop`, or nothing, whatever the reason is.
        if end == End::Whole && completion_tokens == Some(most_tokens) {
            end = End::AtMaxTokens;
        }
        let ResponseMessage { content, refusal } = choice.message;
        let is_refused = refusal.as_str().is_some_and(|why| !why.is_empty());
        let text = content.filter(|_| !is_refused).map(Content::text).unwrap_or_default();
        Ok(Completion {
            text: mask(&text),
            cut: end != End::Whole,
            cut_by: if let End::Other(reason) = end { mask(&reason) } else { String::new() },
            model: mask(without_folder(answer.model.as_str().unwrap_or_default())),
            prompt_tokens: answer.usage["prompt_tokens"].as_u64(),
            completion_tokens,
            first_token,
            answer: None,
            thinking: Thinking::None,
        })
    }

    /// The first token of the answer, behind what the model thinks; none if it only thinks.
    fn first_of_answer(&self, tokens: Vec<ResponseToken>) -> Option<ResponseToken> {
        let text: String = tokens.iter().map(|token| token.token.as_str()).collect();
        let answer = &text[self.keys.thinking.start_of_answer(&text)?..];
        let start = text.len() - behind_special_tokens(answer).len();
        let mut end = 0;
        let mut is_answer = |token: &ResponseToken| {
            let begin = end;
            end += token.token.len();
            let answer = token.token.get(start.saturating_sub(begin)..);
            start == 0 || answer.is_some_and(|answer| !answer.trim().is_empty())
        };
        let index = tokens.iter().position(&mut is_answer).unwrap_or_default();
        tokens.into_iter().nth(index)
    }

    /// The completion without what the model thinks, and what it says in the form that was asked for.
    fn answer_in(&self, request: &ChatRequest, completion: &Completion) -> Completion {
        let mut completion = completion.clone();
        let format = self.keys.format;
        // The marks of thoughts may be a part of JSON.
        let is_alone =
            format != AnswerFormat::Text && is_json(without_special_tokens(&completion.text));
        let start =
            if is_alone { Some(0) } else { self.keys.thinking.start_of_answer(&completion.text) };
        match start {
            Some(0) => {}
            Some(start) => {
                completion.text = completion.text[start..].trim_start().to_owned();
                completion.thinking = Thinking::Ended;
            }
            None => {
                completion.text.clear();
                completion.thinking = Thinking::Unended;
            }
        }
        let form = request.form.as_ref().filter(|_| !completion.cut);
        completion.answer =
            form.and_then(|form| form.read(without_special_tokens(&completion.text), format));
        completion
    }
}

impl Asked for ChatConfig {
    type Answer = Completion;
    /// The number of tokens that were written.
    type Learned = AtomicU64;

    fn ask(endpoint: &Endpoint<Self>, call: &Call) -> Result<CallAnswer<Completion>> {
        let Endpoint { server, keys, learned: written_tokens } = endpoint;
        let Call { about, request, .. } = call;
        let parameters = &request["parameters"];
        let mut body = json!({
            "messages": request["messages"],
            "max_tokens": parameters["max_tokens"],
            "temperature": parameters["temperature"],
            "seed": parameters["seed"],
            "stream": false,
        });
        server.name_model(&mut body);
        if let Some(form) = request.get(RESPONSE_FORMAT) {
            body[RESPONSE_FORMAT] = form.clone();
        }
        let alternatives = parameters["top_logprobs"].as_u64().unwrap_or_default();
        if alternatives > 0 {
            body["logprobs"] = true.into();
            body["top_logprobs"] = alternatives.into();
        }
        if let Value::Object(body) = &mut body {
            keys.parameters.adjust(body);
        }
        let of_a_token = BYTES_OF_A_TOKEN + BYTES_OF_AN_ALTERNATIVE * alternatives;
        let of_tokens = call.most_tokens.saturating_mul(of_a_token);
        let most = BYTES_BESIDE_TOKENS.saturating_add(of_tokens).min(MOST_OF_AN_ANSWER);
        let completion = server
            .ask(about, &body, most, |answer| endpoint.read(answer, call.most_tokens))
            .map_err(|error| endpoint.with_hint_of_format(error))?;
        let tokens = completion.value.completion_tokens.unwrap_or(0);
        written_tokens.fetch_add(tokens, Ordering::Relaxed);
        Ok(completion)
    }

    /// A dry run has log-probabilities where they are requested, so that nobody misses them.
    fn stand_in(call: &Call) -> Completion {
        let mut completion = Completion::default();
        if call.request["parameters"]["top_logprobs"] != 0 {
            completion.first_token.push((String::new(), 0.0));
        }
        completion
    }
}

impl ChatModel for Endpoint<ChatConfig> {
    fn complete(&self, requests: &[ChatRequest], each: EachCompletion) -> Result<Vec<Completion>> {
        let calls: Vec<Call> = requests.iter().map(|request| self.call(request)).collect();
        let completions = self.answers(&calls, &|index, completion| {
            each(index, &self.answer_in(&requests[index], completion))
        })?;
        let answers = requests.iter().zip(&completions);
        Ok(answers.map(|(request, completion)| self.answer_in(request, completion)).collect())
    }

    fn format(&self) -> AnswerFormat {
        self.keys.format
    }

    fn unread(&self) -> Option<f64> {
        self.keys.unread
    }

    fn written_tokens(&self) -> u64 {
        self.learned.load(Ordering::Relaxed)
    }

    fn checksum(&self) -> &Checksum {
        &self.server.checksum
    }
}

#[cfg(test)]
mod tests {
    use super::super::server::Server;
    use super::*;
    use clariq_core::{Silent, read_regular};
    use std::fs;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::thread;

    const KEY: &str = "sk-2f0e77a1c3";

    fn open(url: &str, folder: &std::path::Path) -> Endpoint<ChatConfig> {
        let keys: ChatConfig = serde_json::from_value(json!({ "url": url, "model": "m" })).unwrap();
        let key = Some(KEY.to_owned());
        let server = Server::open("far", &keys, key, Arc::default(), folder, &Silent);
        Endpoint::new(server.unwrap(), keys)
    }

    #[test]
    fn a_key_in_the_name_of_a_model_is_not_kept() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let body = json!({ "data": [{ "id": format!("org/{KEY}") }] }).to_string();
                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
                write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let endpoint = open(&url, folder.path());
        assert_eq!(endpoint.server.caller.identity.served(), Some("org/[authorization]"));
        let kept = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let kept: Vec<u8> = kept.flat_map(|path| read_regular(&path, 9999).unwrap()).collect();
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.contains("org/[authorization]") && !kept.contains(KEY), "{kept}");
    }

    #[test]
    fn a_key_that_the_server_repeats_is_in_no_completion() {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = open("http://127.0.0.1:1", folder.path());
        let alternatives = json!([{ "token": KEY, "logprob": -0.5 }]);
        let answer = json!({
            "model": format!("m of {KEY}"),
            "choices": [{
                "message": { "content": format!("Bearer {KEY}, or {KEY}") },
                "logprobs": { "content": [{ "top_logprobs": alternatives }] },
            }],
        });
        let answer = serde_json::from_value(answer).unwrap();
        let completion = endpoint.read(answer, 512).unwrap();
        assert_eq!(completion.text, "Bearer [authorization], or [authorization]");
        assert!(!format!("{completion:?}").contains(KEY), "{completion:?}");
    }
}
