//! Sparse encoders: a masked language model of every family against transformers (`sparse.json` by
//! `scripts/make-golden bert`), the layouts of sentence-transformers, and what is refused.
//! `scripts/check-models` holds every layout against that library.

mod refusals;
mod routed;
mod trained;

use crate::families::{folder, read};
use crate::model_files::{change, problem_of, put};
use clariq_bert::{SparseBert, Torch};
use clariq_core::{Engine, ModelOptions, Problem, ReadingOverrides, SparseEncoder, SparseVectors};
use clariq_folder::{Prompts, SparseFolder};
use routed::{WORDS, make_routed, table};
use serde_json::{Value, json};
use std::path::Path;
use tch::Tensor;

const KIND: &str = "sentence_transformers.sparse_encoder.models";

fn models() -> Vec<Value> {
    read("sparse.json").as_array().unwrap().clone()
}

fn texts() -> Vec<String> {
    let all: Vec<String> = serde_json::from_value(read("golden.json")["texts"].clone()).unwrap();
    [0, 2, 5].map(|number| all[number].clone()).to_vec()
}

fn splade(pooling: &str, activation: &str) -> Value {
    json!({ "pooling_strategy": pooling, "activation_function": activation, "word_embedding_dimension": null })
}

/// Adds the files of a symmetric folder, in the layout of sentence-transformers 5.
fn make_symmetric(folder: &Path, pooling: &Value) {
    let module = |path: &str, class: &str| json!({ "idx": 0, "name": "0", "path": path, "type": format!("{KIND}.{class}") });
    put(
        folder,
        "modules.json",
        &json!([module("", "MLMTransformer"), module("1_SpladePooling", "SpladePooling")]),
    );
    put(folder, "1_SpladePooling/config.json", pooling);
    put(
        folder,
        "config_sentence_transformers.json",
        &json!({ "model_type": "SparseEncoder", "similarity_fn_name": "dot" }),
    );
}

fn open(folder: &Path) -> SparseBert {
    SparseBert::open(folder, &ModelOptions::default()).unwrap()
}

fn documents(folder: &Path) -> SparseVectors {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    open(folder).encode_documents(&texts, &|_| {}).unwrap()
}

fn refused(folder: &Path) -> Problem {
    problem_of(SparseBert::open(folder, &ModelOptions::default()))
}

/// The problem without the folder's path.
fn said(folder: &Path, problem: &Problem) -> String {
    problem.to_string().replace(&format!("{}/", folder.display()), "")
}

/// Asserts that weights are those of the golden file, with the same words.
fn assert_near(found: &SparseVectors, expected: &Value, what: &str) {
    let expected: Vec<Vec<f32>> = serde_json::from_value(expected.clone()).unwrap();
    assert_eq!(found.len(), expected.len());
    for (row, expected) in found.rows().zip(expected) {
        let words: Vec<u32> = row.iter().map(|(word, _)| *word).collect();
        let wanted = (0..).zip(&expected).filter(|(_, weight)| **weight > 0.0);
        assert_eq!(words, wanted.map(|(word, _)| word).collect::<Vec<u32>>(), "{what}");
        for (word, weight) in row {
            let expected = expected[*word as usize];
            assert!(
                (weight - expected).abs() < 1e-5 * (1.0 + expected),
                "{what}: {weight} {expected}"
            );
        }
    }
}

#[test]
fn every_family_equals_transformers() {
    let models = models();
    assert_eq!(models.len(), 11);
    for model in models {
        let folder = folder(&model);
        let name = model["name"].as_str().unwrap();
        assert_near(&documents(folder.path()), &model["weights"]["max relu"], name);
    }
}

#[test]
fn a_text_has_the_weights_of_its_pooling_and_activation() {
    let model = &models()[0];
    let ways = model["weights"].as_object().unwrap();
    assert_eq!(ways.len(), 4);
    for (way, expected) in ways {
        let (pooling, activation) = way.split_once(' ').unwrap();
        let folder = folder(model);
        make_symmetric(folder.path(), &splade(pooling, activation));
        assert_near(&documents(folder.path()), expected, way);
    }
}

