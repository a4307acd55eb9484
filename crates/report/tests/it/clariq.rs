//! Pages of runs over the sample of `ClariQ`, and over documents of one's own.

use crate::common::{Folder, Work};
use crate::page::{assert_whole, select, words};
use crate::written_table::eval_table;
use crate::{page, rendered};
use scraper::Html;

/// A page of three runs, one of them with its need file.
fn three_runs() -> String {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    for system in ["bm25", "bm25-tuned", "no-question"] {
        work.run(system, &format!("{system}.run")).unwrap();
    }
    page(&work, "three", &["bm25.run", "bm25-tuned.run", "no-question.run"], &["bm25.need"])
}

#[test]
fn the_page_is_well_formed_and_has_its_parts() {
    let text = three_runs();
    let page = Html::parse_document(&text);
    let parts: Vec<_> =
        select(&page, "main > section").iter().filter_map(|part| part.attr("id")).collect();
    assert_eq!(
        parts,
        ["scores", "depth", "differences", "needs", "topics"],
        "no leaderboard on the sample"
    );
    assert_eq!(select(&page, "details.topic").len(), 15);
    assert_eq!(select(&page, "#depth svg.chart g.line").len(), 3);
    assert_eq!(select(&page, "#differences svg.chart").len(), 3, "the means and two runs");
    assert_eq!(words(&select(&page, "#differences h2")[0]), "Differences by topic");
    assert_eq!(select(&page, "#needs .confusion").len(), 1);
    assert_whole(&page);
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let text = three_runs();
    let page = Html::parse_document(&text);
    assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("url("));
    assert!(select(&page, "script, iframe, object, embed, img, base, form").is_empty());
    assert!(select(&page, "[src], [srcset], [onclick], [onload], [style]").is_empty());
    let links: Vec<_> = select(&page, "link").iter().filter_map(|link| link.attr("href")).collect();
    assert_eq!(links, ["data:,"]);
    let policy = select(&page, "meta[http-equiv='Content-Security-Policy']");
    assert!(policy[0].attr("content").expect("a policy").starts_with("default-src 'none';"));
}

#[test]
fn texts_of_files_are_escaped_on_the_page() {
    let folder = Folder::with_sample();
    let attack = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    folder.edit("data/dev.tsv", |text| {
        text.replace("How do I clean up a broken mercury thermometer?", attack)
    });
    folder.edit("data/question_bank.tsv", |text| {
        text.replace("are any of the typewriter keys stuck", attack)
    });
    let name = "<b onclick='x'>.run";
    folder.write(name, "13 0 Q00002 1 1.0 <script>alert(1)</script>\n");
    let text = page(&Work::on(&folder, "data", "dev"), "</title><b>&", &[name], &[]);
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert!(select(&page, "script, img, [onclick], [onerror]").is_empty());
    assert_eq!(words(&select(&page, "h1")[0]), "</title><b>&");
    let topics = select(&page, "details.topic").iter().map(words).collect::<Vec<_>>();
    let topic = topics.iter().find(|topic| topic.starts_with("13 ")).expect("the topic");
    assert_eq!(
        topic.matches("<script>alert(1)</script>").count(),
        2,
        "the request and the question: {topic}"
    );
}

#[test]
fn a_topic_of_own_documents_shows_what_was_found_and_what_is_relevant() {
    let folder = Folder::new();
    folder.write(
        "data/documents.jsonl",
        "{\"id\": \"d1\", \"text\": \"how to grow tomatoes\"}\n\
         {\"id\": \"d2\", \"text\": \"tomatoes in a greenhouse <b>\"}\n\
         {\"id\": \"d3\", \"text\": \"an unrelated page\"}\n",
    );
    folder.write("data/requests.dev.jsonl", "{\"id\": \"1\", \"text\": \"grow tomatoes\"}\n");
    folder.write("data/qrels.dev.txt", "1 0 d2 2\n1 0 d3 1\n1 0 d1 0\n");
    let work = Work::on(&folder, "data", "dev").with(&["bm25.pad=false"]);
    work.run("bm25-english", "a.run").unwrap();
    let page = Html::parse_document(&page(&work, "own", &["a.run"], &[]));
    let shown = |selector| select(&page, selector).iter().map(words).collect::<Vec<_>>();
    assert_eq!(shown("header p:not(.verdict)"), ["1 run on 1 topic of dev."]);
    assert_eq!(
        shown("#topic-0 .lists li"),
        ["how to grow tomatoes d1", "✓ relevant: tomatoes in a greenhouse <b> d2"]
    );
    assert_eq!(
        shown("#topic-0 table.texts tbody tr"),
        ["tomatoes in a greenhouse <b> d2 2 ✓ 2", "an unrelated page d3 1 ✗ missed"]
    );
}

#[test]
fn the_page_begins_with_an_answer_by_a_measure_that_differs() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    work.run("bm25", "bm25.run").unwrap();
    // The same first five in another order: only a measure of the order differs.
    let reversed = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let score: f64 = fields[4].parse().unwrap();
        format!("{} 0 {} {} {} reversed\n", fields[0], fields[2], fields[3], -score)
    };
    folder.write("reversed.run", folder.text("bm25.run").lines().map(reversed).collect::<String>());
    let runs = ["bm25.run", "reversed.run"];
    let usual = Html::parse_document(&page(&work, "two", &runs, &[]));
    let verdict = words(&select(&usual, "p.verdict")[0]);
    assert!(verdict.starts_with("bm25 is best by R@5: "), "{verdict}");
    assert!(verdict.contains("worse on"), "{verdict}");
    let headings = select(&usual, "#differences h3");
    let headings: Vec<String> = headings.iter().map(words).collect();
    assert_eq!(headings, ["Mean R@5", "reversed against bm25 by R@5"]);
    let named = Html::parse_document(&rendered(&work, "two", &runs, &[], "nDCG@10 AP").html);
    assert_eq!(words(&select(&named, "#scores thead tr")[0]), "run nDCG@10 AP");
    assert!(words(&select(&named, "p.verdict")[0]).contains(" is best by nDCG@10: "));
}

#[test]
fn facets_with_figures_of_documents_are_tested_on_the_page() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    work.run("bm25", "bm25.run").unwrap();
    work.run("no-question", "none.run").unwrap();
    let shown = || page(&work, "two", &["bm25.run", "none.run"], &[]);
    let heading = "Tests against the baseline, over facets";
    assert!(!shown().contains(heading));
    let figures = [("Q00001", 0.5), ("MIN", 0.25), ("MAX", 0.75)];
    let table = |context: &str| eval_table(&["MRR100", "P1", "NDCG3", "NDCG5"], context, &figures);
    folder.write("data/single_turn_train_eval.pkl", table("VF9999"));
    assert!(!shown().contains("id=\"documents\""), "scores of another split");
    folder.write("data/single_turn_train_eval.pkl", table("VF0012"));
    assert!(shown().contains(heading));
}
