//! Computes scores or texts with a model folder; `scripts/check-models` compares them with Hugging
//! Face's libraries.
//!
//! Reads one JSON object per line of standard input: `folder`, `kind` (`encoder`, `maxsim`, `sparse`,
//! `cross-encoder` or `rewriter`), `requests`, `documents`, for a rewriter `decoding`, and `device` if it
//! is not the CPU. Writes one per line: `scores`, a row per request; or `weights`, pairs of word and
//! weight for each request and document; or `written`, ids and a text per request; or `refused`, the
//! message.

use clariq_bert::{BertEncoder, SparseBert, T5, Torch};
use clariq_core::{
    Decoding, Engine, Model, ModelKind, ModelOptions, Result, SparseEncoder, SparseVectors,
    TextGenerator, TextSide,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    folder: PathBuf,
    kind: String,
    requests: Vec<String>,
    documents: Vec<String>,
    decoding: Option<Decoding>,
    device: Option<String>,
}

impl Task {
    fn options(&self) -> ModelOptions {
        let device = self.device.clone().unwrap_or_else(|| "cpu".to_owned());
        ModelOptions { device, threads: 2, ..ModelOptions::default() }
    }

    /// The requests and the documents.
    fn texts(&self) -> [Vec<&str>; 2] {
        [&self.requests, &self.documents].map(|texts| texts.iter().map(String::as_str).collect())
    }

    fn scores(&self) -> Result<Vec<Vec<f32>>> {
        let options = self.options();
        let [requests, documents] = self.texts();
        if self.kind == "cross-encoder"
            && let Model::CrossEncoder(model) =
                Torch.open(&self.folder, ModelKind::CrossEncoder, &options)?
        {
            let score = |request: &&str| {
                let pairs: Vec<_> = documents.iter().map(|&text| (*request, text)).collect();
                model.score(&pairs, &|_| {})
            };
            return requests.iter().map(score).collect();
        }
        if self.kind == "maxsim" {
            let model = BertEncoder::open(&self.folder, &options)?;
            return Self::max_sims(&model, &requests, &documents);
        }
        let Model::Encoder(model) = Torch.open(&self.folder, ModelKind::Encoder, &options)? else {
            unreachable!("it is opened as an encoder");
        };
        let requests = model.encode(&requests, &|_| {})?;
        let documents = model.encode_documents(&documents, &|_| {})?;
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        let row = |request: &[f32]| documents.rows().map(|text| dot(request, text)).collect();
        Ok(requests.rows().map(row).collect())
    }

    /// The sum over a request's tokens of the largest product with a token of each document.
    fn max_sims(
        model: &BertEncoder,
        requests: &[&str],
        documents: &[&str],
    ) -> Result<Vec<Vec<f32>>> {
        let requests = model.exact_tokens(requests, TextSide::Request)?;
        let documents = model.exact_tokens(documents, TextSide::Document)?;
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let dim = |(ids, rows): &(Vec<u32>, Vec<f32>)| (rows.len() / ids.len().max(1)).max(1);
        let score = |request: &(Vec<u32>, Vec<f32>), document: &(Vec<u32>, Vec<f32>)| {
            let best = |row: &[f32]| {
                let rows = document.1.chunks_exact(dim(document));
                rows.map(|other| dot(row, other)).fold(f32::NEG_INFINITY, f32::max)
            };
            request.1.chunks_exact(dim(request)).map(best).sum()
        };
        let row = |request| documents.iter().map(|document| score(request, document)).collect();
        Ok(requests.iter().map(row).collect())
    }

    /// What a T5 writes for each request.
    fn written(&self, decoding: &Decoding) -> Result<Vec<Value>> {
        let model = T5::open(&self.folder, &self.options())?;
        let [texts, _] = self.texts();
        let ids = model.ids(&texts, decoding, &|_| {})?;
        let both = ids.into_iter().zip(model.generate(&texts, decoding, &|_| {})?);
        Ok(both.map(|(ids, text)| json!({ "ids": ids, "text": text })).collect())
    }

    /// The weights of words, of requests and of documents.
    fn weights(&self) -> Result<Value> {
        let model = SparseBert::open(&self.folder, &self.options())?;
        let [requests, documents] = self.texts();
        let rows = |vectors: SparseVectors| vectors.rows().map(<[_]>::to_vec).collect::<Vec<_>>();
        let requests = rows(model.encode(&requests, &|_| {})?);
        let documents = rows(model.encode_documents(&documents, &|_| {})?);
        Ok(json!([requests, documents]))
    }

    fn answer(&self) -> Result<Value> {
        Ok(match &self.decoding {
            None if self.kind == "sparse" => json!({ "weights": self.weights()? }),
            Some(decoding) => json!({ "written": self.written(decoding)? }),
            None => json!({ "scores": self.scores()? }),
        })
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lines() {
        let task: Task = serde_json::from_str(&line?)?;
        let refused = |error: clariq_core::Error| json!({ "refused": error.to_string() });
        println!("{}", task.answer().unwrap_or_else(refused));
    }
    Ok(())
}
