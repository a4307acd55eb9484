//! Configurations.

use super::bomb;
use crate::common::refusals::{Case, NOTHING, case, check};

const MINE: &str = "run mine.toml --data data -o out/old.run";

const BAD_CONFIGURATIONS: &[Case] = &[
    case(
        "no such system",
        NOTHING,
        "run bm52 -o out/old.run",
        ["bm52", "a built-in system", "nothing"],
    ),
    case(
        "an unknown key",
        |bench| bench.write("mine.toml", "name = \"mine\"\ndepht = 30\n"),
        MINE,
        ["mine.toml:2", "", "`depht`"],
    ),
    case(
        "a gzip bomb as configuration",
        |bench| bomb(bench, "mine.toml", 2),
        MINE,
        ["mine.toml", "at most 1 MiB", "more"],
    ),
    case(
        "an override of a key that a system lacks",
        NOTHING,
        "run bm25 --data data --set answer.passages=3 -o out/old.run",
        ["command line, answer.passages=3", "a table `answer`", "without it"],
    ),
    case(
        "two systems of one name",
        |bench| {
            let text = "name = \"bm25\"\n[[stages]]\nstage = \"no_question\"\nrank = 1\n";
            bench.write("mine.toml", text);
        },
        "run bm25 mine.toml --data data",
        ["CONFIG", "different names", "`bm25` twice"],
    ),
];

#[test]
fn a_bad_configuration_is_refused() {
    check(BAD_CONFIGURATIONS);
}
