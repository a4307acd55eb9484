//! Learned sparse retrieval by the command: a model whose requests are looked up in a table needs no
//! libtorch once the documents are indexed.

use crate::common::{Bench, root};
use crate::stub::Stub;
use serde_json::{Value, json};
use std::fs;

const WORDS: usize = 93;

/// A safetensors file.
fn safetensors(tensors: &[(String, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut end = 0;
    for (name, shape, bytes) in tensors {
        let range = [end, end + bytes.len()];
        header
            .insert(name.clone(), json!({ "dtype": "F32", "shape": shape, "data_offsets": range }));
        end = range[1];
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(tensors.iter().flat_map(|(_, _, bytes)| bytes));
    file
}

fn tensor(
    name: &str,
    shape: &[usize],
    number: impl Fn(usize) -> f32,
) -> (String, Vec<usize>, Vec<u8>) {
    let bytes = (0..shape.iter().product()).flat_map(|place| number(place).to_le_bytes()).collect();
    (name.to_owned(), shape.to_vec(), bytes)
}

/// The tiny model of `clariq-bert`, with the head of a masked language model.
fn with_head(file: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(file[..8].try_into().expect("eight bytes")) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).expect("a header");
    let mut tensors = Vec::new();
    for (name, about) in header.as_object().expect("tensors") {
        let Some(range) = about.get("data_offsets") else { continue };
        let [start, end]: [usize; 2] = serde_json::from_value(range.clone()).expect("a range");
        let shape = serde_json::from_value(about["shape"].clone()).expect("a shape");
        tensors.push((name.clone(), shape, file[8 + length..][start..end].to_vec()));
    }
    let wave = |place: usize| (place as f32).sin();
    tensors.extend([
        tensor("cls.predictions.transform.dense.weight", &[32, 32], wave),
        tensor("cls.predictions.transform.dense.bias", &[32], wave),
        tensor("cls.predictions.transform.LayerNorm.weight", &[32], |_| 1.0),
        tensor("cls.predictions.transform.LayerNorm.bias", &[32], |_| 0.0),
        tensor("cls.predictions.bias", &[WORDS], |_| 0.0),
    ]);
    safetensors(&tensors)
}

/// A bench with the sample, and a system over a model with a table for requests.
fn bench() -> Bench {
    let bench = Bench::with_sample();
    let tiny = |name: &str| {
        fs::read(root().join("crates/bert/tests/data/tiny").join(name)).expect("a file")
    };
    let put =
        |name: &str, content: Value| bench.write(&format!("model/{name}"), content.to_string());
    let class = |name: &str| format!("sentence_transformers.sparse_encoder.models.{name}");
    let mut config: Value = serde_json::from_slice(&tiny("config.json")).expect("a configuration");
    config["architectures"] = json!(["BertForMaskedLM"]);
    put("document_0_MLMTransformer/config.json", config);
    bench.write(
        "model/document_0_MLMTransformer/model.safetensors",
        with_head(&tiny("model.safetensors")),
    );
    bench.write("model/document_0_MLMTransformer/vocab.txt", tiny("vocab.txt"));
    put(
        "document_1_SpladePooling/config.json",
        json!({ "pooling_strategy": "max", "activation_function": "log1p_relu" }),
    );
    put("query_0_SparseStaticEmbedding/config.json", json!({ "frozen": false }));
    bench.write("model/query_0_SparseStaticEmbedding/vocab.txt", tiny("vocab.txt"));
    let table = tensor("weight", &[WORDS], |word| 1.0 + (word % 7) as f32);
    bench.write("model/query_0_SparseStaticEmbedding/model.safetensors", safetensors(&[table]));
    put(
        "modules.json",
        json!([{ "idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router" }]),
    );
    put(
        "router_config.json",
        json!({
            "types": {
                "query_0_SparseStaticEmbedding": class("SparseStaticEmbedding.SparseStaticEmbedding"),
                "document_0_MLMTransformer": class("MLMTransformer.MLMTransformer"),
                "document_1_SpladePooling": class("SpladePooling.SpladePooling"),
            },
            "structure": {
                "query": ["query_0_SparseStaticEmbedding"],
                "document": ["document_0_MLMTransformer", "document_1_SpladePooling"],
            },
            "parameters": { "default_route": "document", "allow_empty_key": true },
        }),
    );
    bench.write(
        "s.toml",
        "name = \"s\"\n[[stages]]\nstage = \"sparse\"\nmodel = \"model\"\ndepth = 30\n",
    );
    bench
}

#[test]
fn indexed_documents_are_searched_without_libtorch() {
    let bench = bench().with_learned("");
    let run = |output: &str| format!("run s.toml --data data --split dev -o {output}");
    let refused = bench.run(&run("none.run").split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.stderr.contains("found: one that was built without them"),
        "{}",
        refused.stderr
    );
    assert!(!bench.path("none.run").exists());

    let bench = bench.with_learned(env!("CARGO_BIN_EXE_clariq-learned"));
    let indexed = bench.succeed("run s.toml --split dev -o noted.run");
    let notes = indexed.stderr.matches("note: using the built-in sample").count();
    assert_eq!(notes, 1, "of two programs, the first says it: {}", indexed.stderr);
    bench.succeed(&run("one.run"));
    assert!(bench.text("one.run").lines().count() > 100);

    let bench = bench.with_learned("");
    bench.succeed(&run("two.run"));
    assert_eq!(bench.read("one.run"), bench.read("two.run"));
}

#[test]
fn a_run_over_a_server_is_replayed_without_libtorch_and_server() {
    let bench = Bench::with_sample().with_learned("");
    let stub = Stub::working();
    let system = format!(
        "name = \"far\"\n[models.far-words]\nkind = \"sparse\"\nurl = \"{}\"\nmodel = \"letters\"\n\
         retries = 0\n[[stages]]\nstage = \"sparse\"\nmodel = \"far-words\"\ndepth = 30\n",
        stub.url
    );
    bench.write("far.toml", system);
    bench.succeed("run far.toml --data data -o one/far.run");
    let sent = stub.received();
    assert!(sent.iter().all(|one| one.path == "/embed_sparse"));
    fs::remove_dir_all(bench.path("cache")).expect("removed");
    bench.succeed(
        "run far.toml --data data --replay one/far.run.completions.jsonl.zst -o two/far.run",
    );
    assert_eq!(stub.received().len(), sent.len());
    assert!(bench.text("one/far.run").lines().count() > 100);
    for file in ["far.run", "far.run.json", "far.run.completions.jsonl.zst"] {
        assert!(bench.read(&format!("one/{file}")) == bench.read(&format!("two/{file}")), "{file}");
    }
}
