//! Encoders: `POST /embeddings` (`v1`) and `POST /embed` (`tei`).

use super::calls::{Call, CallAnswer};
use super::server::{MOST_OF_AN_ANSWER, Server, in_order};
use super::table::{DEFAULT_BATCH, Dialect, ModelTable, ServerConfig, table, yes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use clariq_core::{
    Checksum, Embeddings, Encoder, Location, ModelKind, Progress, Result, Similarity, bail, number,
    positive,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Longer vectors than this are a mistake.
const MOST_DIMENSIONS: usize = 65_536;

table! {
    /// An encoder behind a server.
    EmbedConfig {
        /// The paths and forms of the server's API, see below: `v1` or `tei`.
        #[serde(default)]
        pub(super) dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>")]
        pub(super) batch: NonZeroUsize,
        /// `true`: the server cuts texts that are too long; otherwise it refuses them (`tei`).
        #[serde(default)]
        pub(super) truncate: bool,
        /// The length that vectors must have, at most 65,536.
        pub(super) dimensions: Option<NonZeroUsize>,
        /// Text before every request.
        #[serde(default)]
        pub(super) query_prompt: String,
        /// Text before every document.
        #[serde(default)]
        pub(super) document_prompt: String,
        /// `true`: vectors are scaled to length 1 and compared by cosine; `false`: by dot product.
        #[serde(default = "yes")]
        pub(super) normalise: bool,
    }
}

impl ModelTable for EmbedConfig {
    fn kind(&self) -> &'static str {
        "embed"
    }

    fn server(&self) -> ServerConfig<'_> {
        self.keys_of_server()
    }

    fn opens(&self) -> (ModelKind, &'static str) {
        (ModelKind::Encoder, if self.dialect.is_tei() { "embed" } else { "embeddings" })
    }

    fn is_tei(&self) -> bool {
        self.dialect.is_tei()
    }

    fn truncates(&self) -> bool {
        self.truncate
    }

    fn check(&self, at: &Location) -> Result<()> {
        let dimensions = self.dimensions.map_or(1, usize::from);
        if dimensions > MOST_DIMENSIONS {
            bail!(at, "dimensions from 1 to {MOST_DIMENSIONS}", (dimensions.to_string()));
        }
        Ok(())
    }

    fn identify(&self, identity: &mut Map<String, Value>) {
        let mut set = |key: &str, value: Value| identity.insert(key.to_owned(), value);
        set("dialect", json!(self.dialect));
        if self.truncate {
            set("truncate", true.into());
        }
        if let Some(dimensions) = self.dimensions {
            set("dimensions", json!(dimensions));
        }
        if !self.query_prompt.is_empty() {
            set("query_prompt", json!(self.query_prompt));
        }
        if !self.document_prompt.is_empty() {
            set("document_prompt", json!(self.document_prompt));
        }
        if !self.normalise {
            set("normalise", false.into());
        }
    }
}

pub(super) struct EmbedEndpoint {
    server: Server,
    config: EmbedConfig,
    /// The length of vectors.
    dimensions: OnceLock<usize>,
}

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<IndexedVector>,
}

#[derive(Deserialize)]
struct IndexedVector {
    /// Gemini leaves out that of the first, and others all.
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// The vectors of a call as they are cached and recorded: exact, and shorter than decimal digits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedVectors {
    dimensions: usize,
    /// All numbers in 32 bits, little-endian.
    base64: String,
}

impl RecordedVectors {
    fn new(dimensions: usize, values: &[f32]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { dimensions, base64: BASE64.encode(bytes) }
    }

    /// The numbers; `None` if the text is damaged.
    fn values(&self) -> Option<Vec<f32>> {
        let bytes = BASE64.decode(&self.base64).ok()?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        let values: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        (rest.is_empty() && values.iter().all(|value| value.is_finite())).then_some(values)
    }
}

impl EmbedEndpoint {
    pub(super) fn new(server: Server, config: EmbedConfig) -> Self {
        // Vectors of a dry run are as short as they can be.
        let declared = config.dimensions.filter(|_| !server.calls.is_dry_run());
        let dimensions = declared.map_or_else(OnceLock::new, |known| known.get().into());
        Self { server, config, dimensions }
    }

    fn ask(&self, call: &Call) -> Result<CallAnswer<RecordedVectors>> {
        let texts = &call.request["texts"];
        let count = call.items as usize;
        if self.config.dialect.is_tei() {
            let body = json!({
                "inputs": texts,
                "normalize": self.config.normalise,
                "truncate": self.config.truncate,
            });
            return self.server.ask(
                &call.about,
                &body,
                MOST_OF_AN_ANSWER,
                |vectors: Vec<Vec<f64>>| self.check(vectors.into_iter().enumerate(), count),
            );
        }
        let mut body = json!({ "input": texts, "encoding_format": "float" });
        self.server.name_model(&mut body);
        self.server.ask(&call.about, &body, MOST_OF_AN_ANSWER, |answer: EmbeddingsResponse| {
            let vectors = answer.data.into_iter().enumerate();
            let at =
                |(place, one): (usize, IndexedVector)| (one.index.unwrap_or(place), one.embedding);
            self.check(vectors.map(at), count)
        })
    }

