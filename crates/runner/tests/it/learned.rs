//! Systems with learned stages, and their training, with a tiny random BERT. Every kind of stage
//! runs, the thread count changes no byte, a killed training resumes to the same bytes, and
//! mistakes are refused.

mod refusals;

use crate::common::here::{Work, write};
use crate::common::{Bench, root};
use clariq_experiment::training::TrainMode;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The tiny model of the tests of `clariq-bert`: two layers of 32, random weights.
fn tiny() -> String {
    root()
        .join("crates/bert/tests/data/tiny")
        .canonicalize()
        .expect("the tiny model")
        .display()
        .to_string()
}

/// A bench with the sample, the tiny model in `tiny`, and two recipes.
fn bench() -> Bench {
    let bench = Bench::with_sample();
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        bench.write(
            &format!("tiny/{name}"),
            fs::read(Path::new(&tiny()).join(name)).expect("a file"),
        );
    }
    write(&bench, "scorer.toml", &recipe("scorer", LISTS, 0.02));
    let softmax = "kind = \"in-batch-softmax\"\nbatch = 16";
    write(&bench, "vectors.toml", &recipe("vectors", softmax, 0.05));
    bench
}

const LISTS: &str = "kind = \"listwise\"\nbatch = 2\nnegatives = 2\nsystem = \"bm25\"\ndepth = 10";

fn recipe(name: &str, objective: &str, epochs: f64) -> String {
    format!(
        "name = \"{name}\"\nbase = \"@/tiny\"\nepochs = {epochs}\nlearning_rate = 1e-3\ncheckpoint_every = 2\n\
         [objective]\n{objective}\n"
    )
}

/// A system over a space of the tiny model and spellings.
fn system(name: &str, uses: &str, stages: &[&str]) -> String {
    let stages: Vec<String> =
        stages.iter().map(|stage| format!("[[stages]]\nstage = {stage}\n")).collect();
    let stages = stages.concat();
    format!(
        "name = \"{name}\"\nuses = [{uses}]\n[space]\nmodels = {{ \"@/tiny\" = 1.0 }}\ncharacters = 0.4\n{stages}"
    )
}

const BM25: &str = "\"bm25\"\nanalyzer = \"nltk\"\nvariant = \"okapi\"\nk1 = 1.5\nb = 0.75\ndepth = 30\npad = true";
const FUSED: &str = "\"fuse\"\nmethod = \"reciprocal-rank\"\ndepth = 40\n[[stages.inputs]]\n\
                     stages = [{ stage = \"dense\", depth = 50 }]\n[[stages.inputs]]\n\
                     stages = [{ stage = \"bm25\", analyzer = \"nltk\", variant = \"okapi\", k1 = 1.5, b = 0.75, depth = 50 }]";

/// Systems that together have every learned stage.
fn systems() -> Vec<(&'static str, String)> {
    let both = "\"train-labels\", \"dev-labels\", \"batch\"";
    vec![
        ("dense", system("dense", "", &["\"dense\"\ndepth = 30"])),
        ("rerank", system("rerank", "", &[BM25, "\"rerank\"\nmodel = \"@/tiny\"\ndepth = 10"])),
        ("whole", system("whole", "", &["\"cross_encode\"\nmodel = \"@/tiny\"\ndepth = 30"])),
        ("fused", system("fused", "", &[FUSED])),
        (
            "feedback",
            system("feedback", "", &["\"dense\"", "\"feedback\"\nquestions = 8\nweight = 2.0"]),
        ),
        (
            "all",
            system(
                "all",
                both,
                &[
                    "\"dense\"",
                    "\"exclude\"",
                    "\"competition\"\nrounds = 2",
                    "\"cutoff\"\ndepth = 30",
                ],
            ),
        ),
        (
            "trained",
            system(
                "trained",
                both,
                &["\"dense\"", "\"rerank\"\nmodel = \"@/scorer.toml\"\ndepth = 10"],
            ),
        ),
    ]
}

/// Leaves only the first topics of dev: cross-encoding all questions takes long.
fn keep_topics(bench: &Bench, count: usize) {
    let topic = |line: &str| line.split_once('\t').expect("columns").0.to_owned();
    bench.edit("data/dev.tsv", |text| {
        let mut topics: Vec<String> = text.lines().map(topic).collect();
        topics.dedup();
        // The first line is the header.
        let kept = |line: &&str| topics[..=count].contains(&topic(line));
        text.lines().filter(kept).map(|line| line.to_owned() + "\n").collect()
    });
}

