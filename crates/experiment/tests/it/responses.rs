//! Submissions of systems: rankings alone, one or several responses, or clarifying questions, in
//! the form of 2024 and of 2025.

use crate::common::{Folder, Work, root};
use clariq_collections::DataDir;
use clariq_core::{Request, Utterance};
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::run::usual_path;
use clariq_experiment::{Contexts, NeedModels, Statements, UserRequest};
use clariq_files::Target;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use std::fs;
use std::path::Path;

/// A folder with a conversation of two turns for 2024 and for 2025, and six passages.
fn folder() -> Folder {
    let folder = Folder::new();
    let said = ["Tell me about jaguars", "The car"];
    let turns = |utterance: &str| -> Vec<Value> {
        let turn = |(text, turn): (&&str, u32)| json!({"turn_id": turn, utterance: text, "resolved_utterance": text, "response": "Fine."});
        said.iter().zip(1..).map(turn).collect()
    };
    let topics = json!([{"number": 0, "title": "t", "ptkb": {"1": "I drive a car."},
        "turns": turns("utterance")}]);
    folder.write("ikat/2024_test_topics.json", topics.to_string());
    let topics = json!([{"number": "1-1", "title": "t", "ptkb": ["I drive a car."],
        "responses": turns("user_utterance")}]);
    folder.write("ikat/2025_test_topics.json", topics.to_string());
    let texts = [
        "Jaguars are big cats of the Americas. They swim well.",
        "Jaguars was the name of a football team in Jacksonville.",
        "A jaguar car has a loud engine and leather seats.",
        "Cars need oil every year, and new tyres.",
        "Rings of ice surround the planet Saturn.",
        "Bread is baked in an oven with flour.",
    ];
    let passage = |(text, number): (&&str, usize)| {
        let id = format!("clueweb22-en0000-00-00000:{number}");
        format!("{}\n", json!({"id": id, "contents": text}))
    };
    folder.write("ikat/passages.jsonl", texts.iter().zip(0..).map(passage).collect::<String>());
    folder
}

/// `ikat-bm25` without its expected figures, changed.
fn write_system(folder: &Folder, change: fn(String) -> String) {
    let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).expect("the system");
    let (system, _) = text.split_once("\n[[expected]]").expect("expected figures");
    folder.write("mine.toml", change(format!("{system}\n")).replace("ikat-bm25", "mine"));
}

fn without_responses(text: &str) -> String {
    let lines =
        text.lines().filter(|line| !line.starts_with("response =") && !line.starts_with("fits ="));
    let text = lines.collect::<Vec<_>>().join("\n");
    let begin = text.find("[[tasks.sentences").expect("sentences");
    let end = text.find("[answer]").expect("an answer");
    format!("{}{}\n", &text[..begin], &text[end..])
}

