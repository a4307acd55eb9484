//! Encoders: `POST /embeddings` (`v1`) and `POST /embed` (`tei`).

use super::calls::{Call, CallAnswer};
use super::endpoint::{Asked, Endpoint};
use super::server::{MOST_OF_AN_ANSWER, in_order};
use super::table::{
    DEFAULT_BATCH, Dialect, ModelTable, ServedKind, ServerConfig, is_default, is_yes, table, yes,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use clariq_core::{
    Checksum, Embeddings, Encoder, Location, ModelKind, Progress, Result, Similarity, bail, number,
    positive,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Longer vectors than this are a mistake.
const MOST_DIMENSIONS: usize = 65_536;

const KIND: ServedKind = ServedKind {
    name: "embed",
    model: ModelKind::Encoder,
    paths: &[(Dialect::V1, "embeddings"), (Dialect::Tei, "embed")],
};

table! { KIND;
    /// An encoder behind a server.
    EmbedConfig {
        /// The paths and forms of the server's API, see below: `v1` or `tei`.
        #[serde(default)]
        pub(super) dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>", skip_serializing)]
        pub(super) batch: NonZeroUsize,
        /// `true`: the server cuts texts that are too long; otherwise it refuses them (`tei`).
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) truncate: bool,
        /// The length that vectors must have, at most 65,536.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub(super) dimensions: Option<NonZeroUsize>,
        /// Text before every request.
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) query_prompt: String,
        /// Text before every document.
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) document_prompt: String,
        /// `true`: vectors are scaled to length 1 and compared by cosine; `false`: by dot product.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        pub(super) normalise: bool,
    }
}

impl EmbedConfig {
    /// Refuses lengths that no vector has.
    pub(super) fn check(&self, at: &Location) -> Result<()> {
        let dimensions = self.dimensions.map_or(1, usize::from);
        if dimensions > MOST_DIMENSIONS {
            bail!(at, "dimensions from 1 to {MOST_DIMENSIONS}", (dimensions.to_string()));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<IndexedVector>,
}

#[derive(Deserialize)]
struct IndexedVector {
    /// Gemini leaves out that of the first, and others all.
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// The vectors of a call as they are cached and recorded: exact, and shorter than decimal digits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedVectors {
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

impl Asked for EmbedConfig {
    type Answer = RecordedVectors;
    /// The length of vectors.
    type Learned = OnceLock<usize>;

    fn ask(endpoint: &Endpoint<Self>, call: &Call) -> Result<CallAnswer<RecordedVectors>> {
        let Endpoint { server, keys, .. } = endpoint;
        let texts = &call.request["texts"];
        let count = call.items as usize;
        if keys.dialect == Dialect::Tei {
            let body = json!({
                "inputs": texts,
                "normalize": keys.normalise,
                "truncate": keys.truncate,
            });
            let read =
                |vectors: Vec<Vec<f64>>| endpoint.check(vectors.into_iter().enumerate(), count);
            return server.ask(&call.about, &body, MOST_OF_AN_ANSWER, read);
        }
        let mut body = json!({ "input": texts, "encoding_format": "float" });
        server.name_model(&mut body);
        server.ask(&call.about, &body, MOST_OF_AN_ANSWER, |answer: EmbeddingsResponse| {
            let vectors = answer.data.into_iter().enumerate();
            let at =
                |(place, one): (usize, IndexedVector)| (one.index.unwrap_or(place), one.embedding);
            endpoint.check(vectors.map(at), count)
        })
    }

    fn stand_in(_: &Call) -> RecordedVectors {
        RecordedVectors::new(0, &[])
    }
}

impl Endpoint<EmbedConfig> {
    /// The length of vectors, if it is known. Vectors of a dry run are as short as they can be.
    fn dimensions(&self) -> Option<usize> {
        let declared = self.keys.dimensions.filter(|_| !self.server.calls.is_dry_run());
        self.learned.get().copied().or(declared.map(usize::from))
    }

    /// The length of vectors: that of the first, where it is not declared.
    fn dimensions_or(&self, first: usize) -> usize {
        *self.learned.get_or_init(|| self.dimensions().unwrap_or(first))
    }

    /// The vectors of texts in their order; an error if one is missing, repeated, of another length,
    /// or not finite.
    fn check(
        &self,
        vectors: impl Iterator<Item = (usize, Vec<f64>)>,
        count: usize,
    ) -> Result<RecordedVectors, String> {
        let scaled = vectors.map(|(index, vector)| {
            let expected = self.dimensions_or(vector.len());
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
        if self.keys.normalise {
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
        let mut calls = self.server.calls_of_texts(&sent, batch);
        if calls.is_empty() && !texts.is_empty() && self.dimensions().is_none() {
            // The length of vectors is known from any text.
            calls = self.server.calls_of_texts(&["text".to_owned()], 1);
        }
        let answers = self.answers_counting(&calls, progress)?;
        let is_dry_run = self.server.calls.is_dry_run();
        if is_dry_run {
            // Only the cache knows a length. Vectors of zeros may have any: nothing is like another.
            let known = answers.iter().map(|answer| answer.dimensions).find(|length| *length > 0);
            self.dimensions_or(known.unwrap_or(1));
        }
        let mut vectors = Vec::new();
        for (call, answer) in calls.iter().zip(&answers) {
            match self.read(call, answer) {
                Err(_) if is_dry_run => {
                    let dim = self.dimensions().unwrap_or_default();
                    vectors.resize(vectors.len() + dim * call.items as usize, 0.0);
                }
                read => vectors.extend(read?),
            }
        }
        let dim = self.dimensions().unwrap_or(0);
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
        let expected = self.dimensions_or(answer.dimensions);
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

impl Encoder for Endpoint<EmbedConfig> {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_all(texts, &self.keys.query_prompt, 1, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        let batch = self.keys.batch.get();
        self.encode_all(texts, &self.keys.document_prompt, batch, progress)
    }

    fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_all(texts, &self.keys.document_prompt, 1, progress)
    }

    fn similarity(&self) -> Similarity {
        if self.keys.normalise { Similarity::Cosine } else { Similarity::Dot }
    }

    fn checksum(&self) -> &Checksum {
        &self.server.checksum
    }
}
