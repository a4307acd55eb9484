//! Systems that answer on iKAT's sample: what they may see, and which bytes they write.

mod scores;

use crate::common::{Folder, Work, root};
use clariq_collections::{DataDir, OfficialVerdict, ValidationOptions};
use clariq_core::{Error, Request};
use clariq_experiment::Contexts;
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::reproduce::{self, Verdict};
use clariq_files::{Source, Target};
use clariq_track_ikat::convert::convert_to_trec;
use clariq_track_ikat::validate::MAX_WARNINGS;
use clariq_track_ikat::{KIND, SAMPLE};
use clariq_tracks::TRACKS;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use std::collections::BTreeSet;
use std::fs;

const SPLIT: &str = "2023-test";

/// A built-in system with another space in place of its encoder, and without expected figures.
fn with_space(name: &str, space: &str) -> String {
    let text = fs::read_to_string(root().join(format!("configs/{name}.toml"))).unwrap();
    let (system, _) = text.split_once("\n[[expected]]").unwrap_or((&text, ""));
    system.replace("models = { \"all-MiniLM-L6-v2\" = 1.0 }", space)
}

/// Scrambles the parts of conversations that a system of this class may not see.
fn scramble(topics: &mut [Value], class: &str) {
    for conversation in topics {
        conversation["title"] = json!("scrambled");
        let turns = conversation["turns"].as_array_mut().unwrap();
        // Nothing follows the last response, so that no system may see it.
        let last = turns.len() - 1;
        turns[last]["response"] = json!("scrambled");
        for turn in turns {
            turn["ptkb_provenance"] = json!([1]);
            if class != "manual" {
                turn["resolved_utterance"] = json!("scrambled");
            }
            if class != "only-response" {
                turn["response_provenance"] = json!([]);
            }
        }
    }
}

/// The submission and the runs beside it of a system over the topics in `data`.
fn run(folder: &Folder, system: &str, data: &str) -> [String; 3] {
    Work::on(folder, data, SPLIT).run(system, "mine.json").expect("a run");
    ["mine.json", "mine.statements.run", "mine.passages.run"].map(|name| folder.text(name))
}

#[test]
fn a_system_sees_nothing_that_its_class_may_not() {
    let folder = Folder::new();
    folder.write_ikat("plain", |topics| topics.truncate(2));
    for (system, class) in [
        ("ikat-bm25", "automatic"),
        ("ikat-dense", "automatic"),
        ("ikat-automatic", "automatic"),
        ("ikat-manual", "manual"),
        ("ikat-only-response", "only-response"),
    ] {
        folder.write("mine.toml", with_space(system, "characters = 1.0"));
        let plain = run(&folder, "mine.toml", "plain");
        folder.write_ikat("scrambled", |topics| {
            topics.truncate(2);
            scramble(topics, class);
        });
        assert!(run(&folder, "mine.toml", "scrambled") == plain, "{system}");
        // The test would see a difference if there were one: an utterance may be looked at.
        folder.edit("scrambled/2023_test_topics.json", |text| {
            let field = if class == "manual" { "resolved_utterance" } else { "utterance" };
            let mut topics: Value = serde_json::from_str(&text).unwrap();
            topics[0]["turns"][0][field] = json!("cold frames keep young plants warm");
            topics.to_string()
        });
        assert!(run(&folder, "mine.toml", "scrambled")[1] != plain[1], "{system}");
    }
}

#[test]
fn runs_are_the_same_with_any_number_of_threads() {
    let folder = Folder::new();
    let on_threads = |threads| {
        let mut work = Work::on_ikat(&folder, SPLIT);
        work.options.threads = threads;
        work.run("ikat-bm25", "mine.json").expect("a run");
        ["mine.json", "mine.statements.run", "mine.passages.run"].map(|name| folder.read(name))
    };
    assert!(on_threads(1) == on_threads(3));
}

