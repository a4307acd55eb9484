//! Configurations that are refused, with the whole message: where, what was expected, what was found,
//! and a hint.

mod answers;
mod models;
mod needs;

use clariq_core::Error;
use clariq_files::Source;
use clariq_systems::{SystemConfig, built_in, check_names_differ, find_recipes, parse_assignment};
use snapbox::{assert_data_eq, str};

/// An error as the command prints it.
fn printed(error: &Error) -> String {
    let problem = error.to_problem();
    let (title, expected, found) = (problem.title(), &problem.expected, &problem.found);
    format!("{title}\n  expected: {expected}\n     found: {found}\nhint: {}\n", problem.hint)
}

/// The message that a configuration is refused with, for other values of keys.
fn refused(text: impl AsRef<[u8]>, set: &[&str]) -> String {
    let source = Source::memory("mine.toml", text.as_ref().to_vec());
    let parse = |text: &&str| parse_assignment(text, "--set").expect("stage.key=value");
    let set: Vec<_> = set.iter().map(parse).collect();
    printed(&SystemConfig::read(&source, &set).err().expect("a refusal"))
}

const BM25: &str =
    "name = \"mine\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\nk1 = 1.5\ndepth = 30\n";

/// The message for a system with a change.
fn changed(from: &str, to: &str) -> String {
    assert!(BM25.contains(from), "{from}");
    refused(BM25.replace(from, to), &[])
}

/// A system that only asks the empty question, with further lines.
fn silent(more: &str) -> String {
    format!("name = \"mine\"\n\n[[stages]]\nstage = \"no_question\"\nrank = 1\n{more}")
}

/// `ikat-bm25` without its expected figures, changed.
fn ikat(from: &str, to: &str) -> String {
    let source = built_in::source("ikat-bm25").expect("a built-in system");
    let text = source.read().expect("its file").bytes;
    let text = std::str::from_utf8(&text).expect("UTF-8");
    let (system, _) = text.split_once("\n[[expected]]").expect("expected figures");
    assert!(system.contains(from), "{from}");
    format!("{}\n", system.replacen(from, to, 1))
}

