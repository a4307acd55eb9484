//! `clariq compare` and `clariq report` on runs over the iKAT sample.

use crate::common::Bench;
use crate::common::page::{assert_whole, select, words};
use crate::common::refusals::{Case, NOTHING, case, check};
use scraper::{Html, Selector};
use std::fs;
use std::sync::OnceLock;

const BM25: &str = "runs/ikat-sample/ikat-bm25.2023-test.json";

/// The files of a run of BM25 over the sample, made once for all tests.
fn run_of_bm25() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let bench = Bench::new();
        bench.succeed("-q run ikat-bm25 --split 2023-test");
        let read = |ending: &str| {
            let name = BM25.replace(".json", ending);
            let content = bench.read(&name);
            (name, content)
        };
        [".json", ".record.json", ".statements.run", ".passages.run"].map(read).into()
    })
}

/// A bench with a run of BM25 and a worse copy of it.
fn with_runs() -> Bench {
    let bench = Bench::new();
    for (name, content) in run_of_bm25() {
        bench.write(name, content);
    }
    let run: serde_json::Value = serde_json::from_slice(&bench.read(BM25)).unwrap();
    let mut worse = run.clone();
    worse["run_name"] = "worse".into();
    for turn in worse["turns"].as_array_mut().unwrap().iter_mut().skip(1) {
        let response = &mut turn["responses"][0];
        response["text"] = "Nothing.".into();
        for list in ["passage_provenance", "ptkb_provenance"] {
            let items = response[list].as_array_mut().unwrap();
            // The best passage and the best statement are removed.
            items.remove(0);
        }
    }
    bench.write("worse.json", worse.to_string());
    bench
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("one JSON document")
}

#[test]
fn every_part_is_a_table_of_its_own() {
    let bench = with_runs();
    fs::rename(bench.path("worse.json"), bench.path("a-run-with-a-name-that-is-rather-long.json"))
        .unwrap();
    let line = format!("compare {BM25} a-run-with-a-name-that-is-rather-long.json");
    let found = bench.succeed(&line);
    let titles: Vec<&str> = found.stdout.lines().filter(|line| line.ends_with(" turns")).collect();
    let parts: Vec<&str> = titles.iter().filter_map(|title| title.split(", ").next()).collect();
    assert_eq!(
        parts,
        [
            "ptkb_provenance (organisers)",
            "ptkb_provenance (NIST)",
            "sets (organisers)",
            "sets (NIST)",
            "passages (cited)",
            "passages (graded by NIST)",
            "responses"
        ]
    );
    assert!(found.stdout.contains("\nby      run "), "{}", found.stdout);
    assert!(found.stdout.contains("\n\nrun "), "topics follow: {}", found.stdout);
    assert!(found.stderr.contains("both two-sided, over the turns of each table"));
    assert!(found.stderr.contains("where ptkb_provenance (organisers) nDCG@3 differs most"));
}

#[test]
fn figures_are_those_of_eval_and_differences_add_up() {
    let bench = with_runs();
    let scored = json(&bench.succeed(&format!("-q eval {BM25} --format json")).stdout);
    let known = |name: &str| {
        let rows = scored.as_array().unwrap();
        rows.iter().find(|row| row["measure"] == name).map(|row| row["value"].clone())
    };
    let compared =
        json(&bench.succeed(&format!("-q compare worse.json {BM25} --format json")).stdout);
    let rows = compared["comparisons"].as_array().unwrap();
    for (measure, of_eval) in [
        ("ptkb_provenance (organisers) nDCG@3", "ptkb_provenance (organisers) nDCG@3"),
        ("ptkb_provenance (NIST) nDCG@3", "ptkb_provenance (NIST) nDCG@3"),
        ("sets (NIST) F1", "sets (NIST) macro F1"),
        ("passages (cited) R@10", "passages R@10"),
        ("responses ROUGE-1", "response ROUGE-1"),
    ] {
        let row = rows.iter().find(|row| row["measure"] == measure && row["run"] == BM25).unwrap();
        assert_eq!(Some(row["mean"].clone()), known(of_eval), "{measure}");
        let counts = ["wins", "ties", "losses"].map(|name| row[name].as_u64().unwrap());
        assert_eq!(Some(counts.iter().sum()), row["topics"].as_u64(), "{measure}");
        assert!(row["difference"].as_f64().unwrap() > 0.0, "{measure}: {row}");
    }
    let topics = compared["topics"].as_array().unwrap();
    assert!(!topics.is_empty() && topics.len() <= 5, "{topics:?}");
    assert!(topics.iter().all(|turn| turn["request"] != ""), "{topics:?}");
}

