//! TREC `CAsT` as a second collection of questions: the organisers' run, and systems made for
//! `ClariQ`.

use crate::common::page::{assert_whole, select};
use crate::common::{Bench, root};
use clariq_files::{Run, Source, read_run};
use scraper::Html;
use std::collections::{BTreeMap, HashSet};

/// A folder with a link to the released files, or `None` with a line that says so.
#[cfg(unix)]
fn released() -> Option<Bench> {
    let folder = root().join("../shared/cast");
    if !folder.is_dir() {
        println!("skipped: the released files are not in {}", folder.display());
        return None;
    }
    let bench = Bench::new();
    std::os::unix::fs::symlink(folder.canonicalize().expect("a folder"), bench.path("cast"))
        .expect("linked");
    Some(bench)
}

/// The questions of each turn with their scores, best first.
fn by_turn(run: &Run) -> BTreeMap<&str, Vec<(&str, f64)>> {
    let mut turns: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    for line in &run.lines {
        let turn = turns.entry(line.topic.as_str()).or_default();
        turn.push((line.question.as_str(), line.score));
    }
    turns
}

#[cfg(unix)]
#[test]
fn the_organisers_run_is_reproduced() {
    let Some(bench) = released() else { return };
    bench.succeed("-q run cast-bm25 --data cast --split 2022 -o ours.run");
    let ours = read_run(&Source::new(bench.path("ours.run"))).expect("a run");
    let ours = by_turn(&ours);
    let given = bench.path("cast/2022_mi_ranking_bm25_baseline_mi_run.json.gz");
    let given = Source::new(given).read().expect("their run").bytes;
    let given: serde_json::Value = serde_json::from_slice(&given).expect("JSON");
    let given = given["turns"].as_array().expect("turns");
    assert_eq!((ours.len(), given.len()), (205, 205));
    let (mut first, mut shared, mut all, mut difference) = (0, 0, 0, 0.0);
    for turn in given {
        let ours = &ours[turn["turn_id"].as_str().expect("an id")];
        let question =
            |ranked: &'_ serde_json::Value| ranked["question"].as_str().map(str::to_owned);
        let questions = turn["questions"].as_array().expect("questions");
        first += usize::from(question(&questions[0]).as_deref() == Some(ours[0].0));
        difference += (ours[0].1 - questions[0]["score"].as_f64().expect("a score")).abs() / 205.0;
        let top: HashSet<&str> = ours.iter().take(10).map(|(question, _)| *question).collect();
        let theirs = questions.iter().take(10).filter_map(question);
        shared += theirs.clone().filter(|question| top.contains(question.as_str())).count();
        all += theirs.count();
    }
    println!("first {first} of 205, {shared} of {all} of the first ten, scores {difference}");
    assert!(first >= 204, "{first}");
    assert!(shared * 100 >= all * 99, "{shared} of {all}");
    assert!(difference <= 0.002, "{difference}");
}