#[test]
fn a_system_may_list_no_statement() {
    let folder = Folder::new();
    let system = with_space("ikat-bm25", "");
    let rule = system.lines().find(|line| line.starts_with("statements = ")).unwrap();
    let work = Work::on_ikat(&folder, SPLIT);
    let listed = |rules: &str| -> Vec<usize> {
        folder.write("mine.toml", system.replacen(rule, rules, 1));
        work.run("mine.toml", "mine.json").expect("a run");
        let run = folder.json("mine.json");
        let listed =
            |turn: &Value| turn["responses"][0]["ptkb_provenance"].as_array().map_or(0, Vec::len);
        run["turns"].as_array().unwrap().iter().map(listed).collect()
    };
    let usual = listed(rule);
    assert!(usual.iter().all(|count| *count >= 1), "{usual:?}");
    let none = vec![0; usual.len()];
    assert_eq!(listed(""), none);
    assert_eq!(listed("statements = { most = 0, least = 0.0, gap = 0.0 }"), none);
    let rule_with = |least: &str| {
        format!("statements = {{ most = 1, least = 0.0, gap = 0.0, none_below = {least} }}")
    };
    assert_eq!(listed(&rule_with("-1.0")), usual);
    assert_eq!(listed(&rule_with("1000.0")), none);
    accepted(&work, "mine.json", 46);
}