    /// The vectors of texts in their order; an error if one is missing, repeated, of another length,
    /// or not finite.
    fn check(
        &self,
        vectors: impl Iterator<Item = (usize, Vec<f64>)>,
        count: usize,
    ) -> Result<RecordedVectors, String> {
        let scaled = vectors.map(|(index, vector)| {
            let expected = *self.dimensions.get_or_init(|| vector.len());
            if vector.is_empty() {
                return Err("a vector without numbers".to_owned());
            }
            if vector.len() != expected {
                return Err(format!(
                    "a vector of length {} where {expected} is expected",
                    vector.len()
                ));
            }
            Ok((index, self.scale(&vector)?))
        });
        let values = in_order(scaled, count, "vector")?.concat();
        Ok(RecordedVectors::new(values.len() / count.max(1), &values))
    }

    fn scale(&self, vector: &[f64]) -> Result<Vec<f32>, String> {
        let mut length = 1.0;
        if self.config.normalise {
            length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        }
        if !length.is_finite() {
            return Err("a vector whose length is not finite".to_owned());
        }
        let mut scaled = Vec::with_capacity(vector.len());
        for value in vector {
            scaled.push((value / length) as f32);
        }
        // Nothing is like a vector of zeros: every score would be 0.
        let is_zero = scaled.iter().all(|value| *value == 0.0);
        if is_zero || !scaled.iter().all(|value| value.is_finite()) {
            return Err("a vector that is zero or not finite, in 32 bits".to_owned());
        }
        Ok(scaled)
    }

    /// Encodes texts, each after the prompt. An empty text has a vector of zeros.
    fn encode_all(
        &self,
        texts: &[&str],
        prompt: &str,
        batch: usize,
        progress: Progress,
    ) -> Result<Embeddings> {
        let mut sent: Vec<String> = Vec::with_capacity(texts.len());
        for text in texts.iter().filter(|text| !text.is_empty()) {
            sent.push(format!("{prompt}{text}"));
        }
        let mut calls: Vec<Call> =
            sent.chunks(batch).map(|texts| self.server.call_of_texts(texts)).collect();
        if calls.is_empty() && !texts.is_empty() && self.dimensions.get().is_none() {
            // The length of vectors is known from any text.
            calls.push(self.server.call_of_texts(&["text".to_owned()]));
        }
        let stand_in = |_: &Call| RecordedVectors::new(0, &[]);
        let ask = |call: &Call| self.ask(call);
        let seen = |index: usize, _: &_| {
            progress(calls[index].items);
            Ok(())
        };
        let answers =
            self.server.calls.answer(&self.server.caller, &calls, stand_in, ask, &seen)?;
        let is_dry_run = self.server.calls.is_dry_run();
        if is_dry_run {
            // Only the cache knows a length. Vectors of zeros may have any: nothing is like another.
            let known = answers.iter().map(|answer| answer.dimensions).find(|length| *length > 0);
            self.dimensions.get_or_init(|| known.unwrap_or(1));
        }
        let mut vectors = Vec::new();
        for (call, answer) in calls.iter().zip(&answers) {
            match self.read(call, answer) {
                Err(_) if is_dry_run => {
                    let dim = self.dimensions.get().copied().unwrap_or_default();
                    vectors.resize(vectors.len() + dim * call.items as usize, 0.0);
                }
                read => vectors.extend(read?),
            }
        }
        let dim = self.dimensions.get().copied().unwrap_or(0);
        let mut vectors = vectors.chunks_exact(dim.max(1));
        let mut values = Vec::with_capacity(texts.len() * dim);
        for text in texts {
            if text.is_empty() {
                values.resize(values.len() + dim, 0.0);
            } else {
                values.extend_from_slice(vectors.next().unwrap_or_default());
            }
        }
        progress((texts.len() - sent.len()) as u64);
        Ok(Embeddings { dim, values })
    }

    /// The numbers of the vectors of a call, which may be those of a recording.
    fn read(&self, call: &Call, answer: &RecordedVectors) -> Result<Vec<f32>> {
        let expected = *self.dimensions.get_or_init(|| answer.dimensions);
        let items = call.items;
        match answer.values() {
            Some(values)
                if expected > 0
                    && answer.dimensions == expected
                    && Some(values.len()) == expected.checked_mul(items as usize) =>
            {
                Ok(values)
            }
            _ => {
                let at = format!("the recorded answer for {}", call.about);
                let found = format!("others, of length {}", answer.dimensions);
                bail!(at, "{items} vectors of length {expected}", found)
            }
        }
    }
}

impl Encoder for EmbedEndpoint {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_all(texts, &self.config.query_prompt, 1, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        let batch = self.config.batch.get();
        self.encode_all(texts, &self.config.document_prompt, batch, progress)
    }

    fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_all(texts, &self.config.document_prompt, 1, progress)
    }

    fn similarity(&self) -> Similarity {
        if self.config.normalise { Similarity::Cosine } else { Similarity::Dot }
    }

    fn checksum(&self) -> &Checksum {
        &self.server.checksum
    }
}