/// The lines of a run by topic, as (question, score).
fn rankings(run: &str) -> BTreeMap<&str, Vec<(&str, f64)>> {
    let mut topics: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    for line in run.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        topics.entry(fields[0]).or_default().push((fields[2], fields[4].parse().expect("a score")));
    }
    topics
}

#[test]
fn doctor_lists_models_and_what_it_refuses() {
    let bench = bench();
    for folder in ["tiny-v1.5", "broken", "broken.7.old"] {
        for name in ["config.json", "model.safetensors", "vocab.txt"] {
            let path = format!("cache/models/{folder}/{name}");
            bench.write(&path, bench.read(&format!("tiny/{name}")));
        }
    }
    bench.edit("cache/models/broken/config.json", |text| text.replacen("\"bert\"", "\"x\"", 1));
    let told = bench.succeed("doctor --data data --format tsv").stdout;
    assert!(told.contains("\ttiny-v1.5: BERT, cross-encoder with 2 labels"), "{told}");
    assert!(told.contains("\tbroken: refused; ") && told.contains("`x`"), "{told}");
    assert!(!told.contains("broken.7.old"), "{told}");
}

#[test]
fn every_learned_stage_ranks_and_threads_change_no_byte() {
    let bench = bench();
    keep_topics(&bench, 2);
    for (name, toml) in systems() {
        write(&bench, &format!("{name}.toml"), &toml);
        for (threads, folder) in [(1, "one"), (3, "three")] {
            let work = Work { threads, ..Work::on(&bench, "data", "dev") };
            work.run(&format!("{name}.toml"), &[], &format!("{folder}/{name}.dev.run"))
                .expect("a run");
        }
    }
    for (name, _) in systems() {
        let run = bench.text(&format!("one/{name}.dev.run"));
        assert_eq!(run, bench.text(&format!("three/{name}.dev.run")), "{name}");
        let rankings = rankings(&run);
        assert_eq!(rankings.len(), 2, "{name}: every topic of dev is answered");
        for (topic, ranking) in rankings {
            assert!(ranking.len() >= 30, "{name} {topic}: {}", ranking.len());
            assert!(
                ranking.windows(2).all(|pair| pair[0].1 > pair[1].1),
                "{name} {topic}: no ties, best first"
            );
        }
    }
    let runs: Vec<String> =
        systems().iter().map(|(name, _)| bench.text(&format!("one/{name}.dev.run"))).collect();
    for (place, run) in runs.iter().enumerate() {
        let orders = |run: &str| -> Vec<String> {
            run.lines().map(|line| line.split(' ').take(4).collect::<Vec<_>>().join(" ")).collect()
        };
        assert!(
            runs[..place].iter().all(|other| orders(other) != orders(run)),
            "every stage changes the order"
        );
    }
}

#[test]
fn a_record_names_the_weights_and_an_explanation_every_stage() {
    let bench = bench();
    let stages = [BM25, "\"rerank\"\nmodel = \"@/tiny\"\ndepth = 10", "\"cutoff\"\ndepth = 5"];
    write(&bench, "mine.toml", &system("mine", "", &stages));
    let run = |output: &str| Work::on(&bench, "data", "dev").run("mine.toml", &[], output);
    run("mine.run").expect("a run");
    let record: Value = serde_json::from_slice(&bench.read("mine.run.json")).expect("JSON");
    let model = bench.path("tiny").display().to_string();
    let checksum = record["models"][&model].as_str().expect("a checksum").to_owned();
    assert!(checksum.len() >= 12, "{checksum}");
    // Other weights, another checksum.
    let mut bytes = bench.read("tiny/model.safetensors");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    bench.write("tiny/model.safetensors", bytes);
    run("other.run").expect("a run");
    let record: Value = serde_json::from_slice(&bench.read("other.run.json")).expect("JSON");
    assert_ne!(record["models"][&model].as_str(), Some(checksum.as_str()));
    let run = bench.text("mine.run");
    let question = run.lines().next().and_then(|line| line.split(' ').nth(2)).expect("a question");
    let request = fs::read_to_string(bench.path("data/dev.tsv")).expect("dev");
    let request = request
        .lines()
        .nth(1)
        .and_then(|line| line.split('\t').nth(1))
        .expect("a request")
        .to_owned();
    let shown =
        bench.run(&["explain", "--data", "data", "--system", "mine.toml", &request, question]);
    assert_eq!(shown.status, Some(0), "{}", shown.stderr);
    for stage in ["bm25", "rerank", "cutoff", &format!("logit of `{model}`")] {
        assert!(shown.stdout.contains(stage), "{stage}: {}", shown.stdout);
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        (
            path.file_name().expect("a name").to_string_lossy().into_owned(),
            fs::read(&path).expect("a file"),
        )
    };
    entries.map(read).collect()
}

