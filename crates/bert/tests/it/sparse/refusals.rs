//! What would change a weight is refused by its name.

use super::routed::{WORDS, make_routed, table};
use super::{make_symmetric, models, refused, said, splade};
use crate::families::folder;
use crate::model_files::{change, put};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tch::Tensor;

#[test]
fn what_would_change_a_weight_is_refused_by_name() {
    let model = &models()[0];
    let refusal = |make: &dyn Fn(&Path)| {
        let folder = folder(model);
        make(folder.path());
        said(folder.path(), &refused(folder.path()))
    };
    let symmetric = |edit: &dyn Fn(&Path)| {
        refusal(&|folder| {
            make_symmetric(folder, &splade("max", "relu"));
            edit(folder);
        })
    };
    let modules = |edit: fn(&mut Value)| symmetric(&|folder| change(folder, "modules.json", edit));
    let pooling =
        |content: Value| symmetric(&|folder| put(folder, "1_SpladePooling/config.json", &content));
    let settings = |content: Value| {
        symmetric(&|folder| put(folder, "config_sentence_transformers.json", &content))
    };
    let router = |edit: fn(&mut Value)| {
        refusal(&|folder| {
            make_routed(folder, &table());
            change(folder, "router_config.json", edit);
        })
    };
    let found = [
        refusal(&|folder| {
            change(folder, "config.json", |config| config["architectures"] = json!(["BertModel"]));
        }),
        refusal(&|folder| {
            change(folder, "config.json", |config| {
                config["auto_map"] = json!({ "AutoModel": "x.py" });
            });
        }),
        modules(|modules| {
            modules[1]["type"] =
                json!("sentence_transformers.sparse_encoder.models.SparseAutoEncoder");
        }),
        modules(|modules| modules[1]["type"] = json!("sentence_transformers.models.Pooling")),
        modules(|modules| modules[0]["type"] = json!("sentence_transformers.models.Transformer")),
        modules(|modules| modules.as_array_mut().unwrap().truncate(1)),
        pooling(splade("mean", "relu")),
        pooling(splade("max", "gelu")),
        pooling(
            json!({ "pooling_strategy": "max", "activation_function": "relu", "embedding_dimension": 7 }),
        ),
        settings(json!({ "model_type": "SparseEncoder", "similarity_fn_name": "cosine" })),
        settings(json!({ "model_type": "SentenceTransformer" })),
        router(|config| {
            config["structure"]["query"] =
                json!(["document_0_MLMTransformer", "document_1_SpladePooling"]);
        }),
        router(|config| config["structure"]["image"] = json!([])),
        router(|config| {
            config["parameters"]["route_mappings"] = json!({ "('query', None)": "document" });
        }),
        router(|config| config["structure"]["document"] = json!(["../elsewhere"])),
        refusal(&|folder| make_routed(folder, &[1.0; 7])),
        refusal(&|folder| make_routed(folder, &[f32::NAN; WORDS])),
    ];
    let expected = [
        "config.json: expected the architecture of a masked language model, such as BertForMaskedLM, found `BertModel`",
        "config.json: expected auto_map null, found `{\"AutoModel\":\"x.py\"}`",
        "modules.json: expected SpladePooling after MLMTransformer, found `SparseAutoEncoder`",
        "modules.json: expected SpladePooling after MLMTransformer, found `Pooling`",
        "sentence_bert_config.json: expected transformer_task `fill-mask`, found none",
        "modules.json: expected SpladePooling after MLMTransformer, found nothing",
        "1_SpladePooling/config.json: expected pooling_strategy `max` or `sum`, found unknown variant `mean`",
        "1_SpladePooling/config.json: expected activation_function `relu` or `log1p_relu`, found unknown variant `gelu`",
        "1_SpladePooling/config.json: expected embedding_dimension 93, vocab_size of the model, found 7",
        "config_sentence_transformers.json: expected similarity_fn_name `dot`, found `cosine`",
        "config_sentence_transformers.json: expected model_type `SparseEncoder`, found `SentenceTransformer`",
        "router_config.json: expected SparseStaticEmbedding alone for requests, found [\"MLMTransformer\", \"SpladePooling\"]",
        "router_config.json: expected the routes `document` and `query`, found [\"document\", \"image\", \"query\"]",
        "router_config.json: expected no route_mappings, found some",
        "router_config.json: expected the type of `../elsewhere`, found none",
        "query_0_SparseStaticEmbedding/model.safetensors: expected weight of the shape [93], vocab_size of the model, found [7]",
        "query_0_SparseStaticEmbedding/model.safetensors: expected weights that are numbers, found NaN for the word 0",
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_model_without_a_head_and_one_of_another_vocabulary_are_refused() {
    let mut headless = models()[0].clone();
    headless["tensors"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("cls"));
    let headless = folder(&headless);
    assert_eq!(
        said(headless.path(), &refused(headless.path())),
        "model.safetensors: expected a tensor cls.predictions.transform.dense.weight, found a model without a head"
    );
    let mut other = models()[0].clone();
    other["config"]["vocab_size"] = json!(80);
    let other = folder(&other);
    assert!(said(other.path(), &refused(other.path())).contains("of the shape [80, 16]"));
}

#[test]
fn weights_that_are_not_numbers_are_named_by_their_tensor() {
    let folder = folder(&models()[0]);
    let file = folder.path().join("model.safetensors");
    let mut tensors = Tensor::read_safetensors(&file).unwrap();
    for (name, tensor) in &mut tensors {
        if name == "cls.predictions.bias" {
            let _ = tensor.get(60).fill_(f64::NAN);
        }
    }
    Tensor::write_safetensors(&tensors, &file).unwrap();
    assert_eq!(
        said(folder.path(), &refused(folder.path())),
        "model.safetensors: expected finite numbers, found one that is not in `cls.predictions.bias`"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_without_room_in_memory_is_refused_before_it_is_read() {
    let folder = folder(&models()[0]);
    let header = json!({
        "w": { "dtype": "F32", "shape": [1_000_000_000_000_000_u64], "data_offsets": [0, 4] }
    });
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend([0; 4]);
    fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
    let refusal = said(folder.path(), &refused(folder.path()));
    let expected = "model.safetensors: expected 8000000.0 GB of free memory";
    assert!(refusal.starts_with(expected), "{refusal}");
}
