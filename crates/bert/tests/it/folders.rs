//! Folders of sentence-transformers as users have them: what they say is done, or refused by file and
//! key. `scripts/check-models` holds every layout against that library; here are the ways of the
//! reading itself.

use crate::model_files::{change, copy, module, problem_of, put};
use clariq_bert::{BertEncoder, CrossEncoder, Torch};
use clariq_core::{
    Embeddings, Encoder, Engine, ModelKind, ModelOptions, PairScorer, Pooling, Problem,
    ReadingOverrides, Similarity, TextSide,
};
use clariq_folder::{ModelFolder, kind_of, unknown_keys};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const TEXTS: [&str; 3] = ["tell me about bees", "tent", "do you need better tent pegs"];

fn tiny() -> TempDir {
    copy("tiny")
}

/// A folder whose `modules.json` lists a transformer, a pooling, and these modules.
fn sentence(pooling: &Value, modules: &[(&str, Value)]) -> TempDir {
    let folder = tiny();
    let mut list = vec![module("", "Transformer")];
    let pooled = ("Pooling", pooling.clone());
    for (number, (name, config)) in (1..).zip([pooled].iter().chain(modules)) {
        let path = format!("{number}_{name}");
        put(folder.path(), &format!("{path}/config.json"), config);
        list.push(module(&path, name));
    }
    put(folder.path(), "modules.json", &Value::Array(list));
    folder
}

fn mean() -> Value {
    json!({ "word_embedding_dimension": 32, "pooling_mode_mean_tokens": true })
}

fn encoder(folder: &Path, reading: ReadingOverrides) -> BertEncoder {
    let options = ModelOptions { reading, ..ModelOptions::default() };
    BertEncoder::open(folder, &options).unwrap()
}

fn vectors(folder: &Path) -> Embeddings {
    encoder(folder, ReadingOverrides::default()).encode(&TEXTS, &|_| {}).unwrap()
}

fn refused(folder: &Path) -> Problem {
    problem_of(BertEncoder::open(folder, &ModelOptions::default()))
}

#[test]
fn settings_that_a_folder_lacks_have_their_usual_values() {
    let (plain, usual) = (tiny(), sentence(&mean(), &[("Normalize", json!({}))]));
    assert_eq!(vectors(plain.path()), vectors(usual.path()));
    let checksum = |folder: &Path| ModelFolder::open(folder).unwrap().checksum;
    assert_eq!(checksum(plain.path()), checksum(usual.path()), "its vectors may stay in the cache");
}

#[test]
fn every_setting_that_changes_a_vector_changes_the_checksum() {
    let plain = tiny();
    let base = ModelFolder::open(plain.path()).unwrap().checksum;
    let cls = sentence(&json!({ "embedding_dimension": 32, "pooling_mode": "cls" }), &[]);
    let prompts = sentence(&mean(), &[]);
    put(
        prompts.path(),
        "config_sentence_transformers.json",
        &json!({ "prompts": { "query": "q: " } }),
    );
    let cased = tiny();
    put(cased.path(), "tokenizer_config.json", &json!({ "do_lower_case": false }));
    let lower = sentence(&mean(), &[]);
    put(lower.path(), "sentence_bert_config.json", &json!({ "do_lower_case": true }));
    let checksums: Vec<_> = [&cls, &prompts, &cased, &lower]
        .map(|folder| ModelFolder::open(folder.path()).unwrap().checksum)
        .into_iter()
        .chain([base])
        .collect();
    let mut distinct = checksums.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), checksums.len());
}

#[test]
fn prompts_are_in_front_of_requests_and_documents() {
    let folder = sentence(&mean(), &[]);
    let prompts = json!({ "query": "tent ", "document": "bees ", "passage": "pegs " });
    let settings = json!({ "prompts": prompts, "default_prompt_name": "passage" });
    put(folder.path(), "config_sentence_transformers.json", &settings);
    let (with, plain) = (encoder(folder.path(), ReadingOverrides::default()), tiny());
    let expect = |prompt: &str| {
        let texts = TEXTS.map(|text| format!("{prompt}{text}"));
        let texts = texts.each_ref().map(String::as_str);
        encoder(plain.path(), ReadingOverrides::default()).encode(&texts, &|_| {}).unwrap()
    };
    assert_eq!(with.encode(&TEXTS, &|_| {}).unwrap(), expect("tent "));
    assert_eq!(with.encode_documents(&TEXTS, &|_| {}).unwrap(), expect("bees "));
    assert_eq!(with.encode_documents_alone(&TEXTS, &|_| {}).unwrap(), expect("bees "));
    // An empty prompt is one, and so is none: a default is for other texts.
    for prompts in [json!({ "query": "tent ", "document": "" }), json!({ "query": "tent " })] {
        let settings = json!({ "prompts": prompts, "default_prompt_name": "query" });
        put(folder.path(), "config_sentence_transformers.json", &settings);
        let with = encoder(folder.path(), ReadingOverrides::default());
        assert_eq!(with.encode(&TEXTS, &|_| {}).unwrap(), expect("tent "));
        assert_eq!(with.encode_documents(&TEXTS, &|_| {}).unwrap(), expect(""));
    }
}

