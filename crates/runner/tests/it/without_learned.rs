//! What does a build without libtorch do? Everything lexical; where a learned stage is asked for, it says what is missing.
//! `scripts/test` runs this file with the feature `bert` left out.

use crate::common::Bench;

#[test]
fn learned_systems_are_refused_with_the_way_out() {
    let bench = Bench::with_sample();
    let before = bench.snapshot();
    for line in [
        "run dense --data data -o out.run",
        "run bert-reranker --data data -o out.run",
        "run best --data data -o out.run",
        "run strict bm25 --data data",
        "train best --data data",
        "reproduce dense --data data",
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        assert!(
            finished.stderr.contains("found: one that was built without them"),
            "{line}: {}",
            finished.stderr
        );
        assert!(
            finished.stderr.contains("hint: build it with the feature `bert`: `scripts/clariq`"),
            "{line}"
        );
        assert!(bench.snapshot() == before, "{line}: a file was left or changed");
    }
}

#[test]
fn lexical_systems_need_no_libtorch() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25-tuned --data data -o lexical.run");
    assert_eq!(bench.text("lexical.need").lines().count(), 15);
    let shown = bench.succeed("reproduce --data data").stdout;
    for (system, is_there) in [
        ("no-question", true),
        ("bm25", true),
        ("bm25-tuned", true),
        ("dense", false),
        ("best", false),
    ] {
        let row = shown.lines().any(|line| line.split_whitespace().next() == Some(system));
        assert_eq!(row, is_there, "{system}: {shown}");
    }
    assert!(
        bench
            .run(&["doctor", "--data", "data"])
            .stdout
            .contains("not in this build; `scripts/clariq`")
    );
}
