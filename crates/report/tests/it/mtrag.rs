//! Pages of runs over the sample of MTRAG.

use crate::common::{Folder, Work, root};
use crate::page;
use clariq_collections::DataDir;
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