/// As in sentence-transformers.
#[test]
fn without_modules_the_settings_of_a_sentence_count_for_nothing() {
    let (plain, other) = (tiny(), tiny());
    let settings = json!({ "prompts": { "query": "tent " }, "similarity_fn_name": "dot" });
    put(other.path(), "config_sentence_transformers.json", &settings);
    put(other.path(), "sentence_bert_config.json", &json!({ "max_seq_length": 3 }));
    assert_eq!(vectors(other.path()), vectors(plain.path()));
    let [one, two] = [&plain, &other].map(|folder| ModelFolder::open(folder.path()).unwrap());
    assert_eq!(one.checksum, two.checksum);
    assert_eq!(one.describe().unwrap(), two.describe().unwrap());
}

#[test]
fn a_system_overrides_settings_of_a_model() {
    let folder = sentence(&json!({ "embedding_dimension": 32, "pooling_mode": "cls" }), &[]);
    let reading = ReadingOverrides {
        pooling: Some(Pooling::Mean),
        query_prompt: Some("bees ".to_owned()),
        ..ReadingOverrides::default()
    };
    let (other, own) =
        (encoder(folder.path(), reading), encoder(folder.path(), ReadingOverrides::default()));
    assert_ne!(other.checksum(), own.checksum());
    assert_eq!(other.encode_documents(&TEXTS, &|_| {}).unwrap(), vectors(tiny().path()));
    assert_ne!(other.encode(&TEXTS, &|_| {}).unwrap(), vectors(tiny().path()));
    let dot = ReadingOverrides { similarity: Some(Similarity::Dot), ..ReadingOverrides::default() };
    let dot = encoder(folder.path(), dot);
    let lengths = dot.encode(&TEXTS, &|_| {}).unwrap();
    assert!(lengths.rows().any(|row| row.iter().map(|x| x * x).sum::<f32>() > 1.5));
    let cut = encoder(folder.path(), ReadingOverrides::cut_at(4));
    cut.encode(&TEXTS, &|_| {}).unwrap();
    assert_eq!(cut.cut().count, 2);
}

