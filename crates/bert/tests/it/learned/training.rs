//! Trained models: found again, trained anew for other data, and used by systems.

use super::{BM25, LISTS, folder, recipe, system, train_recipe, work, write};
use crate::common::{Folder, Work, root};
use crate::training::files;
use clariq_collections::evaluation::{Answers, ScoreOptions};
use clariq_core::{Recipe, RequestId};
use clariq_eval::{Score, parse_measures};
use clariq_experiment::reproduce;
use clariq_experiment::training::{TrainMode, pipeline_scores};
use clariq_files::Source;
use clariq_systems::find_recipes;
use serde_json::Value;
use std::fs;

#[test]
fn folds_hold_out_other_topics() {
    let folder = folder();
    let held_out = |fold: usize| -> Vec<Value> {
        let output = format!("fold-{fold}");
        let set = ["held_out=0.5", &format!("fold={fold}"), "epochs=0.02"];
        let work = work(&folder, "data", "dev");
        train_recipe(&work, "vectors.toml", &set, TrainMode::Reuse, Some(&output))
            .expect("a model");
        let card = folder.json(&format!("{output}/training.json"));
        card["held_out_topics"].as_array().expect("topics").clone()
    };
    let (first, second) = (held_out(0), held_out(1));
    assert!(!first.is_empty() && !second.is_empty());
    assert!(first.iter().filter(|topic| second.contains(topic)).count() < first.len() / 2);
}

/// The topics that the training of a model held out.
fn held_out_topics(folder: &Folder, model: &str) -> Vec<String> {
    let card = folder.json(&format!("{model}/training.json"));
    let topics = card["held_out_topics"].as_array().expect("topics").iter();
    topics.map(|topic| topic.as_str().expect("an id").to_owned()).collect()
}

/// Means of measures over some topics of a run of train.
fn means(work: &Work, run: &str, topics: &[String], measures: &str) -> Vec<f64> {
    let measures = parse_measures(measures).expect("measures");
    let (scores, _) = work.with_session(|session| {
        let by = ScoreOptions { measures: &measures, ..ScoreOptions::default() };
        let evaluation = session.collection.evaluation(session.split.expect("train"));
        let evaluation = evaluation.expect("labels");
        let run = Source::new(work.folder.path(run));
        evaluation.cases(Answers::File(&run), &by).expect("scores").scores
    });
    let mean = |score: &Score| {
        let is_held_out = |(topic, _): &&(RequestId, f64)| topics.contains(&topic.to_string());
        let values: Vec<f64> = score.values.iter().filter(is_held_out).map(|one| one.1).collect();
        assert_eq!(values.len(), topics.len());
        values.iter().sum::<f64>() / topics.len() as f64
    };
    scores.iter().map(mean).collect()
}

#[test]
fn held_out_figures_are_those_of_the_runs_that_a_model_is_for() {
    let folder = folder();
    // The ties of the published run decide which questions are among the first 30.
    let first = format!("{BM25}\nties = {{ numpy = [\"575333ff3f8b\"] }}");
    write(
        &folder,
        "pairs.toml",
        &system("pairs", "", &[&first, "\"rerank\"\nmodel = \"@/model\""]),
    );
    let space = "name = \"space\"\n[space]\nmodels = { \"@/model\" = 1.0 }\n\
                 [[stages]]\nstage = \"dense\"\ndepth = 30\n";
    write(&folder, "space.toml", space);
    for (recipe, system) in [("scorer.toml", "pairs.toml"), ("vectors.toml", "space.toml")] {
        let _ = fs::remove_dir_all(folder.path("model"));
        let work = work(&folder, "data", "train");
        // As many tokens as the model has positions: those that the runs below read.
        let set = ["held_out=0.3", "max_tokens=96"];
        let (_, trained, _) =
            train_recipe(&work, recipe, &set, TrainMode::Reuse, Some("model")).expect("a model");
        let topics = held_out_topics(&folder, "model");
        work.run(system, "held-out.run").expect("a run");
        let of_run = means(&work, "held-out.run", &topics, "R@5 R@10 R@20 R@30");
        let held_out = trained.expect("a training").recall.expect("held-out topics");
        for (of_run, held_out) in of_run.iter().zip(held_out) {
            assert!((of_run - held_out).abs() < 1e-9, "{recipe}: {of_run} {held_out}");
        }
        assert!(of_run[3] < 0.9, "{recipe}: {of_run:?}");
    }
}

#[test]
fn a_trained_model_is_reused_and_other_data_train_another() {
    let folder = folder();
    let train = |mode, output| {
        let work = work(&folder, "data", "dev");
        let (model, trained, notes) =
            train_recipe(&work, "vectors.toml", &[], mode, output).expect("a model");
        assert_eq!(trained.is_some(), notes.contains("it is kept in"), "{notes}");
        (model, trained.is_some())
    };
    let (kept, trained) = train(TrainMode::Reuse, None);
    assert!(trained);
    assert_eq!(train(TrainMode::Reuse, None), (kept.clone(), false));
    // A folder that is named holds a copy of the same model.
    let (named, trained) = train(TrainMode::Reuse, Some("named"));
    assert!(!trained && files(&named) == files(&kept));
    folder.edit("data/train.tsv", |text| {
        let lines: Vec<&str> = text.lines().collect();
        lines[..lines.len() - 9].join("\n") + "\n"
    });
    let trained = [TrainMode::Reuse, TrainMode::Reuse, TrainMode::Force];
    assert_eq!(trained.map(|mode| train(mode, None).1), [true, false, true]);
}

