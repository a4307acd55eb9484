//! Pages of runs over the sample of MTRAG.

use crate::common::{Folder, Work, root};
use crate::page;
use crate::page::{select, words};
use clariq_collections::DataDir;
use scraper::Html;
use serde_json::{Value, json};

#[test]
fn the_page_shows_what_a_system_wrote() {
    let folder = Folder::new();
    let sample = DataDir::Folder(root().join("data/sample-mtrag"));
    let work = Work { split: Some("mtrag-un".to_owned()), ..Work::outside(&folder, sample) };
    work.run("mtrag-bm25", "one.run").unwrap();
    let question = "Which licence do you mean?";
    let asks = |line: &str| {
        let mut answer: Value = serde_json::from_str(line).unwrap();
        answer["predictions"] = json!([{ "text": question }]);
        format!("{answer}\n")
    };
    folder.write("one.jsonl", folder.text("one.jsonl").lines().map(asks).collect::<String>());
    assert!(page(&work, "one", &["one.jsonl"], &[]).contains(question));
}

#[test]
fn requests_on_which_runs_differ_most_come_first() {
    let folder = Folder::new();
    let sample = DataDir::Folder(root().join("data/sample-mtrag"));
    let work = Work { split: Some("mtrag-un".to_owned()), ..Work::outside(&folder, sample) };
    work.run("mtrag-bm25", "one.run").unwrap();
    let answered = folder.text("one.run");
    let others = answered.split_inclusive('\n').filter(|line| !line.starts_with("dd02<::>1 "));
    folder.write("two.run", others.collect::<String>());
    let page = Html::parse_document(&page(&work, "two", &["one.run", "two.run"], &[]));
    let first = words(&select(&page, "details.topic > summary")[0]);
    assert!(first.starts_with("dd02<::>1 "), "{first}");
}
