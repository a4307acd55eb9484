//! This crate against transformers. Golden files by `scripts/make-golden bert`.

use crate::model_files::{change, copy, data, problem_of, tiny};
use clariq_bert::{BertEncoder, CrossEncoder, Weights};
use clariq_collections::DataDir;
use clariq_core::{Documents, Encoder, ModelOptions, PairScorer, Precision, Problem, TextSide};
use clariq_folder::{ModelFolder, Tokenize};
use clariq_track_clariq::{ClariQ, splits};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn golden() -> Value {
    serde_json::from_slice(&fs::read(data().join("golden.json")).unwrap()).unwrap()
}

fn texts(golden: &Value) -> Vec<&str> {
    golden["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn pairs(golden: &Value) -> Vec<(&str, &str)> {
    golden["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()))
        .collect()
}

fn options() -> ModelOptions {
    ModelOptions { threads: 2, ..ModelOptions::default() }
}

fn assert_near(found: &[f32], expected: &Value, tolerance: f64) {
    let expected = expected.as_array().unwrap();
    assert!(found.len() >= expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let expected = expected.as_f64().unwrap();
        assert!((f64::from(*found) - expected).abs() < tolerance, "{found} {expected}");
    }
}

#[test]
fn encoders_equal_transformers() {
    let golden = golden();
    let tiny = BertEncoder::open(&tiny(), &options()).unwrap();
    let vectors = tiny.encode(&texts(&golden), &|_| {}).unwrap();
    for (row, expected) in vectors.rows().zip(golden["tiny"].as_array().unwrap()) {
        assert_near(row, expected, 1e-5);
    }
    let encoder =
        BertEncoder::open(&minilm(), &options()).expect("scripts/setup installs the weights");
    let vectors = encoder.encode(&texts(&golden), &|_| {}).unwrap();
    for (row, expected) in vectors.rows().zip(golden["minilm"].as_array().unwrap()) {
        assert_near(row, expected, 1e-5);
    }
}

/// The weights that the set-up installs.
fn minilm() -> PathBuf {
    let cache = std::env::var_os("CLARIQ_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache/clariq"));
    cache.join("models/all-MiniLM-L6-v2")
}

/// The released files, if they are there.
fn released() -> Option<ClariQ> {
    let folders = ["../../data/clariq", "../../../shared/clariq/data"];
    let folder = folders.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let Some(folder) = folder.into_iter().find(|folder| folder.join("question_bank.tsv").exists())
    else {
        println!("skipped: the released files are not there");
        return None;
    };
    Some(ClariQ::open(DataDir::Folder(folder)).unwrap())
}

/// MiniLM with a classifier whose weights are cosines of their places, as `scripts/make-golden bert
/// --real` gives it.
fn minilm_with_a_head() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["config.json", "vocab.txt", "tokenizer.json"] {
        fs::copy(minilm().join(name), folder.path().join(name)).unwrap();
    }
    let base = ModelFolder::open(&minilm()).unwrap();
    let mut weights = Weights::read(&base).unwrap();
    let head: Vec<f32> = (0..384).map(|place| f64::from(place).cos() as f32).collect();
    weights
        .tensors
        .insert("classifier.weight".to_owned(), tch::Tensor::from_slice(&head).view([1, 384]));
    weights.tensors.insert("classifier.bias".to_owned(), tch::Tensor::from_slice(&[0.0_f32]));
    weights.write(&folder.path().join("model.safetensors"), &base.shape, true).unwrap();
    folder
}

#[test]
fn real_questions_and_pairs_equal_transformers() {
    let Some(collection) = released() else { return };
    let golden: Value =
        serde_json::from_slice(&fs::read(data().join("real.json")).unwrap()).unwrap();
    let bank = &collection.bank;
    let text = |id: &str| bank.text(bank.find(id).unwrap());
    // A sixth of them: MiniLM takes 10 ms for each.
    let vectors = golden["vectors"].as_object().unwrap().iter().step_by(6);
    let vectors: Vec<(&String, &Value)> = vectors.collect();
    let texts: Vec<&str> = vectors.iter().map(|(id, _)| text(id)).collect();
    let encoder = BertEncoder::open(&minilm(), &options()).unwrap();
    assert_eq!(vectors.len(), 33);
    for (row, (_, expected)) in encoder.encode(&texts, &|_| {}).unwrap().rows().zip(&vectors) {
        assert_near(row, expected, 1e-4);
    }
    let topics = collection.split(splits::DEV).unwrap().topics;
    let request =
        |id: &str| topics.iter().find(|topic| topic.id.as_str() == id).unwrap().request.as_str();
    let logits: Vec<&Value> = golden["logits"].as_array().unwrap().iter().step_by(6).collect();
    let names = |row: &Value, place: usize| row[place].as_str().unwrap().to_owned();
    let named: Vec<(String, String)> =
        logits.iter().map(|row| (names(row, 0), names(row, 1))).collect();
    let pairs: Vec<(&str, &str)> =
        named.iter().map(|(topic, question)| (request(topic), text(question))).collect();
    let folder = minilm_with_a_head();
    let scores =
        CrossEncoder::open(folder.path(), &options()).unwrap().score(&pairs, &|_| {}).unwrap();
    assert_eq!((scores.len(), logits.len()), (34, 34));
    for (score, row) in scores.iter().zip(logits) {
        let expected = row[2].as_f64().unwrap();
        assert!((f64::from(*score) - expected).abs() < 1e-4, "{row}: {score}");
    }
}