#[test]
fn a_killed_training_resumes_to_the_same_bytes() {
    let bench = bench();
    write(&bench, "long.toml", &recipe("long", LISTS, 0.2));
    let train = |mode| {
        let work = Work::on(&bench, "data", "dev");
        work.train("long.toml", &[], mode, None).expect("a model")
    };
    let (model, ..) = train(TrainMode::Reuse);
    let whole = bench.path("whole");
    fs::rename(&model, &whole).expect("renamed");
    let mut killed = bench
        .command(&["train", "long.toml", "--data", "data", "-o", "broken"])
        .spawn()
        .expect("starts");
    let checkpoint = model.with_extension("training").join("checkpoint.safetensors");
    let start = Instant::now();
    while !checkpoint.exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "no checkpoint was written");
        sleep(Duration::from_millis(2));
    }
    killed.kill().expect("killed");
    killed.wait().expect("waited for");
    assert!(!bench.path("broken").exists(), "the folder appears when it is complete");
    let (resumed, _, notes) = train(TrainMode::Resume);
    assert!(notes.contains("continuing after step"), "{notes}");
    assert_eq!(resumed, model);
    assert!(files(&whole) == files(&model));
    assert!(!model.with_extension("training").exists());
}

#[test]
fn folds_hold_out_other_topics() {
    let bench = bench();
    let card = |fold: usize| {
        let folder = format!("fold-{fold}");
        let set = ["held_out=0.5", &format!("fold={fold}"), "epochs=0.02"];
        let work = Work::on(&bench, "data", "dev");
        work.train("vectors.toml", &set, TrainMode::Reuse, Some(&folder)).expect("a model");
        let card: Value =
            serde_json::from_slice(&bench.read(&format!("{folder}/training.json"))).expect("JSON");
        card["held_out_topics"].as_array().expect("topics").clone()
    };
    let (first, second) = (card(0), card(1));
    assert!(!first.is_empty() && !second.is_empty());
    assert!(first.iter().filter(|topic| second.contains(topic)).count() < first.len() / 2);
}

/// Means of R@5, 10, 20 and 30 over some topics of a run of train.
fn mean_recall(bench: &Bench, run: &str, topics: &[&str]) -> [f64; 4] {
    bench.succeed(&format!("eval {run} --data data --split train --out-file scores.json"));
    let scores: Value = serde_json::from_slice(&bench.read("scores.json")).expect("JSON");
    ["Recall5", "Recall10", "Recall20", "Recall30"].map(|measure| {
        let scores = topics.iter().map(|topic| scores[measure][topic].as_f64().expect("a score"));
        scores.sum::<f64>() / topics.len() as f64
    })
}

#[test]
fn held_out_figures_are_those_of_the_runs_that_a_model_is_for() {
    let bench = bench();
    // The ties of the published run decide which questions are among the first 30.
    let first = format!("{BM25}\nties = {{ numpy = [\"575333ff3f8b\"] }}");
    write(&bench, "pairs.toml", &system("pairs", "", &[&first, "\"rerank\"\nmodel = \"@/model\""]));
    write(
        &bench,
        "space.toml",
        "name = \"space\"\n[space]\nmodels = { \"@/model\" = 1.0 }\n[[stages]]\nstage = \"dense\"\ndepth = 30\n",
    );
    for (recipe, system) in [("scorer.toml", "pairs.toml"), ("vectors.toml", "space.toml")] {
        let _ = fs::remove_dir_all(bench.path("model"));
        let work = Work::on(&bench, "data", "train");
        // As many tokens as the model has positions: those that the runs below read.
        let set = ["held_out=0.3", "max_tokens=96"];
        let (folder, trained, _) =
            work.train(recipe, &set, TrainMode::Reuse, Some("model")).expect("a model");
        let card = fs::read(folder.join("training.json")).expect("a file");
        let card: Value = serde_json::from_slice(&card).expect("JSON");
        let topics = card["held_out_topics"].as_array().expect("topics").iter();
        let topics: Vec<&str> = topics.map(|topic| topic.as_str().expect("an id")).collect();
        work.run(system, &[], "held-out.run").expect("a run");
        let (of_run, held_out) = (
            mean_recall(&bench, "held-out.run", &topics),
            trained.expect("a training").recall.expect("held-out topics"),
        );
        for (of_run, held_out) in of_run.iter().zip(held_out) {
            assert!((of_run - held_out).abs() < 1e-9, "{recipe}: {of_run} {held_out}");
        }
        assert!(of_run[3] < 0.9, "{recipe}: {of_run:?}");
    }
}

