use super::*;

/// The problem of a command line that the parser refuses; words are separated by blanks.
fn refused(line: &str) -> Problem {
    let words = ["clariq"].into_iter().chain(line.split(' '));
    let error = cli::command().try_get_matches_from(words).unwrap_err();
    refused_value(&error).unwrap_or_else(|| panic!("{line}: {error}"))
}

#[test]
fn missing_and_unknown_arguments_are_named_with_the_form_of_the_command() {
    for (line, at, expected, found, hint) in [
        (
            "run",
            "CONFIG",
            "CONFIG",
            "nothing",
            "write `clariq run <CONFIG>...`; `clariq run --help` describes each",
        ),
        (
            "explain --topic 13",
            "REQUEST DOCUMENT_ID",
            "REQUEST DOCUMENT_ID",
            "nothing",
            "write `clariq explain --topic <ID> <REQUEST> [DOCUMENT_ID]...`; `clariq explain --help` describes each",
        ),
        (
            "tune bm25",
            "--grid",
            "--grid <STAGE.KEY=VALUES>",
            "nothing",
            "write `clariq tune --grid <STAGE.KEY=VALUES> <CONFIG>`; `clariq tune --help` describes each",
        ),
        (
            "run bm25 --dept 3",
            "--dept",
            "an option of `clariq run`",
            "`--dept`",
            "did you mean `--depth`?",
        ),
        (
            "run bm25 --zzz",
            "--zzz",
            "an option of `clariq run`",
            "`--zzz`",
            "`clariq run --help` lists its options, and `clariq help options` those of all commands",
        ),
        (
            "need train bm25 saturn",
            "saturn",
            "no more arguments",
            "`saturn`",
            "write `clariq need train [OPTIONS] <CONFIG>`; a text with blanks is one argument in quotes",
        ),
        (
            "rank bm25 why does bread rise",
            "rise",
            "no more arguments",
            "`rise`",
            "write `clariq rank [OPTIONS] [SYSTEM] [TEXT]...`; a text with blanks is one argument in quotes",
        ),
        (
            "ask bm25-conversation saturn",
            "saturn",
            "no more arguments",
            "`saturn`",
            "write `clariq ask [OPTIONS] [REQUEST]`; a text with blanks is one argument in quotes, and a system the value of an option: `--system NAME`",
        ),
        ("--no-progress", "COMMAND", "a command", "nothing", "`clariq --help` lists the commands"),
        (
            "run bm25 --output",
            "--output",
            "a value",
            "nothing",
            "the value follows the option: `--output <FILE>`",
        ),
        (
            "run bm25 --seed x",
            "--seed",
            "a whole number of at least 0",
            "`x`",
            "`clariq help options` describes `--seed <N>`",
        ),
        (
            "run bm25 --threads -1",
            "--threads",
            "a whole number of at least 0",
            "`-1`",
            "`clariq help options` describes `--threads <N>`",
        ),
    ] {
        assert_eq!(refused(line), Problem::at(at, expected, found).hint(hint), "{line}");
    }
}

#[test]
fn options_and_commands_have_the_names_of_other_programs_too() {
    for (line, meant) in [
        ("run bm25 -k 10", "run bm25 --depth 10"),
        ("run bm25 --top-k 10", "run bm25 --depth 10"),
        ("rank bm25 --hits 10", "rank bm25 --depth 10"),
        ("run bm25 --topics requests.jsonl", "run bm25 --requests requests.jsonl"),
        ("run bm25 --dataset mine", "run bm25 --data mine"),
        ("eval x.run --metrics map", "eval x.run --measure map"),
        ("eval x.run --qrel q.txt", "eval x.run --qrels q.txt"),
        ("explain --model bm25 a b", "explain --system bm25 a b"),
        ("search bm25 saturn", "rank bm25 saturn"),
        ("evaluate mine.run", "eval mine.run"),
        ("data download --all", "data fetch --all"),
    ] {
        let parse = |line: &str| {
            let words = ["clariq"].into_iter().chain(line.split(' '));
            cli::command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(parse(line), parse(meant), "{line}");
    }
}

#[test]
fn options_of_another_place_lead_to_those_that_are_meant() {
    for (line, hint) in [
        ("run bm25 --bm25.k1 0.9", "did you mean `--set bm25.k1=VALUE`?"),
        (
            "run bm25 -m map",
            "`-m` is an option of `clariq tune`, `clariq eval`, `clariq compare`, `clariq report`",
        ),
        (
            "data check --id sku",
            "`collection.toml` in the data folder names the columns of documents: [documents] id = \"sku\", \
             text = [\"title\", \"body\"]",
        ),
    ] {
        assert_eq!(refused(line).hint, hint, "{line}");
    }
}

#[test]
fn words_of_other_programs_and_places_lead_to_commands() {
    for (line, hint) in [
        ("comapre mine.run", "did you mean `clariq compare`?"),
        ("systems list", "did you mean `clariq systems`?"),
        ("fetch clariq", "did you mean `clariq data fetch`?"),
        ("data train", "did you mean `clariq train`?"),
        ("help ranking", "did you mean `clariq rank`?"),
        ("help tuen", "did you mean `clariq tune`?"),
        ("help data fech", "did you mean `clariq data fetch`?"),
        ("zzz", "`clariq --help` describes the commands"),
    ] {
        assert_eq!(refused(line).hint, hint, "{line}");
    }
    let expected = "one of the commands data, index, systems, run, rank, ";
    for topic in ["zzz", "help zzz"] {
        assert!(refused(topic).expected.starts_with(expected), "{}", refused(topic).expected);
    }
    let hint = "did you mean `clariq systems show bm25`?";
    let expected = Problem::at("COMMAND", "the command show", "`bm25`").hint(hint);
    assert_eq!(refused("systems bm25"), expected);
}
