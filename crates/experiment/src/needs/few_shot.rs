//! Needs that a chat model predicts, with examples from train in its prompt.

use super::need_of;
use crate::session::Session;
use clariq_collections::{LabelledRequest, LabelledRequests};
use clariq_core::{Answer, AnswerForm, ChatRequest, Checksum, Need, Result, bail};
use clariq_rank::ChatUse;
use clariq_systems::FewShotConfig;
use serde::Serialize;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

const NEEDS: RangeInclusive<u8> = 1..=4;

/// A chat model with the examples that it may see.
pub(crate) struct FewShotModel {
    config: FewShotConfig,
    /// The requests of train with their needs, in the order of their checksums: no topic is preferred.
    labels: Vec<Example>,
    /// The most frequent need, for answers that cannot be read.
    usual: Need,
}

#[derive(Serialize)]
struct Example {
    request: String,
    need: Need,
    /// The need as the model is asked to write it.
    answer: String,
}

/// The variables of the prompt.
#[derive(Serialize)]
struct ExampleValues<'a> {
    request: &'a str,
    examples: Vec<&'a Example>,
}

impl FewShotModel {
    pub(super) fn new(config: FewShotConfig, train: &LabelledRequests) -> Result<Self> {
        let mut labels: Vec<Example> = Vec::with_capacity(train.requests.len());
        for LabelledRequest { text, need, .. } in &train.requests {
            let Some(number) = need_of(need) else {
                let hint = "the prompt asks for one of these; a trained model learns any names";
                bail!(&train.name, "needs from 1 to 4", "`{need}`", hint);
            };
            let answer = AnswerForm::example(number.get());
            labels.push(Example { request: text.clone(), need: number, answer });
        }
        labels.sort_by_cached_key(|label| {
            Checksum::of_pieces([label.request.as_bytes()]).to_string()
        });
        let count = |need: &Need| labels.iter().filter(|label| label.need == *need).count();
        let usual = Need::ALL.into_iter().max_by_key(count).unwrap_or(Need::ALL[1]);
        Ok(Self { config, labels, usual })
    }

    /// The first examples of each need, in turn; never the request itself.
    fn examples(&self, request: &str) -> Vec<&Example> {
        let mut examples = Vec::new();
        for place in 0..self.config.examples().min(self.labels.len()) {
            for need in Need::ALL {
                let of_need = self.labels.iter().filter(|label| label.need == need);
                examples.extend(of_need.filter(|label| label.request != request).nth(place));
            }
        }
        examples
    }

    /// Predicts needs. An answer that cannot be read counts as the most frequent need of train, and
    /// a note tells how many did.
    pub(super) fn predict(&self, session: &Session, requests: &[&str]) -> Result<Vec<Need>> {
        let chat = &self.config.model;
        let mut chat_requests: Vec<ChatRequest> = Vec::with_capacity(requests.len());
        let context = session.context(session.documents);
        for request in requests {
            let values = ExampleValues { request, examples: self.examples(request) };
            let about = format!("need of \"{request}\"");
            let form = Some(AnswerForm::Grade(NEEDS));
            chat_requests.push(chat.request(&context, about, form, &values)?);
        }
        let unread = format!(
            "need: {{count}} of {{all}} answers of the model could not be read and count as {}",
            self.usual
        );
        let completions = chat.complete(&context, ChatUse::new(&unread), &chat_requests)?;
        let need = |answer| match answer {
            Some(Answer::Grade(need)) => Need::new(need),
            _ => None,
        };
        let needs = completions.into_iter().map(|completion| need(completion.answer));
        Ok(needs.map(|need| need.unwrap_or(self.usual)).collect())
    }

    pub(super) fn record(&self) -> Value {
        json!(self.config)
    }
}
