//! Configurations.

use super::bomb;
use crate::common::refusals::{Case, NOTHING, case, check};

const CONFIG: &str =
    "name = \"mine\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\nk1 = 1.5\ndepth = 30\n";
const CLEAR: &str =
    "name = \"mine\"\n[[stages]]\nstage = \"no_question\"\nrank = 1\nwhen_need = 1\n";
const STOP: &str = "name = \"mine\"\n[[stages]]\nstage = \"stop\"\nneed = 7\n";
const MINE: &str = "run mine.toml --data data -o out/old.run";

const FUSE_ONE: &str = "name = \"mine\"\n[[stages]]\nstage = \"fuse\"\nmethod = \"reciprocal-rank\"\ndepth = 9\n\
    [[stages.inputs]]\n[[stages.inputs.stages]]\nstage = \"no_question\"\nrank = 1\n";

macro_rules! changed {
    ($from:literal to $to:literal) => {
        |bench| bench.write("mine.toml", CONFIG.replace($from, $to))
    };
}

const BAD_CONFIGURATIONS: &[Case] = &[
    case(
        "no such system",
        NOTHING,
        "run bm52 -o out/old.run",
        ["bm52", "a built-in system", "nothing"],
    ),
    case("unknown key", changed!("depth" to "depht"), MINE, ["mine.toml:7", "`depth`", "`depht`"]),
    case(
        "unknown stage",
        changed!("bm25" to "bm52"),
        MINE,
        ["mine.toml:4", "one of `bm25`", "`bm52`"],
    ),
    case("wrong type", changed!("1.5" to "'high'"), MINE, ["mine.toml:6", "a number", "'high'"]),
    case("bad value", changed!("1.5" to "-1"), MINE, ["mine.toml:6", "at least 0", "-1"]),
    case("depth 0", changed!("30" to "0"), MINE, ["mine.toml:7", "at least 1", "`0`"]),
    case(
        "no depth",
        changed!("depth = 30" to ""),
        MINE,
        ["mine.toml:3", "a key `depth`", "a table without it"],
    ),
    case(
        "unknown analyser",
        changed!("nltk" to "klingon"),
        MINE,
        ["mine.toml:5", "`nltk`", "`klingon`"],
    ),
    case("not TOML", changed!("[[stages]]" to "[[stages"), MINE, ["mine.toml:3", "`]", "unclosed"]),
    case(
        "unknown need model",
        |bench| bench.write("mine.toml", format!("{CONFIG}\n[need]\nmodel = \"oracle\"\n")),
        MINE,
        ["mine.toml:10", "`majority`", "`oracle`"],
    ),
    case(
        "no weights",
        changed!("\"bm25\"\nanalyzer = \"nltk\"\nk1 = 1.5" to "\"dense\"\nspace = { characters = 1.0 }\nrepeat = 0.9"),
        MINE,
        ["mine.toml:6", "a table `weights`", "without it"],
    ),
    case(
        "no need",
        |bench| bench.write("mine.toml", format!("{STOP}\n[need]\nmodel = \"lexical\"\n")),
        MINE,
        ["mine.toml:4", "TOML", "need from 1 to 4"],
    ),
    case(
        "nothing predicts the need",
        |bench| bench.write("mine.toml", CLEAR),
        MINE,
        ["mine.toml:5", "[need]", "without"],
    ),
    case(
        "nothing predicts the need that a --set uses",
        |bench| {
            bench.write(
                "bare.toml",
                "name = \"bare\"\n[[stages]]\nstage = \"no_question\"\nrank = 1\n",
            );
        },
        "run bare.toml --set no_question.when_need=2",
        ["command line, no_question.when_need=2", "[need]", "without"],
    ),
    case("bad name", changed!("mine" to "a/b"), MINE, ["mine.toml:1", "letters, digits", "`a/b`"]),
    case(
        "a gzip bomb as configuration",
        |bench| bomb(bench, "mine.toml", 2),
        MINE,
        ["mine.toml", "at most 1 MiB", "more"],
    ),
    case(
        "no stages",
        |bench| bench.write("mine.toml", "name = \"x\"\n"),
        MINE,
        ["mine.toml:1", "[[stages]]", "none"],
    ),
    case(
        "not UTF-8",
        |bench| bench.write("mine.toml", b"\nname='\xe9'"),
        MINE,
        ["mine.toml:2", "UTF-8", "0xe9"],
    ),
    case(
        "fuse of one input",
        |bench| bench.write("mine.toml", FUSE_ONE),
        MINE,
        ["mine.toml:6", "at least two inputs", "1 with stages"],
    ),
    case(
        "two systems of one name",
        |bench| bench.write("mine.toml", CONFIG.replace("mine", "bm25")),
        "run bm25 mine.toml --data data",
        ["CONFIG", "different names", "`bm25` twice"],
    ),
];

#[test]
fn a_bad_configuration_is_refused() {
    check(BAD_CONFIGURATIONS);
}
