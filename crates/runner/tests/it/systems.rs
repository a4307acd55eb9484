//! `clariq systems`, and names that are nearly those of systems.

use crate::common::{Bench, root};

#[test]
fn the_list_fits_a_terminal() {
    let listed = Bench::new().succeed("systems").stdout;
    for line in listed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for name in ["no-question", "dense-tuned", "ikat-only-response"] {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
    }
    assert!(listed.contains("labels of train"), "{listed}");
}

#[test]
fn the_file_of_a_system_is_printed_and_can_be_run() {
    let bench = Bench::with_sample();
    let printed = bench.succeed("systems show bm25-tuned").stdout;
    let file = std::fs::read_to_string(root().join("configs/bm25-tuned.toml")).expect("a file");
    assert_eq!(printed, file);
    bench.write("mine.toml", printed.replacen("bm25-tuned", "mine", 1));
    bench.succeed("run mine.toml --data data");
    let refused = bench.run(&["systems", "show", "bm25-tuned.toml"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
}

#[test]
fn similar_names_are_suggested() {
    let bench = Bench::with_sample();
    bench.write("my-system.toml", bench.succeed("systems show bm25").stdout);
    for (name, suggested) in [
        ("bm25-tunde", "did you mean `bm25-tuned`?"),
        ("my-sytem.toml", "did you mean `my-system.toml`?"),
        ("./my-sytem.toml", "did you mean `./my-system.toml`?"),
        ("my-system", "did you mean `my-system.toml`?"),
        ("mine", "`clariq systems` lists"),
        ("something-else", "`clariq systems` lists"),
    ] {
        let refused = bench.run(&["run", name, "--data", "data"]);
        assert_eq!(refused.status, Some(2));
        assert!(refused.stderr.contains(suggested), "{name}: {}", refused.stderr);
    }
}