#[test]
fn one_part_and_any_measure_can_be_compared() {
    let bench = with_runs();
    let measures = |more: &str| -> Vec<String> {
        let found = bench.succeed(&format!("-q compare {BM25} worse.json --format tsv {more}"));
        let names = found.stdout.lines().skip(1).map(|line| line.split('\t').next().unwrap());
        names.step_by(2).map(str::to_owned).collect()
    };
    let of = |part: &str, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("{part} {name}")).collect()
    };
    assert_eq!(
        measures("--task sets"),
        [of("sets (organisers)", &["P", "R", "F1"]), of("sets (NIST)", &["P", "R", "F1"])].concat()
    );
    assert_eq!(measures("--task responses"), of("responses", &["ROUGE-1", "ROUGE-2"]));
    let passages = ["passages (cited)", "passages (graded by NIST)"];
    assert_eq!(
        measures("--task passages -m P(rel=2)@5 -m RR"),
        passages.map(|part| of(part, &["P(rel=2)@5", "RR"])).concat()
    );
    assert_eq!(measures("-m P@1").len(), 4, "statements and passages by two sets of labels each");
}

/// The rubric qrels of 2026 have three columns.
#[test]
fn graded_passages_of_three_columns_are_read_and_their_pool_is_measured() {
    let bench = with_runs();
    let run = bench.text("runs/ikat-sample/ikat-bm25.2023-test.passages.run");
    let mut four = Vec::new();
    let mut three = Vec::new();
    for line in run.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let rank: usize = fields[3].parse().expect("a rank");
        if rank <= 5 {
            four.push(format!("{} 0 {} {}\n", fields[0], fields[2], rank % 5));
            three.push(format!("{}\t{}\t{}\n", fields[0], fields[2], rank % 5));
        }
    }
    bench.write("four.txt", four.concat());
    bench.write("three.txt", three.concat());
    let eval = |labels: &str| {
        let line = format!("-q eval {BM25} --split 2023-test --qrels {labels} --format tsv");
        bench.succeed(&line).stdout
    };
    let found = eval("three.txt");
    assert_eq!(found, eval("four.txt"));
    assert!(found.contains("passages (graded by --qrels) Judged@10\t0.5\n"), "{found}");
    // Runs of topics that no split has.
    bench.write("new.run", "ikat2024-test-5_u1_3 Q0 clueweb22-en0000-00-00000:3 1 2.5 x\n");
    bench.write("new.txt", "ikat2024-test-5_u1_3\tclueweb22-en0000-00-00000:3\t4\n");
    let found = bench.succeed("eval new.run --qrels new.txt -m nDCG@5 -m Judged@10 --format tsv");
    assert!(found.stdout.ends_with("Judged@10\tall\t1\n"), "{}", found.stdout);
}

#[test]
fn the_page_shows_conversations_with_the_answers_of_each_run() {
    let bench = with_runs();
    bench.succeed(&format!("-q report {BM25} worse.json"));
    let text = bench.text("report.html");
    assert!(text.contains("Judged@10"), "beside the figures by NIST's labels, which are of a pool");
    let page = Html::parse_document(&text);
    let parts: Vec<_> =
        select(&page, "main > section").iter().filter_map(|part| part.attr("id")).collect();
    assert_eq!(parts, ["scores", "by-statements", "by-passages", "conversations"]);
    assert_eq!(select(&page, "#conversations > details").len(), 6);
    assert_eq!(select(&page, "details.turn").len(), 46);
    let marked: Vec<String> = select(&page, "#turn-0-2 summary .range").iter().map(words).collect();
    assert!(marked[0].starts_with("ptkb_provenance nDCG@3 "), "{marked:?}");
    assert!(marked[1].starts_with("passages nDCG@3 "), "{marked:?}");
    let differing = select(&page, "#conversations .turn .differs");
    assert!(!differing.is_empty() && differing.iter().all(|it| words(it).contains(" to ")));
    assert_eq!(select(&page, "#turn-0-2 .answer").len(), 3, "the labels and two runs");
    for answer in select(&page, "#turn-0-2 .answer") {
        let head = Selector::parse("h4").unwrap();
        let heads = answer.select(&head);
        let heads: Vec<String> = heads.map(|head| words(&head)).collect();
        assert_eq!(heads, ["Statements", "Passages", "Response"]);
    }
    assert_whole(&page);
}

