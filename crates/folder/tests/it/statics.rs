//! Tables of vectors, in the layouts of sentence-transformers and of model2vec.

use crate::{WORDS, folder, module, put, put_tensors, tokenizer};
use clariq_core::{Encoder, ModelKind, ModelOptions, ReadingOverrides, Similarity};
use clariq_folder::{StaticEncoder, StaticFolder, kind_of};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const DIM: usize = 3;

/// The vector of a word: not of length 1.
fn vector(word: usize) -> [f32; DIM] {
    let word = word as f32;
    [word - 3.5, 0.25 * word, 2.0 - 0.5 * word * word]
}

fn table() -> Vec<f32> {
    (0..WORDS.len()).flat_map(vector).collect()
}

/// The mean of words, scaled to length 1.
fn mean(words: &[usize]) -> Vec<f32> {
    let sum = |column: usize| words.iter().map(|word| vector(*word)[column]).sum::<f32>();
    let mean: Vec<f32> = (0..DIM).map(|column| sum(column) / words.len() as f32).collect();
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    mean.iter().map(|value| value / length).collect()
}

fn static_embedding() -> TempDir {
    let modules =
        [module("0_StaticEmbedding", "StaticEmbedding"), module("1_Normalize", "Normalize")];
    let folder = folder(&[
        ("modules.json", json!(modules)),
        ("0_StaticEmbedding/tokenizer.json", tokenizer()),
    ]);
    let at = folder.path().join("0_StaticEmbedding/model.safetensors");
    put_tensors(&at, &[("embedding.weight", &[WORDS.len(), DIM], &table())]);
    folder
}

fn model2vec(config: &Value) -> TempDir {
    let folder = folder(&[("config.json", config.clone()), ("tokenizer.json", tokenizer())]);
    let at = folder.path().join("model.safetensors");
    put_tensors(&at, &[("embeddings", &[WORDS.len(), DIM], &table())]);
    folder
}

fn open(folder: &Path) -> StaticEncoder {
    StaticEncoder::open(folder, &ModelOptions::default()).unwrap()
}

fn expect(found: &[f32], expected: &[f32]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }
}

#[test]
fn a_text_is_the_mean_of_its_words() {
    let folder = static_embedding();
    assert_eq!(kind_of(folder.path()).unwrap(), ModelKind::Encoder);
    let model = open(folder.path());
    let found = model.encode_documents(&["bees tent", "honey nobody", ""], &|_| {}).unwrap();
    expect(found.row(0), &mean(&[4, 5]));
    // An unknown word counts in sentence-transformers, and not in model2vec.
    expect(found.row(1), &mean(&[8, 1]));
    expect(found.row(2), &[0.0; DIM]);
    let other =
        model2vec(&json!({ "model_type": "model2vec", "normalize": true, "max_length": 2 }));
    assert_eq!(kind_of(other.path()).unwrap(), ModelKind::Encoder);
    let found = open(other.path()).encode(&["honey nobody", "bees tent wind"], &|_| {}).unwrap();
    expect(found.row(0), &mean(&[8]));
    expect(found.row(1), &mean(&[4, 5]));
}

#[test]
fn prompts_similarity_and_length_are_those_of_the_folder_or_the_system() {
    let folder = static_embedding();
    put(
        folder.path(),
        "config_sentence_transformers.json",
        &json!({ "prompts": { "query": "tent " }, "similarity_fn_name": "dot" }),
    );
    let model = open(folder.path());
    assert_eq!(model.similarity(), Similarity::Dot);
    expect(model.encode(&["bees"], &|_| {}).unwrap().row(0), &mean(&[5, 4]));
    expect(model.encode_documents(&["bees"], &|_| {}).unwrap().row(0), &mean(&[4]));
    let described = StaticFolder::open(folder.path()).unwrap().describe();
    assert_eq!(
        described,
        "a table of vectors, Mean, 3 dimensions, dot, `tent ` before requests, no prompt before documents"
    );
    let reading = ReadingOverrides::cut_at(4);
    let options = ModelOptions { reading, ..ModelOptions::default() };
    assert!(StaticEncoder::open(folder.path(), &options).is_err());
}

#[test]
fn tokens_share_rows_and_have_weights() {
    let folder = model2vec(&json!({ "normalize": true }));
    let weights: Vec<f32> = (0..WORDS.len()).map(|word| 1.0 + word as f32).collect();
    let at = folder.path().join("model.safetensors");
    put_tensors(
        &at,
        &[("embeddings", &[WORDS.len(), DIM], &table()), ("weights", &[WORDS.len()], &weights)],
    );
    let found = open(folder.path()).encode(&["bees tent"], &|_| {}).unwrap();
    let sum: Vec<f32> =
        (0..DIM).map(|column| 5.0 * vector(4)[column] + 6.0 * vector(5)[column]).collect();
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    expect(found.row(0), &sum.iter().map(|value| value / length).collect::<Vec<_>>());
}

#[test]
fn a_table_that_is_not_whole_is_refused_by_its_tensor() {
    let folder = model2vec(&json!({}));
    let at = folder.path().join("model.safetensors");
    let refused = || StaticFolder::open(folder.path()).unwrap_err().to_string();
    let mut values = table();
    values[7] = f32::NAN;
    put_tensors(&at, &[("embeddings", &[WORDS.len(), DIM], &values)]);
    assert!(refused().ends_with("found one that is not in `embeddings`"), "{}", refused());
    put_tensors(
        &at,
        &[("embeddings", &[WORDS.len(), DIM], &table()), ("weights", &[2], &[1.0, 1.0])],
    );
    assert!(refused().ends_with("expected 9 weights, one per token, found 2"), "{}", refused());
}
