//! Folders in which requests have a table in place of the network.

use super::{KIND, assert_near, documents, models, open, refused, said, splade};
use crate::families::folder;
use crate::model_files::{change, put};
use clariq_core::{ModelOptions, SparseEncoder};
use clariq_folder::SparseFolder;
use serde_json::json;
use std::fs;
use std::path::Path;
use tch::Tensor;
use tempfile::TempDir;

/// Moves a plain folder's files below a Router, beside a table for requests.
pub(super) fn make_routed(folder: &Path, weights: &[f32]) {
    for side in ["document_0_MLMTransformer", "query_0_SparseStaticEmbedding"] {
        fs::create_dir(folder.join(side)).unwrap();
    }
    fs::copy(
        folder.join("tokenizer.json"),
        folder.join("query_0_SparseStaticEmbedding/tokenizer.json"),
    )
    .unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::rename(folder.join(file), folder.join("document_0_MLMTransformer").join(file)).unwrap();
    }
    put(
        folder,
        "modules.json",
        &json!([{ "idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router" }]),
    );
    put(
        folder,
        "router_config.json",
        &json!({
            "types": {
                "query_0_SparseStaticEmbedding": format!("{KIND}.SparseStaticEmbedding.SparseStaticEmbedding"),
                "document_0_MLMTransformer": format!("{KIND}.MLMTransformer.MLMTransformer"),
                "document_1_SpladePooling": format!("{KIND}.SpladePooling.SpladePooling"),
            },
            "structure": {
                "query": ["query_0_SparseStaticEmbedding"],
                "document": ["document_0_MLMTransformer", "document_1_SpladePooling"],
            },
            "parameters": { "default_route": "document", "allow_empty_key": true },
        }),
    );
    put(folder, "document_1_SpladePooling/config.json", &splade("max", "log1p_relu"));
    put(folder, "query_0_SparseStaticEmbedding/config.json", &json!({ "frozen": false }));
    write_table(folder, weights);
}

fn write_table(folder: &Path, weights: &[f32]) {
    let file = folder.join("query_0_SparseStaticEmbedding/model.safetensors");
    Tensor::write_safetensors(&[("weight", Tensor::from_slice(weights))], file).unwrap();
}

pub(super) fn routed(weights: &[f32]) -> TempDir {
    let folder = folder(&models()[0]);
    make_routed(folder.path(), weights);
    folder
}

pub(super) const WORDS: usize = 93;

pub(super) fn table() -> Vec<f32> {
    (0..WORDS).map(|word| word as f32 / 10.0).collect()
}

#[test]
fn requests_of_a_router_are_looked_up_without_the_network() {
    let folder = routed(&table());
    let model = open(folder.path());
    let options = ModelOptions::default();
    let lookup = SparseFolder::open(folder.path()).unwrap().open_lookup(&options).unwrap().unwrap();
    // Each word once, no special tokens; the word of number 0 has the weight 0.
    let texts = ["bees bees tent bees", ""];
    let found = model.encode(&texts, &|_| {}).unwrap();
    let words: Vec<_> =
        found.row(0).iter().map(|(word, _)| model.word(*word).into_owned()).collect();
    assert_eq!(words, ["bees", "tent"]);
    assert!(found.row(0).iter().all(|(word, weight)| *weight == *word as f32 / 10.0));
    assert_eq!(found.row(1), []);
    assert_eq!(lookup.encode(&texts, &|_| {}).unwrap(), found);
    assert_eq!(lookup.checksum(), model.checksum());
    let error = lookup.encode_documents(&["bees"], &|_| {}).unwrap_err().to_string();
    assert!(error.contains("a clariq with learned models"), "{error}");
    assert_near(&documents(folder.path()), &models()[0]["weights"]["max log1p_relu"], "documents");
    let most = json!({ "model_max_length": 3 });
    put(folder.path(), "query_0_SparseStaticEmbedding/tokenizer_config.json", &most);
    let cut = open(folder.path());
    let found = cut.encode(&["bees tent wind strong"], &|_| {}).unwrap();
    assert_eq!((found.row(0).len(), cut.cut().count), (3, 1));
}

#[test]
fn an_older_router_has_its_weights_in_an_idf_json() {
    let folder = routed(&table());
    let side = "query_0_SparseStaticEmbedding";
    put(
        folder.path(),
        &format!("{side}/config.json"),
        &json!({ "path": "some/where/idf.json", "frozen": true }),
    );
    put(folder.path(), &format!("{side}/idf.json"), &json!({ "bees": 2.5, "tent": -1, "wind": 0 }));
    change(folder.path(), "router_config.json", |config| {
        config["types"][side] = json!(format!("{KIND}.IDF.IDF"));
    });
    let found = open(folder.path()).encode(&["bees tent wind strong"], &|_| {}).unwrap();
    let mut weights: Vec<f32> = found.row(0).iter().map(|(_, weight)| *weight).collect();
    weights.sort_by(f32::total_cmp);
    assert_eq!(weights, [-1.0, 2.5], "a weight below 0 counts against a document");
    for (file, expected) in [
        (json!({ "bees": 1, "zebra": 2 }), "words of the tokenizer, found `zebra`"),
        (json!({ "bees": "much" }), "a number for `bees`, found \"much\""),
        (json!({ "bees": 1e300 }), "weights that are numbers, found inf for the word"),
    ] {
        put(folder.path(), &format!("{side}/idf.json"), &file);
        let said = said(folder.path(), &refused(folder.path()));
        assert!(said.starts_with(&format!("{side}/idf.json: expected {expected}")), "{said}");
    }
}
