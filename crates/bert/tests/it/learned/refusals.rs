//! Systems and recipes that cannot run, with the whole message. No file is left or changed.

use super::{BM25, folder, system, train_recipe, work, write};
use crate::common::Folder;
use clariq_experiment::training::TrainMode;
use snapbox::{assert_data_eq, str};

/// The message that a system is refused with.
fn refused_run(folder: &Folder, stages: &[&str]) -> String {
    write(folder, "s.toml", &system("s", "", stages));
    let before = folder.snapshot();
    let work = work(folder, "data", "dev");
    let error = work.run("s.toml", "s.run").expect_err("a refusal");
    assert!(folder.snapshot() == before, "a file was left or changed");
    work.printed(&error)
}

/// The message that a training is refused with.
fn refused_training(folder: &Folder, recipe: &str, set: &[&str]) -> String {
    let before = folder.snapshot();
    let work = work(folder, "data", "dev");
    let trained = train_recipe(&work, recipe, set, TrainMode::Reuse, Some("m"));
    let error = trained.expect_err("a refusal");
    assert!(folder.snapshot() == before, "a file was left or changed");
    work.printed(&error)
}

#[test]
fn systems_that_cannot_run_are_refused() {
    let folder = folder();
    let nobody = [BM25, "\"rerank\"\nmodel = \"nobody\""];
    assert_data_eq!(
        refused_run(&folder, &nobody),
        str![[r#"
error: model `nobody`
  expected: a folder, a recipe (`cross-encoder`, `cross-encoder-base`, `published-cross-encoder`), or an installed model
     found: nothing of that name in @/cache/models either
hint: `clariq setup --model nobody --from DIR` installs it; `clariq doctor` lists the installed ones, and --set names any folder, as in rerank.model=FOLDER

"#]]
    );
    let bytes = folder.read("tiny/model.safetensors");
    folder.write("tiny/model.safetensors", &bytes[..bytes.len() / 2]);
    assert_data_eq!(
        refused_run(&folder, &["\"dense\""]),
        str![[r#"
error: @/tiny/model.safetensors
  expected: weights that can be read
     found: safetensors error @/tiny/model.safetensors: MetadataIncompleteBuffer
hint: copy the file again from where the model came from; it may be truncated

"#]]
    );
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let folder = folder();
    write(&folder, "s.toml", &system("s", "", &["\"dense\""]));
    let mut work = work(&folder, "data", "dev");
    work.options.device = "cuda:9".to_owned();
    let error = work.run("s.toml", "s.run").expect_err("a refusal");
    assert_data_eq!(
        work.printed(&error),
        str![[r#"
error: --device
  expected: one of [..] GPUs that libtorch sees, or `cpu`
     found: `cuda:9`
hint: a CUDA build of libtorch 2.4 is needed

"#]]
    );
}

#[test]
fn recipes_that_cannot_train_are_refused() {
    let folder = folder();
    let scorer = folder.text("scorer.toml");
    let changed = |from: &str, to: &str| {
        folder.write("scorer.toml", scorer.replace(from, to));
        refused_training(&folder, "scorer.toml", &[])
    };
    assert_data_eq!(
        changed("learning_rate", "learning_rat"),
        str![[r#"
error: @/scorer.toml:4
  expected: a training recipe
     found: unknown field `learning_rat`, expected one of `name`, `description`, `base`, `objective`, `epochs`, `learning_rate`, `warm_up`, `schedule`, `weight_decay`, `clip`, `dropout`, `max_tokens`, `lengthen`, `group`, `precision`, `train_on`, `seed`, `held_out`, `first_stage`, `fold`, `patience`, `evaluate_every`, `checkpoint_every`
hint: did you mean `learning_rate`?

"#]]
    );
    assert_data_eq!(
        changed("1e-3", "-1e-3"),
        str![[r#"
error: @/scorer.toml
  expected: learning_rate above 0
     found: -0.001
hint: the documentation lists the keys of a recipe (reference, Models)

"#]]
    );
    assert_data_eq!(
        changed("/tiny\"", "/nobody\""),
        str![[r#"
error: model `@/nobody`
  expected: a folder, a recipe (`cross-encoder`, `cross-encoder-base`, `published-cross-encoder`), or an installed model
     found: nothing of that name in @/cache/models either
hint: `clariq setup --model NAME --from DIR` installs it; `clariq doctor` lists the installed ones, and --set names any folder, as in rerank.model=FOLDER

"#]]
    );
    folder.write("scorer.toml", &scorer);
    let set = |set: &[&str]| refused_training(&folder, "scorer.toml", set);
    assert_data_eq!(
        set(&["learning_rat=1"]),
        str![[r#"
error: --set
  expected: key=value with a key of a recipe, for example seed=7
     found: unknown field `learning_rat`, expected one of `name`, `description`, `base`, `objective`, `epochs`, `learning_rate`, `warm_up`, `schedule`, `weight_decay`, `clip`, `dropout`, `max_tokens`, `lengthen`, `group`, `precision`, `train_on`, `seed`, `held_out`, `first_stage`, `fold`, `patience`, `evaluate_every`, `checkpoint_every`
hint: did you mean `learning_rate`?

"#]]
    );
    assert_data_eq!(
        set(&["held_out=0.5", "fold=2"]),
        str![[r#"
error: --set
  expected: a fold below 1 / held_out
     found: 2
hint: the documentation lists the keys of a recipe (reference, Models)

"#]]
    );
    folder.write("m/mine.txt", "mine");
    assert_data_eq!(
        set(&[]),
        str![[r#"
error: --output
  expected: a folder that does not exist
     found: @/m exists already
hint: name another folder, or remove that one

"#]]
    );
    folder.remove("m/mine.txt");
    folder.write("m/training.json", "{\"key\": \"other\"}");
    assert_data_eq!(
        set(&[]),
        str![[r#"
error: --output
  expected: a folder that does not exist, or this recipe's model
     found: @/m exists already
hint: name another folder, or remove that one

"#]]
    );
    folder.remove("m/training.json");
    std::fs::remove_dir(folder.path("m")).expect("removed");
    folder.edit("data/train.tsv", |text| text.lines().next().expect("a header").to_owned() + "\n");
    assert_data_eq!(
        refused_training(&folder, "vectors.toml", &[]),
        str![[r#"
error: @/data/train.tsv:2: empty file
  expected: at least one row below the header
     found: nothing
hint: the file was probably cut short: fetch it again

"#]]
    );
}