/// A name, the folder, and a word of the file and of what is expected.
type Case = (&'static str, TempDir, &'static str, &'static str);

#[test]
fn folders_that_are_almost_right_are_refused_by_file_and_key() {
    let with = |file: &str, content: Value| {
        let folder = sentence(&mean(), &[]);
        put(folder.path(), file, &content);
        folder
    };
    let settings = |content| with("config_sentence_transformers.json", content);
    let no_pooling = sentence(&mean(), &[]);
    fs::remove_file(no_pooling.path().join("1_Pooling/config.json")).unwrap();
    let pickled = tiny();
    fs::rename(pickled.path().join("model.safetensors"), pickled.path().join("pytorch_model.bin"))
        .unwrap();
    let dense = json!({ "in_features": 30, "out_features": 8, "bias": true });
    let of_its_own =
        json!({ "in_features": 32, "out_features": 8, "activation_function": "own.ReLU" });
    let cases: Vec<Case> = vec![
        ("no pooling file", no_pooling, "1_Pooling", "configuration"),
        (
            "no such pooling",
            sentence(&json!({ "embedding_dimension": 32, "pooling_mode": "median" }), &[]),
            "1_Pooling",
            "pooling_mode",
        ),
        (
            "another width",
            sentence(&json!({ "embedding_dimension": 31 }), &[]),
            "1_Pooling",
            "embedding_dimension 32",
        ),
        (
            "a dense module of another width",
            sentence(&mean(), &[("Dense", dense)]),
            "2_Dense",
            "32",
        ),
        (
            "a module that is not known",
            sentence(&mean(), &[("WeightedLayerPooling", json!({}))]),
            "modules.json",
            "after Pooling",
        ),
        ("no list", with("modules.json", json!({ "a": 1 })), "modules.json", "list"),
        ("no transformer", with("modules.json", json!([])), "modules.json", "Transformer"),
        (
            "a prompt that is no text",
            settings(json!({ "prompts": { "query": 7 } })),
            "config_",
            "prompts.query a text",
        ),
        ("no such default", settings(json!({ "default_prompt_name": "x" })), "config_", "`x`"),
        (
            "a number of words",
            settings(json!({ "max_active_dims": 9 })),
            "config_",
            "max_active_dims",
        ),
        (
            "a similarity",
            settings(json!({ "similarity_fn_name": "manhattan" })),
            "config_",
            "similarity_fn_name",
        ),
        ("no dimension", settings(json!({ "truncate_dim": 0 })), "config_", "truncate_dim"),
        (
            "settings of a tokenizer",
            with("sentence_bert_config.json", json!({ "tokenizer_args": { "use_fast": false } })),
            "sentence_bert_config.json",
            "tokenizer_args",
        ),
        (
            "no text fits",
            with("tokenizer_config.json", json!({ "model_max_length": 0 })),
            "tokenizer_config.json",
            "model_max_length of at least 1",
        ),
        ("pickled weights", pickled, "pytorch_model.bin", "model.safetensors"),
        (
            "an activation of its own",
            sentence(&mean(), &[("Dense", of_its_own)]),
            "2_Dense",
            "activation_function of torch",
        ),
    ];
    for (name, folder, file, expected) in cases {
        let problem = refused(folder.path());
        assert!(problem.at.file.contains(file), "{name}: {problem}");
        assert!(problem.expected.contains(expected), "{name}: {problem}");
        assert!(!problem.hint.is_empty(), "{name}: {problem}");
    }
}

#[test]
fn weights_in_many_files_are_those_in_one() {
    let (one, many) = (tiny(), tiny());
    let whole = many.path().join("model.safetensors");
    let tensors = tch::Tensor::read_safetensors(&whole).unwrap();
    fs::remove_file(&whole).unwrap();
    let (first, second) = tensors.split_at(7);
    let mut map = serde_json::Map::new();
    for (file, part) in [("a.safetensors", first), ("b.safetensors", second)] {
        tch::Tensor::write_safetensors(part, many.path().join(file)).unwrap();
        map.extend(part.iter().map(|(name, _)| (name.clone(), file.into())));
    }
    let index = json!({ "metadata": {}, "weight_map": map });
    put(many.path(), "model.safetensors.index.json", &index);
    assert_eq!(vectors(one.path()), vectors(many.path()));
    fs::remove_file(many.path().join("b.safetensors")).unwrap();
    assert!(refused(many.path()).at.file.ends_with("b.safetensors"));
    let outside = json!({ "weight_map": { "x": "../a.safetensors" } });
    put(many.path(), "model.safetensors.index.json", &outside);
    assert!(refused(many.path()).found.contains("../a"));
}

/// Where `include_prompt` is false, the tokens of a prompt are read and have no share in the vector.
#[test]
fn tokens_of_prompts_count_as_the_pooling_says() {
    let of = |pooling: &str| {
        let pooling =
            json!({ "embedding_dimension": 32, "pooling_mode": pooling, "include_prompt": false });
        let folder = sentence(&pooling, &[]);
        let prompts = json!({ "query": "tent bees " });
        let settings = json!({ "prompts": prompts, "similarity_fn_name": "dot" });
        put(folder.path(), "config_sentence_transformers.json", &settings);
        folder
    };
    let [mean, first] = ["mean", "cls"].map(of);
    for (folder, is_mean) in [(&mean, true), (&first, false)] {
        let encoder = encoder(folder.path(), ReadingOverrides::default());
        let vectors = encoder.encode(&TEXTS, &|_| {}).unwrap();
        let tokens = encoder.exact_tokens(&TEXTS, TextSide::Request).unwrap();
        for (vector, (_, rows)) in vectors.rows().zip(tokens) {
            let counted: Vec<&[f32]> = rows.chunks(32).skip(3).collect();
            let used = if is_mean { &counted[..] } else { &counted[..1] };
            for (at, value) in vector.iter().enumerate() {
                let sum: f32 = used.iter().map(|row| row[at]).sum();
                assert!((value - sum / used.len() as f32).abs() < 1e-5);
            }
        }
        let plain = sentence(&mean_or_first(is_mean), &[]);
        put(
            plain.path(),
            "config_sentence_transformers.json",
            &json!({ "similarity_fn_name": "dot" }),
        );
        let documents = encoder.encode_documents(&TEXTS, &|_| {}).unwrap();
        assert_eq!(documents, self::vectors(plain.path()), "documents have no prompt");
    }
}

fn mean_or_first(is_mean: bool) -> Value {
    let mode = if is_mean { "mean" } else { "cls" };
    json!({ "embedding_dimension": 32, "pooling_mode": mode })
}

/// `CrossEncoder` of release 6 may score pairs by modules: a pooling, and a `Dense` for `scores` at the end.
#[test]
fn modules_of_a_cross_encoder_score_pairs() {
    let folder = |output: &str, kind: &str| {
        let dense = |from: usize, to: usize, output: &str| {
            json!({ "in_features": from, "out_features": to, "module_output_name": output,
                "activation_function": "torch.nn.modules.activation.GELU" })
        };
        let inner = dense(32, 8, "sentence_embedding");
        let folder = sentence(&mean(), &[("Dense", inner), ("Dense", dense(8, 1, output))]);
        for (module, sizes) in [("2_Dense", [8, 32]), ("3_Dense", [1, 8])] {
            let count = sizes[0] * sizes[1];
            let numbers =
                |count| tch::Tensor::arange(count, (tch::Kind::Float, tch::Device::Cpu)).sin();
            let tensors =
                [("linear.weight", numbers(count).view(sizes)), ("linear.bias", numbers(sizes[0]))];
            tch::Tensor::write_safetensors(
                &tensors,
                folder.path().join(module).join("model.safetensors"),
            )
            .unwrap();
        }
        let names = json!({ "model_input_names": ["input_ids", "attention_mask"] });
        put(folder.path(), "tokenizer_config.json", &names);
        let settings = json!({ "model_type": kind, "similarity_fn_name": "dot",
            "prompts": { "query": "q ", "web": "wind " }, "default_prompt_name": "web" });
        put(folder.path(), "config_sentence_transformers.json", &settings);
        folder
    };
    let [scorer, usual] =
        [folder("scores", "CrossEncoder"), folder("sentence_embedding", "SentenceTransformer")];
    let options = ModelOptions::default();
    let scores = CrossEncoder::open(scorer.path(), &options).unwrap();
    let scores = scores.score(&[("bees", "tent"), ("", "pegs")], &|_| {}).unwrap();
    // The same tokens as one text; only the prompt by default is before pairs.
    let texts = ["wind bees [SEP] tent", "wind [SEP] pegs"];
    let encoder = encoder(usual.path(), ReadingOverrides::default());
    assert_eq!(scores, encoder.encode_documents(&texts, &|_| {}).unwrap().values);
    assert_eq!(kind_of(scorer.path()).unwrap(), ModelKind::CrossEncoder);
    let described = Torch.describe_model(scorer.path()).unwrap();
    assert_eq!(described, "BERT, cross-encoder with 1 label, 96 tokens, `wind ` before pairs");
    let checksums =
        [&scorer, &usual].map(|folder| ModelFolder::open(folder.path()).unwrap().checksum);
    assert_ne!(checksums[0], checksums[1]);
    put(scorer.path(), "3_Dense/config.json", &json!({ "in_features": 8, "out_features": 1 }));
    let problem = CrossEncoder::open(scorer.path(), &options).err().unwrap().to_problem();
    assert_eq!(problem.expected, "module_output_name `scores`");
}

#[test]
fn a_cross_encoder_has_no_softmax() {
    let activation = |name: &str| json!({ "activation_fn": format!("torch.nn.modules.{name}") });
    for (content, expected) in [
        (json!({ "prompts": { "query": "q: " } }), None),
        (json!({ "default_prompt_name": "web" }), Some("a prompt `web`")),
        (activation("activation.Softmax"), Some("Identity or Sigmoid")),
        (activation("activation.Sigmoid"), None),
        (activation("linear.Identity"), None),
    ] {
        let folder = tiny();
        put(folder.path(), "modules.json", &json!([module("", "Transformer")]));
        put(folder.path(), "config_sentence_transformers.json", &content);
        let opened = CrossEncoder::open(folder.path(), &ModelOptions::default());
        match (opened, expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => {
                let problem = error.to_problem();
                assert!(problem.expected.contains(expected), "{problem}");
            }
            (opened, _) => panic!("{content}: {}", opened.is_ok()),
        }
    }
}

#[test]
fn keys_of_a_later_release_are_named_and_change_nothing() {
    for data in ["tiny", "t5/t5", "t5/t5-1.1", "t5/mono"] {
        let folder = copy(data);
        assert_eq!(unknown_keys(folder.path()).unwrap(), [""; 0], "{data}");
        let described = Torch.describe_model(folder.path()).unwrap();
        change(folder.path(), "config.json", |config| config["key_of_next_year"] = true.into());
        let unknown = unknown_keys(folder.path()).unwrap();
        assert_eq!(unknown, ["config.json: key_of_next_year"], "{data}");
        assert_eq!(Torch.describe_model(folder.path()).unwrap(), described, "{data}");
    }
}

/// A folder with a `tokenizer.json` of this normalizer, and these settings.
fn tokenizer(normalizer: &Value, settings: &Value) -> TempDir {
    let folder = tiny();
    let mut content = crate::families::tokenizer();
    content["normalizer"] = normalizer.clone();
    put(folder.path(), "tokenizer.json", &content);
    put(folder.path(), "tokenizer_config.json", settings);
    folder
}

#[test]
fn settings_of_a_bert_tokenizer_win_over_its_file() {
    const WORDS: [&str; 4] = ["Tent", "tént", "TÉNT", "bees\u{4e00}tent"];
    let words = |normalizer: &Value, settings: &Value| {
        let folder = tokenizer(normalizer, settings);
        encoder(folder.path(), ReadingOverrides::default()).encode(&WORDS, &|_| {}).unwrap()
    };
    let steps = |lowercase: bool, strip_accents: Value, chinese: bool| {
        json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": chinese,
            "strip_accents": strip_accents, "lowercase": lowercase})
    };
    let agreeing = |lowercase: bool, strip_accents: Value, chinese: bool| {
        let settings = json!({"do_lower_case": lowercase, "strip_accents": strip_accents,
            "tokenize_chinese_chars": chinese});
        words(&steps(lowercase, strip_accents, chinese), &settings)
    };
    let usual = agreeing(true, Value::Null, true);
    let other = steps(false, json!(false), false);
    for (settings, expected) in [
        (json!({"do_lower_case": true}), usual.clone()),
        // The defaults of the class.
        (json!({}), usual.clone()),
        (json!({"tokenizer_class": "BertTokenizerFast"}), usual.clone()),
        (json!({"do_lower_case": false}), agreeing(false, Value::Null, true)),
        (json!({"strip_accents": false}), agreeing(true, json!(false), true)),
        (json!({"tokenize_chinese_chars": false}), agreeing(true, Value::Null, false)),
        // A class without settings of its own.
        (
            json!({"tokenizer_class": "PreTrainedTokenizerFast"}),
            agreeing(false, json!(false), false),
        ),
    ] {
        assert_eq!(words(&other, &settings), expected, "{settings}");
    }
    let checksum =
        |settings: &Value| ModelFolder::open(tokenizer(&other, settings).path()).unwrap().checksum;
    assert_ne!(checksum(&json!({})), checksum(&json!({"do_lower_case": false})));
}

