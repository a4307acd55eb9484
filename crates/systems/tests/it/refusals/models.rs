//! Chat models, models behind endpoints, and models of recipes.

use super::{BM25, printed, refused};
use clariq_systems::{SystemConfig, parse_assignment};
use snapbox::{assert_data_eq, str};

/// A system with a chat model and further tables.
fn chat(tables: &str) -> String {
    format!(
        "name = \"x\"\nuses = [\"language-model\"]\n[models.chat]\nkind = \"chat\"\n\
         url = \"http://localhost:1/v1\"\nmodel = \"m\"\n{tables}\
         [[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n"
    )
}

#[test]
#[expect(clippy::too_many_lines, reason = "one refusal after the other")]
fn tables_of_chat_models_that_do_not_fit_are_refused() {
    let asked = |keys: &str| refused(chat(&format!("[ask]\n{keys}\n")), &[]);
    assert_data_eq!(
        asked("chat = \"chat\"\nneed = 3"),
        str![[r#"
mine.toml:7
  expected: a table [answer] beside [ask], which has conditions
     found: none
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        asked("most = 1"),
        str![[r#"
mine.toml:7
  expected: a table [answer] beside [ask], or a key `chat`
     found: neither
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

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
  expected: one of the variables utterance, utterances, statements, form
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
        asked("chat = \"chap\""),
        str![[r#"
mine.toml
  expected: a table [models.chap] with kind = "chat"
     found: none
hint: did you mean `chat`?

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
    let set = |text: &str| {
        let set = parse_assignment(text, "--set").expect("a key");
        printed(&SystemConfig::open_any("ikat-chat", &[set]).err().expect("a refusal"))
    };
    assert_data_eq!(
        set("models.caht.url=http://localhost:1/v1"),
        str![[r#"
command line, models.caht.url=http://localhost:1/v1
  expected: a table `models.caht` in configs/ikat-chat.toml
     found: a system without it
hint: did you mean `chat`?

"#]]
    );
    assert_data_eq!(
        set("chat.url=http://localhost:1/v1"),
        str![[r#"
command line, chat.url=http://localhost:1/v1
  expected: a stage or a table `chat` in configs/ikat-chat.toml
     found: a system without it
hint: did you mean `models.chat.url`?

"#]]
    );
    assert_data_eq!(
        set("models.chat.url=localhost:8080"),
        str![[r#"
command line, models.chat.url=localhost:8080
  expected: an address such as http://localhost:9200, without name, password or query
     found: `localhost:8080`
hint: did you mean http://localhost:8080?

"#]]
    );
    assert_data_eq!(
        set("answer.statements.none_below=nan"),
        str![[r#"
command line, answer.statements.none_below=nan
  expected: a number as statements.none_below
     found: NaN
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    let words = parse_assignment("answer.response.fewest_words=5", "--set").expect("a key");
    let error = SystemConfig::open_any("ikat-chat", &[words]).err().expect("a refusal");
    assert_data_eq!(
        printed(&error),
        str![[r#"
command line, answer.response.fewest_words=5
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
hint: did you mean `retries`?

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
  expected: an address such as http://localhost:9200, without name, password or query
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
mine.toml:2
  expected: dialect = "v1" for kind = "chat"
     found: "tei"
hint: the documentation lists the dialects of each kind (reference, Models)

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