#[test]
fn a_manual_system_may_use_the_relevant_statements_of_its_turn_and_of_earlier_ones() {
    let folder = Folder::new();
    let manual = with_space("ikat-bm25", "").replace("\"automatic\"", "\"manual\"");
    folder.write("plain.toml", &manual);
    let uses = "\nuses = [\"relevant-statements\"]\n\n[[tasks.statements";
    let labelled = manual.replacen("\n\n[[tasks.statements", uses, 1);
    folder.write("labelled.toml", &labelled);
    let score = |system: &str| Work::on_ikat(&folder, SPLIT).figures(system)["statements (organisers) nDCG@3"];
    let (with, without) = (score("labelled.toml"), score("plain.toml"));
    assert!(with > without + 0.1, "{with} {without}");
    // No other class may, and labels of later turns are not seen.
    folder.write("automatic.toml", labelled.replace("\"manual\"", "\"automatic\""));
    let work = Work::on_ikat(&folder, SPLIT);
    let refused = work.load("automatic.toml").err().expect("a refusal");
    assert_data_eq!(
        work.printed(&refused),
        str![[r#"
error: @/automatic.toml
  expected: a system with class = "manual", for uses = ["relevant-statements"]
     found: automatic
hint: the track only allows these labels to manual runs

"#]]
    );
    folder.write_ikat("plain", |topics| topics.truncate(1));
    folder.write_ikat("later", |topics| {
        topics.truncate(1);
        let turns = topics[0]["turns"].as_array_mut().unwrap();
        turns.last_mut().unwrap()["ptkb_provenance"] = json!([1, 2, 3]);
    });
    let [plain, later] = ["plain", "later"].map(|data| run(&folder, "labelled.toml", data));
    let differs = plain[1].lines().zip(later[1].lines()).filter(|(one, other)| one != other);
    let turns: BTreeSet<&str> = differs.filter_map(|(line, _)| line.split(' ').next()).collect();
    assert_eq!(turns.len(), 1, "the last turn alone: {turns:?}");
    folder.write_ikat("none", |topics| {
        topics.truncate(1);
        for turn in topics[0]["turns"].as_array_mut().unwrap() {
            turn["ptkb_provenance"] = json!([]);
        }
    });
    let work = Work::on(&folder, "none", SPLIT);
    let refused = work.run("labelled.toml", "mine.json").expect_err("a refusal");
    assert_data_eq!(
        work.printed(&refused),
        str![[r#"
error: 2023_test_topics.json
  expected: the relevant statements of turns
     found: topics without `ptkb_provenance`
hint: leave `relevant-statements` out of the system's `uses`

"#]]
    );
}

#[test]
fn systems_and_collections_that_do_not_fit_are_refused() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    let refused = work.run("ikat-bm25", "mine.json").expect_err("a refusal");
    assert_data_eq!(
        work.printed(&refused),
        str![[r#"
error: --data
  expected: a collection with statements and passages
     found: ClariQ in @/data, with questions
hint: `ikat-bm25` is for such a collection: --data names its folder

"#]]
    );
    assert!(!folder.path("mine.json").exists());
}

/// Asserts that the track's program accepts a run of that many turns. Returns the number of its warnings
/// and of problems that it does not check.
fn accepted(work: &Work, run: &str, turns: usize) -> usize {
    let options = ValidationOptions::new(&clariq_collections::tokens::count, MAX_WARNINGS);
    let file = Source::new(work.folder.path(run));
    let found =
        (KIND.validate)(&work.data, work.split.as_deref().unwrap(), &file, &options).unwrap();
    let OfficialVerdict::Accepted { warnings } = found.verdict else { panic!("not accepted") };
    assert_eq!(found.answered, turns);
    warnings + found.let_through.iter().count()
}

#[test]
fn passages_that_a_collection_lacks_are_named() {
    let folder = Folder::new();
    let work = Work::on_ikat(&folder, SPLIT);
    work.run("ikat-bm25", "run.json").unwrap();
    let run = folder.json("run.json");
    let mut ids = BTreeSet::new();
    for turn in run["turns"].as_array().unwrap() {
        for passage in turn["responses"][0]["passage_provenance"].as_array().unwrap() {
            ids.insert(passage["id"].as_str().unwrap());
        }
    }
    let list = folder.path("ids.txt");
    let lacking = |ids: &str| -> Result<Vec<String>, Error> {
        folder.write("ids.txt", ids);
        let options = ValidationOptions {
            passages: Some(&list),
            ..ValidationOptions::new(&clariq_collections::tokens::count, MAX_WARNINGS)
        };
        let file = Source::new(folder.path("run.json"));
        let found = (KIND.validate)(&work.data, SPLIT, &file, &options)?;
        let findings = found.official.iter().chain(found.let_through.iter());
        let problems = findings.map(|finding| &finding.first);
        let of_passages = problems.filter(|one| one.expected == "a passage of the collection");
        Ok(of_passages.map(|problem| problem.found.clone()).collect())
    };
    let with_sum = |id: &&str| {
        let (page, number) = id.rsplit_once(':').unwrap();
        format!("{page}\t{number}\t0123456789abcdef")
    };
    let ids: Vec<&str> = ids.into_iter().collect();
    let sums: Vec<String> = ids.iter().map(with_sum).collect();
    for (all, others) in
        [(ids.join("\n"), ids[1..].join("\n")), (sums.join("\n"), sums[1..].join("\n"))]
    {
        assert_eq!(lacking(&all).unwrap(), [""; 0]);
        let named = lacking(&others).unwrap();
        assert!(named[0].starts_with(&format!("`{}` in turn ", ids[0])), "{named:?}");
        assert_eq!(named.len(), 1);
    }
    let refused = lacking("no id at all\n").unwrap_err().to_problem();
    assert!(refused.at.file.ends_with("ids.txt") && refused.at.line == Some(1), "{refused}");
}

#[test]
fn the_run_of_a_system_of_each_class_is_accepted() {
    let folder = Folder::new();
    folder.write_ikat("data", |topics| topics.truncate(2));
    for (system, class) in [
        ("ikat-automatic", "automatic"),
        ("ikat-manual", "manual"),
        ("ikat-only-response", "only-response"),
    ] {
        folder.write("mine.toml", with_space(system, "characters = 1.0"));
        let work = Work::on(&folder, "data", SPLIT);
        let config = work.load("mine.toml").unwrap();
        assert_eq!(config.class().unwrap().name(), class);
        work.run_config(&config, "mine.json").unwrap();
        assert_eq!(accepted(&work, "mine.json", 15), 0);
    }
}

#[test]
fn a_turn_that_is_given_no_passage_is_answered_from_those_that_rank_best() {
    let folder = Folder::new();
    folder.write_ikat("data", |topics| {
        topics[0]["turns"][0]["response_provenance"] = json!([]);
    });
    folder.write("mine.toml", with_space("ikat-only-response", "characters = 1.0"));
    let work = Work::on(&folder, "data", SPLIT);
    work.run("mine.toml", "mine.json").unwrap();
    assert_eq!(accepted(&work, "mine.json", 46), 0);
}

#[test]
fn topics_without_statements_and_with_gaps_are_run_and_validated() {
    let folder = Folder::new();
    folder.write_ikat("data", |topics| {
        topics.truncate(2);
        for topic in topics {
            topic["ptkb"] = json!({});
            let turns = topic["turns"].as_array_mut().unwrap();
            for (turn, number) in turns.iter_mut().zip([1, 2, 4, 7, 8, 9]) {
                turn["turn_id"] = number.into();
                turn["ptkb_provenance"] = json!([]);
            }
            turns.truncate(5);
            turns[0]["utterance"] = "".into();
        }
    });
    let work = Work::on(&folder, "data", SPLIT);
    assert!(!TRACKS.check(&work.data).unwrap().findings.has_errors());
    work.run("ikat-bm25", "a.json").unwrap();
    accepted(&work, "a.json", 10);
}

#[test]
fn a_question_that_nothing_fits_gets_no_answer() {
    let folder = Folder::new();
    let work = Work::outside(&folder, SAMPLE);
    let config = work.load("ikat-bm25").unwrap();
    let ask = |request: &str| {
        let (text, _) = work.with_session(|session| {
            let contexts = Contexts::new(session);
            let asker = Asker::open(&contexts, &config, 1, false).unwrap();
            match asker.next(&mut Request::new("0", request).into()).unwrap() {
                Move::Answer { unfit: Some(unfit), .. } => unfit,
                Move::Answer { outcome, .. } => outcome.answer.unwrap().text().to_owned(),
                Move::Ask { .. } | Move::Stop { .. } => panic!("no answer"),
            }
        });
        text
    };
    assert!(ask("What can I cook tonight?").starts_with("the best document shares "));
    assert!(ask("What can I do?").starts_with("the request has only stop words"));
    assert!(ask("Which telescope should I buy?").starts_with("Beginners should buy binoculars"));
}

/// A split of the released files; `None`, with a message, if they are missing.
fn on_released<'w>(folder: &'w Folder, split: &str) -> Option<Work<'w>> {
    let released = root().join("../shared/ikat");
    if !released.join("sample_runs").is_dir() {
        println!("skipped: the released files are not in {}", released.display());
        return None;
    }
    let work = Work::outside(folder, DataDir::Folder(released));
    Some(Work { split: Some(split.to_owned()), ..work })
}

#[test]
fn a_released_year_has_the_expected_figures_and_its_run_is_accepted() {
    let folder = Folder::new();
    // The other split with labels is checked outside the tests.
    let Some(work) = on_released(&folder, SPLIT) else { return };
    let config = work.load("ikat-bm25").unwrap();
    let mut verdicts = Vec::new();
    let (done, _) = work.with_session(|session| {
        let split = session.split.unwrap();
        reproduce::check(session, [&config], split, &folder.path("runs"), &mut |figure| {
            verdicts.push((figure.to_string(), figure.verdict));
        })
    });
    done.unwrap();
    assert_eq!(verdicts.len(), 23);
    let is_equal = |(_, verdict): &(_, _)| *verdict == Some(Verdict::Equal);
    assert!(verdicts.iter().all(is_equal), "{verdicts:?}");
    let run = format!("runs/ikat/ikat-bm25.{SPLIT}.json");
    assert_eq!(lines_of_accepted(&work, &run, 332), 332 * 100);
}

/// The number of lines of an accepted run in the form of TREC.
fn lines_of_accepted(work: &Work, run: &str, turns: usize) -> usize {
    assert_eq!(accepted(work, run, turns), 0);
    let output = work.folder.path("trec.run");
    convert_to_trec(&Source::new(work.folder.path(run)), &Target::new(&output)).unwrap();
    work.folder.text("trec.run").lines().count()
}

/// Runs over the released turns of a split, and returns the number of lines of the run in the form of TREC.
fn lines_of_accepted_run(split: &str, run: &str, turns: usize) -> Option<usize> {
    let folder = Folder::new();
    let work = on_released(&folder, split)?;
    work.run("ikat-bm25", run).unwrap();
    Some(lines_of_accepted(&work, run, turns))
}

#[test]
fn a_run_over_the_turns_of_2024_is_accepted() {
    // The form of 2024 may have a passage several times.
    assert_ne!(lines_of_accepted_run("2024", "a.json", 218), Some(0));
}

#[test]
fn a_run_over_the_turns_of_2025_is_accepted() {
    if let Some(lines) = lines_of_accepted_run("2025", "a.jsonl", 188) {
        assert_eq!(lines, 188 * 100);
    }
}
