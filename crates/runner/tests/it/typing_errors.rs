//! Arguments that are missing, misspelt, or of another kind.

use crate::common::Bench;

/// The lines of a refusal: location, expected, found and hint.
fn refusal([at, expected, found, hint]: [&str; 4]) -> String {
    format!("error: {at}\n  expected: {expected}\n     found: {found}\nhint: {hint}\n")
}

#[test]
fn missing_and_unknown_arguments_are_named_with_the_form_of_the_command() {
    let bench = Bench::new();
    for (line, expected) in [
        (
            "run",
            [
                "CONFIG",
                "CONFIG",
                "nothing",
                "write `clariq run <CONFIG>...`; `clariq run --help` describes each",
            ],
        ),
        (
            "tune bm25",
            [
                "--grid",
                "--grid <STAGE.KEY=VALUES>",
                "nothing",
                "write `clariq tune --grid <STAGE.KEY=VALUES> <CONFIG>`; `clariq tune --help` describes each",
            ],
        ),
        (
            "run bm25 --dept 3",
            ["--dept", "an option of `clariq run`", "`--dept`", "did you mean `--depth`?"],
        ),
        (
            "run bm25 --zzz",
            [
                "--zzz",
                "an option of `clariq run`",
                "`--zzz`",
                "`clariq run --help` lists its options, and `clariq help options` those of all commands",
            ],
        ),
        (
            "need train bm25 saturn",
            [
                "saturn",
                "no more arguments",
                "`saturn`",
                "write `clariq need train [OPTIONS] <CONFIG>`; a text with blanks is one argument in quotes",
            ],
        ),
    ] {
        assert_eq!(bench.refused(line), refusal(expected), "{line}");
    }
}

#[test]
fn names_of_another_kind_lead_to_the_command_that_is_meant() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o mine/x.run");
    for (line, expected) in [
        (
            "rank jaguar --data data",
            [
                "jaguar",
                "a built-in system or a configuration file",
                "nothing of that name",
                "`clariq systems` lists the built-in systems; a text is ranked by `clariq rank bm25-tuned jaguar`",
            ],
        ),
        (
            "need train lexical --data data",
            [
                "lexical",
                "a built-in system or a configuration file",
                "nothing of that name",
                "`lexical` is the need model of a system: `clariq need train bm25-tuned` trains that of `bm25-tuned`",
            ],
        ),
        (
            "validate bm25-tuned --data data",
            [
                "bm25-tuned: missing file",
                "a file",
                "nothing at that path",
                "`bm25-tuned` is a system: `clariq run bm25-tuned` writes its run; check the path: this folder has no such file",
            ],
        ),
        (
            "eval mine --data data",
            ["mine", "a file", "a directory", "name a file inside it, such as `mine/x.run`"],
        ),
        (
            "convert mine/x.run --to trec",
            [
                "mine/x.run",
                "an iKAT submission, as JSON",
                "a TREC run",
                "it needs no conversion: `clariq eval mine/x.run` scores it",
            ],
        ),
        (
            "run dense --data data --device gpu",
            ["--device", "`cpu` or `cuda:0`", "`gpu`", "`cuda:1` is the second GPU"],
        ),
    ] {
        assert_eq!(bench.refused(line), refusal(expected), "{line}");
    }
}

#[test]
fn the_only_collection_in_a_folder_is_named() {
    let bench = Bench::with_sample();
    bench.shell(&["sh"], "mkdir all && mv data all/one");
    let told = "note: using all/one, the only collection in all\n";
    assert!(bench.succeed("run bm25 --data all -o x.run").stderr.contains(told));
    assert!(bench.succeed("eval x.run --data all").stderr.contains(told));
    assert!(!bench.succeed("eval x.run --data all/one").stderr.contains("only collection"));
}
