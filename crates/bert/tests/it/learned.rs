//! Systems with learned stages, and their training, with a tiny random BERT. Every kind of stage
//! runs, the thread count changes no byte, and mistakes are refused.

mod conversations;
mod independence;
mod refusals;
mod rewriting;
mod training;

use crate::common::{Folder, Work, root};
use crate::training::alone;
use clariq_core::Error;
use clariq_core::TrainingSummary;
use clariq_experiment::training::{TrainMode, check_output, train};
use clariq_systems::find_recipes;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Work with learned models on a split of the collection in the subfolder `data`.
fn work<'f>(folder: &'f Folder, data: &str, split: &str) -> Work<'f> {
    Work { engine: Some(&clariq_bert::Torch), ..Work::on(folder, data, split) }
}

/// The same work on a number of threads.
fn on_threads<'f>(work: &Work<'f>, threads: usize) -> Work<'f> {
    let mut work = work.clone();
    work.options.threads = threads;
    work
}

/// Writes a file in which `@/` stands for the folder.
fn write(folder: &Folder, name: &str, text: &str) {
    folder.write(name, text.replace("@/", &folder.path("").display().to_string()));
}

/// A folder with the sample, the tiny model in `tiny` (two layers of 32, random weights), and two
/// recipes.
fn folder() -> Folder {
    let folder = Folder::with_sample();
    folder.copy("crates/bert/tests/data/tiny", "tiny");
    write(&folder, "scorer.toml", &recipe("scorer", LISTS, 0.02));
    let softmax = "kind = \"in-batch-softmax\"\nbatch = 16";
    write(&folder, "vectors.toml", &recipe("vectors", softmax, 0.05));
    folder
}

const LISTS: &str = "kind = \"listwise\"\nbatch = 2\nnegatives = 2\nsystem = \"bm25\"\ndepth = 10";

fn recipe(name: &str, objective: &str, epochs: f64) -> String {
    format!(
        "name = \"{name}\"\nbase = \"@/tiny\"\nepochs = {epochs}\nlearning_rate = 1e-3\ncheckpoint_every = 2\n\
         [objective]\n{objective}\n"
    )
}

/// Trains a recipe, with other values of its keys, into a folder or the cache. Returns the folder, the
/// summary of a training that was needed, and the notes.
fn train_recipe(
    work: &Work,
    recipe: &str,
    set: &[&str],
    mode: TrainMode,
    output: Option<&str>,
) -> Result<(PathBuf, Option<TrainingSummary>, String), Error> {
    let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
    let names = [work.folder.path(recipe).display().to_string()];
    let recipe = find_recipes(&names, &set)?.remove(0);
    let output = output.map(|name| work.folder.path(name));
    output.iter().try_for_each(|output| check_output(output, 1))?;
    let _alone = alone();
    let (trained, notes) =
        work.with_session(|session| train(session, recipe, mode, output.as_deref()));
    trained.map(|trained| (trained.folder, trained.summary, notes))
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
    let all = ["\"dense\"", "\"exclude\"", "\"competition\"\nrounds = 2", "\"cutoff\"\ndepth = 30"];
    let feedback = ["\"dense\"", "\"feedback\"\nquestions = 8\nweight = 2.0"];
    let trained = ["\"dense\"", "\"rerank\"\nmodel = \"@/scorer.toml\"\ndepth = 10"];
    vec![
        ("dense", system("dense", "", &["\"dense\"\ndepth = 30"])),
        ("rerank", system("rerank", "", &[BM25, "\"rerank\"\nmodel = \"@/tiny\"\ndepth = 10"])),
        ("whole", system("whole", "", &["\"cross_encode\"\nmodel = \"@/tiny\"\ndepth = 30"])),
        ("fused", system("fused", "", &[FUSED])),
        ("feedback", system("feedback", "", &feedback)),
        ("all", system("all", both, &all)),
        ("trained", system("trained", both, &trained)),
    ]
}

