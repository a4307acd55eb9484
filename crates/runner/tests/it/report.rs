//! `clariq report`: the page is whole, safe to open, and true.

use crate::common::Bench;
use crate::common::page::{select, words};
use scraper::{Html, Selector};
use snapbox::{assert_data_eq, str};

/// Three runs of the sample, and a page about them.
fn page_of(bench: &Bench, more: &str) -> String {
    bench.succeed("-q run bm25 bm25-tuned no-question");
    bench.succeed(&format!(
        "-q report runs/sample/bm25.dev.run runs/sample/bm25-tuned.dev.run runs/sample/no-question.dev.run --need runs/sample/bm25.dev.need{more}"
    ));
    bench.text("report.html")
}

#[test]
fn the_figures_are_those_of_eval() {
    let bench = Bench::new();
    let text = page_of(&bench, "");
    let page = Html::parse_document(&text);
    for (row, run) in select(&page, "#scores > .scroll tbody tr").iter().zip(["bm25", "bm25-tuned"])
    {
        let figures = bench.succeed(&format!("-q eval runs/sample/{run}.dev.run")).stdout;
        let figures =
            figures.lines().filter_map(|line| line.split_once(": ")?.1.parse::<f64>().ok());
        let expected: Vec<String> = figures.map(|figure| format!("{figure:.4}")).collect();
        let cells = row
            .select(&Selector::parse("td:not(.text)").unwrap())
            .map(|cell| words(&cell))
            .collect::<Vec<_>>();
        assert_eq!(cells.iter().map(|cell| &cell[..6]).collect::<Vec<_>>(), expected, "{run}");
    }
    let lost = select(&page, "#scores > .scroll tbody tr").pop().map(|row| words(&row)).unwrap();
    assert!(
        lost.starts_with("no-question ") && lost.contains("▼ worse than the baseline"),
        "{lost}"
    );
    let need = bench.succeed("-q eval runs/sample/bm25.dev.need --task clarification_need").stdout;
    assert!(need.contains("Recall:  0.3333"));
    assert!(words(&select(&page, "#needs")[0]).contains("recall 0.3333, F1 0.1667"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bench = Bench::new();
    let first = page_of(&bench, "");
    assert_eq!(page_of(&bench, " --threads 1"), first);
    let to_stdout = bench.succeed(
        "-q report runs/sample/bm25.dev.run runs/sample/bm25-tuned.dev.run runs/sample/no-question.dev.run --need runs/sample/bm25.dev.need -o -",
    );
    assert_eq!(to_stdout.stdout, first);
}

#[test]
fn a_baseline_is_chosen_or_added() {
    let bench = Bench::new();
    page_of(&bench, " --baseline runs/sample/bm25-tuned.dev.run");
    let tag = Selector::parse(".tag").unwrap();
    let tagged = |bench: &Bench| {
        let page = Html::parse_document(&bench.text("report.html"));
        let rows = select(&page, "#scores > .scroll tbody tr");
        (rows.len(), rows.iter().position(|row| row.select(&tag).next().is_some()))
    };
    assert_eq!(tagged(&bench), (3, Some(1)));
    bench.succeed("-q report runs/sample/bm25.dev.run --baseline runs/sample/no-question.dev.run");
    assert_eq!(tagged(&bench), (2, Some(0)));
}

#[test]
fn bad_input_is_refused_and_leaves_no_file() {
    let bench = Bench::new();
    bench.succeed("-q run bm25 no-question");
    bench.succeed("-q run bm25 --split train -o runs/train.run");
    let before = bench.snapshot();
    let refused = |line: &str| {
        let message = bench.refused(&format!("report runs/{line}"));
        assert_eq!(bench.snapshot(), before, "{line}");
        message
    };
    let bm25 = |more: &str| refused(&format!("sample/bm25.dev.run {more}"));
    assert_data_eq!(
        refused("none.run"),
        str![[r#"
error: runs/none.run: missing file
  expected: a file
     found: nothing at that path
hint: check the path: there are `runs/sample/bm25.dev.run`, `runs/sample/no-question.dev.run`, `runs/train.run`

"#]]
    );
    assert_data_eq!(
        refused("train.run --split dev"),
        str![[r#"
warning: --split dev: the run was made for train, says its record
note: using the built-in sample (--data DIR: your own)
error: runs/train.run
  expected: answers to topics of <sample>/dev.tsv
     found: only other topics, such as `1`
hint: choose the split of the file with --split, its collection with --data, or its judgements with --qrels

"#]]
    );
    assert_data_eq!(
        bm25("--need runs/train.need"),
        str![[r#"
note: using the built-in sample (--data DIR: your own)
error: runs/train.need
  expected: answers to topics of <sample>/dev.tsv
     found: only other topics, such as `1`
hint: choose the split of the file with --split, its collection with --data, or its judgements with --qrels

"#]]
    );
    let twice = bm25("runs/sample/bm25.dev.run");
    assert!(twice.contains("found: `runs/sample/bm25.dev.run` twice\n"), "{twice}");
    assert_data_eq!(
        bm25("-o runs/sample/bm25.dev.run"),
        str![[r#"
note: using the built-in sample (--data DIR: your own)
error: runs/sample/bm25.dev.run
  expected: an output apart from the files that are read and those of the data folder
     found: one of them
hint: write to another file: this one would be lost

"#]]
    );
}

#[test]
fn the_declared_uses_of_a_run_are_shown_beside_its_figures() {
    let bench = Bench::new();
    bench.succeed("-q run bm25 no-question");
    let declare = |text: String| text.replace("\"uses\": []", "\"uses\": [\"batch\"]");
    bench.edit("runs/sample/no-question.dev.run.json", declare);
    bench.succeed("-q report runs/sample/bm25.dev.run runs/sample/no-question.dev.run");
    let page = Html::parse_document(&bench.text("report.html"));
    let rows = select(&page, "#scores > .scroll tbody tr");
    let last: Vec<String> =
        rows.iter().map(|row| words(row).split(' ').next_back().unwrap().to_owned()).collect();
    assert_eq!(last, ["–", "batch"]);
}

#[test]
fn unanswered_topics_are_reported_on_standard_error_and_on_the_page() {
    let bench = Bench::new();
    bench.write("one.run", "13 0 Q00260 1 1.0 tag\n99 0 Q00260 1 1.0 tag\n");
    assert_data_eq!(
        bench.succeed("report one.run").stderr,
        str![[r#"
note: using the built-in sample (--data DIR: your own)
warning: one.run: 14 topics are not answered and count 0
warning: one.run: 1 topic has no labels and is ignored
warning: one.run: the run ranks 1 document for a topic: R@5, R@10, R@20, R@30 count no more (marked °)

"#]]
    );
    let page = Html::parse_document(&bench.text("report.html"));
    assert!(
        words(&select(&page, "#scores > ul")[0])
            .contains("14 topics without an answer, counted 0.")
    );
}

#[test]
fn charts_are_also_written_as_files() {
    let bench = Bench::new();
    let page = page_of(&bench, " --charts charts");
    let entries = std::fs::read_dir(bench.path("charts")).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_data_eq!(
        names.join("\n"),
        str![[r#"
Mean-R@30-of-bm25-bm25-tuned-no-question-with-95-intervals.svg
Mean-recall-of-relevant-questions-at-depth-1-to-30.svg
R@30-of-bm25-tuned-minus-R@30-of-bm25.svg
R@30-of-no-question-minus-R@30-of-bm25.svg
"#]]
    );
    for name in names {
        let svg = bench.text(&format!("charts/{name}"));
        let (_, title) = svg.split_once("<title").expect("a title");
        assert!(page.contains(title.split("</title>").next().expect("a title")), "{name}");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(!svg.contains("var("), "{svg}");
    }
}
