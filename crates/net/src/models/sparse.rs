//! Sparse encoders: `POST /embed_sparse` of text-embeddings-inference.

use super::calls::{Call, CallAnswer};
use super::endpoint::{Asked, Endpoint, check_recorded};
use super::server::{MOST_OF_AN_ANSWER, in_32_bits};
use super::table::{
    DEFAULT_BATCH, Dialect, ModelTable, ServedKind, ServerConfig, is_default, table,
};
use clariq_core::{
    Checksum, ModelKind, Progress, Result, SparseEncoder, SparseVectors, count_of, number, positive,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const KIND: ServedKind = ServedKind {
    name: "sparse",
    model: ModelKind::Sparse,
    paths: &[(Dialect::Tei, "embed_sparse")],
};

table! { KIND;
    /// A sparse encoder behind a server: text-embeddings-inference alone has them.
    SparseConfig {
        /// `tei` alone has sparse encoders.
        #[serde(default = "Dialect::tei")]
        dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>", skip_serializing)]
        pub(super) batch: NonZeroUsize,
        /// `true`: the server cuts texts that are too long; otherwise it refuses them.
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) truncate: bool,
        /// Text before every request.
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) query_prompt: String,
        /// Text before every document.
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) document_prompt: String,
    }
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

impl Asked for SparseConfig {
    type Answer = WeightsByText;
    type Learned = ();

    fn ask(endpoint: &Endpoint<Self>, call: &Call) -> Result<CallAnswer<WeightsByText>> {
        let Endpoint { server, keys, .. } = endpoint;
        let body = json!({ "inputs": call.request["texts"], "truncate": keys.truncate });
        server.ask(&call.about, &body, MOST_OF_AN_ANSWER, |answer: Vec<Vec<WordWeight>>| {
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

    fn stand_in(call: &Call) -> WeightsByText {
        vec![Vec::new(); call.items as usize]
    }
}

impl Endpoint<SparseConfig> {
    fn encode_all(
        &self,
        texts: &[&str],
        prompt: &str,
        batch: usize,
        progress: Progress,
    ) -> Result<SparseVectors> {
        let sent: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
        let calls = self.server.calls_of_texts(&sent, batch);
        let answers = self.answers_counting(&calls, progress)?;
        for (call, answer) in calls.iter().zip(&answers) {
            check_recorded(call, answer, "weighted text")?;
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

/// The weights of a text by ascending number of the word; an error if a word is there twice.
fn sorted(weights: Vec<WordWeight>) -> Result<Vec<(u32, f32)>, String> {
    let mut words = Vec::with_capacity(weights.len());
    for WordWeight { index, value } in weights {
        if index >= MOST_WORDS {
            return Err(format!(
                "the index {index}, where a vocabulary has fewer than {MOST_WORDS} words: are they hashed?"
            ));
        }
        let weight = in_32_bits("weight", value, index)?;
        if weight != 0.0 {
            words.push((index, weight));
        }
    }
    words.sort_unstable_by_key(|(word, _)| *word);
    match words.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(format!("the index {} twice", pair[0].0)),
        None => Ok(words),
    }
}

impl SparseEncoder for Endpoint<SparseConfig> {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        self.encode_all(texts, &self.keys.query_prompt, 1, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        let batch = self.keys.batch.get();
        self.encode_all(texts, &self.keys.document_prompt, batch, progress)
    }

    /// The server does not say which word has a number.
    fn word(&self, number: u32) -> Cow<'_, str> {
        format!("#{number}").into()
    }

    fn checksum(&self) -> &Checksum {
        &self.server.checksum
    }
}
