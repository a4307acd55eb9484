//! Submissions of systems: rankings alone, one or several responses, or clarifying questions, in
//! the form of 2024 and of 2025.

use super::commands::with_input;
use crate::common::refusals::{NOTHING, case as refusal, check};
use crate::common::{Bench, root};
use serde_json::{Value, json};
use std::fs;

/// A folder with a conversation of two turns for 2024 and for 2025, and six passages.
fn bench() -> Bench {
    let bench = Bench::new();
    let said = ["Tell me about jaguars", "The car"];
    let turns: Vec<Value> = said
        .iter()
        .zip(1..)
        .map(|(text, turn)| {
            json!({"turn_id": turn, "utterance": text, "resolved_utterance": text, "response": "Fine."})
        })
        .collect();
    let topics =
        json!([{"number": 0, "title": "t", "ptkb": {"1": "I drive a car."}, "turns": turns}]);
    bench.write("ikat/2024_test_topics.json", topics.to_string());
    let turns: Vec<Value> = said
        .iter()
        .zip(1..)
        .map(|(text, turn)| {
            json!({"turn_id": turn, "user_utterance": text, "resolved_utterance": text, "response": "Fine."})
        })
        .collect();
    let topics =
        json!([{"number": "1-1", "title": "t", "ptkb": ["I drive a car."], "responses": turns}]);
    bench.write("ikat/2025_test_topics.json", topics.to_string());
    let texts = [
        "Jaguars are big cats of the Americas. They swim well.",
        "Jaguars was the name of a football team in Jacksonville.",
        "A jaguar car has a loud engine and leather seats.",
        "Cars need oil every year, and new tyres.",
        "Rings of ice surround the planet Saturn.",
        "Bread is baked in an oven with flour.",
    ];
    let passage = |(text, number): (&&str, usize)| {
        format!(
            "{}\n",
            json!({"id": format!("clueweb22-en0000-00-00000:{number}"), "contents": text})
        )
    };
    bench.write("ikat/passages.jsonl", texts.iter().zip(0..).map(passage).collect::<String>());
    bench
}

/// `ikat-bm25` without its expected figures, changed.
fn system(bench: &Bench, change: fn(String) -> String) {
    let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).expect("the system");
    let (system, _) = text.split_once("\n[[expected]]").expect("expected figures");
    bench.write("mine.toml", change(format!("{system}\n")).replace("ikat-bm25", "mine"));
}

fn without_responses(text: &str) -> String {
    let lines =
        text.lines().filter(|line| !line.starts_with("response =") && !line.starts_with("fits ="));
    let text = lines.collect::<Vec<_>>().join("\n");
    let begin = text.find("[[tasks.sentences").expect("sentences");
    let end = text.find("[answer]").expect("an answer");
    format!("{}{}\n", &text[..begin], &text[end..])
}

