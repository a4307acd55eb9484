//! Systems and recipes that are another one with other values of some keys.

use clariq_files::Source;
use clariq_systems::{SystemConfig, find_recipes, parse_assignment};
use snapbox::{assert_data_eq, str};

fn read(text: &str) -> Result<SystemConfig, String> {
    let source = Source::memory("mine.toml", text.as_bytes().to_vec());
    SystemConfig::read(&source, &[]).map_err(|error| error.to_string())
}

fn based(on: &str, set: &str) -> Result<SystemConfig, String> {
    read(&format!("name = \"mine\"\nbased_on = \"{on}\"\n{set}"))
}

#[test]
fn a_system_is_the_other_with_its_own_values_and_scores() {
    let [base, system] = ["bert-reranker", "reranker-base"]
        .map(|name| SystemConfig::write_with(name, &[], "mine", "").unwrap());
    assert_eq!(system, base.replace("\"cross-encoder\"", "\"cross-encoder-base\""));
    let system = SystemConfig::open("reranker-base", &[]).unwrap();
    assert_eq!((&*system.name, &*system.file), ("reranker-base", "configs/reranker-base.toml"));
    assert!(system.description.contains("all-mpnet-base-v2"), "{}", system.description);
    let scores: Vec<_> = system.expected.iter().map(|it| (&*it.collection, &*it.split)).collect();
    assert_eq!(scores, [("clariq", "dev")]);
    let text = SystemConfig::write_with("best-base", &[], "mine", "").unwrap();
    assert!(text.contains("all-mpnet-base-v2 = 0.5\nencoder-base = 0.5"), "{text}");
    assert!(!text.contains("MiniLM") && text.contains("characters = 0.5"), "{text}");
}

#[test]
fn its_checksum_is_of_both_files_and_the_command_line_has_the_last_word() {
    let checksum = |on: &str| based(on, "[set.bm25]\nk1 = 0.7\n").unwrap().checksum;
    assert_ne!(checksum("bm25-english"), checksum("bm25-tuned"));
    let set = [parse_assignment("rerank.depth=5", "--set").unwrap()];
    let system = SystemConfig::open("reranker-base", &set).unwrap();
    assert_eq!(system.full_name(), "reranker-base-depth-5");
    let model = [parse_assignment("rerank.model=\"cross-encoder\"", "--set").unwrap()];
    let models = SystemConfig::open("reranker-base", &model).unwrap().models();
    assert_eq!(models.iter().map(|model| &*model.name).collect::<Vec<_>>(), ["cross-encoder"]);
}

#[test]
fn a_recipe_is_the_other_with_its_own_values() {
    let recipe = |name: &str| find_recipes(&[name.to_owned()], &[]).unwrap().remove(0);
    let [base, own] = ["cross-encoder", "cross-encoder-base"].map(recipe);
    let set = ["base=all-mpnet-base-v2", "epochs=0.5", "group=32", "objective.system=dense-base"];
    let mut expected = base.with(&set).unwrap();
    expected.name.clone_from(&own.name);
    expected.description.clone_from(&own.description);
    assert_eq!(own, expected);
}

#[test]
fn what_it_cannot_be_based_on_is_refused_with_its_line() {
    let told = [
        based("nothing", ""),
        based("best-base", ""),
        based("bm25", "[set.bm26]\nk1 = 0.9\n"),
        based("bm25", "[set.bm25]\nk7 = 0.9\n"),
        based("bm25", "[set.bm25]\nk1 = \"x\"\n"),
        based("bm25", "[set]\nk1 = 0.9\n"),
        based("bm25", "[[stages]]\nstage = \"bm25\"\n"),
        read("name = \"my system\"\nbased_on = \"bm25\"\n"),
    ];
    let told: Vec<String> = told.into_iter().map(|it| it.err().unwrap_or_default()).collect();
    assert_data_eq!(
        told.join("\n\n"),
        str![[r#"
mine.toml:2: expected a built-in system or a configuration file, found nothing of that name

mine.toml:2: expected a system that is based on no other, found `best-base`, which is based on another itself

mine.toml:3: expected a stage or a table `bm26` in configs/bm25.toml, found a system without it

mine.toml:3: expected one of `analyzer`, `variant`, `k1`, `b`, `delta`, `mu`, `depth`, `pad`, `ties`, `glued`, `weights`, `history`, found unknown field `k7`

mine.toml:3: expected a number, found string "x"

mine.toml:3: expected stage.key=value, for example bm25.k1=0.9, found `k1=0.9`

mine.toml:3: expected one of `name`, `description`, `chosen_on`, `also`, `based_on`, `set`, `expected`, found `stages`: unknown field `stages`

mine.toml:1: expected a name of letters, digits, `-`, `_` and `.`, found `my system`
"#]]
    );
}