#[test]
fn cross_encoders_equal_transformers() {
    let golden = golden();
    let scorer = CrossEncoder::open(&tiny(), &options()).unwrap();
    let scores = scorer.score(&pairs(&golden), &|_| {}).unwrap();
    for (score, logits) in scores.iter().zip(golden["logits"].as_array().unwrap()) {
        let expected = logits[1].as_f64().unwrap() - logits[0].as_f64().unwrap();
        assert!((f64::from(*score) - expected).abs() < 1e-5, "{score} {expected}");
    }
}

#[test]
fn a_batch_gives_the_vectors_of_single_texts_on_any_number_of_threads() {
    let golden = golden();
    let texts: Vec<&str> = texts(&golden).into_iter().cycle().take(40).collect();
    let one = BertEncoder::open(&tiny(), &ModelOptions::default()).unwrap();
    let three = BertEncoder::open(&tiny(), &ModelOptions { threads: 3, ..ModelOptions::default() })
        .unwrap();
    let batch = one.encode_documents(&texts, &|_| {}).unwrap();
    assert_eq!(batch, three.encode_documents(&texts, &|_| {}).unwrap());
    for (text, row) in texts.iter().zip(batch.rows()) {
        let single = one.encode(&[text], &|_| {}).unwrap();
        assert!(single.values.iter().zip(row).all(|(a, b)| (a - b).abs() < 1e-5), "{text}");
    }
    // The vectors of a request and of a document by itself do not depend on the others.
    let requests = three.encode(&texts, &|_| {}).unwrap();
    assert_eq!(three.encode_documents_alone(&texts, &|_| {}).unwrap(), requests);
    for (text, row) in texts.iter().zip(requests.rows()) {
        assert_eq!(one.encode(&[text], &|_| {}).unwrap().values, row, "{text}");
    }
    let scorer = CrossEncoder::open(&tiny(), &options()).unwrap();
    let pairs = pairs(&golden);
    let batch = scorer.score(&pairs, &|_| {}).unwrap();
    for (pair, score) in pairs.iter().zip(batch) {
        assert!((scorer.score(&[*pair], &|_| {}).unwrap()[0] - score).abs() < 1e-5);
    }
}

#[test]
fn half_precision_is_close_to_single_precision() {
    let golden = golden();
    let exact =
        BertEncoder::open(&tiny(), &options()).unwrap().encode(&texts(&golden), &|_| {}).unwrap();
    let half = ModelOptions { precision: Precision::Bf16, ..options() };
    let half = BertEncoder::open(&tiny(), &half).unwrap().encode(&texts(&golden), &|_| {}).unwrap();
    assert_ne!(exact, half);
    assert!(exact.values.iter().zip(&half.values).all(|(a, b)| (a - b).abs() < 0.03));
}

#[test]
fn old_spellings_and_prefixes_are_the_same_model() {
    let folder = copy("tiny");
    let file = folder.path().join("model.safetensors");
    let renamed: Vec<(String, tch::Tensor)> = tch::Tensor::read_safetensors(&file)
        .unwrap()
        .into_iter()
        .map(|(name, tensor)| {
            (
                name.replace("LayerNorm.weight", "LayerNorm.gamma")
                    .replace("LayerNorm.bias", "LayerNorm.beta"),
                tensor,
            )
        })
        .collect();
    tch::Tensor::write_safetensors(&renamed, &file).unwrap();
    let golden = golden();
    let old = BertEncoder::open(folder.path(), &options()).unwrap();
    let new = BertEncoder::open(&tiny(), &options()).unwrap();
    let texts = texts(&golden);
    assert_eq!(old.encode(&texts, &|_| {}).unwrap(), new.encode(&texts, &|_| {}).unwrap());
}

#[test]
fn weights_that_are_written_are_read_again() {
    let folder = copy("tiny");
    let model = ModelFolder::open(folder.path()).unwrap();
    let weights = Weights::read(&model).unwrap();
    weights.write(&folder.path().join("model.safetensors"), &model.shape, true).unwrap();
    let again = Weights::read(&ModelFolder::open(folder.path()).unwrap()).unwrap();
    assert_eq!(
        weights.tensors.keys().collect::<Vec<_>>(),
        again.tensors.keys().collect::<Vec<_>>()
    );
    assert!(weights.tensors.iter().all(|(name, tensor)| tensor == &again.tensors[name]));
    let bytes = fs::read(folder.path().join("model.safetensors")).unwrap();
    let header = String::from_utf8_lossy(&bytes[8..200]).into_owned();
    assert!(
        header.contains("\"__metadata__\":{\"format\":\"pt\"}"),
        "transformers wants it: {header}"
    );
}

