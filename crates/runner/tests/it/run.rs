//! Runs over a split: their folders, and systems that retrieve nothing.

use crate::common::Bench;

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
    let figures = bench.succeed("reproduce bm25 --split dev --runs mine");
    let told = &figures.stderr;
    assert!(
        told.contains("bm25 on dev: 5 of 5 scores as expected\n"),
        "once, in the table: {told}"
    );
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
fn a_depth_that_another_stage_cuts_gives_a_warning() {
    let bench = Bench::with_sample();
    let cut = "name = \"mine\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n\
               [[stages]]\nstage = \"cutoff\"\ndepth = 20\n";
    bench.write("mine.toml", cut);
    let warned = bench.succeed("run mine.toml --data data -o cut.run --set bm25.depth=40").stderr;
    let warning = "warning: `bm25.depth` is 40, and `cutoff` keeps 20 documents: \
                   --set cutoff.depth=40";
    assert!(warned.contains(warning), "{warned}");
}