#[test]
fn a_long_text_is_reduced_in_pieces() {
    let mut model = models()[0].clone();
    model["config"]["max_position_embeddings"] = json!(700);
    model["tensors"]["bert.embeddings.position_embeddings.weight"] = json!([700, 16]);
    let long = "bees ".repeat(650);
    for pooling in ["max", "sum"] {
        let folder = folder(&model);
        make_symmetric(folder.path(), &splade(pooling, "relu"));
        let model = open(folder.path());
        let alone = model.encode(&[&long], &|_| {}).unwrap();
        let options = ModelOptions { threads: 2, ..ModelOptions::default() };
        let among = SparseBert::open(folder.path(), &options).unwrap();
        let among = among.encode(&["tent", &long, "wind", &long], &|_| {}).unwrap();
        assert_eq!((among.row(1), among.row(3)), (alone.row(0), alone.row(0)), "{pooling}");
        assert_eq!(model.cut().count, 0);
    }
}

#[test]
fn of_two_biases_that_of_the_product_counts() {
    let mut model = models()[0].clone();
    let bias = model["tensors"]["cls.predictions.bias"].take();
    assert!(bias.is_array());
    model["tensors"]["cls.predictions.decoder.bias"] = bias.clone();
    model["tensors"].as_object_mut().unwrap().remove("cls.predictions.bias");
    let one = documents(folder(&model).path());
    model["tensors"]["cls.predictions.bias"] = bias;
    let both = documents(folder(&model).path());
    assert!(one.rows().eq(both.rows()));
}

/// As in transformers 5, whatever `tie_word_embeddings` says.
#[test]
fn a_matrix_of_the_head_counts_unless_it_is_a_copy_of_the_embeddings() {
    const DECODER: &str = "lm_head.decoder.weight";
    const EMBEDDINGS: &str = "roberta.embeddings.word_embeddings.weight";
    let tied = models()[1].clone();
    let mut own = tied.clone();
    own["tensors"][DECODER] = tied["tensors"][EMBEDDINGS].clone();
    let with_key = |value: Value| {
        let mut model = own.clone();
        model["config"]["tie_word_embeddings"] = value;
        documents(folder(&model).path())
    };
    let of_its_own = with_key(json!(false));
    assert_ne!(of_its_own, documents(folder(&tied).path()));
    assert_eq!(with_key(json!(true)), of_its_own);
    assert_eq!(documents(folder(&own).path()), of_its_own);

    let copied = folder(&own);
    let file = copied.path().join("model.safetensors");
    let mut tensors = Tensor::read_safetensors(&file).unwrap();
    let embeddings = tensors.iter().find(|(name, _)| name == EMBEDDINGS).unwrap().1.copy();
    tensors.retain(|(name, _)| name != DECODER);
    tensors.push((DECODER.to_owned(), embeddings));
    Tensor::write_safetensors(&tensors, &file).unwrap();
    assert_eq!(documents(copied.path()), documents(folder(&tied).path()));
}

/// A tokenizer without special tokens has none for an empty text.
#[test]
fn a_folder_that_is_an_encoder_or_a_sparse_one_is_described_as_both() {
    let plain = folder(&models()[0]);
    let said = Torch.describe_model(plain.path()).unwrap();
    assert!(
        said.ends_with("tokens; a sparse encoder by its head, and an encoder with `pooling` alone"),
        "{said}"
    );
    make_symmetric(plain.path(), &splade("sum", "relu"));
    let said = Torch.describe_model(plain.path()).unwrap();
    assert!(said.contains(", sparse, sum, "), "{said}");
}

#[test]
fn a_text_without_tokens_has_no_words() {
    for model in models() {
        let folder = folder(&model);
        change(folder.path(), "tokenizer.json", |content| content["post_processor"] = Value::Null);
        let model = open(folder.path());
        let vectors = model.encode(&["", &texts()[0]], &|_| {}).unwrap();
        let counts: Vec<bool> = vectors.rows().map(<[_]>::is_empty).collect();
        assert_eq!(counts, [true, false]);
    }
}