fn refused(folder: &Path) -> Problem {
    problem_of(CrossEncoder::open(folder, &options()))
}

/// A name, what is done to a folder, and a word of what is then expected.
type Case = (&'static str, Box<dyn Fn(&Path)>, &'static str);

#[test]
fn damaged_folders_are_refused_with_a_hint() {
    let set = |key: &'static str, value: Value| {
        move |folder: &Path| change(folder, "config.json", |config| config[key] = value.clone())
    };
    let cases: Vec<Case> = vec![
        (
            "no configuration",
            Box::new(|folder| fs::remove_file(folder.join("config.json")).unwrap()),
            "configuration",
        ),
        (
            "no weights",
            Box::new(|folder| fs::remove_file(folder.join("model.safetensors")).unwrap()),
            "model.safetensors",
        ),
        (
            "no tokenizer",
            Box::new(|folder| fs::remove_file(folder.join("vocab.txt")).unwrap()),
            "vocab.txt",
        ),
        ("no JSON", Box::new(|folder| fs::write(folder.join("config.json"), "{").unwrap()), "JSON"),
        ("another architecture", Box::new(set("model_type", "t5".into())), "bert"),
        ("another family", Box::new(set("model_type", "mpnet".into())), "Mpnet"),
        ("a decoder", Box::new(set("is_decoder", true.into())), "is_decoder false"),
        ("code of its own", Box::new(set("auto_map", json!({ "AutoModel": "x" }))), "auto_map"),
        ("uneven heads", Box::new(set("num_attention_heads", 5.into())), "multiple"),
        ("a smaller vocabulary", Box::new(set("vocab_size", 50.into())), "shape"),
        ("another activation", Box::new(set("hidden_act", "mish".into())), "hidden_act"),
        (
            "relative positions",
            Box::new(set("position_embedding_type", "relative_key".into())),
            "absolute",
        ),
        (
            "more words",
            Box::new(|folder| {
                let path = folder.join("vocab.txt");
                let words = fs::read_to_string(&path).unwrap();
                fs::write(path, words + "one\nmore\n").unwrap();
            }),
            "words",
        ),
        (
            "no special words",
            Box::new(|folder| fs::write(folder.join("vocab.txt"), "a\nb\n").unwrap()),
            "tokenizer",
        ),
    ];
    for (name, damage, expected) in cases {
        let folder = copy("tiny");
        damage(folder.path());
        let problem = refused(folder.path());
        assert!(problem.expected.contains(expected), "{name}: {problem}");
        assert!(!problem.hint.is_empty(), "{name}: {problem}");
    }
}

#[test]
fn a_text_that_is_too_long_is_cut_and_counted() {
    let folder = ModelFolder::open(&tiny()).unwrap();
    let long = "a ".repeat(200);
    let length = |tokenize: &Tokenize, text: &str| {
        tokenize.texts(&[text], TextSide::Request).unwrap()[0].ids.len()
    };
    let positions = Tokenize::open(&folder, None).unwrap();
    assert_eq!(
        (length(&positions, &long), length(&positions, "a a"), positions.cut().count),
        (96, 4, 1)
    );
    let cutting = Tokenize::open(&folder, Some(50)).unwrap();
    assert_eq!(length(&cutting, &long), 50);
    assert!(Tokenize::open(&folder, Some(2)).is_err(), "two marks leave no room");
    // The longer text of a pair is cut first.
    let pair = &cutting.pairs(&[("a b c", &long)]).unwrap()[0];
    assert_eq!(
        (pair.ids.len(), pair.segments.iter().filter(|&&segment| segment == 0).count()),
        (50, 5)
    );
}

#[test]
fn an_encoder_without_a_head_scores_no_pairs() {
    let folder = copy("tiny");
    let file = folder.path().join("model.safetensors");
    let kept: Vec<(String, tch::Tensor)> = tch::Tensor::read_safetensors(&file)
        .unwrap()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("classifier"))
        .collect();
    tch::Tensor::write_safetensors(&kept, &file).unwrap();
    assert!(BertEncoder::open(folder.path(), &options()).is_ok());
    assert!(refused(folder.path()).hint.contains("cross-encoder"));
}

#[test]
fn an_absent_gpu_is_an_error() {
    for device in ["cuda:99", "tpu", "cuda:x", ""] {
        let options = ModelOptions { device: device.to_owned(), ..ModelOptions::default() };
        assert!(BertEncoder::open(&tiny(), &options).is_err(), "{device}");
    }
}
