//! Tables on a terminal of 60 columns, and whole in a pipe.

use crate::common::Bench;

/// The output of a command on a terminal of 60 columns.
fn at_terminal(bench: &Bench, line: &str) -> String {
    let script = format!("script -qec \"$0 --no-progress {line}\" /dev/null </dev/null");
    let wrapper = ["env", "COLUMNS=60", "NO_COLOR=1", "sh"];
    let shown = bench.shell(&wrapper, &script);
    let text = shown.stdout.replace('\r', "").replace("^D\u{8}\u{8}", "");
    assert!(!text.contains('\u{1b}'), "{line}: styles in {text:?}");
    text
}

#[test]
fn every_table_fits_a_terminal_of_60_columns() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 bm25-tuned no-question --data data --split dev");
    let runs = "runs/sample/bm25.dev.run runs/sample/bm25-tuned.dev.run";
    for (line, shows) in [
        (format!("compare {runs} --data data"), "p Holm"),
        (format!("compare {runs} --data data --topic 38"), "ranks in each run"),
        ("doctor --data data".to_owned(), "threads"),
        ("reproduce bm25 bm25-tuned --data data".to_owned(), "verdict"),
        (
            "tune bm25 --data data --grid bm25.k1=0.5,1 --grid bm25.b=0.4,0.75".to_owned(),
            "held out",
        ),
        ("need train bm25-tuned --data data --folds 2 --repeats 1".to_owned(), "weighted F1"),
        ("eval runs/sample/bm25.dev.run --data data".to_owned(), "Recall30"),
        ("run bm25 --data data --split dev".to_owned(), "run file"),
        ("data check --data data".to_owned(), "warnings"),
        ("data stats --data data".to_owned(), "train"),
        ("systems".to_owned(), "bm25-tuned"),
        ("validate runs/sample/bm25.dev.run --data data".to_owned(), "verdict"),
    ] {
        let text = at_terminal(&bench, &line);
        assert!(text.contains(shows), "{line}: {text}");
        for shown in text.lines() {
            assert!(shown.chars().count() <= 60, "{line}: {shown:?} in\n{text}");
        }
    }
}

#[test]
fn a_pipe_gets_whole_tables() {
    let bench = Bench::with_sample();
    bench.succeed("-q run bm25 bm25-tuned --data data --split dev");
    let line = "\"$0\" -q compare runs/sample/bm25.dev.run runs/sample/bm25-tuned.dev.run \
                --data data --topics 0";
    let piped = bench.shell(&["env", "COLUMNS=60", "sh"], &format!("{line} | cat")).stdout;
    let first = piped.lines().next().unwrap_or_default();
    let columns: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(columns.join(" "), "by run mean diff W/T/L p t p rand p Holm d", "{piped}");
    assert_eq!(piped.lines().filter(|line| line.is_empty()).count(), 0, "{piped}");
}

#[test]
fn errors_are_wrapped_on_a_terminal_and_keep_their_words() {
    let bench = Bench::with_sample();
    std::fs::remove_file(bench.path("data/test_with_labels.tsv")).expect("it is there");
    bench.succeed("-q run bm25 --data data --split dev");
    let hint = "`bm25` is a system: `clariq run bm25 --split test --data data` writes its run; check the \
                path: there are `runs/sample/bm25.dev.run`, `runs/sample/bm25.dev.need`";
    // The run is missed before the labels that are not there.
    let whole = format!(
        "error: bm25: missing file\n  expected: a run\n     found: nothing at that path\nhint: {hint}\n"
    );
    for command in ["eval bm25", "compare bm25 bm25-tuned", "report bm25"] {
        let line = format!("{command} --split test --data data");
        assert_eq!(bench.refused(&line), whole, "{line}");
        let script = format!("script -qec \"$0 {line}\" /dev/null </dev/null");
        let shown = bench.shell(&["env", "COLUMNS=60", "NO_COLOR=1", "sh"], &script).stdout;
        let shown = shown.replace('\r', "").replace("^D\u{8}\u{8}", "");
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&shown), words(&whole), "{shown}");
        assert!(shown.contains("\n      --data data` writes its run"), "below the hint: {shown}");
    }
}