#[test]
fn releases_5_and_6_write_the_same_model_differently() {
    let model = &models()[0];
    let (five, six) = (folder(model), folder(model));
    make_symmetric(five.path(), &splade("max", "log1p_relu"));
    make_symmetric(
        six.path(),
        &json!({ "pooling_strategy": "max", "activation_function": "log1p_relu", "embedding_dimension": 93 }),
    );
    change(six.path(), "modules.json", |modules| {
        modules[0]["type"] = json!("sentence_transformers.base.modules.transformer.Transformer");
        modules[1]["type"] =
            json!("sentence_transformers.sparse_encoder.modules.splade_pooling.SpladePooling");
    });
    put(
        six.path(),
        "sentence_bert_config.json",
        &json!({
            "transformer_task": "fill-mask",
            "modality_config": { "text": { "method": "forward", "method_output_name": "logits" } },
            "module_output_name": "token_embeddings",
        }),
    );
    assert_eq!(documents(five.path()), documents(six.path()));
    assert_eq!(open(five.path()).checksum(), open(six.path()).checksum());
}

#[test]
fn every_setting_that_changes_a_weight_changes_the_checksum() {
    let model = &models()[0];
    let checksum = |make: &dyn Fn(&Path)| {
        let folder = folder(model);
        make(folder.path());
        open(folder.path()).checksum().to_owned()
    };
    let prompts = |folder: &Path| {
        make_symmetric(folder, &splade("max", "relu"));
        let at = "config_sentence_transformers.json";
        change(folder, at, |settings| settings["prompts"] = json!({ "query": "find: " }));
    };
    let sums = [
        checksum(&|_| {}),
        checksum(&|folder| make_symmetric(folder, &splade("sum", "relu"))),
        checksum(&|folder| make_symmetric(folder, &splade("max", "log1p_relu"))),
        checksum(&prompts),
        checksum(&|folder| make_routed(folder, &table())),
        checksum(&|folder| make_routed(folder, &[1.0; WORDS])),
    ];
    for (place, sum) in sums.iter().enumerate() {
        assert!(!sums[..place].contains(sum), "{place}");
    }
    let same = checksum(&|folder| make_symmetric(folder, &splade("max", "relu")));
    assert_eq!(same, sums[0], "a plain folder has the usual pooling");
}

#[test]
fn longer_texts_are_cut_where_the_stage_says() {
    let folder = folder(&models()[0]);
    let reading = ReadingOverrides::cut_at(4);
    let options = ModelOptions { reading, ..ModelOptions::default() };
    let cut = SparseBert::open(folder.path(), &options).unwrap();
    let long = cut.encode(&["bees tent wind strong"], &|_| {}).unwrap();
    assert_eq!(cut.cut().count, 1);
    assert_eq!(open(folder.path()).encode(&["bees tent"], &|_| {}).unwrap(), long);
    assert_ne!(cut.checksum(), open(folder.path()).checksum());
}

/// `encode_query` and `encode_document` of release 6 take no other prompt, and none by default.
#[test]
fn requests_and_documents_have_the_prompts_of_their_names_alone() {
    let folder = folder(&models()[0]);
    make_symmetric(folder.path(), &splade("max", "log1p_relu"));
    for (prompts, expected) in [
        (
            json!({ "query": "q: ", "document": "d: ", "passage": "p: ", "topic": "t: " }),
            ["q: ", "d: "],
        ),
        (json!({ "query": "", "document": "", "passage": "p: ", "topic": "t: " }), ["", ""]),
        (json!({ "query": null, "corpus": "c: ", "topic": "t: " }), ["", ""]),
    ] {
        let settings = json!({ "prompts": prompts, "default_prompt_name": "topic" });
        put(folder.path(), "config_sentence_transformers.json", &settings);
        let [query, document] = expected;
        let found = SparseFolder::open(folder.path()).unwrap().prompts;
        assert_eq!(found, Prompts::of(query, document), "{prompts}");
    }
}

#[test]
fn a_default_prompt_that_is_not_among_the_prompts_is_refused() {
    let folder = folder(&models()[0]);
    make_symmetric(folder.path(), &splade("max", "log1p_relu"));
    let settings = |default: &str| {
        let prompts = json!({ "query": "q: " });
        json!({ "model_type": "SparseEncoder", "prompts": prompts, "default_prompt_name": default })
    };
    put(folder.path(), "config_sentence_transformers.json", &settings("query"));
    assert_eq!(SparseFolder::open(folder.path()).unwrap().prompts.query, "q: ");
    put(folder.path(), "config_sentence_transformers.json", &settings("nope"));
    let problem = SparseFolder::open(folder.path()).err().unwrap().to_problem();
    assert_eq!(problem.expected, "a prompt `nope`, default_prompt_name");
    assert_eq!(problem.found, "none");
}
