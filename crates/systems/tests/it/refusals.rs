//! Configurations that are refused, with the whole message: where, what was expected, what was found,
//! and a hint.

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

/// `ikat-bm25` without responses, with further lines.
fn without_responses(more: &str) -> String {
    let text = ikat("", "");
    let is_kept = |line: &&str| !line.starts_with("response =") && !line.starts_with("fits =");
    let text = text.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    let begin = text.find("[[tasks.sentences").expect("sentences");
    let end = text.find("[answer]").expect("an answer");
    format!("{}{}\n{more}", &text[..begin], &text[end..])
}

#[test]
fn keys_and_values_of_stages_are_refused_with_their_line() {
    assert_data_eq!(
        changed("depth", "depht"),
        str![[r#"
mine.toml:7
  expected: one of `analyzer`, `variant`, `k1`, `b`, `delta`, `mu`, `depth`, `pad`, `ties`, `glued`, `weights`, `history`
     found: `depht`: unknown field `depht`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        changed("bm25", "bm52"),
        str![[r#"
mine.toml:4
  expected: a stage, one of `bm25`, `candidates`, `chat_rerank`, `competition`, `cross_encode`, `cutoff`, `dense`, `distinct`, `elasticsearch`, `exclude`, `exclude_asked`, `feedback`, `fuse`, `likelihood`, `no_question`, `open_questions`, `rerank`, `rm3`, `sparse`, `stop`
     found: `bm52`
hint: the documentation lists all stages and their keys (reference, Stages)

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
  expected: one of `nltk`, `english`, `lucene`
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
hint: a text with the weight 0 is ignored; `clariq systems show ikat-automatic` has an example

"#]]
    );
}

#[test]
fn files_that_are_no_system_are_refused() {
    assert_data_eq!(
        changed("[[stages]]", "[[stages"),
        str![[r#"
mine.toml:3
  expected: `]]`
     found: unclosed array table
hint: the documentation lists all stages and their keys (reference, Stages)

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
hint: the documentation lists the recipes (reference, Models)

"#]]
    );
}

#[test]
fn needs_that_nothing_predicts_are_refused() {
    assert_data_eq!(
        refused(silent("when_need = 1\n"), &[]),
        str![[r#"
mine.toml:6
  expected: a table [need], whose predictions `when_need` uses
     found: a system without one
hint: add `[need]` with `model = "lexical"`; the documentation lists the need models (reference, Models)

"#]]
    );
    assert_data_eq!(
        refused(silent(""), &["no_question.when_need=2"]),
        str![[r#"
command line, no_question.when_need=2
  expected: a table [need], whose predictions `when_need` uses
     found: a system without one
hint: add `[need]` with `model = "lexical"`; the documentation lists the need models (reference, Models)

"#]]
    );
    let stop = "name = \"mine\"\n[[stages]]\nstage = \"stop\"\nneed = 7\n";
    assert_data_eq!(
        refused(format!("{stop}\n[need]\nmodel = \"lexical\"\n"), &[]),
        str![[r#"
mine.toml:4
  expected: valid TOML
     found: `7`: a clarification need from 1 to 4, found 7
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(ikat("[answer]", "[ask]\nneed = 3\n[answer]"), &[]),
        str![[r#"
mine.toml
  expected: a table [need], whose predictions `ask.need` uses
     found: a system without one
hint: add `[need]` with `model = "lexical"`; the documentation lists the need models (reference, Models)

"#]]
    );
}

#[test]
fn tables_of_need_models_are_refused() {
    assert_data_eq!(
        refused(silent("[need]\nmodel = \"oracle\"\n"), &[]),
        str![[r#"
mine.toml:7
  expected: `majority` or `lexical`
     found: `"oracle"`: unknown variant `oracle`
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
    let other_key = "[need]\nmodel = \"lexical\"\nencoder = \"all-MiniLM-L6-v2\"\n";
    assert_data_eq!(
        refused(silent(other_key), &[]),
        str![[r#"
mine.toml:8
  expected: one of `c`, `prior_power`, `train_on`
     found: `encoder`: unknown field `encoder`
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
    let train_on = |splits: &str| {
        silent(&format!("[need]\nmodel = \"lexical\"\ntrain_on = [\"train\", {splits}]\n"))
    };
    assert_data_eq!(
        refused(train_on("\"test\""), &[]),
        str![[r#"
mine.toml:8
  expected: ["train"] or ["train", "dev"]
     found: `["train", "test"]`: ["train", "test"]
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
    assert_data_eq!(
        refused(train_on("\"dev\""), &[]),
        str![[r#"
mine.toml
  expected: uses = ["dev-labels"]
     found: uses = [], and the model `lexical`, which is trained on them
hint: the input of a system is shown beside its scores and must be declared

"#]]
    );
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    assert_data_eq!(
        refused(ikat("", ""), &["answer.length=3"]),
        str![[r#"
command line, answer.length=3
  expected: one of `class`, `passages`, `statements`, `responses`, `response`, `summary`, `fits`
     found: unknown field `length`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(BM25, &["answer.passages=3"]),
        str![[r#"
command line, answer.passages=3
  expected: a stage or a table `answer` in mine.toml
     found: a system without it
hint: leave the option out, or choose a system that has it

"#]]
    );
    assert_data_eq!(
        refused(ikat("", ""), &["answer.responses=2"]),
        str![[r#"
mine.toml:31
  expected: response.tokens from 1 to 125
     found: 150
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(ikat("\"automatic\"", "\"magic\""), &[]),
        str![[r#"
mine.toml:32
  expected: one of automatic, manual, only-response
     found: `"magic"`: `magic`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(ikat("tokens = 150", "tokens = 300"), &[]),
        str![[r#"
mine.toml:31
  expected: response.tokens from 1 to 250
     found: 300
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(ikat("response =", "#"), &[]),
        str![[r#"
mine.toml:31
  expected: a key `response`
     found: `responses` or `fits` without it
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    let only = without_responses("").replace("\"automatic\"", "\"only-response\"");
    assert_data_eq!(
        refused(only, &[]),
        str![[r#"
mine.toml:22
  expected: a key `response`
     found: class = "only-response" without it
hint: an only-response run consists of responses; leave `class` at automatic to rank

"#]]
    );
}

#[test]
fn questions_that_do_not_fit_are_refused() {
    assert_data_eq!(
        refused(without_responses("[ask]\nscore_below = 1000\n"), &[]),
        str![[r#"
mine.toml:28
  expected: a key `response` in [answer], for questions
     found: none
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(ikat("[answer]", "[ask]\nmost = 2\n[answer]"), &[]),
        str![[r#"
mine.toml:31
  expected: a key `need` or `score_below`
     found: neither
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(silent("[ask]\nneed = 3\n"), &[]),
        str![[r#"
mine.toml:6
  expected: a table [answer] beside [ask], which has conditions
     found: none
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
}

/// A system with a chat model and further tables.
fn chat(tables: &str) -> String {
    format!(
        "name = \"x\"\nuses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\n\
         url = \"http://localhost:1/v1\"\nmodel = \"m\"\n{tables}\
         [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n"
    )
}

#[test]
fn tables_of_chat_models_that_do_not_fit_are_refused() {
    let asked = |keys: &str| refused(chat(&format!("[ask]\n{keys}\n")), &[]);
    assert_data_eq!(
        asked("chat = \"chat\"\nneed = 3"),
        str![[r#"
mine.toml:7
  expected: a table [answer] beside [ask], which has conditions
     found: none
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        asked("most = 1"),
        str![[r#"
mine.toml:7
  expected: a table [answer] beside [ask], or a key `chat`
     found: neither
hint: `clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        asked("chat = \"chat\"\nmost = 2"),
        str![[r#"
mine.toml:7
  expected: a table [answer] beside [ask] with a key `most`
     found: none
hint: the stage `stop` limits the questions of a conversation

"#]]
    );
    assert_data_eq!(
        asked("chat = \"chat\"\nchoices = 3"),
        str![[r#"
mine.toml:7
  expected: no key `choices` beside `chat`
     found: 3
hint: a chat model is given the conversation, and no passages to choose from

"#]]
    );
    assert_data_eq!(
        asked("chat = \"chat\"\nprompt = \"answer\""),
        str![[r#"
configs/prompts/answer.jinja:16
  expected: one of the variables utterance, utterances, statements
     found: `passages`
hint: the documentation lists the variables of each prompt (how-to, Use a language model)

"#]]
    );
    assert_data_eq!(
        asked("chat = \"chat\"\ntemperature = 0.5"),
        str![[r#"
mine.toml
  expected: uses = ["sampling"]
     found: uses = ["language-model"]
hint: the input of a system is shown beside its scores and must be declared

"#]]
    );
    assert_data_eq!(
        asked("chat = \"other\""),
        str![[r#"
mine.toml
  expected: a table [models.other] with kind = "chat"
     found: none
hint: the documentation lists its keys (reference, Models)

"#]]
    );
    let both = format!("rewrite = {{ chat = \"chat\" }}\n{}", chat("[ask]\nchat = \"chat\"\n"));
    assert_data_eq!(
        refused(both, &[]),
        str![[r#"
mine.toml:8
  expected: either `rewrite` or [ask]
     found: both
hint: the question would be written for the rewritten utterance; leave one out

"#]]
    );
    let words = parse_assignment("answer.response.fewest_words=5", "--set").expect("a key");
    let error = SystemConfig::open_any("ikat-chat", &[words]).err().expect("a refusal");
    assert_data_eq!(
        printed(&error),
        str![[r#"
configs/ikat-chat.toml:37
  expected: no keys `response.fewest_words` and `response.most_words` beside `chat`
     found: one of them
hint: they choose the sentences of an extract

"#]]
    );
}

/// A system with a reranker behind an endpoint, changed.
fn far(from: &str, to: &str) -> String {
    let text = "name = \"far\"\n[models.far-reranker]\nkind = \"rerank\"\nurl = \"http://localhost:1/v1\"\n\
                model = \"shared-words\"\nretries = 0\n\
                [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 40\n\
                [[stages]]\nstage = \"rerank\"\nmodel = \"far-reranker\"\ndepth = 20\n";
    assert!(text.contains(from), "{from}");
    refused(text.replace(from, to), &[])
}

#[test]
fn models_behind_endpoints_that_do_not_fit_are_refused() {
    assert_data_eq!(
        far("retries", "retry"),
        str![[r#"
mine.toml:6
  expected: one of `url`, `model`, `concurrency`, `timeout`, `retries`, `ca`, `dialect`, `batch`, `truncate`
     found: `retry`: unknown field `retry`
hint: the documentation lists the keys of each kind (reference, Models)

"#]]
    );
    assert_data_eq!(
        far("\"rerank\"\nurl", "\"ranker\"\nurl"),
        str![[r#"
mine.toml:3
  expected: one of `chat`, `embed`, `sparse`, `rerank`
     found: `"ranker"`: unknown variant `ranker`
hint: the documentation lists the keys of each kind (reference, Models)

"#]]
    );
    assert_data_eq!(
        far("http://localhost:1/v1", "http://me:secret@host"),
        str![[r#"
mine.toml:2
  expected: an address such as http://localhost:9200, without name or password
     found: another one
hint: the environment variable CLARIQ_API_KEY holds the key

"#]]
    );
    assert_data_eq!(
        far("retries = 0", "dimensions = 3"),
        str![[r#"
mine.toml:6
  expected: one of `url`, `model`, `concurrency`, `timeout`, `retries`, `ca`, `dialect`, `batch`, `truncate`
     found: `dimensions`: unknown field `dimensions`
hint: the documentation lists the keys of each kind (reference, Models)

"#]]
    );
    assert_data_eq!(
        far("retries = 0", "truncate = true"),
        str![[r#"
mine.toml:2
  expected: dialect = "tei" for `truncate`
     found: "v1"
hint: other servers are told to truncate when they are started

"#]]
    );
    let chat = "kind = \"chat\"\ndialect = \"tei\"\nurl";
    assert_data_eq!(
        far("kind = \"rerank\"\nurl", chat),
        str![[r#"
mine.toml:4
  expected: `v1`
     found: `"tei"`: unknown variant `tei`
hint: the documentation lists the keys of each kind (reference, Models)

"#]]
    );
    assert_data_eq!(
        far("far-reranker", "cross-encoder"),
        str![[r#"
mine.toml:2
  expected: a name that no recipe has
     found: `cross-encoder`
hint: the name is that of a recipe; give the model another

"#]]
    );
}

#[test]
fn models_of_recipes_are_of_their_kind_and_declared() {
    let reranked = |uses: &str, model: &str| {
        let rerank = format!("[[stages]]\nstage = \"rerank\"\nmodel = \"{model}\"\ndepth = 5\n");
        refused(format!("uses = [{uses}]\n{BM25}{rerank}"), &[])
    };
    assert_data_eq!(
        reranked("", "cross-encoder"),
        str![[r#"
mine.toml
  expected: uses = ["train-labels"]
     found: uses = [], and the model `cross-encoder`, which is trained on them
hint: the input of a system is shown beside its scores and must be declared

"#]]
    );
    assert_data_eq!(
        reranked("\"train-labels\"", "encoder"),
        str![[r#"
model `encoder`
  expected: a cross-encoder
     found: an encoder
hint: `rerank` and `cross_encode` take cross-encoders or the folder of a monoT5, `rewrite` the folder of a T5, `sparse` sparse encoders, all others encoders

"#]]
    );
    assert_data_eq!(
        refused(format!("rewrite = {{ model = \"encoder\" }}\n{BM25}"), &[]),
        str![[r#"
model `encoder`
  expected: a model that generates text
     found: an encoder
hint: `rerank` and `cross_encode` take cross-encoders or the folder of a monoT5, `rewrite` the folder of a T5, `sparse` sparse encoders, all others encoders

"#]]
    );
}
