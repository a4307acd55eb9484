//! Runs over a split: their folders, and systems that retrieve nothing.

use crate::common::Bench;

/// A system that only finds documents that share a word with the request.
const WORDS: &str =
    "name = \"words\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n";

fn requests(texts: impl Iterator<Item = String>) -> String {
    let rows = (1001..).zip(texts).map(|(id, text)| format!("{id}\t{text}\n"));
    format!("topic_id\tinitial_request\n{}", rows.collect::<String>())
}

#[test]
fn a_system_that_retrieves_nothing_is_refused_and_one_that_misses_some_is_reported() {
    let bench = Bench::with_sample();
    bench.write("words.toml", WORDS);
    bench.remove("data/test_with_labels.tsv");
    bench.write("data/test.tsv", requests(["xyzzy".to_owned(), "plugh".to_owned()].into_iter()));
    let before = bench.snapshot();
    let line = "run words.toml --data data --split test -o words.run";
    let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("nothing for any of 2 requests"), "{}", refused.stderr);
    assert!(bench.snapshot() == before, "a file was left or changed");
    // A file of requests may be a block of a larger one: its run is empty.
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"xyzzy\"}\n");
    let told = bench.succeed("run words.toml --data data --requests r.jsonl -o empty.run");
    assert!(
        told.stderr.contains("warning: 1 of 1 requests have no document left"),
        "{}",
        told.stderr
    );
    assert_eq!(bench.text("empty.run"), "");
    let texts = ["xyzzy", "tell me about saturn"].map(str::to_owned);
    bench.write("data/test.tsv", requests(texts.into_iter()));
    let told = bench.succeed(line);
    assert!(
        told.stderr.contains("warning: 1 of 2 requests have no document left"),
        "{}",
        told.stderr
    );
}

#[test]
fn runs_have_a_folder_per_collection_and_are_scored_only_with_their_own() {
    let bench = Bench::with_sample();
    bench.edit("data/question_bank.tsv", |text| text + "Q99999\twhat else\n");
    bench.succeed("-q run bm25");
    bench.succeed("-q run bm25 --data data");
    let folder = std::fs::read_dir(bench.path("runs")).expect("a folder");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["data", "sample"]);
    for (file, task) in [("run", "question_relevance"), ("need", "clarification_need")] {
        let line = format!("eval runs/data/bm25.dev.{file} --task {task}");
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        let part = "expected: a run on the documents that <sample> has now (575333ff3f8b)";
        assert!(refused.stderr.contains(part), "{line}: {}", refused.stderr);
        bench.succeed(&format!("{line} --data data"));
    }
    bench.remove("runs/sample/bm25.dev.run.json");
    let told = bench.succeed("eval runs/sample/bm25.dev.run");
    assert!(!told.stderr.contains("no record"), "foreign runs have none: {told:?}");
    let told = bench.succeed("-v eval runs/sample/bm25.dev.run");
    assert!(told.stderr.contains("runs/sample/bm25.dev.run was made on (no record"), "{told:?}");
    let figures = bench.succeed("-q reproduce bm25 --split dev --runs mine");
    assert!(figures.stdout.contains("OK") && bench.path("mine/sample/bm25.dev.run").exists());
}

#[test]
fn a_device_for_a_system_without_learned_models_gives_a_note() {
    let bench = Bench::new();
    let finished = bench.succeed("run bm25 --device cuda:0 -o x.run");
    let note = "note: `bm25` has no learned model: --device changes nothing\n";
    assert!(finished.stderr.contains(note), "{}", finished.stderr);
}

#[test]
fn a_misspelt_split_of_expected_figures_is_refused_for_their_bank() {
    let bench = Bench::new();
    let expected = |bank: &str| {
        format!(
            "{WORDS}[[expected]]\ncollection = \"x\"\nbank = \"{bank}\"\nsplit = \"devel\"\nmeasures = {{ \"R@5\" = 0.5 }}\n"
        )
    };
    bench.write("other.toml", expected("2100c70232f6"));
    bench.succeed("-q run other.toml");
    bench.write("this.toml", expected("575333ff3f8b"));
    for command in ["run", "reproduce"] {
        let refused = bench.run(&[command, "this.toml"]);
        assert_eq!(refused.status, Some(2), "{}", refused.stderr);
        for part in ["this.toml", "one of train, dev, test", "`devel`"] {
            assert!(refused.stderr.contains(part), "{}", refused.stderr);
        }
    }
}

#[test]
fn a_depth_that_another_stage_cuts_gives_a_warning() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25-english --data data --set bm25.depth=40 -o deep.run");
    let lines = |run: &str, topic: &str| {
        bench.text(run).lines().filter(|line| line.starts_with(topic)).count()
    };
    let topic = bench.text("deep.run").split(' ').next().expect("a topic").to_owned() + " ";
    assert_eq!(lines("deep.run", &topic), 40);
    let cut = "name = \"mine\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n\
               pad = true\n[[stages]]\nstage = \"cutoff\"\ndepth = 20\n";
    bench.write("mine.toml", cut);
    let line = "run mine.toml --data data -o cut.run";
    assert!(!bench.succeed(line).stderr.contains("warning"));
    let warned = bench.succeed(&format!("{line} --set bm25.depth=40")).stderr;
    let warning = "warning: `bm25.depth` is 40, and `cutoff` keeps 20 documents: \
                   --set cutoff.depth=40";
    assert!(warned.contains(warning), "{warned}");
    assert_eq!(lines("cut.run", &topic), 20);
    let both = bench.succeed(&format!("{line} --set bm25.depth=40 --set cutoff.depth=40"));
    assert!(!both.stderr.contains("warning"), "{}", both.stderr);
    assert_eq!(lines("cut.run", &topic), 40);
    let chosen = bench.succeed(&format!("{line} --set bm25.depth=40 --set cutoff.depth=10"));
    assert!(!chosen.stderr.contains("warning"), "{}", chosen.stderr);
    // Depths of a task concern the stages of that task alone.
    let ikat =
        bench.succeed("run ikat-bm25 --split 2023-test --set passages.bm25.depth=2000 -o x.json");
    assert!(!ikat.stderr.contains("warning"), "{}", ikat.stderr);
}