#[test]
fn ranks_labels_and_misses_are_those_of_the_run() {
    let bench = with_runs();
    bench.succeed(&format!("-q report worse.json {BM25}"));
    let page = Html::parse_document(&bench.text("report.html"));
    let run = json(&bench.text(BM25));
    let turn = &run["turns"][1];
    let (number, position) = turn["turn_id"].as_str().unwrap().rsplit_once('_').unwrap();
    assert_eq!((number, position), ("1-1", "2"));
    let response = &turn["responses"][0];
    let answers = select(&page, "#turn-0-2 .answer");
    let answer = answers.last().expect("that of BM25");
    let shown: Vec<String> = answer
        .select(&Selector::parse(".list:nth-child(2) ol .id").unwrap())
        .map(|id| words(&id))
        .take(5)
        .collect();
    let ranked: Vec<&str> = response["passage_provenance"].as_array().unwrap()[..5]
        .iter()
        .map(|passage| passage["id"].as_str().unwrap())
        .collect();
    assert_eq!(shown, ranked);
    let said = answer.select(&Selector::parse(".response").unwrap()).next().unwrap();
    let expected = response["text"].as_str().unwrap();
    assert_eq!(words(&said), expected.split_whitespace().collect::<Vec<_>>().join(" "));
    let whole = words(&answers[0]);
    assert!(whole.contains("✓ relevant:"), "labels are marked: {whole}");
    assert!(!select(&page, ".missed .cross").is_empty(), "misses are listed");
    assert!(!select(&page, "li.hit").is_empty(), "hits are bold");
}

#[test]
fn texts_of_files_are_escaped_on_the_page() {
    let bench = with_runs();
    let attack = "<script>alert(1)</script>";
    bench.edit("worse.json", |text| text.replace("Nothing.", attack));
    bench.succeed("-q report worse.json");
    let text = bench.text("report.html");
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty() && select(&page, "script").is_empty());
    assert!(text.contains("&lt;script&gt;alert(1)"));
    let first = text;
    bench.succeed("-q report worse.json --threads 1");
    assert!(bench.text("report.html") == first, "the same bytes");
}

const RUN: fn(&Bench) = |bench| {
    for (name, content) in run_of_bm25() {
        for copy in ["a", "b"] {
            bench.write(&name.replace("runs/ikat-sample/ikat-bm25.2023-test", copy), content);
        }
    }
};

const REFUSALS: &[Case] = &[
    case(
        "a task that does not exist",
        RUN,
        "compare a.json b.json --task titles",
        ["--task", "one of statements, ptkb_provenance, sets, passages, responses", "`titles`"],
    ),
    case(
        "measures of sets",
        RUN,
        "compare a.json b.json --task sets -m AP",
        ["-m", "--task statements or --task passages", "--task sets"],
    ),
    case(
        "ties of ClariQ",
        RUN,
        "compare a.json b.json --ties official",
        ["--ties", "runs of ClariQ", "runs of iKAT"],
    ),
    case(
        "an option of ClariQ's evaluation",
        RUN,
        "eval a.json --split 2023-test --leaderboard",
        ["--leaderboard", "no --leaderboard with runs of iKAT", "runs of iKAT"],
    ),
    case(
        "a need file beside runs of iKAT",
        RUN,
        "report a.json --need good.need",
        ["--need", "runs of ClariQ", "`good.need` with runs of iKAT"],
    ),
    case(
        "turns of another year",
        |bench| {
            RUN(bench);
            bench.edit("b.json", |text| text.replace("\"turn_id\":\"", "\"turn_id\":\"7"));
        },
        "compare a.json b.json",
        ["b.json", "answers to topics of", "only other topics"],
    ),
    case(
        "a split of iKAT in a folder of ClariQ",
        NOTHING,
        "compare good.run bad.run --split 2023-test --data data",
        ["--split", "train, dev, test", "`2023-test`"],
    ),
    case(
        "a split that does not exist",
        NOTHING,
        "compare good.run bad.run --split 2026 --data data",
        ["--split", "one of the splits train, dev, test", "`2026`"],
    ),
];

#[test]
fn options_that_do_not_fit_are_refused() {
    check(REFUSALS);
}

#[test]
fn documents_that_a_response_repeats_are_mentioned() {
    let bench = with_runs();
    let mut run: serde_json::Value = serde_json::from_slice(&bench.read(BM25)).unwrap();
    let response = &mut run["turns"][0]["responses"][0];
    for list in ["passage_provenance", "ptkb_provenance"] {
        let items = response[list].as_array_mut().unwrap();
        items.push(items[0].clone());
    }
    bench.write("again.json", run.to_string());
    for line in ["compare again.json worse.json", "eval again.json", "report again.json -o a.html"]
    {
        let said = bench.succeed(&format!("{line} --split 2023-test")).stderr;
        let warning = "2 passages and statements repeat one of the same response";
        assert!(said.contains(warning), "{line}: {said}");
        assert!(!said.contains("worse.json: "), "{line}: {said}");
    }
}
