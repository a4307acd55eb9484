//! What a model folder says of texts; `scripts/check-models` sets it beside Hugging Face's libraries.
//!
//! Reads one JSON object per line of standard input: `folder`, `kind` (`encoder` or
//! `cross-encoder`), `requests`, `documents`. Writes one per line: `scores`, a row per request, or
//! `refused`, the message.

use clariq_bert::{BertEncoder, CrossEncoder};
use clariq_core::{Encoder, ModelOptions, PairScorer, Result};
use serde::Deserialize;
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    folder: PathBuf,
    kind: String,
    requests: Vec<String>,
    documents: Vec<String>,
}

impl Task {
    fn scores(&self) -> Result<Vec<Vec<f32>>> {
        let options = ModelOptions { threads: 2, ..ModelOptions::default() };
        let texts = |texts: &[String]| -> Vec<String> { texts.to_vec() };
        let (requests, documents) = (texts(&self.requests), texts(&self.documents));
        let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        if self.kind == "cross-encoder" {
            let model = CrossEncoder::open(&self.folder, &options)?;
            let score = |request: &&str| {
                let pairs: Vec<_> = documents.iter().map(|&text| (*request, text)).collect();
                model.score(&pairs, &|_| {})
            };
            return requests.iter().map(score).collect();
        }
        let model = BertEncoder::open(&self.folder, &options)?;
        let requests = model.encode(&requests, &|_| {})?;
        let documents = model.encode_documents(&documents, &|_| {})?;
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        let row = |request: &[f32]| documents.rows().map(|text| dot(request, text)).collect();
        Ok(requests.rows().map(row).collect())
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lines() {
        let task: Task = serde_json::from_str(&line?)?;
        println!(
            "{}",
            match task.scores() {
                Ok(scores) => json!({ "scores": scores }),
                Err(error) => json!({ "refused": error.to_string() }),
            }
        );
    }
    Ok(())
}