#[test]
fn models_learn_from_labels_of_ones_own() {
    let folder: Folder = folder();
    folder.copy("data/sample-own", "own");
    let mining =
        "name = \"mining\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 20";
    folder.write("mining.toml", mining);
    let lists = LISTS.replace("\"bm25\"", "\"@/mining.toml\"");
    write(&folder, "scorer.toml", &recipe("scorer", &lists, 2.0));
    let softmax = "kind = \"in-batch-softmax\"\nbatch = 4";
    write(&folder, "vectors.toml", &recipe("vectors", softmax, 2.0));
    let work = work(&folder, "own", "dev");
    let train = |recipe: &str| {
        let trained = train_recipe(&work, recipe, &[], TrainMode::Reuse, None).expect("a model").1;
        assert!(trained.is_some(), "{recipe} was not trained before");
    };
    train("vectors.toml");
    train("scorer.toml");
    write(
        &folder,
        "trained.toml",
        "name = \"trained\"\nuses = [\"train-labels\"]\n[space]\nmodels = { \"@/vectors.toml\" = 1.0 }\n\
         [[stages]]\nstage = \"dense\"\n[[stages]]\nstage = \"rerank\"\nmodel = \"@/scorer.toml\"\ndepth = 5",
    );
    // The system opens the trained models, and its figures are shown although none is expected.
    let config = work.load("trained.toml").expect("a system");
    let (measures, notes) = work.with_session(|session| {
        let mut measures = Vec::new();
        let split = session.split.expect("dev");
        let runs = folder.path("runs");
        reproduce::check(session, [&config], split, &runs, &mut |figure| {
            assert_eq!(figure.verdict, None);
            measures.push(figure.measure);
        })
        .expect("figures");
        measures
    });
    assert!(measures.iter().any(|measure| measure == "nDCG@10"), "{measures:?}");
    assert!(!notes.contains("training"), "{notes}");
    folder.edit("own/qrels.train.txt", |text| {
        text.lines().filter(|line| !line.starts_with("t3 ")).collect::<Vec<_>>().join("\n")
    });
    // Other labels train anew.
    train("vectors.toml");
}

#[test]
fn an_encoder_of_documents_is_measured_in_its_pipeline_beside_its_base_and_bm25() {
    let folder = folder();
    folder.copy("data/sample-own", "mine");
    let softmax = "kind = \"in-batch-softmax\"\nbatch = 4";
    write(&folder, "vectors.toml", &recipe("vectors", softmax, 2.0));
    let work = work(&folder, "mine", "train");
    let set = ["held_out=0.4"];
    train_recipe(&work, "vectors.toml", &set, TrainMode::Reuse, Some("model")).expect("a model");
    let topics = held_out_topics(&folder, "model");
    let names = [folder.path("vectors.toml").display().to_string()];
    let recipe = find_recipes(&names, &set.map(str::to_owned)).expect("a recipe").remove(0);
    let (figures, _) =
        work.with_session(|session| pipeline_scores(session, &recipe, &folder.path("model")));
    let figures = figures.expect("figures").expect("held-out topics");
    let hybrid = fs::read_to_string(root().join("configs/hybrid.toml")).expect("the system");
    let (hybrid, _) = hybrid.split_once("# The default need model").expect("a table `[need]`");
    let lexical = fs::read_to_string(root().join("configs/bm25-english.toml")).expect("the system");
    let (lexical, _) = lexical.split_once("# The default need model").expect("a table `[need]`");
    let with = |encoder: &str| hybrid.replace("all-MiniLM-L6-v2", &format!("@/{encoder}"));
    let mut runs = Vec::new();
    for (system, figure) in [
        (with("model"), figures.trained),
        (with("tiny"), figures.untrained),
        (lexical.to_owned(), figures.bm25),
    ] {
        write(&folder, "system.toml", &system);
        work.run("system.toml", "held-out.run").expect("a run");
        let of_run = means(&work, "held-out.run", &topics, "nDCG@10")[0];
        assert!((of_run - figure).abs() < 1e-9, "{of_run} {figure}: {system}");
        runs.push(folder.text("held-out.run"));
    }
    assert_ne!(runs[0], runs[1], "a trained encoder changes scores");
    let none = Recipe { held_out: 0.0, ..recipe };
    let (none, _) =
        work.with_session(|session| pipeline_scores(session, &none, &folder.path("model")));
    assert_eq!(none.expect("no figures"), None);
}

#[test]
fn a_reranker_of_documents_reads_them_and_is_compared_with_their_first_stage() {
    let folder = folder();
    folder.copy("data/sample-own", "mine");
    let train = |data: &str, set: &[&str], output: Option<&str>| {
        let work = work(&folder, data, "dev");
        train_recipe(&work, "scorer.toml", set, TrainMode::Reuse, output).expect("a model")
    };
    let set = ["lengthen=true", "held_out=0.4", "epochs=1"];
    let (_, trained, notes) = train("mine", &set, Some("model"));
    let trained = trained.expect("a training");
    assert!(trained.recall.is_some() && trained.first_stage.is_some(), "{trained:?}");
    let said = "note: `scorer` reads pairs of 96 tokens, for the length of the documents (--set \
                lengthen=false: 50)";
    assert!(notes.contains(said), "{notes}");
    let recipe = &folder.json("model/training.json")["recipe"];
    let kept = ["max_tokens", "group", "first_stage", "lengthen"].map(|key| recipe[key].clone());
    assert_eq!(kept, [96.into(), 3.into(), "bm25-english".into(), Value::Null]);
    let card = folder.text("model/README.md");
    assert!(card.contains("reordering the first 30 of bm25-english: R@5 "), "{card}");
    assert!(card.contains("The same topics before reordering: R@5 "), "{card}");
    // Where nothing is longer, it is the same training.
    let (_, first, _) = train("data", &["max_tokens=96"], None);
    let (_, again, _) = train("data", &["max_tokens=96", "lengthen=true"], None);
    assert!(first.is_some() && again.is_none());
}
