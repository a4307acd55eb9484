//! Predicted needs: their labels, what is ranked by them, and which labels their models have seen.

mod refusals;

use crate::common::{Folder, Work};
use clariq_core::Request;
use clariq_experiment::{NeedModels, RankedPart, UserRequest};
use clariq_files::Target;
use clariq_need::Classifier;
use clariq_systems::{SystemConfig, built_in};
use clariq_track_clariq::splits;
use serde_json::{Value, json};
use std::collections::HashSet;

const LEXICAL: &str = "[need]\nmodel = \"lexical\"\n";

/// A system that only asks the empty question, with further lines.
fn silent(more: &str) -> String {
    format!("name = \"mine\"\n\n[[stages]]\nstage = \"no_question\"\nrank = 1\n{more}")
}

/// BM25 with the empty question first if the predicted need is at most `limit`.
fn silent_when_clear(limit: u8) -> String {
    let stage = format!("[[stages]]\nstage = \"no_question\"\nrank = 1\nwhen_need = {limit}\n");
    format!(
        "name = \"mine\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 30\n\n{stage}\n{LEXICAL}"
    )
}

/// A system whose need model is trained on dev as well where it answers test.
fn trained_on_dev() -> String {
    let both = "[need]\nmodel = \"lexical\"\ntrain_on = [\"train\", \"dev\"]\n";
    format!("uses = [\"dev-labels\"]\n{}", silent(both))
}

/// Calls `test` with the need models for a split of the collection in `data`.
fn with_models<T>(folder: &Folder, split: &str, test: impl FnOnce(&NeedModels) -> T) -> T {
    let work = Work::on(folder, "data", split);
    let with_models = |session: &clariq_experiment::Session| {
        let models = NeedModels::new(session.clone());
        test(&models.for_split(Some(split)).expect("a split"))
    };
    work.with_session(with_models).0
}

/// The name of a system of the folder, or of a built-in one.
fn named(folder: &Folder, system: &str) -> String {
    let path = folder.path(system);
    if path.is_file() { path.display().to_string() } else { system.to_owned() }
}

/// The need file of a split by the model of a system or of a file.
fn predicted(folder: &Folder, model: &str, split: &str) -> String {
    let name = named(folder, model);
    with_models(folder, split, |models| {
        let classifier = models.open(&name).expect("a model");
        models.write(&classifier, &Target::new(folder.path("predicted.need"))).expect("written");
    });
    folder.text("predicted.need")
}

/// Rewrites the labels of train.tsv.
fn relabel(folder: &Folder, change: fn(&str) -> &str) {
    folder.edit("data/train.tsv", |text| {
        let line = |(place, line): (usize, &str)| {
            let fields = line.split('\t').enumerate();
            fields
                .map(|(column, field)| if place > 0 && column == 3 { change(field) } else { field })
                .collect::<Vec<_>>()
                .join("\t")
        };
        text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
    });
}

#[test]
fn every_topic_of_a_split_gets_a_line_in_file_order() {
    let folder = Folder::with_sample();
    for split in splits::ALL {
        let name = split.name();
        let printed = predicted(&folder, "bm25-tuned", name);
        let lines: Vec<(&str, &str)> =
            printed.lines().map(|line| line.split_once(' ').expect("two fields")).collect();
        let (ids, _) = Work::on(&folder, "data", name).with_session(|session| {
            let split = session.split.expect("a split");
            let requests = session.collection.requests(split, session.task).expect("requests");
            requests.map(|request| request.expect("one").id.to_string()).collect::<Vec<_>>()
        });
        assert_eq!(lines.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids, "{name}");
        assert!(lines.iter().all(|(_, label)| ["1", "2", "3", "4"].contains(label)), "{printed}");
    }
}

#[test]
fn a_saved_model_a_configuration_and_a_run_give_the_same_labels() {
    let folder = Folder::with_sample();
    with_models(&folder, "dev", |models| {
        let classifier: Classifier = models.open("bm25-tuned").expect("a model");
        classifier.write(&Target::new(folder.path("need.json"))).expect("written");
    });
    Work::on(&folder, "data", "dev").run("bm25-tuned", "a.run").expect("a run");
    let saved = predicted(&folder, "need.json", "dev");
    assert_eq!(saved, predicted(&folder, "bm25-tuned", "dev"));
    assert_eq!(saved, folder.text("a.need"));
}