/// The memory of this process in kB.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// In a process of its own, because other tests take memory, too.
#[cfg(target_os = "linux")]
#[test]
fn models_keep_nothing_of_the_texts_that_they_read() {
    let itself = std::env::current_exe().unwrap();
    let alone = ["--exact", "folders::models_read_6_000_texts", "--ignored"];
    let finished = std::process::Command::new(itself).args(alone).output().unwrap();
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stdout));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "started by the test above"]
fn models_read_6_000_texts() {
    let folder = tiny();
    let encoder = encoder(folder.path(), ReadingOverrides::default());
    let text = |number: usize| format!("tent {number}{}", " bees".repeat(number % 7));
    let read = |call: usize| {
        let texts: Vec<String> = (100 * call..100 * call + 100).map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        drop(encoder.encode(&texts[..5], &|_| {}).unwrap());
        drop(encoder.encode_documents(&texts[5..], &|_| {}).unwrap());
    };
    (0..20).for_each(read);
    // What is kept is kept by each part of 1,000 texts; what the allocator adds, not by each.
    let mut before = memory();
    let grown = [20, 30, 40, 50].map(|part| {
        (part..part + 10).for_each(read);
        let now = memory();
        now.saturating_sub(std::mem::replace(&mut before, now))
    });
    assert!(grown.iter().min() < Some(&40), "{grown:?} kB");
}

#[test]
fn a_length_without_room_for_a_text_is_refused_and_says_how_many_tokens_are_special() {
    for most in [1, 2, 3] {
        let folder = tiny();
        put(folder.path(), "tokenizer_config.json", &json!({ "model_max_length": most }));
        let problem = refused(folder.path());
        assert_eq!(problem.expected, "max_tokens that leaves room for a text");
        assert_eq!(problem.found, format!("{most}; a pair of texts has 3 special tokens"));
    }
}
