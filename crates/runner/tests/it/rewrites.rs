//! `--rewrites` and `--rewritten-by`.

use crate::common::Bench;
use crate::common::refusals::{case, check};

#[test]
fn a_run_and_a_ranking_over_a_file_use_the_same_rewrites() {
    const BY_MODEL: &str = "--data data --rewrites r.tsv --rewritten-by model";
    let bench = Bench::with_sample();
    let line = |id| format!("{{\"id\": \"q{id}\", \"text\": \"tell me about it\"}}\n");
    bench.write("requests.jsonl", (1..4).map(line).collect::<String>());
    bench.write("r.tsv", "q2\ta dog\nq3\tdog heat\n");
    bench.succeed(&format!("-q run bm25 --requests requests.jsonl {BY_MODEL} -o a.run"));
    assert!(bench.text("a.run").ends_with(" bm25-rewrites-r-by-model\n"));
    let record = bench.text("a.run.json");
    assert!(record.contains("\"rewrites-by-model\"") && record.contains("\"file\": \"r.tsv\""));
    let ranked =
        bench.succeed(&format!("rank bm25 --requests requests.jsonl {BY_MODEL} --format trec"));
    assert_eq!(ranked.stdout.replace(" Q0 ", " 0 "), bench.text("a.run"));
    assert!(ranked.stderr.contains("r.tsv: 1 of 3 requests has no rewrite"), "{}", ranked.stderr);
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    check(&[case(
        "the text of a request",
        |bench| bench.write("r.tsv", "101\ta\n"),
        "explain a Q00001 --data data --rewrites r.tsv --rewritten-by model",
        ["--rewrites", "--topic beside it", "the text of a request"],
    )]);
    let bench = Bench::with_sample();
    bench.write("r.tsv", "101\ta\n");
    for words in ["--rewrites r.tsv", "--rewritten-by model", "--rewrites r.tsv --rewritten-by me"]
    {
        bench.refused(&format!("run bm25 --data data -o a.run {words}"));
    }
}
