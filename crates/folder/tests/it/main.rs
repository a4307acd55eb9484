//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod chat;
mod lengths;
mod recognised;
mod statics;
mod tokenizers;

use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with these files of JSON.
fn folder(files: &[(&str, Value)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        put(folder.path(), name, content);
    }
    folder
}

/// A folder of a BERT with these further files, whose weights are not read.
fn model(files: &[(&str, Value)]) -> TempDir {
    let folder = folder(&[("config.json", config()), ("tokenizer.json", tokenizer())]);
    for (name, content) in files {
        put(folder.path(), name, content);
    }
    fs::write(folder.path().join("model.safetensors"), "").unwrap();
    folder
}

/// An entry of `modules.json`.
fn module(path: &str, class: &str) -> Value {
    json!({ "path": path, "type": format!("sentence_transformers.models.{class}") })
}

fn put(folder: &Path, name: &str, content: &Value) {
    let at = folder.join(name);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, content.to_string()).unwrap();
}

/// Writes tensors of 32-bit floats.
fn put_tensors(at: &Path, tensors: &[(&str, &[usize], &[f32])]) {
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let tensors: Vec<(&str, &[usize], Vec<u8>)> =
        tensors.iter().map(|(name, size, values)| (*name, *size, bytes(values))).collect();
    let views = tensors.iter().map(|(name, size, bytes)| {
        (*name, TensorView::new(Dtype::F32, size.to_vec(), bytes).unwrap())
    });
    safetensors::serialize_to_file(views, &None, at).unwrap();
}

/// Words of the tokenizer, by number.
const WORDS: [&str; 9] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bees", "tent", "wind", "pegs", "honey"];

/// BERT's tokenizer.
fn tokenizer() -> Value {
    let words: serde_json::Map<String, Value> =
        WORDS.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect();
    json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": words},
    })
}

/// The settings of a BERT over these words.
fn config() -> Value {
    json!({ "model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
        "intermediate_size": 4, "vocab_size": WORDS.len(), "max_position_embeddings": 64,
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1 })
}
