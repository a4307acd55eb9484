//! `clariq systems`, and names that are nearly those of systems.

use crate::common::{Bench, root};
use snapbox::{assert_data_eq, file, str};

#[test]
fn the_list_fits_a_terminal() {
    let listed = Bench::new().succeed("systems").stdout;
    for line in listed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_data_eq!(listed, file!["printed/systems.txt"]);
}

#[test]
fn the_file_of_a_system_is_printed_and_can_be_run() {
    let bench = Bench::with_sample();
    let printed = bench.succeed("systems show bm25-tuned").stdout;
    let file = std::fs::read_to_string(root().join("configs/bm25-tuned.toml")).expect("a file");
    assert_eq!(printed, file);
    bench.write("mine.toml", printed.replacen("bm25-tuned", "mine", 1));
    bench.succeed("run mine.toml --data data");
    assert_data_eq!(
        bench.refused("systems show bm25-tuned.toml"),
        str![[r#"
error: bm25-tuned.toml
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: did you mean `bm25-tuned`?

"#]]
    );
}