fn asks(text: String) -> String {
    text + "[ask]\nscore_below = 1000\n"
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

#[test]
fn a_team_is_named_where_the_form_has_it() {
    let bench = bench();
    let line = "-q run ikat-bm25 --data ikat --split 2025";
    bench.succeed(&format!("{line} --team uva"));
    // JSON lines end in .jsonl, and the files beside them have the same stem.
    let run = lines(&bench.text("runs/ikat/ikat-bm25.2025.jsonl"));
    assert!(run.iter().all(|turn| turn["metadata"]["team_id"] == "uva"), "{run:?}");
    let record: Value = serde_json::from_slice(&bench.read("runs/ikat/ikat-bm25.2025.record.json"))
        .expect("a record");
    assert_eq!(record["team"], "uva");
    assert!(bench.path("runs/ikat/ikat-bm25.2025.passages.run").is_file());
    assert!(bench.path("runs/ikat/ikat-bm25.2025.statements.run").is_file());
    bench.succeed(&format!("{line} -o usual.jsonl"));
    assert_eq!(lines(&bench.text("usual.jsonl"))[0]["metadata"]["team_id"], "clariq");
}

#[test]
fn every_key_of_an_answer_can_be_set() {
    let bench = bench();
    system(&bench, |text| text);
    let sets = [
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
    ];
    for (set, key, value) in sets {
        let line = "-q run mine.toml --data ikat --split 2025 -o mine.jsonl --set answer.";
        bench.succeed(&format!("{line}{set}"));
        let record: Value = serde_json::from_slice(&bench.read("mine.record.json")).expect("JSON");
        assert_eq!(record["answer"].pointer(key), Some(&value), "{set}");
    }
    // It is a part of the run's name, as other parameters are.
    bench.succeed("-q run mine.toml --data ikat --split 2025 --set answer.passages=2");
    let run = lines(&bench.text("runs/ikat/mine-passages-2.2025.jsonl"));
    assert_eq!(run[0]["references"].as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn a_system_without_responses_submits_rankings() {
    let bench = bench();
    system(&bench, |text| without_responses(&text));
    bench.succeed("-q run mine.toml --data ikat --split 2024 -o mine.json");
    let run: Value = serde_json::from_slice(&bench.read("mine.json")).expect("JSON");
    assert_eq!(run["eval_response"], false);
    let response = &run["turns"][0]["responses"][0];
    assert_eq!(response["text"], "");
    let passages = response["passage_provenance"].as_array().expect("passages");
    assert!(passages.len() == 6 && passages.iter().all(|passage| passage["used"] == false));
    assert_eq!(response["ptkb_provenance"], json!([1]));
    bench.succeed("-q run mine.toml --data ikat --split 2025 -o mine.jsonl");
    let turn = &lines(&bench.text("mine.jsonl"))[0];
    assert_eq!(turn["responses"][0]["text"], "");
    assert_eq!(turn["responses"][0]["citations"], json!({}));
    assert_eq!(turn["references"].as_object().map(serde_json::Map::len), Some(6));
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"jaguars\"}\n");
    let ranked =
        &lines(&bench.succeed("-q rank mine.toml --data ikat --requests r.jsonl").stdout)[0];
    assert!(ranked["passages"].is_array() && ranked.get("response").is_none(), "{ranked}");
    // Empty responses are not scored.
    bench.succeed("-q run mine.toml --split 2023-test -o mine.json");
    let scored = bench.succeed("-q eval mine.json --split 2023-test --format tsv").stdout;
    assert!(scored.contains("passages nDCG@3") && !scored.contains("ROUGE"), "{scored}");
}

#[test]
fn further_responses_are_from_further_passages() {
    let bench = bench();
    system(&bench, |text| text);
    let line = "-q run mine.toml --data ikat --split 2025 -o mine.jsonl \
                --set answer.responses=3 --set answer.response.sources=1 --set answer.response.tokens=80";
    bench.succeed(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    let turn = &lines(&bench.text("mine.jsonl"))[0];
    let references = turn["references"].as_object().expect("references");
    let mut best: Vec<(&String, f64)> =
        references.iter().map(|(id, score)| (id, score.as_f64().expect("a score"))).collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (index, response) in turn["responses"].as_array().expect("responses").iter().enumerate() {
        assert_eq!(response["rank"], index + 1);
        let cited: Vec<&String> = response["citations"].as_object().expect("one").keys().collect();
        assert_eq!(cited, [best[index].0], "the best passage that no response before it has");
    }
    assert_eq!(turn["responses"].as_array().map(Vec::len), Some(3));
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"jaguars\"}\n");
    let line = line.replace(
        "run mine.toml --data ikat --split 2025 -o mine.jsonl",
        "rank mine.toml --data ikat --requests r.jsonl",
    );
    let ranked = bench.succeed(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    let ranked = &lines(&ranked.stdout)[0];
    assert_eq!(ranked["response"]["others"].as_array().map(Vec::len), Some(2), "{ranked}");
}

#[test]
fn a_system_asks_where_its_rule_holds_and_then_answers() {
    let bench = bench();
    system(&bench, asks);
    bench.succeed("-q run mine.toml --data ikat --split 2025 -o mine.jsonl");
    let turn = &lines(&bench.text("mine.jsonl"))[0];
    let response = &turn["responses"][0];
    let question = "Do you mean \"Jaguars was the name of a football team in Jacksonville\" or \
                    \"Jaguars are big cats of the Americas\"?";
    // The guidelines of 2025: a turn that is no answer has no citations.
    assert_eq!(response["text"], question);
    assert_eq!(response["citations"], json!({}));
    assert_eq!(turn["references"].as_object().map(serde_json::Map::len), Some(6));
    let record: Value = serde_json::from_slice(&bench.read("mine.record.json")).expect("JSON");
    assert_eq!(record["ask"]["score_below"], 1000.0);
    bench.succeed("-q run mine.toml --data ikat --split 2024 -o mine.json");
    let run: Value = serde_json::from_slice(&bench.read("mine.json")).expect("JSON");
    let passages = run["turns"][0]["responses"][0]["passage_provenance"].as_array().expect("them");
    assert!(passages.iter().all(|passage| passage["used"] == false));
    // In a conversation it asks once, and then answers.
    let line = ["ask", "Tell me about jaguars", "--system", "mine.toml", "--data", "ikat"];
    let talk = with_input(&bench, &line, "the big cats\n");
    let said: Vec<&str> = talk.lines().collect();
    assert_eq!(said[0], question, "{talk}");
    assert!(said[1].starts_with("Jaguars are big cats"), "{talk}");
    let json = with_input(&bench, &[&line[..], &["--json"]].concat(), "");
    let asked = &lines(&json)[0];
    assert_eq!((&asked["action"], &asked["question"]), (&json!("ask"), &json!(question)));
    assert!(asked["reason"].as_str().is_some_and(|why| why.contains("below 1000")), "{asked}");
    // A rule that does not hold changes nothing.
    bench.succeed("-q run mine.toml --data ikat --split 2025 --set ask.score_below=-1 -o a.jsonl");
    bench.succeed(
        "-q run ikat-bm25 --data ikat --split 2025 --run-tag mine-score_below--1 -o b.jsonl",
    );
    assert_eq!(bench.text("a.jsonl"), bench.text("b.jsonl"));
}

#[test]
fn a_system_over_own_documents_asks_if_the_predicted_need_is_high() {
    let bench = Bench::with_sample();
    bench.write(
        "docs/mine.jsonl",
        "{\"id\": \"a\", \"contents\": \"Saturn is a planet with rings.\"}\n\
         {\"id\": \"b\", \"contents\": \"Saturn was a maker of cars in Tennessee.\"}\n",
    );
    system(&bench, |text| text + "[ask]\nneed = 1\n[need]\nmodel = \"majority\"\n");
    bench.succeed("-q need train mine.toml --data data -o need.json");
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"tell me about saturn\"}\n");
    let line = "rank mine.toml --data docs --requests r.jsonl";
    let rank = |more: &str| lines(&bench.succeed(&format!("{line}{more}")).stdout).remove(0);
    let asked = rank(" --need-model need.json");
    let why = asked["response"]["asks"].as_str().unwrap_or_default();
    assert!(why.starts_with("the predicted need is"), "{asked}");
    assert_eq!(asked["response"]["passages"], json!([]));
    // Without a model, needs are not known: a note reports it, and the system answers.
    let plain = bench.succeed(line);
    assert!(plain.stderr.contains("need conditions are off"), "{}", plain.stderr);
    assert!(lines(&plain.stdout)[0]["response"].get("asks").is_none(), "{}", plain.stdout);
}

#[test]
fn submissions_that_do_not_fit_are_refused() {
    check(&[
        refusal(
            "a team for a run of a year without teams",
            NOTHING,
            "run ikat-bm25 --split 2023-test --team uva -o out/old.json",
            ["--team", "a split whose submissions name the team (iKAT: 2025)", "2023-test"],
        ),
        refusal(
            "a team for a TREC run",
            NOTHING,
            "run bm25 --data data --team uva -o out/old.run",
            ["--team", "a system that answers", "`bm25`"],
        ),
        refusal(
            "a key of an answer that does not exist",
            NOTHING,
            "run ikat-bm25 --split 2023-test --set answer.length=3 -o out/old.json",
            ["command line, answer.length=3", "passages", "`length`"],
        ),
        refusal(
            "an answer of a system that ranks",
            NOTHING,
            "run bm25 --data data --set answer.passages=3 -o out/old.run",
            ["command line, answer.passages=3", "a table `answer`", "without it"],
        ),
        refusal(
            "responses that are too long together",
            NOTHING,
            "run ikat-bm25 --split 2023-test --set answer.responses=2 -o out/old.json",
            ["configs/ikat-bm25.toml", "response.tokens from 1 to 125", "150"],
        ),
        refusal(
            "sentences without a response",
            |bench| {
                system(bench, |text| {
                    let lines = text.lines().filter(|line| !line.starts_with("response ="));
                    lines.map(|line| line.to_owned() + "\n").collect()
                });
            },
            "run mine.toml --split 2023-test -o out/old.json",
            ["mine.toml", "a key `response`", "`responses` or `fits` without it"],
        ),
        refusal(
            "an only-response system without responses",
            |bench| {
                system(bench, |text| {
                    without_responses(&text).replace("\"automatic\"", "\"only-response\"")
                });
            },
            "run mine.toml --split 2023-test -o out/old.json",
            ["mine.toml", "a key `response`", "only-response"],
        ),
        refusal(
            "questions of a system without responses",
            |bench| system(bench, |text| asks(without_responses(&text))),
            "run mine.toml --split 2023-test -o out/old.json",
            ["mine.toml", "a key `response` in [answer]", "none"],
        ),
        refusal(
            "a question without a rule",
            |bench| system(bench, |text| text + "[ask]\nmost = 2\n"),
            "run mine.toml --split 2023-test -o out/old.json",
            ["mine.toml", "`need` or `score_below`", "neither"],
        ),
        refusal(
            "a question by a need that nothing predicts",
            |bench| system(bench, |text| text + "[ask]\nneed = 3\n"),
            "run mine.toml --split 2023-test -o out/old.json",
            ["mine.toml", "a table [need]", "without one"],
        ),
        refusal(
            "questions of a system that ranks",
            |bench| {
                let text = fs::read_to_string(root().join("configs/no-question.toml")).unwrap();
                bench.write("mine.toml", text + "\n[ask]\nneed = 3\n");
            },
            "run mine.toml --data data -o out/old.run",
            ["mine.toml", "a table [answer] beside [ask]", "none"],
        ),
        refusal(
            "a conversation with a system that only ranks",
            |bench| system(bench, |text| without_responses(&text)),
            "ask hello --system mine.toml",
            ["mine.toml", "a system that asks or answers", "only ranks"],
        ),
    ]);
}
