//! Arguments that are missing, misspelt, or of another kind.

use crate::common::{Bench, root};

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
            "explain --topic 13",
            [
                "REQUEST DOCUMENT_ID",
                "REQUEST DOCUMENT_ID",
                "nothing",
                "write `clariq explain --topic <ID> <REQUEST> [DOCUMENT_ID]...`; `clariq explain --help` describes each",
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
        (
            "explain bm25 tent Q00159",
            [
                "REQUEST",
                "a request and the id of a document, or --topic beside the id",
                "3 arguments",
                "a text with blanks is one argument in quotes, and --system names a system: `clariq explain --system bm25 \"how do I pitch a tent\" Q00159`",
            ],
        ),
        (
            "systems bm25",
            ["COMMAND", "a command", "`bm25`", "`clariq systems --help` lists the commands"],
        ),
        (
            "run bm25 --set k1=1",
            [
                "--set",
                "stage.key=value, for example bm25.k1=0.9",
                "`k1=1`",
                "the stage stands before the key: `clariq systems show bm25` prints those of `bm25`, and the documentation lists all (reference, Stages)",
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
                "`clariq systems` lists the built-in systems; a text is ranked by `clariq rank bm25 jaguar --data data`",
            ],
        ),
        (
            "rank tent --data data",
            [
                "tent",
                "a built-in system or a configuration file",
                "nothing of that name",
                "did you mean `best`? A text is ranked by `clariq rank bm25 tent --data data`",
            ],
        ),
        (
            "run --split bm25 dev --data data",
            [
                "dev",
                "a built-in system or a configuration file",
                "nothing of that name",
                "a split has its option: `--split dev`",
            ],
        ),
        (
            "run bm25 --data data --split validation",
            [
                "--split",
                "one of the splits train, dev, test",
                "`validation`",
                "did you mean `--split dev`? data was read as ClariQ",
            ],
        ),
        (
            "data check data",
            [
                "data",
                "no more arguments",
                "`data`",
                "an option names the folder: `clariq data check --data data`",
            ],
        ),
        (
            "eval mine/x.rum --data data",
            [
                "mine/x.rum: missing file",
                "a file",
                "nothing at that path",
                "did you mean `mine/x.run`?",
            ],
        ),
        (
            "need train lexical --data data",
            [
                "lexical",
                "a built-in system or a configuration file",
                "nothing of that name",
                "`lexical` is the need model of a system: `clariq need train bm25-tuned --data data` trains that of `bm25-tuned`",
            ],
        ),
        (
            "validate bm25-tuned --split test --data data",
            [
                "bm25-tuned: missing file",
                "a file",
                "nothing at that path",
                "`bm25-tuned` is a system: `clariq run bm25-tuned --split test --data data` writes its run; check the path: this folder has no such file",
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
fn a_folder_without_a_collection_leads_to_the_one_that_is_meant() {
    let bench = Bench::with_sample();
    for folder in ["data/question_bank.tsv", "dtaa"] {
        let refused = bench.refused(&format!("run bm25 --data {folder}"));
        assert!(refused.ends_with("hint: did you mean `--data data`?\n"), "{refused}");
    }
    let refused = bench.refused("run bm25 --data elsewhere");
    assert!(refused.contains("hint: check the path; "), "{refused}");
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

#[test]
fn options_of_other_programs_lead_to_those_that_are_meant() {
    let bench = Bench::new();
    for (line, hint) in [
        ("run bm25 -k 10", "did you mean `--depth`?"),
        ("run bm25 --top-k 10", "did you mean `--depth`?"),
        ("rank bm25 --hits 10", "did you mean `--depth`?"),
        ("run bm25 --topics requests.jsonl", "did you mean `--requests`?"),
        ("run bm25 --dataset mine", "did you mean `--data`?"),
        ("run bm25 --bm25.k1 0.9", "did you mean `--set bm25.k1=VALUE`?"),
        ("run bm25 -data mine", "two hyphens begin its name: `--data`"),
        (
            "run bm25 -m map",
            "`-m` is an option of `clariq tune`, `clariq eval`, `clariq compare`, `clariq report`",
        ),
        ("eval x.run --metrics map", "did you mean `--measure`?"),
    ] {
        let told = bench.refused(line);
        assert!(told.ends_with(&format!("hint: {hint}\n")), "{line}: {told}");
    }
}

#[test]
fn a_text_is_ranked_by_the_usual_system_of_the_documents() {
    let bench = Bench::new();
    let own = root().join("data/sample-own").display().to_string();
    let told = bench.refused(&format!("rank bread --data {own}"));
    let command = format!("`clariq rank bm25-english bread --data {own}`\n");
    assert!(told.ends_with(&command), "{told}");
}

#[test]
fn a_part_of_the_name_of_a_split_names_those_that_have_it() {
    let bench = Bench::new();
    let ikat = root().join("data/sample-ikat").display().to_string();
    for part in ["2023", "test"] {
        let told = bench.refused(&format!("run ikat-bm25 --data {ikat} --split {part}"));
        assert!(told.contains("hint: did you mean `--split 2023-test`? "), "{told}");
    }
}

#[test]
fn missing_values_are_named_with_their_option() {
    let bench = Bench::new();
    for (line, expected) in [
        (
            "run bm25 --set bm25.k1",
            [
                "--set",
                "stage.key=value, for example bm25.k1=0.9",
                "`bm25.k1`",
                "the value follows the sign `=`, without blanks",
            ],
        ),
        (
            "--no-progress",
            ["COMMAND", "a command", "nothing", "`clariq --help` lists the commands"],
        ),
        (
            "run bm25 --output",
            ["--output", "a value", "nothing", "the value follows the option: `--output <FILE>`"],
        ),
        (
            "run bm25 --seed x",
            [
                "--seed",
                "a whole number of at least 0",
                "`x`",
                "`clariq help options` describes `--seed <N>`",
            ],
        ),
    ] {
        assert_eq!(bench.refused(line), refusal(expected), "{line}");
    }
}

#[test]
fn names_that_are_no_systems_are_told_what_they_may_be() {
    let bench = Bench::with_sample();
    for (line, expected) in [
        (
            "run configs/bm25-tuned.toml --data data",
            [
                "configs/bm25-tuned.toml",
                "a built-in system or a configuration file",
                "nothing of that name",
                "did you mean `bm25-tuned`?",
            ],
        ),
        ("systems list", ["COMMAND", "a command", "`list`", "did you mean `clariq systems`?"]),
        (
            "run bm25 --data data --split=",
            ["--split", "one of the splits train, dev, test", "nothing", "data was read as ClariQ"],
        ),
        (
            "run bm25,ql --data data",
            [
                "bm25,ql",
                "a built-in system or a configuration file",
                "nothing of that name",
                "blanks separate systems: `bm25 ql`",
            ],
        ),
        (
            "run bm25 \u{2014}split dev --data data",
            [
                "\u{2014}split",
                "a built-in system or a configuration file",
                "nothing of that name",
                "two hyphens begin an option: `--split`",
            ],
        ),
        (
            "run x.toml --data data",
            [
                "x.toml",
                "a built-in system or a configuration file",
                "nothing of that name",
                "check the path; `clariq systems show bm25` prints a file to begin with",
            ],
        ),
        (
            "rank tent bm25 --data data",
            [
                "tent",
                "a built-in system or a configuration file",
                "nothing of that name",
                "the system stands first: `clariq rank bm25 \"tent\" --data data`",
            ],
        ),
    ] {
        assert_eq!(bench.refused(line), refusal(expected), "{line}");
    }
}

#[test]
fn arguments_of_another_kind_are_told_their_place() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o mine/x.run");
    for (line, expected) in [
        (
            "explain Q00159 tent --data data",
            [
                "DOCUMENT_ID",
                "the id of a document of the collection",
                "`tent`",
                "the request stands first: `clariq explain \"tent\" Q00159 --data data`",
            ],
        ),
        (
            "explain 13 Q00159 --data data",
            [
                "REQUEST",
                "the text of a request",
                "`13`, the id of a request of dev",
                "`clariq explain --topic 13 Q00159 --split dev --data data` explains that request",
            ],
        ),
        (
            "eval mine/x.run.json --data data",
            [
                "mine/x.run.json",
                "a run",
                "the record of one",
                "the run is the file beside it, without the ending of the record",
            ],
        ),
        (
            "compare mine --data data",
            ["RUN", "two runs or more", "`mine` alone", "name the runs in it: `mine/*.run`"],
        ),
    ] {
        assert_eq!(bench.refused(line), refusal(expected), "{line}");
    }
}