#[test]
fn a_named_model_predicts_beside_any_system_or_is_refused() {
    let folder = Folder::with_sample();
    let model = folder.path("need.json");
    with_models(&folder, "dev", |models| {
        let classifier = models.open("bm25-tuned").expect("a model");
        classifier.write(&Target::new(&model)).expect("written");
    });
    let saved = predicted(&folder, "need.json", "dev");
    folder.write(
        "own.toml",
        "name = \"own\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n",
    );
    let mut work = Work::on(&folder, "data", "dev");
    work.run("own.toml", "alone.run").expect("a run");
    assert!(!folder.path("alone.need").exists());
    for system in ["own.toml", "ql", "no-question", "bm25"] {
        work.options.need_model = Some(model.clone());
        work.run(system, "a.run").expect("a run");
        assert_eq!(folder.text("a.need"), saved, "{system}");
        work.options.need_model = Some(folder.path("none.json"));
        let refused = work.printed(&work.run(system, "b.run").expect_err("a refusal"));
        assert!(refused.starts_with("error: @/none.json: missing file\n"), "{refused}");
        assert!(!folder.path("b.run").exists(), "{system}");
    }
}

#[test]
fn every_system_of_the_challenge_writes_both_files() {
    let without: Vec<String> = built_in::names()
        .map(|name| SystemConfig::open_any(name, &[]).expect("a system"))
        .filter(|system| system.expected.iter().any(|it| it.collection == "clariq"))
        .filter(|system| system.need.is_none())
        .map(|system| system.name)
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn folds_are_drawn_from_the_seed_and_nothing_of_a_model_is() {
    let folder = Folder::with_sample();
    let (passes, models) = with_models(&folder, "dev", |models| {
        let train = |seed| {
            let training = models.training("bm25-tuned").expect("training data");
            let passes = training.cross_validate(5, 2, seed).expect("figures");
            let output = folder.path("need.json");
            training.fit().expect("a model").write(&Target::new(&output)).expect("written");
            (format!("{passes:?}"), folder.read("need.json"))
        };
        [train(1), train(1), train(2)].into_iter().unzip::<_, _, Vec<_>, Vec<_>>()
    });
    assert!(passes[0] == passes[1] && passes[0] != passes[2]);
    assert!(models.windows(2).all(|pair| pair[0] == pair[1]), "a regression is convex");
}

#[test]
fn an_explanation_has_probabilities_and_the_features_behind_the_label() {
    let folder = Folder::with_sample();
    let long = "tent ".repeat(10_000);
    let requests = [
        "tell me about tents",
        "?",
        &long,
        "我想知道关于帐篷的信息",
        "أخبرني عن الخيام",
        "🏕🐝",
        "Tëll mé",
    ];
    with_models(&folder, "dev", |models| {
        let model = models.open("bm25-tuned").expect("a model");
        for request in requests {
            let (prediction, shares) = model.explain(request);
            let sum: f64 = prediction.probabilities.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{request}: {sum}");
            let best = prediction.probabilities[prediction.label];
            assert!(best > 0.0, "{request}");
            assert!(shares.len() >= 3, "{request}");
            let falls = shares.windows(2).all(|pair| pair[0].share.abs() >= pair[1].share.abs());
            assert!(falls, "{request}: strongest first");
        }
    });
}

#[test]
fn requests_of_any_length_and_language_get_a_label() {
    let folder = Folder::with_sample();
    folder.remove("data/test_with_labels.tsv");
    let long = "tent ".repeat(10_000);
    let requests = ["", &long, "我想知道关于帐篷的信息", "أخبرني عن الخيام", "🏕🐝", "?!\u{200b}"];
    let row = |(request, id): (&&str, u32)| format!("{id}\t{request}\n");
    let rows: String = requests.iter().zip(1001..).map(row).collect();
    folder.write("data/test.tsv", format!("topic_id\tinitial request\n{rows}"));
    for model in ["bm25", "bm25-tuned"] {
        let labels = predicted(&folder, model, "test");
        assert_eq!(labels.lines().count(), 6, "{labels}");
    }
}

/// Two labels are enough to learn from, and no other is ever given.
#[test]
fn labels_that_train_lacks_are_not_predicted() {
    let folder = Folder::with_sample();
    relabel(&folder, |need| if need == "1" { "1" } else { "3" });
    let labels = predicted(&folder, "bm25-tuned", "dev");
    assert!(labels.lines().all(|line| line.ends_with(" 1") || line.ends_with(" 3")), "{labels}");
}

/// The first question of every topic, in file order: true for the empty one.
fn first_questions(folder: &Folder, split: &str) -> Vec<(String, bool)> {
    Work::on(folder, "data", split).run("mine.toml", "a.run").expect("a run");
    let run = folder.text("a.run");
    let fields = run.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let first = fields.filter(|line| line[3] == "1");
    first.map(|line| (line[0].to_owned(), line[2] == "Q00001")).collect()
}

#[test]
fn the_empty_question_comes_first_where_the_predicted_need_is_low() {
    let folder = Folder::with_sample();
    let mut seen = HashSet::new();
    for limit in 1..=2 {
        folder.write("mine.toml", silent_when_clear(limit));
        for split in ["train", "dev", "test"] {
            let first = first_questions(&folder, split);
            let clear = |line: &str| {
                let (topic, label) = line.split_once(' ').expect("two fields");
                (topic.to_owned(), label.parse::<u8>().expect("a label") <= limit)
            };
            let needs: Vec<_> = folder.text("a.need").lines().map(clear).collect();
            assert_eq!(first, needs, "{split}");
            seen.extend(needs.into_iter().map(|(_, clear)| (limit, clear)));
        }
    }
    assert_eq!(seen.len(), 4, "both limits have requests on both sides: {seen:?}");
}

/// Labels of the split that is answered change nothing, and those of train change nothing for the
/// topic that has them.
#[test]
fn no_label_of_a_topic_reaches_its_ranking() {
    let folder = Folder::with_sample();
    folder.write("mine.toml", silent_when_clear(1));
    let before = first_questions(&folder, "dev");
    folder.edit("data/dev.tsv", |text| {
        let other = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let need =
                fields[3].parse::<u8>().map_or(fields[3].to_owned(), |need| (5 - need).to_string());
            [&fields[..3], &[need.as_str()], &fields[4..]].concat().join("\t")
        };
        text.lines().map(other).collect::<Vec<_>>().join("\n") + "\n"
    });
    assert_eq!(before, first_questions(&folder, "dev"));
    assert_eq!(folder.json("a.run.json")["need"]["folds"], Value::Null);
    let before = first_questions(&folder, "train");
    let folds = &folder.json("a.run.json")["need"]["folds"];
    assert_eq!(folds, 10, "topics of train are labelled by models that did not see them");
    let labels = predicted(&folder, "mine.toml", "train");
    let seen = labels.lines().map(|line| line.ends_with(" 1"));
    let held_out = before.iter().map(|(_, first)| *first);
    assert!(held_out.ne(seen), "held-out predictions differ from those of the whole model");
}

