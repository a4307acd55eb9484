//! Sparse encoders: `POST /embed_sparse` of text-embeddings-inference.

use super::calls::{Call, CallAnswer};
use super::server::{MOST_OF_AN_ANSWER, Server};
use super::table::{DEFAULT_BATCH, ModelTable, ServerConfig, table};
use clariq_core::{
    Checksum, ModelKind, Progress, Result, SparseEncoder, SparseVectors, bail, count_of, number,
    positive,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The dialect of sparse encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SparseDialect {
    #[default]
    Tei,
}

table! {
    /// A sparse encoder behind a server: text-embeddings-inference alone has them.
    SparseConfig {
        /// `tei` alone has sparse encoders.
        #[serde(rename = "dialect", default)]
        _dialect: SparseDialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>")]
        pub(super) batch: NonZeroUsize,
        /// `true`: the server cuts texts that are too long; otherwise it refuses them.
        #[serde(default)]
        pub(super) truncate: bool,
        /// Text before every request.
        #[serde(default)]
        pub(super) query_prompt: String,
        /// Text before every document.
        #[serde(default)]
        pub(super) document_prompt: String,
    }
}

impl ModelTable for SparseConfig {
    fn kind(&self) -> &'static str {
        "sparse"
    }

    fn server(&self) -> ServerConfig<'_> {
        self.keys_of_server()
    }

    fn opens(&self) -> (ModelKind, &'static str) {
        (ModelKind::Sparse, "embed_sparse")
    }

    fn is_tei(&self) -> bool {
        true
    }

    fn truncates(&self) -> bool {
        self.truncate
    }

    fn identify(&self, identity: &mut Map<String, Value>) {
        let mut set = |key: &str, value: Value| identity.insert(key.to_owned(), value);
        set("dialect", "tei".into());
        if self.truncate {
            set("truncate", true.into());
        }
        if !self.query_prompt.is_empty() {
            set("query_prompt", json!(self.query_prompt));
        }
        if !self.document_prompt.is_empty() {
            set("document_prompt", json!(self.document_prompt));
        }
    }
}

pub(super) struct SparseEndpoint {
    server: Server,
    config: SparseConfig,
}

#[derive(Deserialize)]
struct WordWeight {
    index: u32,
    value: f64,
}

/// The most words of a vocabulary; those of multilingual models have 250,000. The index of documents has
/// a list for each.
const MOST_WORDS: u32 = 1 << 20;

/// The words of each text with their weights, as they are cached and recorded.
type WeightsByText = Vec<Vec<(u32, f32)>>;

impl SparseEndpoint {
    pub(super) fn new(server: Server, config: SparseConfig) -> Self {
        Self { server, config }
    }

    fn ask(&self, call: &Call) -> Result<CallAnswer<WeightsByText>> {
        let body = json!({ "inputs": call.request["texts"], "truncate": self.config.truncate });
        self.server.ask(&call.about, &body, MOST_OF_AN_ANSWER, |answer: Vec<Vec<WordWeight>>| {
            if answer.len() as u64 != call.items {
                return Err(format!(
                    "{} for {}",
                    count_of(answer.len(), "vector"),
                    count_of(call.items, "text")
                ));
            }
            answer.into_iter().map(sorted).collect()
        })
    }

    fn encode_all(
        &self,
        texts: &[&str],
        prompt: &str,
        batch: usize,
        progress: Progress,
    ) -> Result<SparseVectors> {
        let sent: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
        let calls: Vec<Call> =
            sent.chunks(batch).map(|texts| self.server.call_of_texts(texts)).collect();
        let stand_in = |call: &Call| vec![Vec::new(); call.items as usize];
        let ask = |call: &Call| self.ask(call);
        let seen = |index: usize, _: &_| {
            progress(calls[index].items);
            Ok(())
        };
        let answers: Vec<WeightsByText> =
            self.server.calls.answer(&self.server.caller, &calls, stand_in, ask, &seen)?;
        for (call, answer) in calls.iter().zip(&answers) {
            if answer.len() as u64 != call.items {
                let at = format!("the recorded answer for {}", call.about);
                let expected = format!("weights of {}", count_of(call.items, "text"));
                bail!(at, expected, (answer.len().to_string()));
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

/// The weights of a text by ascending number of the word; an error if a word is there twice, or a
/// weight not finite.
fn sorted(weights: Vec<WordWeight>) -> Result<Vec<(u32, f32)>, String> {
    let mut words = Vec::with_capacity(weights.len());
    for WordWeight { index, value } in weights {
        if index >= MOST_WORDS {
            return Err(format!(
                "the index {index}, where a vocabulary has fewer than {MOST_WORDS} words: are they hashed?"
            ));
        }
        let weight = value as f32;
        if !weight.is_finite() {
            return Err(format!("a weight that is no finite number, for index {index}"));
        }
        if weight != 0.0 {
            words.push((index, weight));
        } else if value != 0.0 {
            return Err(format!("the weight {value:e}, which is 0 in 32 bits, for index {index}"));
        }
    }
    words.sort_unstable_by_key(|(word, _)| *word);
    match words.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(format!("the index {} twice", pair[0].0)),
        None => Ok(words),
    }
}

impl SparseEncoder for SparseEndpoint {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        self.encode_all(texts, &self.config.query_prompt, 1, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        let batch = self.config.batch.get();
        self.encode_all(texts, &self.config.document_prompt, batch, progress)
    }

    /// The server does not say which word has a number.
    fn word(&self, number: u32) -> Cow<'_, str> {
        format!("#{number}").into()
    }

    fn checksum(&self) -> &Checksum {
        &self.server.checksum
    }
}
