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

#[test]
fn similar_names_are_suggested() {
    let bench = Bench::with_sample();
    bench.write("my-system.toml", bench.succeed("systems show bm25").stdout);
    let refused = |name: &str| bench.refused(&format!("run {name} --data data"));
    assert_data_eq!(
        refused("bm25-tunde"),
        str![[r#"
error: bm25-tunde
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: did you mean `bm25-tuned`?

"#]]
    );
    assert_data_eq!(
        refused("my-sytem.toml"),
        str![[r#"
error: my-sytem.toml
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: did you mean `my-system.toml`?

"#]]
    );
    assert_data_eq!(
        refused("./my-sytem.toml"),
        str![[r#"
error: ./my-sytem.toml
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: did you mean `./my-system.toml`?

"#]]
    );
    assert_data_eq!(
        refused("my-system"),
        str![[r#"
error: my-system
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: did you mean `my-system.toml`?

"#]]
    );
    assert_data_eq!(
        refused("something-else"),
        str![[r#"
error: something-else
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: `clariq systems` lists the built-in systems

"#]]
    );
}

#[test]
fn words_of_other_programs_lead_to_commands() {
    let bench = Bench::new();
    for (line, hint) in [
        ("search saturn", "did you mean `clariq rank`?"),
        ("evaluate mine.run", "did you mean `clariq eval`?"),
        ("comapre mine.run", "did you mean `clariq compare`?"),
        ("zzz", "`clariq --help` lists the commands"),
    ] {
        let word = line.split(' ').next().expect("a word");
        let expected =
            format!("error: COMMAND\n  expected: a command\n     found: `{word}`\nhint: {hint}\n");
        assert_eq!(bench.refused(line), expected);
    }
}