#[test]
fn an_explanation_follows_the_predicted_need() {
    let folder = Folder::with_sample();
    folder.write("mine.toml", silent_when_clear(4));
    let query = UserRequest::from(Request::new("1", "tell me about tents"));
    let explained = Work::on(&folder, "data", "dev").with_system("mine.toml", |system| {
        let empty = system.session().documents.find("Q00001").expect("the empty question");
        system.explain(&query, RankedPart::Documents, empty).expect("traces").remove(0).stages
    });
    let stages = explained.expect("a system").0;
    let last = stages.last().expect("a stage");
    assert_eq!((last.stage, last.rank), ("no_question", Some(1)));
    let why = json!(last.explanation).to_string();
    assert!(why.contains("predicted need, at most 4"), "{why}");
}

#[test]
fn dev_labels_train_models_for_test_only_and_the_record_lists_them() {
    let folder = Folder::with_sample();
    folder.write("both.toml", trained_on_dev());
    folder.write("train.toml", silent(LEXICAL));
    for split in ["train", "dev", "test"] {
        let [both, train] = ["both", "train"].map(|name| {
            let run = format!("{name}.run");
            let work = Work::on(&folder, "data", split);
            work.run(&format!("{name}.toml"), &run).expect("a run");
            folder.json(&format!("{run}.json"))
        });
        assert_eq!(train["need"]["train_on"], json!(["train"]));
        if split == "test" {
            assert_eq!(both["need"]["train_on"], json!(["train", "dev"]));
            assert_eq!(both["uses"], json!(["dev-labels"]));
            assert_ne!(both["need"]["parameters"], train["need"]["parameters"]);
        } else {
            assert_eq!((&both["need"], &both["uses"]), (&train["need"], &json!([])), "{split}");
            assert!(folder.read("both.need") == folder.read("train.need"), "{split}");
        }
    }
    assert_eq!(predicted(&folder, "both.toml", "test"), folder.text("both.need"));
}