#[test]
fn a_trained_model_is_reused_and_other_data_train_another() {
    let bench = bench();
    let train = |mode| {
        let work = Work::on(&bench, "data", "dev");
        let (_, trained, notes) = work.train("vectors.toml", &[], mode, None).expect("a model");
        assert_eq!(trained.is_some(), notes.contains("it is kept in"), "{notes}");
        trained.is_some()
    };
    // Each command looks for what others trained.
    let first = bench.succeed("train vectors.toml scorer.toml --data data");
    assert_eq!(first.stderr.matches("it is kept in").count(), 2, "{}", first.stderr);
    assert!(!train(TrainMode::Reuse));
    // A folder that is named holds a copy of the same model.
    let copied = bench.succeed("train vectors.toml --data data -o named");
    assert!(copied.stderr.contains("was trained before"), "{}", copied.stderr);
    assert!(copied.stderr.contains("models = { \"named\" = 1.0 }"), "{}", copied.stderr);
    let scorer = bench.succeed("train scorer.toml --data data -o scored");
    assert!(scorer.stderr.contains("--set rerank.model=scored"), "{}", scorer.stderr);
    let kept = first.stderr.lines().find_map(|line| line.split_once("it is kept in "));
    let kept = kept.expect("a note").1;
    assert!(files(&bench.path("named")) == files(kept.as_ref()));
    bench.edit("data/train.tsv", |text| {
        let lines: Vec<&str> = text.lines().collect();
        lines[..lines.len() - 9].join("\n") + "\n"
    });
    assert!(train(TrainMode::Reuse) && !train(TrainMode::Reuse) && train(TrainMode::Force));
}

#[test]
fn a_copy_is_found_when_the_cache_has_lost_the_model() {
    let bench = bench();
    let train = |output| {
        let work = Work::on(&bench, "data", "dev");
        work.train("scorer.toml", &[], TrainMode::Reuse, output).expect("a model")
    };
    let (named, trained, notes) = train(Some("named"));
    assert!(trained.is_some());
    let kept = notes.lines().find_map(|line| line.split_once("it is kept in "));
    fs::remove_dir_all(kept.expect("a note").1).expect("removed");
    let (found, trained, _) = train(None);
    assert!(trained.is_none() && found == fs::canonicalize(&named).expect("the copy"));
    let (again, trained, _) = train(Some("named"));
    assert!(trained.is_none() && again == named);
    // A changed copy is not used.
    bench.edit("named/config.json", |text| text.replace("gelu", "relu"));
    let (_, trained, notes) = train(None);
    assert!(trained.is_some() && notes.contains("it is kept in"), "{notes}");
}

#[test]
fn models_learn_from_labels_of_ones_own() {
    let bench = bench();
    for file in fs::read_dir(root().join("data/sample-own")).expect("the sample") {
        let file = file.expect("a file").path();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        bench.write(&format!("own/{name}"), fs::read(&file).expect("its content"));
    }
    let mining =
        "name = \"mining\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 20";
    bench.write("mining.toml", mining);
    let lists = LISTS.replace("\"bm25\"", "\"@/mining.toml\"");
    write(&bench, "scorer.toml", &recipe("scorer", &lists, 2.0));
    let softmax = "kind = \"in-batch-softmax\"\nbatch = 4";
    write(&bench, "vectors.toml", &recipe("vectors", softmax, 2.0));
    let train = |recipe: &str| {
        let work = Work::on(&bench, "own", "dev");
        let trained = work.train(recipe, &[], TrainMode::Reuse, None).expect("a model").1;
        assert!(trained.is_some(), "{recipe} was not trained before");
    };
    train("vectors.toml");
    train("scorer.toml");
    write(
        &bench,
        "trained.toml",
        "name = \"trained\"\nuses = [\"train-labels\"]\n[space]\nmodels = { \"@/vectors.toml\" = 1.0 }\n\
         [[stages]]\nstage = \"dense\"\n[[stages]]\nstage = \"rerank\"\nmodel = \"@/scorer.toml\"\ndepth = 5",
    );
    // The system opens the trained models, and its figures are shown although none is expected.
    let reproduced = bench.succeed("reproduce trained.toml --data own --split dev");
    assert!(!reproduced.stderr.contains("training"), "{}", reproduced.stderr);
    assert!(reproduced.stdout.contains("nDCG@10"), "{}", reproduced.stdout);
    let qrels = "own/qrels.train.txt";
    bench.edit(qrels, |text| {
        text.lines().filter(|line| !line.starts_with("t3 ")).collect::<Vec<_>>().join("\n")
    });
    // Other labels train anew.
    train("vectors.toml");
}
