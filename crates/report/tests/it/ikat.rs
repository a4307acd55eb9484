//! Pages of runs over the sample of iKAT.

use crate::common::{Folder, Work};
use crate::page::{assert_whole, select, words};
use crate::{page, rendered};
use scraper::{Html, Selector};
use serde_json::Value;

const BM25: &str = "bm25.json";

/// A run of BM25 over the sample, and a worse copy of it.
fn with_runs(folder: &Folder) -> Work<'_> {
    let work = Work::on_ikat(folder, "2023-test");
    work.run("ikat-bm25", BM25).unwrap();
    let mut worse = folder.json(BM25);
    worse["run_name"] = "worse".into();
    for turn in worse["turns"].as_array_mut().unwrap().iter_mut().skip(1) {
        let response = &mut turn["responses"][0];
        response["text"] = "Nothing.".into();
        for list in ["passage_provenance", "ptkb_provenance"] {
            // The best passage and the best statement are removed.
            response[list].as_array_mut().unwrap().remove(0);
        }
    }
    folder.write("worse.json", worse.to_string());
    work
}

#[test]
fn the_page_shows_conversations_with_the_answers_of_each_run() {
    let folder = Folder::new();
    let work = with_runs(&folder);
    let text = page(&work, "runs", &[BM25, "worse.json"], &[]);
    assert!(text.contains("Judged@10"), "beside the figures by NIST's labels, which are of a pool");
    let page = Html::parse_document(&text);
    let parts: Vec<_> =
        select(&page, "main > section").iter().filter_map(|part| part.attr("id")).collect();
    assert_eq!(parts, ["scores", "by-statements", "by-passages", "conversations"]);
    assert_eq!(select(&page, "#conversations > details").len(), 6);
    assert_eq!(select(&page, "details.turn").len(), 46);
    let marked: Vec<String> = select(&page, "#turn-0-2 summary .part").iter().map(words).collect();
    assert!(marked[0].starts_with("ptkb_provenance nDCG@3 "), "{marked:?}");
    assert!(marked[1].starts_with("passages nDCG@3 "), "{marked:?}");
    let differing = select(&page, "#conversations .turn .differs");
    assert!(!differing.is_empty() && differing.iter().all(|it| words(it).contains(" → ")));
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
    let folder = Folder::new();
    let work = with_runs(&folder);
    let page = Html::parse_document(&page(&work, "runs", &["worse.json", BM25], &[]));
    let run: Value = folder.json(BM25);
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
    let folder = Folder::new();
    let work = with_runs(&folder);
    let attack = "<script>alert(1)</script>";
    folder.edit("worse.json", |text| text.replace("Nothing.", attack));
    let text = page(&work, "runs", &["worse.json"], &[]);
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty() && select(&page, "script").is_empty());
    assert!(text.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn a_page_needs_no_labels() {
    let folder = Folder::new();
    folder.write_ikat("data", |topics| {
        for conversation in topics.iter_mut() {
            for turn in conversation["turns"].as_array_mut().unwrap() {
                let turn = turn.as_object_mut().unwrap();
                turn.remove("ptkb_provenance");
                turn.remove("response_provenance");
            }
        }
    });
    let work = Work::on(&folder, "data", "2023-test");
    work.run("ikat-bm25", "mine.json").unwrap();
    let shown = rendered(&work, "mine", &["mine.json"], &[], "");
    let warning = "the folder has no labels of 2023-test: the page has no scores";
    assert_eq!(shown.warnings, [warning]);
    assert!(shown.html.contains("id=\"conversations\"") && !shown.html.contains("id=\"figures\""));
}