#[test]
fn a_model_that_was_trained_on_dev_has_no_held_out_figures_of_dev() {
    let folder = Folder::with_sample();
    folder.write("both.toml", trained_on_dev());
    let both = named(&folder, "both.toml");
    with_models(&folder, "test", |models| {
        let model = models.open(&both).expect("a model");
        assert!(models.held_out(&model).expect("no figures").is_none());
    });
    with_models(&folder, "dev", |models| {
        let model = models.open("bm25-tuned").expect("a model");
        let held_out = models.held_out(&model).expect("figures").expect("dev has labels");
        assert!(held_out.pairs.iter().all(|(label, _)| *label < 4));
        assert_eq!(held_out.pairs.len(), held_out.confidence.len());
    });
}

/// Documents of one's own in `docs`, whose requests have these needs; the last of train and of test are
/// conversations, whose last utterances count.
fn own_requests(folder: &Folder, needs: [&str; 2]) {
    folder.write("docs/documents.jsonl", "{\"id\": \"a\", \"text\": \"which tent do you mean\"}\n");
    let [vague, clear] = needs;
    let line = |id: u32, text: &str, need: &str| {
        format!("{{\"id\": \"{id}\", \"text\": \"{text}\", \"need\": {need}}}\n")
    };
    let said = |id: u32, text: &str, need: &str| {
        format!(
            "{{\"id\": \"{id}\", \"said\": [{{\"user\": \"a map\"}}, {{\"system\": \"which?\"}}, \
             {{\"user\": \"{text}\"}}], \"need\": {need}}}\n"
        )
    };
    let long = "where do I buy a blue tent for two people in Oslo";
    let train = [
        line(1, "tents", vague),
        line(2, "maps", vague),
        line(3, long, clear),
        line(4, "which boats are sold in the harbour of Oslo", clear),
        "{\"id\": \"5\", \"text\": \"without a label\"}\n".to_owned(),
        line(6, "boats", vague),
        said(7, "which museum in Oslo has ships of the Vikings", clear),
    ];
    folder.write("docs/requests.train.jsonl", train.concat());
    let test = [line(8, "cars", vague), line(9, long, clear), said(10, long, vague)];
    folder.write("docs/requests.test.jsonl", test.concat());
}

#[test]
fn needs_of_other_names_are_learned_and_predicted_for_documents_of_ones_own() {
    for needs in [["\"vague\"", "\"clear\""], ["3", "1"], ["\"3\"", "\"1\""]] {
        let folder = Folder::with_sample();
        own_requests(&folder, needs);
        let stage = "[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 30\n";
        folder.write("mine.toml", format!("name = \"mine\"\n\n{stage}\n{LEXICAL}"));
        let [vague, clear] = needs.map(|need| need.trim_matches('"'));
        let expected = format!("8 {vague}\n9 {clear}\n10 {clear}\n");
        let work = Work::on(&folder, "docs", "test");
        work.with_session(|session| {
            let models = NeedModels::new(session.clone());
            let system = folder.path("mine.toml").display().to_string();
            let model = models.open(&system).expect("a model");
            assert_eq!(model.made_of.topics, 6, "the requests of train with a label");
            let target = Target::new(folder.path("a.need"));
            models.write(&model, &target).expect("written");
        });
        assert_eq!(folder.text("a.need"), expected);
        work.run("mine.toml", "mine.run").expect("a run");
        assert_eq!(folder.text("mine.need"), expected, "a run writes the same needs beside it");
    }
}

#[test]
fn needs_by_name_are_refused_where_a_stage_compares_needs() {
    let folder = Folder::with_sample();
    own_requests(&folder, ["\"vague\"", "\"clear\""]);
    folder.write("mine.toml", silent_when_clear(1));
    let problem = Work::on(&folder, "docs", "test").run("mine.toml", "a.run").unwrap_err();
    let shown = problem.to_string();
    assert!(shown.contains("needs from 1 to 4") && shown.contains("clear, vague"), "{shown}");
}

#[test]
fn requests_of_ones_own_that_train_a_model_are_ranked_by_held_out_needs() {
    let folder = Folder::with_sample();
    own_requests(&folder, ["3", "1"]);
    folder.write("mine.toml", silent_when_clear(1));
    Work::on(&folder, "docs", "train").run("mine.toml", "a.run").expect("a run");
    assert_eq!(folder.json("a.run.json")["need"]["folds"], 10);
    assert_eq!(folder.text("a.need").lines().count(), 7, "those without a label have one, too");
}