#[test]
fn similar_names_are_told() {
    assert_data_eq!(
        changed("[[stages]]", "[[stage]]"),
        str![[r#"
mine.toml:3
  expected: one of `name`, `description`, `chosen_on`, `also`, `uses`, `conversation`, `space`, `rewrite`, `stages`, `tasks`, `models`, `need`, `answer`, `ask`, `expected`
     found: `stage`: unknown field `stage`
hint: did you mean `stages`?

"#]]
    );
    assert_data_eq!(
        changed("analyzer", "analyser"),
        str![[r#"
mine.toml:5
  expected: one of `analyzer`, `variant`, `k1`, `b`, `delta`, `mu`, `depth`, `pad`, `ties`, `glued`, `weights`, `history`
     found: `analyser`: unknown field `analyser`
hint: did you mean `analyzer`?

"#]]
    );
    assert_data_eq!(
        changed("nltk", "nlkt"),
        str![[r#"
mine.toml:5
  expected: one of `nltk`, `english`, `lucene`, `arabic`, `danish`, `dutch`, `finnish`, `french`, `german`, `greek`, `hungarian`, `italian`, `norwegian`, `portuguese`, `romanian`, `russian`, `spanish`, `swedish`, `tamil`, `turkish`
     found: `"nlkt"`: unknown variant `nlkt`
hint: did you mean `nltk`?

"#]]
    );
    assert_data_eq!(
        refused(BM25, &["bm25.k3=1"]),
        str![[r#"
command line, bm25.k3=1
  expected: one of `analyzer`, `variant`, `k1`, `b`, `delta`, `mu`, `depth`, `pad`, `ties`, `glued`, `weights`, `history`
     found: unknown field `k3`
hint: did you mean `k1`?

"#]]
    );
    assert_data_eq!(
        refused(BM25, &["bm26.k1=2"]),
        str![[r#"
command line, bm26.k1=2
  expected: a stage or a table `bm26` in mine.toml
     found: a system without it
hint: did you mean `bm25.k1`?

"#]]
    );
}

#[test]
fn keys_and_values_of_stages_are_refused_with_their_line() {
    assert_data_eq!(
        changed("depth", "depht"),
        str![[r#"
mine.toml:7
  expected: one of `analyzer`, `variant`, `k1`, `b`, `delta`, `mu`, `depth`, `pad`, `ties`, `glued`, `weights`, `history`
     found: `depht`: unknown field `depht`
hint: did you mean `depth`?

"#]]
    );
    assert_data_eq!(
        changed("bm25", "bm52"),
        str![[r#"
mine.toml:4
  expected: a stage, one of `bm25`, `candidates`, `chat_rerank`, `competition`, `cross_encode`, `cutoff`, `dense`, `distinct`, `elasticsearch`, `exclude`, `exclude_asked`, `feedback`, `fuse`, `likelihood`, `maxsim`, `no_question`, `open_questions`, `rerank`, `rm3`, `sparse`, `stop`
     found: `bm52`
hint: did you mean `bm25`?

"#]]
    );
    assert_data_eq!(
        changed("1.5", "'high'"),
        str![[r#"
mine.toml:6
  expected: a number
     found: `'high'`: string "high"
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        changed("1.5", "-1"),
        str![[r#"
mine.toml:6
  expected: k1 = a number of at least 0
     found: -1
hint: usual values are k1 from 0.5 to 2 and b from 0 to 1

"#]]
    );
    assert_data_eq!(
        changed("30", "0"),
        str![[r#"
mine.toml:7
  expected: a whole number of at least 1
     found: `0`: integer `0`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        changed("depth = 30", ""),
        str![[r#"
mine.toml:3
  expected: a key `depth`
     found: `[[stages]]`: a table without it
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        changed("nltk", "klingon"),
        str![[r#"
mine.toml:5
  expected: one of `nltk`, `english`, `lucene`, `arabic`, `danish`, `dutch`, `finnish`, `french`, `german`, `greek`, `hungarian`, `italian`, `norwegian`, `portuguese`, `romanian`, `russian`, `spanish`, `swedish`, `tamil`, `turkish`
     found: `"klingon"`: unknown variant `klingon`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    let dense = "\"dense\"\nspace = { characters = 1.0 }\nrepeat = 0.9";
    assert_data_eq!(
        changed("\"bm25\"\nanalyzer = \"nltk\"\nk1 = 1.5", dense),
        str![[r#"
mine.toml:6
  expected: a table `weights`, whose texts `repeat` uses
     found: a stage without it
hint: configs/dense-conversation.toml is an example

"#]]
    );
    let one_input = "name = \"mine\"\n[[stages]]\nstage = \"fuse\"\nmethod = \"reciprocal-rank\"\n\
                     depth = 9\n[[stages.inputs]]\n[[stages.inputs.stages]]\nstage = \"no_question\"\nrank = 1\n";
    assert_data_eq!(
        refused(one_input, &[]),
        str![[r#"
mine.toml:6
  expected: at least two inputs, each with stages
     found: 1 with stages
hint: each [[stages.inputs]] table holds the stages of one ranking

"#]]
    );
    assert_data_eq!(
        refused(ikat("decay = 0.3", "decay = 3.0"), &[]),
        str![[r#"
mine.toml:20
  expected: weights of at least 0, with a decay from 0 to 1
     found: [0.1, 0.06, 3.0]
hint: a text with the weight 0 is ignored; `ikat-automatic` has an example

"#]]
    );
}

#[test]
fn a_table_in_the_place_of_a_list_has_too_few_brackets() {
    assert_data_eq!(
        changed("[[stages]]", "[stages]"),
        str![[r#"
mine.toml:3
  expected: a list of tables
     found: one table
hint: a table begins with `[name]`, and an entry of a list of tables with `[[name]]`

"#]]
    );
    assert_data_eq!(
        changed("[[stages]]", "[[space]]\n[[stages]]"),
        str![[r#"
mine.toml:3
  expected: a table
     found: a list
hint: a table begins with `[name]`, and an entry of a list of tables with `[[name]]`

"#]]
    );
}

#[test]
fn files_that_are_no_system_are_refused() {
    assert_data_eq!(
        changed("[[stages]]", "[[stages"),
        str![[r#"
mine.toml:3
  expected: valid TOML
     found: `[[stages`: unclosed array table, expected `]]`
hint: a table begins with `[name]`, and an entry of a list of tables with `[[name]]`

"#]]
    );
    assert_data_eq!(
        changed("mine", "a/b"),
        str![[r#"
mine.toml:1
  expected: a name of letters, digits, `-`, `_` and `.`
     found: `a/b`
hint: the name is used in file names and as run tag

"#]]
    );
    assert_data_eq!(
        refused("name = \"x\"\n", &[]),
        str![[r#"
mine.toml:1
  expected: at least one [[stages]] table
     found: none
hint: the documentation lists all stages (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(b"\nname='\xe9'", &[]),
        str![[r#"
mine.toml:2
  expected: TOML in UTF-8
     found: the byte 0xe9
hint: convert the file, for example with `iconv -f latin1 -t utf-8`, if it is a configuration

"#]]
    );
    let unknown = SystemConfig::open("bm52", &[]).err().expect("a refusal");
    assert_data_eq!(
        printed(&unknown),
        str![[r#"
bm52
  expected: a built-in system or a configuration file
     found: nothing of that name
hint: did you mean `bm25`?

"#]]
    );
    let twice = ["bm25", "bm25"].map(|name| SystemConfig::open(name, &[]).expect("a system"));
    let error = check_names_differ(&twice).expect_err("a refusal");
    assert_data_eq!(
        printed(&error),
        str![[r#"
CONFIG
  expected: systems of different names
     found: `bm25` twice
hint: files are named after systems: give one another `name`, or run them one by one

"#]]
    );
    let error = find_recipes(&["bm25".to_owned()], &[]).expect_err("a refusal");
    assert_data_eq!(
        printed(&error),
        str![[r#"
CONFIG
  expected: a system with a trained model, or a recipe
     found: `bm25`, which needs no model that is trained
hint: the recipes are `encoder`, `encoder-base`, `sparse-encoder`, `cross-encoder`, `cross-encoder-base`, `published-cross-encoder`

"#]]
    );
}

#[test]
fn values_of_parameters_are_refused_with_their_option() {
    for (set, expected, found) in [
        ("bm25.k1=-1.0", "at least 0", "-1"),
        ("bm25.b=2.0", "from 0 to 1", "2"),
        ("bm25.k1=nan", "at least 0", "NaN"),
        ("bm25.k1=inf", "at least 0", "inf"),
        ("bm25.k1=x", "a number", "\"x\""),
        ("bm25.k1=1e400", "valid TOML", "overflowed"),
    ] {
        let told = refused(BM25, &[set]);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], format!("command line, {set}"));
        assert!(lines[1].contains(expected) && lines[2].contains(found), "{told}");
    }
    for (set, hint) in [
        ("k1=3", "the stage stands before the key: "),
        ("bm25.k1=", "the stage stands before the key: "),
        ("bm25.k1", "the value follows the sign `=`, without blanks"),
    ] {
        let problem = parse_assignment(set, "--set").expect_err("a refusal").to_problem();
        assert_eq!((problem.title(), problem.found), ("--set".to_owned(), format!("`{set}`")));
        assert_eq!(problem.expected, "stage.key=value, for example bm25.k1=0.9");
        assert!(problem.hint.starts_with(hint), "{}", problem.hint);
    }
}