#[cfg(unix)]
#[test]
fn systems_and_commands_take_the_collection_as_any_other() {
    let Some(bench) = released() else { return };
    for system in ["bm25", "bm25-tuned", "no-question"] {
        // The only split is the usual one.
        bench.succeed(&format!("-q run {system} --data cast -o {system}.run"));
        let run = read_run(&Source::new(bench.path(&format!("{system}.run")))).expect("a run");
        assert_eq!(by_turn(&run).len(), 205, "{system}");
        assert!(!bench.path(&format!("{system}.need")).exists(), "no need labels, no needs");
    }
    let stats = bench.succeed("data stats --data cast --format tsv").stdout;
    assert!(stats.contains("user turns\t205\t"), "{stats}");
    assert!(stats.contains("questions in the pool\t\t4497\n"), "{stats}");
    assert_eq!(bench.succeed("data check --data cast").stderr, "");
    let explained = bench.succeed("explain --system cast-bm25 --data cast squirrels Q1856").stdout;
    assert!(explained.contains("bm25: "), "{explained}");
    let asked = bench.shell(
        &["sh"],
        "echo '{\"request\": \"a garden\"}' | $0 ask --json --system bm25-conversation --data cast",
    );
    assert!(asked.stdout.contains("\"action\":\"ask\""), "{asked:?}");
    assert!(asked.stderr.contains("its stages pass over it"), "{asked:?}");
    let ranked = bench.shell(
        &["sh"],
        "echo '{\"id\": 1, \"text\": \"garden\"}' | $0 -q rank cast-bm25 --data cast",
    );
    assert!(ranked.stdout.starts_with("{\"id\":\"1\""), "{ranked:?}");
    for (line, says) in [
        (
            "run cast-bm25 --data cast --split dev",
            ["`2022`, the split of this collection", "`dev`"],
        ),
        ("eval bm25.run --data cast", ["labels of 2022", "requests without labels"]),
        ("train dense-tuned --data cast", ["`2022`, the split of this collection", "CAsT in cast"]),
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        for part in says {
            assert!(refused.stderr.contains(part), "{line}: {}", refused.stderr);
        }
    }
}

/// The track released no judgements of questions: here each turn has its first and third question
/// of one run.
#[cfg(unix)]
#[test]
fn runs_are_scored_compared_and_shown_by_judgements() {
    let Some(bench) = released() else { return };
    for file in [
        "2022_automatic_evaluation_topics_tree_v1.0.json",
        "2022_mixed_initiative_question_pool.json",
    ] {
        bench.write(&format!("judged/{file}"), bench.read(&format!("cast/{file}")));
    }
    bench.succeed("-q run cast-bm25 --data cast -o a.run");
    bench.succeed("-q run no-question --data cast -o b.run");
    let run = read_run(&Source::new(bench.path("a.run"))).expect("a run");
    let judged = by_turn(&run).into_iter().map(|(turn, questions)| {
        format!("{turn} 0 {} 2\n{turn} 0 {} 1\n", questions[0].0, questions[2].0)
    });
    bench.write("judged/2022_mixed_initiative.qrels", judged.collect::<String>());
    let scored = bench.succeed("-q eval a.run --data judged --format tsv").stdout;
    let first: Vec<&str> = scored.lines().nth(3).expect("RR").split('\t').collect();
    assert_eq!(first, ["RR", "all", "1"], "{scored}");
    assert!(scored.contains("P@10\tall\t0.2"), "{scored}");
    let compared = bench.succeed("-q compare a.run b.run --data judged --format tsv").stdout;
    assert_eq!(compared.lines().count(), 11, "two runs by five measures: {compared}");
    assert!(
        compared.starts_with("measure\trun\t") && compared.contains("nDCG@10\tb.run\ta.run\t205")
    );
    bench.succeed("-q report a.run b.run --data judged");
    let page = Html::parse_document(&bench.text("report.html"));
    let parts: Vec<_> =
        select(&page, "main > section").iter().filter_map(|part| part.attr("id")).collect();
    assert_eq!(parts, ["figures", "differences", "topics"]);
    assert_eq!(select(&page, "details.topic").len(), 205);
    assert_whole(&page);
    let checked = bench.succeed("validate a.run --split 2022 --data judged --format tsv").stdout;
    assert!(checked.contains("a.run\taccepted\t205\t0\t"), "{checked}");
    let refused = bench.run(&["eval", "a.run", "--data", "judged", "--leaderboard"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("error: --leaderboard"), "{}", refused.stderr);
}

#[test]
fn a_folder_of_nothing_is_told_what_would_be_recognised() {
    let bench = Bench::new();
    bench.write("empty/notes.txt", "");
    let refused = bench.run(&["data", "stats", "--data", "empty"]);
    assert_eq!(refused.status, Some(2));
    for part in ["question_bank.tsv` (ClariQ)", "(CAsT)", "found: none of them"] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}
