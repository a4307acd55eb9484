//! Sparse encoders: the form of text-embeddings-inference's `/embed_sparse` (`EmbedSparseResponse` in
//! its `docs/openapi.json`), recordings, and the faults of servers.

use crate::stub::{Received, Reply, Stub};
use crate::{config, lines, open, parts, replaying, session};
use clariq_core::{Model, ModelKind, SparseEncoder, SparseVectors};
use clariq_net::{CallOptions, Registry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A letter weighs half of its count; the last letter comes first, and `z` has the weight 0.
fn letters(received: &Received) -> Reply {
    let Some(inputs) = received.body["inputs"].as_array() else {
        return Reply::status(404, "no information about the server");
    };
    let weights = |input: &Value| -> Value {
        let text = input.as_str().unwrap();
        let count = |letter: u8| text.bytes().filter(|byte| *byte == letter).count() as f64 / 2.0;
        let entry = |letter: u8| json!({ "index": letter - b'a', "value": count(letter) });
        (b'a'..=b'z')
            .rev()
            .filter(|letter| *letter == b'z' || count(*letter) > 0.0)
            .map(entry)
            .collect()
    };
    Reply::status(200, &inputs.iter().map(weights).collect::<Value>().to_string())
}

fn encoder(url: &str, more: Value, registry: &Registry, cache: &Path) -> Arc<dyn SparseEncoder> {
    let Model::Sparse(model) =
        open(&config("sparse", url, more), ModelKind::Sparse, registry, cache)
    else {
        panic!()
    };
    model
}

#[test]
fn weights_are_read_recorded_and_replayed() {
    let stub = Stub::start(|received, _| letters(received));
    let folder = tempfile::tempdir().unwrap();
    let keys = json!({ "batch": 2, "truncate": true, "query_prompt": "b" });
    let encode = |url: &str, registry: &Registry| {
        let model = encoder(url, keys.clone(), registry, folder.path());
        assert_eq!(model.word(3), "#3");
        let requests = model.encode(&["a", "caca"], &|_| {}).unwrap();
        [requests, model.encode_documents(&["ab", "aa", "b"], &|_| {}).unwrap()]
    };
    let registry = session(CallOptions::default());
    let found = encode(&stub.url, &registry);
    let rows = |rows: &[&[(u32, f32)]]| -> SparseVectors {
        rows.iter().map(|row| row.iter().copied()).collect()
    };
    assert_eq!(found[0], rows(&[&[(0, 0.5), (1, 0.5)], &[(0, 1.0), (1, 0.5), (2, 1.0)]]));
    assert_eq!(found[1], rows(&[&[(0, 0.5), (1, 0.5)], &[(0, 1.0)], &[(1, 0.5)]]));
    let mut received = stub.received();
    received.retain(|one| one.path == "/embed_sparse");
    assert_eq!(received.len(), 4, "requests one by one, documents two by two");
    let bodies: Vec<&Value> = received.iter().map(|one| &one.body).collect();
    assert!(bodies.contains(&&json!({ "inputs": ["ab", "aa"], "truncate": true })));
    let registry = replaying(&lines(&registry));
    assert_eq!(encode("http://127.0.0.1:1", &registry), found);
}

#[test]
fn malformed_weights_are_refused() {
    for (body, says) in [
        (json!([[]]), "1 vector for 2 texts"),
        (
            json!([[], [{ "index": 1, "value": 1 }, { "index": 1, "value": 2 }]]),
            "the index 1 twice",
        ),
        (json!([[], [{ "index": 1, "value": 1e300 }]]), "no finite number"),
        (json!([[], [{ "index": -1, "value": 1 }]]), "invalid value"),
        (json!([[], [{ "index": 1, "value": 1e-60 }]]), "the weight 1e-60, which is 0 in 32 bits"),
        (json!([[0.5], [0.5]]), "invalid type"),
    ] {
        let stub = Stub::always(Reply::status(200, &body.to_string()));
        let folder = tempfile::tempdir().unwrap();
        let model = encoder(&stub.url, json!({}), &session(CallOptions::default()), folder.path());
        let found = parts(model.encode_documents(&["one", "two"], &|_| {}));
        assert!(found.contains(says), "{body}: {found}");
    }
}
