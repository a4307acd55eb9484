//! What commands print for people, whole.

use crate::common::Bench;
use snapbox::{assert_data_eq, file};

#[test]
fn scores_pages_and_reports_are_printed_as_before() {
    let bench = Bench::new().with_learned("");
    bench.succeed("-q run bm25 no-question");
    let [bm25, none] = ["bm25", "no-question"].map(|name| format!("runs/sample/{name}.dev.run"));
    for (line, expected) in [
        (format!("eval {bm25}"), file!["printed/eval-official.txt"]),
        (format!("eval {none} -m nDCG@10 -m R@100"), file!["printed/eval-measures.txt"]),
        (format!("compare {bm25} {none} --format tsv"), file!["printed/compare.tsv"]),
        (format!("report {bm25} {none}"), file!["printed/report.txt"]),
        ("doctor --threads 2".to_owned(), file!["printed/doctor.txt"]),
    ] {
        let printed = bench.succeed(&format!("-q {line}")).stdout;
        let folder = bench.path("").display().to_string();
        assert_data_eq!(printed.replace(&folder, "@/"), expected);
    }
    assert_data_eq!(bench.refused("eval gone.run"), file!["printed/eval-error.txt"]);
}