/// The turns of a submission in JSON lines.
fn turns(folder: &Folder, run: &str) -> Vec<Value> {
    let text = folder.text(run);
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

fn request(text: &str) -> UserRequest {
    Request::new("1", text).into()
}

#[test]
fn a_team_is_named_where_the_form_has_it() {
    let folder = folder();
    let work = Work::on(&folder, "ikat", "2025");
    work.run("ikat-bm25", "usual.jsonl").expect("a run");
    assert_eq!(turns(&folder, "usual.jsonl")[0]["metadata"]["team_id"], "clariq");
    let mut of_team = work.clone();
    of_team.options.team = Some("uva".to_owned());
    of_team.run("ikat-bm25", "mine.jsonl").expect("a run");
    let run = turns(&folder, "mine.jsonl");
    assert!(run.iter().all(|turn| turn["metadata"]["team_id"] == "uva"), "{run:?}");
    assert_eq!(folder.json("mine.record.json")["team"], "uva");
    for beside in ["mine.passages.run", "mine.statements.run"] {
        assert!(folder.path(beside).is_file(), "{beside}");
    }
    // JSON lines end in .jsonl.
    let config = work.load("ikat-bm25").expect("a system");
    let (path, _) =
        work.with_session(|session| usual_path(Path::new("runs"), session, &config, "2025"));
    assert_eq!(path, Path::new("runs/ikat/ikat-bm25.2025.jsonl"));
    let refused = |data: &str, split: &str, system: &str| {
        let mut work = Work::on(&folder, data, split);
        work.options.team = Some("uva".to_owned());
        work.printed(&work.run(system, "a.json").expect_err("a refusal"))
    };
    assert_data_eq!(
        refused("ikat", "2024", "ikat-bm25"),
        str![[r#"
error: --team
  expected: a split whose submissions name the team (iKAT: 2025)
     found: --split 2024
hint: leave it out

"#]]
    );
    folder.copy("data/sample", "data");
    assert_data_eq!(
        refused("data", "dev", "bm25"),
        str![[r#"
error: --team
  expected: a system that answers
     found: `bm25`, which writes a TREC run
hint: leave it out

"#]]
    );
}

#[test]
fn every_key_of_an_answer_can_be_set() {
    let folder = folder();
    write_system(&folder, |text| text);
    let work = Work::on(&folder, "ikat", "2025");
    for (set, key, value) in [
        ("passages=2", "/passages", json!(2)),
        ("class=manual", "/class", json!("manual")),
        ("responses=1", "/responses", json!(1)),
        ("statements.most=3", "/statements/most", json!(3)),
        ("statements.least=0.5", "/statements/least", json!(0.5)),
        ("statements.gap=0.25", "/statements/gap", json!(0.25)),
        ("response.sources=1", "/response/sources", json!(1)),
        ("response.tokens=20", "/response/tokens", json!(20)),
        ("response.fewest_words=2", "/response/fewest_words", json!(2)),
        ("response.most_words=30", "/response/most_words", json!(30)),
        ("fits.words=0.1", "/fits/words", json!(0.1)),
        ("fits.analyzer=english", "/fits/analyzer", json!("english")),
    ] {
        work.with(&[&format!("answer.{set}")]).run("mine.toml", "mine.jsonl").expect("a run");
        let record = folder.json("mine.record.json");
        assert_eq!(record["answer"].pointer(key), Some(&value), "{set}");
    }
    // It is a part of the run's name, as other parameters are.
    let work = work.with(&["answer.passages=2"]);
    assert_eq!(work.load("mine.toml").expect("a system").full_name(), "mine-passages-2");
    work.run("mine.toml", "mine.jsonl").expect("a run");
    let run = turns(&folder, "mine.jsonl");
    assert_eq!(run[0]["references"].as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn a_system_without_responses_submits_rankings() {
    let folder = folder();
    write_system(&folder, |text| without_responses(&text));
    Work::on(&folder, "ikat", "2024").run("mine.toml", "mine.json").expect("a run");
    let run = folder.json("mine.json");
    assert_eq!(run["eval_response"], false);
    let response = &run["turns"][0]["responses"][0];
    assert_eq!(response["text"], "");
    let passages = response["passage_provenance"].as_array().expect("passages");
    assert!(passages.len() == 6 && passages.iter().all(|passage| passage["used"] == false));
    assert_eq!(response["ptkb_provenance"], json!([1]));
    let work = Work::on(&folder, "ikat", "2025");
    work.run("mine.toml", "mine.jsonl").expect("a run");
    let turn = &turns(&folder, "mine.jsonl")[0];
    assert_eq!(turn["responses"][0]["text"], "");
    assert_eq!(turn["responses"][0]["citations"], json!({}));
    assert_eq!(turn["references"].as_object().map(serde_json::Map::len), Some(6));
    let outcome = work.rank("mine.toml", request("jaguars"));
    assert!(outcome.answer.expect("rankings").responses.is_empty());
    assert_eq!(outcome.ranking.len(), 6);
    let refused = work.with_session(|session| {
        let config = work.load("mine.toml").expect("a system");
        Asker::open(&Contexts::new(session), &config, 3, false).err().expect("a refusal")
    });
    assert_data_eq!(
        work.printed(&refused.0),
        str![[r#"
error: @/mine.toml
  expected: a system that asks or answers
     found: one that only ranks
hint: a key `response` in [answer] makes it answer; `clariq rank` shows rankings

"#]]
    );
}

#[test]
fn further_responses_are_from_further_passages() {
    let folder = folder();
    write_system(&folder, |text| text);
    let work = Work::on(&folder, "ikat", "2025").with(&[
        "answer.responses=3",
        "answer.response.sources=1",
        "answer.response.tokens=80",
    ]);
    work.run("mine.toml", "mine.jsonl").expect("a run");
    let turn = &turns(&folder, "mine.jsonl")[0];
    let references = turn["references"].as_object().expect("references");
    let mut best: Vec<(&String, f64)> =
        references.iter().map(|(id, score)| (id, score.as_f64().expect("a score"))).collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1));
    let responses = turn["responses"].as_array().expect("responses");
    for (index, response) in responses.iter().enumerate() {
        assert_eq!(response["rank"], index + 1);
        let cited: Vec<&String> = response["citations"].as_object().expect("one").keys().collect();
        assert_eq!(cited, [best[index].0], "the best passage that no response before it has");
    }
    assert_eq!(responses.len(), 3);
    let answer = work.rank("mine.toml", request("jaguars")).answer.expect("an answer");
    assert_eq!(answer.responses.len(), 3);
    // The limit of 2025 is that of all responses together.
    let longer = ["answer.responses=3", "answer.response.tokens=84"];
    let refused = Work::on(&folder, "ikat", "2025").with(&longer).run("mine.toml", "longer.jsonl");
    let refused = refused.unwrap_err().to_problem();
    assert_eq!(refused.expected, "answer.response.tokens up to 83, for 2025");
    assert_eq!(refused.found, "84 in each of 3");
}

#[test]
fn a_system_asks_where_its_rule_holds_and_then_answers() {
    let folder = folder();
    write_system(&folder, |text| text + "[ask]\nscore_below = 1000\n");
    let work = Work::on(&folder, "ikat", "2025");
    work.run("mine.toml", "mine.jsonl").expect("a run");
    let turn = &turns(&folder, "mine.jsonl")[0];
    let response = &turn["responses"][0];
    let question = "Do you mean \"Jaguars was the name of a football team in Jacksonville\" or \
                    \"Jaguars are big cats of the Americas\"?";
    // The guidelines of 2025: a turn that is no answer has no citations.
    assert_eq!(response["text"], question);
    assert_eq!(response["citations"], json!({}));
    assert_eq!(turn["references"].as_object().map(serde_json::Map::len), Some(6));
    assert_eq!(folder.json("mine.record.json")["ask"]["score_below"], 1000.0);
    Work::on(&folder, "ikat", "2024").run("mine.toml", "mine.json").expect("a run");
    let run = folder.json("mine.json");
    let passages = run["turns"][0]["responses"][0]["passage_provenance"].as_array().expect("them");
    assert!(passages.iter().all(|passage| passage["used"] == false));
    // In a conversation it asks once, and then answers.
    let config = work.load("mine.toml").expect("a system");
    let (said, _) = work.with_session(|session| {
        let contexts = Contexts::new(session);
        let asker = Asker::open(&contexts, &config, 3, false).expect("a system");
        let mut conversation = request("Tell me about jaguars");
        let mut next = || {
            let Move::Answer { outcome, .. } = asker.next(&mut conversation).expect("a move")
            else {
                panic!("it stops")
            };
            let answer = outcome.answer.expect("a text");
            let said = [Utterance::system(answer.text()), Utterance::user("the big cats")];
            conversation.request.said.extend(said);
            (answer.text().to_owned(), answer.asks)
        };
        [next(), next()]
    });
    let why = "the best passage scores [..], and the system asks below 1000";
    assert_data_eq!(said[0].1.clone().expect("a reason"), why);
    assert_eq!(said[0].0, question);
    assert!(said[1].0.starts_with("Jaguars are big cats") && said[1].1.is_none(), "{said:?}");
    // A rule that does not hold changes nothing.
    work.with(&["ask.score_below=-1"]).run("mine.toml", "a.jsonl").expect("a run");
    work.run("ikat-bm25", "b.jsonl").expect("a run");
    let tagged = folder.text("b.jsonl").replace("ikat-bm25", "mine-score_below--1");
    assert_eq!(folder.text("a.jsonl"), tagged);
}

#[test]
fn a_system_over_own_documents_asks_if_the_predicted_need_is_high() {
    let folder = Folder::with_sample();
    folder.write(
        "docs/mine.jsonl",
        "{\"id\": \"a\", \"contents\": \"Saturn is a planet with rings.\"}\n\
         {\"id\": \"b\", \"contents\": \"Saturn was a maker of cars in Tennessee.\"}\n",
    );
    write_system(&folder, |text| text + "[ask]\nneed = 1\n[need]\nmodel = \"majority\"\n");
    let need_model = folder.path("need.json");
    Work::on(&folder, "data", "dev").with_session(|session| {
        let models = NeedModels::new(session.clone());
        let system = folder.path("mine.toml").display().to_string();
        let classifier = models.open(&system).expect("a model");
        classifier.write(&Target::new(&need_model)).expect("written");
    });
    let mut work = Work::outside(&folder, DataDir::Folder(folder.path("docs")));
    let rank = |work: &Work| {
        let ranked = work.with_system("mine.toml", |system| {
            let statements = Statements::Own(Vec::new());
            let request = UserRequest { statements, ..request("tell me about saturn") };
            system.rank(&[request]).expect("an outcome").remove(0)
        });
        let (outcome, notes) = ranked.expect("a system");
        (outcome.answer.expect("an answer"), notes)
    };
    // Without a model, needs are not known: a note reports it, and the system answers.
    let (answer, notes) = rank(&work);
    assert_eq!(answer.asks, None);
    assert!(notes.contains("need conditions are off"), "{notes}");
    work.options.need_model = Some(need_model);
    let (answer, _) = rank(&work);
    let why = "the predicted need is [..], and the system asks from 1 on";
    assert_data_eq!(answer.asks.clone().expect("a reason"), why);
    assert!(answer.used().is_empty());
}
