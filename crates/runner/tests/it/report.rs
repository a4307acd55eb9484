//! `clariq report`: the page is whole, safe to open, and true.

use crate::common::Bench;
use crate::common::page::{assert_whole, select, words};
use scraper::{Html, Selector};

/// Three runs of the sample, and a page about them.
fn page_of(bench: &Bench, more: &str) -> String {
    bench.succeed("-q run bm25 bm25-tuned no-question");
    bench.succeed(&format!(
        "-q report runs/sample/bm25.dev.run runs/sample/bm25-tuned.dev.run runs/sample/no-question.dev.run --need runs/sample/bm25.dev.need{more}"
    ));
    bench.text("report.html")
}

#[test]
fn the_page_is_well_formed_and_has_its_parts() {
    let text = page_of(&Bench::new(), "");
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
    assert_eq!(select(&page, "#differences svg.chart").len(), 2);
    assert_eq!(select(&page, "#needs .confusion").len(), 1);
    assert_whole(&page);
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let text = page_of(&Bench::new(), "");
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
            .select(&Selector::parse("td").unwrap())
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
fn texts_of_files_are_escaped_on_the_page() {
    let bench = Bench::with_sample();
    let attack = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    bench.edit("data/dev.tsv", |text| {
        text.replace("How do I clean up a broken mercury thermometer?", attack)
    });
    bench.edit("data/question_bank.tsv", |text| {
        text.replace("are any of the typewriter keys stuck", attack)
    });
    bench.write("runs/<b onclick='x'>.run", "13 0 Q00002 1 1.0 <script>alert(1)</script>\n");
    let finished = bench.run(&[
        "-q",
        "--data",
        "data",
        "report",
        "runs/<b onclick='x'>.run",
        "--title",
        "</title><b>&",
    ]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    let text = bench.text("report.html");
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
    bench.write("runs/damaged.run", "13 0 Q00002 1 high tag\n");
    let cases = [
        ("report runs/none.run", "runs/none.run: missing file"),
        ("report runs/sample/bm25.dev.run runs/damaged.run", "runs/damaged.run:1"),
        ("report runs/train.run --split dev", "expected: answers to topics of <sample>/dev.tsv"),
        ("report runs/sample/bm25.dev.run --need runs/train.need", "runs/train.need\n"),
        ("report runs/sample/bm25.dev.run --need runs/none.need", "runs/none.need: missing file"),
        (
            "report runs/sample/bm25.dev.run runs/sample/bm25.dev.run",
            "`runs/sample/bm25.dev.run` twice",
        ),
        ("report runs/sample/bm25.dev.run -o runs/sample/bm25.dev.run", "an output apart from"),
        ("report runs/sample/bm25.dev.run -o runs", "cannot write"),
        (
            "report runs/sample/bm25.dev.run --split tset",
            "expected: one of the splits train, dev, test",
        ),
    ];
    let before = bench.snapshot();
    for (line, told) in cases {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        assert!(
            finished.stderr.contains(told) && finished.stderr.contains("\nhint: "),
            "{line}: {}",
            finished.stderr
        );
        assert_eq!(finished.stdout, "", "{line}");
        assert_eq!(bench.snapshot(), before, "{line}");
    }
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
    let told = bench.succeed("report one.run").stderr;
    assert!(told.contains("warning: one.run: 14 topics are not answered and count 0\n"), "{told}");
    assert!(told.contains("warning: one.run: 1 topics have no labels"), "{told}");
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
    for id in ["depth-title", "differences-1", "differences-2"] {
        let svg = bench.text(&format!("charts/{id}.svg"));
        assert!(page.contains(&format!("aria-labelledby=\"{id}\"")), "{id}");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(!svg.contains("var("), "{svg}");
    }
}

#[test]
fn a_topic_of_own_documents_shows_what_was_found_and_what_is_relevant() {
    let bench = Bench::new();
    bench.write(
        "data/documents.jsonl",
        "{\"id\": \"d1\", \"text\": \"how to grow tomatoes\"}\n\
         {\"id\": \"d2\", \"text\": \"tomatoes in a greenhouse <b>\"}\n\
         {\"id\": \"d3\", \"text\": \"an unrelated page\"}\n",
    );
    bench.write("data/requests.dev.jsonl", "{\"id\": \"1\", \"text\": \"grow tomatoes\"}\n");
    bench.write("data/qrels.dev.txt", "1 0 d2 2\n1 0 d3 1\n1 0 d1 0\n");
    bench.succeed("-q run bm25-english --data data --split dev --set bm25.pad=false -o a.run");
    bench.succeed("-q report a.run --data data --split dev");
    let page = Html::parse_document(&bench.text("report.html"));
    let shown = |selector| select(&page, selector).iter().map(words).collect::<Vec<_>>();
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
    let bench = Bench::new();
    bench.succeed("-q run bm25");
    // The same first five in another order: only a measure of the order differs.
    let reversed: String = {
        let text = bench.text("runs/sample/bm25.dev.run");
        let lines = text.lines().map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let score: f64 = fields[4].parse().unwrap();
            format!("{} 0 {} {} {} reversed\n", fields[0], fields[2], fields[3], -score)
        });
        lines.collect()
    };
    bench.write("reversed.run", reversed);
    bench.succeed("-q report runs/sample/bm25.dev.run reversed.run");
    let page = Html::parse_document(&bench.text("report.html"));
    let verdict = words(&select(&page, "p.verdict")[0]);
    assert!(verdict.starts_with("No run is better than bm25.dev by R@5 ("), "{verdict}");
    assert!(verdict.contains("worse on"), "{verdict}");
    let heading = words(&select(&page, "#differences h3")[0]);
    assert_eq!(heading, "reversed against bm25.dev by R@5");
    bench.succeed("-q report runs/sample/bm25.dev.run reversed.run -m nDCG@10 -m AP");
    let page = Html::parse_document(&bench.text("report.html"));
    let header = words(&select(&page, "#scores thead tr")[0]);
    assert_eq!(header, "run nDCG@10 AP");
    assert!(words(&select(&page, "p.verdict")[0]).contains(" by nDCG@10 ("));
}
