//! Names and arguments that are missing, misspelt, or of another kind. What the parser of arguments
//! refuses by itself is tested beside it.

use crate::common::{Bench, root};

/// The lines of a refusal: location, expected, found and hint.
fn refusal([at, expected, found, hint]: [&str; 4]) -> String {
    format!("error: {at}\n  expected: {expected}\n     found: {found}\nhint: {hint}\n")
}

#[test]
fn names_that_are_no_systems_are_told_what_they_may_be() {
    let bench = Bench::with_sample();
    bench.write("my-system.toml", bench.succeed("systems show bm25").stdout);
    for (line, name, hint) in [
        ("run bm25-tunde", "bm25-tunde", "did you mean `bm25-tuned`?"),
        ("run my-sytem.toml", "my-sytem.toml", "did you mean `my-system.toml`?"),
        ("run ./my-sytem.toml", "./my-sytem.toml", "did you mean `./my-system.toml`?"),
        ("run my-system", "my-system", "did you mean `my-system.toml`?"),
        ("run something-else", "something-else", "`clariq systems` lists the built-in systems"),
        ("run configs/bm25-tuned.toml", "configs/bm25-tuned.toml", "did you mean `bm25-tuned`?"),
        ("run bm25,ql", "bm25,ql", "blanks separate systems: `bm25 ql`"),
        ("run bm25 \u{2014}split dev", "\u{2014}split", "two hyphens begin an option: `--split`"),
        ("run x.toml", "x.toml", "check the path; `clariq systems show bm25` prints a system"),
        ("run --split bm25 dev", "dev", "a split has its option: `--split dev`"),
        ("train test", "test", "a split has its option: `--split test`"),
        (
            "rank tent",
            "tent",
            "did you mean `best`? A text is ranked by `clariq rank bm25 tent --data data`",
        ),
        (
            "rank umbrella rain",
            "umbrella",
            "a text of several words stands in quotes: `clariq rank bm25 \"umbrella rain\" --data data`",
        ),
        (
            "rank tent bm25",
            "tent",
            "the system stands first: `clariq rank bm25 \"tent\" --data data`",
        ),
        (
            "need train lexical",
            "lexical",
            "the need model of a system is trained: `clariq need train bm25-tuned --data data` trains that of `bm25-tuned`",
        ),
    ] {
        let expected = "a built-in system or a configuration file";
        assert_eq!(
            bench.refused(&format!("{line} --data data")),
            refusal([name, expected, "nothing of that name", hint]),
            "{line}"
        );
    }
}

#[test]
fn names_of_another_kind_lead_to_the_command_that_is_meant() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 --data data --split dev -o mine/x.run");
    for (line, expected) in [
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
            "run bm25 --data data --split=",
            ["--split", "one of the splits train, dev, test", "nothing", "data was read as ClariQ"],
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
            "validate bm25-tuned --split test --data data",
            [
                "bm25-tuned: missing file",
                "a run",
                "nothing at that path",
                "`bm25-tuned` is a system: `clariq run bm25-tuned --split test --data data` writes its run; check the path: this folder has no such file",
            ],
        ),
        (
            "eval mine --data data",
            ["mine", "a file", "a directory", "name a file inside it, such as `mine/x.run`"],
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
        (
            "convert mine/x.run --to trec",
            [
                "mine/x.run",
                "an iKAT submission, as JSON",
                "a run",
                "it needs no conversion: `clariq eval mine/x.run` scores it",
            ],
        ),
    ] {
        assert_eq!(bench.refused(line), refusal(expected), "{line}");
    }
}

#[test]
fn arguments_of_another_kind_are_told_their_place() {
    let bench = Bench::with_sample();
    for (line, expected) in [
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
            "data check data",
            [
                "data",
                "no more arguments",
                "`data`",
                "an option names the folder: `clariq data check --data data`",
            ],
        ),
        (
            "run bm25 -data mine",
            ["-d", "an option of `clariq run`", "`-d`", "two hyphens begin its name: `--data`"],
        ),
        (
            "run dense --data data --device gpu",
            ["--device", "`cpu` or `cuda:0`", "`gpu`", "`cuda:1` is the second GPU"],
        ),
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
            "explain tent Q0159 --data data",
            [
                "DOCUMENT_ID",
                "the id of a document of the collection",
                "`Q0159`",
                "did you mean `Q00159`?",
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
fn a_split_or_system_of_another_collection_leads_to_that_collection() {
    let bench = Bench::new();
    for line in [
        "run mtrag-bm25 --split mtrag-un",
        "run bm25 --split mtrag-un",
        "run mtrag-bm25",
        "run mtrag-bm25-last mtrag-bm25 --split dev",
        "rank mtrag-bm25 tea",
        "ask --system mtrag-chat tea",
    ] {
        let refused = bench.refused(line);
        assert!(refused.contains(": missing file\n  expected: the tasks of mtrag\n"), "{refused}");
        assert!(refused.contains("hint: `clariq data fetch --collection mtrag`"), "{refused}");
    }
    let refused = bench.refused("run ikat-bm25 --split dev");
    assert!(refused.contains("expected: `2023-test`, the split of this collection"), "{refused}");
    let refused = bench.refused("run bm25 --split all");
    assert!(refused.contains("expected: one of the splits train, dev, test"), "{refused}");
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
fn a_text_is_ranked_by_the_usual_system_of_the_documents() {
    let bench = Bench::new();
    let own = root().join("data/sample-own").display().to_string();
    let named = bench.succeed(&format!("rank bm25-english bread --data {own}")).stdout;
    assert_eq!(bench.succeed(&format!("rank bread --data {own}")).stdout, named);
    let told = bench.refused(&format!("rank tent --data {own}"));
    let command = format!("`clariq rank bm25-english tent --data {own}`\n");
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
