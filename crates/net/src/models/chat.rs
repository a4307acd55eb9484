//! Chat models: `POST /chat/completions`.

use super::calls::Call;
use super::server::Server;
use clariq_core::{ChatModel, ChatRequest, Completion, Progress, Result};
use serde::Deserialize;
use serde_json::{Map, json};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct ChatEndpoint {
    server: Server,
    written_tokens: AtomicU64,
}

#[derive(Deserialize)]
struct ChatResponse {
    #[serde(default)]
    model: Option<String>,
    choices: Vec<CompletionChoice>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    message: ResponseMessage,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    logprobs: Option<LogProbabilities>,
}

#[derive(Deserialize)]
struct ResponseMessage {
    /// Absent if the model spent all of its tokens on reasoning.
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct LogProbabilities {
    #[serde(default)]
    content: Option<Vec<ResponseToken>>,
}

#[derive(Deserialize)]
struct ResponseToken {
    #[serde(default)]
    top_logprobs: Vec<Alternative>,
}

#[derive(Deserialize)]
struct Alternative {
    token: String,
    logprob: f64,
}

#[derive(Deserialize)]
struct TokenUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

impl ChatEndpoint {
    pub(super) fn new(server: Server) -> Self {
        Self { server, written_tokens: AtomicU64::new(0) }
    }

    fn call(&self, request: &ChatRequest) -> Call {
        let mut content = Map::new();
        content.insert("messages".to_owned(), json!(request.messages));
        content.insert("parameters".to_owned(), json!(request.parameters));
        Call {
            about: request.about.clone(),
            request: self.server.request(content),
            items: 1,
            bytes: request.messages.iter().map(|message| message.content.len() as u64).sum(),
            most_tokens: u64::from(request.parameters.max_tokens.get()),
        }
    }

    fn ask(&self, call: &Call) -> Result<Completion> {
        let Call { about, request, .. } = call;
        let parameters = &request["parameters"];
        let mut body = json!({
            "model": request["model"],
            "messages": request["messages"],
            "max_tokens": parameters["max_tokens"],
            "temperature": parameters["temperature"],
            "seed": parameters["seed"],
            "stream": false,
        });
        if parameters["top_logprobs"] != 0 {
            body["logprobs"] = true.into();
            body["top_logprobs"] = parameters["top_logprobs"].clone();
        }
        let completion = self.server.ask(about, &body, |answer| self.read(answer))?;
        let tokens = completion.completion_tokens.unwrap_or(0);
        self.written_tokens.fetch_add(tokens, Ordering::Relaxed);
        Ok(completion)
    }

    fn read(&self, answer: ChatResponse) -> Result<Completion, String> {
        let count = answer.choices.len();
        let choice = answer.choices.into_iter().next();
        let choice = choice.ok_or(format!("{count} items in `choices`"))?;
        let tokens = choice.logprobs.and_then(|logprobs| logprobs.content).unwrap_or_default();
        let first = tokens.into_iter().next().map(|token| token.top_logprobs).unwrap_or_default();
        let mask = |text: String| self.server.mask(&text);
        let mut first_token: Vec<(String, f64)> =
            first.into_iter().map(|one| (mask(one.token), one.logprob)).collect();
        first_token.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let usage = answer.usage.as_ref();
        Ok(Completion {
            text: mask(choice.message.content.unwrap_or_default()),
            cut: choice.finish_reason.as_deref() == Some("length"),
            model: mask(answer.model.unwrap_or_default()),
            prompt_tokens: usage.and_then(|usage| usage.prompt_tokens),
            completion_tokens: usage.and_then(|usage| usage.completion_tokens),
            first_token,
        })
    }
}

impl ChatModel for ChatEndpoint {
    fn complete(&self, requests: &[ChatRequest], progress: Progress) -> Result<Vec<Completion>> {
        let calls: Vec<Call> = requests.iter().map(|request| self.call(request)).collect();
        // A dry run has log-probabilities where they are requested, so that nobody misses them.
        let stand_in = |call: &Call| {
            let mut completion = Completion::default();
            if call.request["parameters"]["top_logprobs"] != 0 {
                completion.first_token.push((String::new(), 0.0));
            }
            completion
        };
        self.server.calls.answer(
            &self.server.caller,
            &calls,
            stand_in,
            |call| self.ask(call),
            progress,
        )
    }

    fn written_tokens(&self) -> u64 {
        self.written_tokens.load(Ordering::Relaxed)
    }

    fn checksum(&self) -> &str {
        &self.server.checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Silent;
    use std::sync::Arc;

    #[test]
    fn a_key_that_the_server_repeats_is_in_no_completion() {
        const KEY: &str = "sk-2f0e77a1c3";
        let folder = tempfile::tempdir().unwrap();
        let keys = json!({ "chat": { "url": "http://127.0.0.1:1", "model": "m" } });
        let config = serde_json::from_value(keys).unwrap();
        let key = Some(KEY.to_owned());
        let calls = Arc::default();
        let server =
            Server::open("far", &config, "chat", key, calls, folder.path(), &Silent).unwrap();
        let alternatives = json!([{ "token": KEY, "logprob": -0.5 }]);
        let answer = json!({
            "model": format!("m of {KEY}"),
            "choices": [{
                "message": { "content": format!("Bearer {KEY}, or {KEY}") },
                "logprobs": { "content": [{ "top_logprobs": alternatives }] },
            }],
        });
        let answer = serde_json::from_value(answer).unwrap();
        let completion = ChatEndpoint::new(server).read(answer).unwrap();
        assert_eq!(completion.text, "[authorization], or [authorization]");
        assert!(!format!("{completion:?}").contains(KEY), "{completion:?}");
    }
}