/// Leaves only the first topics of dev: cross-encoding all questions takes long.
fn keep_topics(folder: &Folder, count: usize) {
    let topic = |line: &str| line.split_once('\t').expect("columns").0.to_owned();
    folder.edit("data/dev.tsv", |text| {
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
fn every_learned_stage_ranks_and_threads_change_no_byte() {
    let folder = folder();
    keep_topics(&folder, 2);
    let mut runs: Vec<String> = Vec::new();
    for (name, toml) in systems() {
        write(&folder, "mine.toml", &toml);
        let run = |threads: usize| {
            let _alone = (name == "trained").then(alone);
            let work = on_threads(&work(&folder, "data", "dev"), threads);
            work.run("mine.toml", "mine.run").expect("a run");
            folder.text("mine.run")
        };
        let lines = run(1);
        assert_eq!(lines, run(3), "{name}");
        let rankings = rankings(&lines);
        assert_eq!(rankings.len(), 2, "{name}: every topic of dev is answered");
        for (topic, ranking) in rankings {
            assert!(ranking.len() >= 30, "{name} {topic}: {}", ranking.len());
            let falls = ranking.windows(2).all(|pair| pair[0].1 > pair[1].1);
            assert!(falls, "{name} {topic}: no ties, best first");
        }
        let order = lines.lines().map(|line| line.split(' ').take(4).collect::<Vec<_>>().join(" "));
        let order = order.collect::<Vec<_>>().join("\n");
        assert!(!runs.contains(&order), "{name}: every stage changes the order");
        runs.push(order);
    }
}

#[test]
fn a_record_names_the_weights() {
    let folder = folder();
    let stages = [BM25, "\"rerank\"\nmodel = \"@/tiny\"\ndepth = 10", "\"cutoff\"\ndepth = 5"];
    write(&folder, "mine.toml", &system("mine", "", &stages));
    let model = folder.path("tiny").display().to_string();
    let checksum = || {
        work(&folder, "data", "dev").run("mine.toml", "mine.run").expect("a run");
        folder.json("mine.run.json")["models"][&model].as_str().expect("a checksum").to_owned()
    };
    let first = checksum();
    assert_eq!(first.len(), 64, "{first}");
    let mut bytes = folder.read("tiny/model.safetensors");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    folder.write("tiny/model.safetensors", bytes);
    assert_ne!(checksum(), first, "other weights");
}

#[test]
fn a_system_that_answers_gives_the_same_bytes_with_any_number_of_threads() {
    let folder = Folder::new();
    folder.copy("crates/bert/tests/data/tiny", "tiny");
    // The tiny model reads few tokens, and its folder says where a text is cut.
    folder.write("tiny/tokenizer_config.json", "{\"model_max_length\": 16}");
    folder.write_ikat("data", |topics| topics.truncate(2));
    let config = std::fs::read_to_string(root().join("configs/ikat-automatic.toml"));
    let config = config.expect("a system").replace("\"all-MiniLM-L6-v2\"", "\"@/tiny\"");
    write(&folder, "mine.toml", &config);
    let run = |threads| {
        let work = on_threads(&work(&folder, "data", "2023-test"), threads);
        work.run("mine.toml", "mine.json").expect("a run");
        ["mine.json", "mine.statements.run", "mine.passages.run"].map(|name| folder.read(name))
    };
    assert!(run(1) == run(3));
}

#[test]
fn damaged_vectors_are_encoded_again() {
    let folder = folder();
    write(&folder, "mine.toml", &system("mine", "", &["\"dense\"\ndepth = 5"]));
    let run = || {
        let (_, notes) = work(&folder, "data", "dev").run("mine.toml", "mine.run").expect("a run");
        (folder.text("mine.run"), notes)
    };
    let (first, _) = run();
    let entries = std::fs::read_dir(folder.path("cache/embeddings")).expect("the vectors");
    let mut vectors =
        entries.map(|entry| entry.expect("an entry").path().join("vectors.safetensors"));
    let vectors = vectors.find(|path| path.is_file()).expect("those of documents");
    let mut bytes = std::fs::read(&vectors).expect("a file");
    // The header is as before: only the checksum tells.
    let last = bytes.len() - 64;
    bytes[last..].fill(7);
    std::fs::write(&vectors, bytes).expect("written");
    let (again, notes) = run();
    assert!(again == first && notes.contains("are computed again: "), "{notes}");
    let (sound, notes) = run();
    assert!(sound == first && !notes.contains("computed again"), "{notes}");
}
