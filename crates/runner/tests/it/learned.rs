//! `clariq-learned`: the commands around learned models, with a tiny random BERT.

use crate::common::{Bench, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A bench with the sample, the tiny model in `tiny` (two layers of 32, random weights), and two
/// recipes.
fn bench() -> Bench {
    let bench = Bench::with_sample();
    bench.copy("crates/bert/tests/data/tiny", "tiny");
    for (name, objective, epochs) in [
        ("long", LISTS, 0.15),
        ("scorer", LISTS, 0.02),
        ("vectors", "kind = \"in-batch-softmax\"\nbatch = 16", 0.05),
    ] {
        let text = format!(
            "name = \"{name}\"\nbase = {:?}\nepochs = {epochs}\nlearning_rate = 1e-3\n\
             checkpoint_every = 2\n[objective]\n{objective}\n",
            bench.path("tiny").display().to_string()
        );
        bench.write(&format!("{name}.toml"), text);
    }
    bench
}

const LISTS: &str = "kind = \"listwise\"\nbatch = 2\nnegatives = 2\nsystem = \"bm25\"\ndepth = 10";

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        all.insert(name, fs::read(&path).expect("a file"));
    }
    all
}

#[test]
fn doctor_lists_models_and_what_it_refuses() {
    let bench = bench();
    for folder in ["tiny-v1.5", "broken", "broken.7.made"] {
        bench.copy("crates/bert/tests/data/tiny", &format!("cache/models/{folder}"));
    }
    bench.edit("cache/models/broken/config.json", |text| text.replacen("\"bert\"", "\"x\"", 1));
    let told = bench.succeed("doctor --data data --format tsv").stdout;
    assert!(told.contains("\ttiny-v1.5: BERT, cross-encoder with 2 labels"), "{told}");
    assert!(told.contains("model\trefused\tbroken: ") && told.contains("`x`"), "{told}");
    assert!(!told.contains("broken.7.made"), "{told}");
}

#[test]
fn systems_whose_weights_are_missing_are_left_out_by_name() {
    let bench = Bench::new();
    let data = root().join("data/sample-ikat").display().to_string();
    let mut command = bench.command(&["reproduce", "--data", &data, "--split", "2023-test"]);
    let done = command.env("CLARIQ_CACHE", bench.path("empty")).output().expect("it ends");
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    let note = "note: all-MiniLM-L6-v2 is not installed; ikat-dense, ikat-automatic, ";
    assert!(told.contains(note), "no `{note}` in\n{told}");
    assert!(told.contains(" left out: `clariq setup` installs it\n"), "{told}");
}

#[test]
fn a_killed_training_resumes_to_the_same_bytes() {
    let bench = bench();
    let train = |more: &str| {
        let told = bench.succeed(&format!("train long.toml --data data{more}")).stderr;
        let kept = told.lines().find_map(|line| line.split_once("it is kept in "));
        (kept.expect("a training").1.to_owned(), told)
    };
    let (model, _) = train("");
    let whole = bench.path("whole");
    fs::rename(&model, &whole).expect("renamed");
    let mut killed = bench.command(&["train", "long.toml", "--data", "data", "-o", "broken"]);
    let mut killed = killed.spawn().expect("starts");
    let model = Path::new(&model);
    let checkpoint = model.with_extension("training").join("checkpoint.safetensors");
    let start = Instant::now();
    while !checkpoint.exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "no checkpoint was written");
        sleep(Duration::from_millis(2));
    }
    killed.kill().expect("killed");
    killed.wait().expect("waited for");
    assert!(!bench.path("broken").exists(), "the folder appears when it is complete");
    let (resumed, told) = train(" --resume");
    assert!(told.contains("continuing after step"), "{told}");
    assert_eq!(Path::new(&resumed), model);
    assert!(files(&whole) == files(model));
    assert!(!model.with_extension("training").exists());
}

#[test]
fn train_says_where_models_are_and_how_they_are_used() {
    let bench = bench();
    let first = bench.succeed("train vectors.toml scorer.toml --data data").stderr;
    assert_eq!(first.matches("it is kept in").count(), 2, "{first}");
    let copied = bench.succeed("train vectors.toml --data data -o named").stderr;
    assert!(copied.contains("was trained before"), "{copied}");
    assert!(copied.contains("models = { \"named\" = 1.0 }"), "{copied}");
    let scorer = bench.succeed("train scorer.toml --data data -o scored").stderr;
    assert!(scorer.contains("--set rerank.model=scored"), "{scorer}");
    let two = bench.run(&["train", "vectors.toml", "scorer.toml", "--data", "data", "-o", "both"]);
    assert_eq!(two.status, Some(2), "{}", two.stderr);
    assert!(two.stderr.contains("--output\n  expected: one model"), "{}", two.stderr);
}
