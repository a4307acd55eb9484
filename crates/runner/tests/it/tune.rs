//! `clariq tune`: what varies is shown, and the best system is written.

use crate::common::Bench;

/// A run without its tags.
fn without_tags(run: &str) -> Vec<String> {
    run.lines().map(|line| line.rsplit_once(' ').expect("a tag").0.to_owned()).collect()
}

#[test]
fn rows_show_what_varies() {
    let bench = Bench::with_sample();
    let line = "-q tune bm25 --data data --grid bm25.k1=0.5,1 --set bm25.b=0.4 -m R@5";
    let tuned = bench.succeed(line).stdout;
    let rows: Vec<&str> = tuned.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rows.len(), 5, "{tuned}");
    assert!(rows[1..3].iter().all(|row| row.starts_with("bm25.k1=")), "{tuned}");
    assert!(!tuned.contains("bm25.b"), "{tuned}");
    let set = bench.succeed(&line.replace("bm25.b=0.4", "bm25.b=0.9")).stdout;
    assert_ne!(set, tuned, "the parameter counts");
}

#[test]
fn the_best_system_is_written_and_can_be_run() {
    let bench = Bench::with_sample();
    let grid = "--grid bm25.k1=0.5,1.2 --set bm25.b=0.4 -m R@5";
    let tuned = bench.succeed(&format!("tune bm25 --data data --split train {grid} -o best.toml"));
    assert!(tuned.stderr.contains("`clariq run best.toml --data data`"), "{}", tuned.stderr);
    let row = tuned.stdout.lines().nth(1).expect("the best").split_whitespace().next();
    let best = row.expect("its parameters").to_owned();
    bench.succeed("-q run best.toml --data data --split dev");
    bench.succeed(&format!(
        "-q run bm25 --set bm25.b=0.4 --set {best} --data data --split dev -o set.run"
    ));
    let written = bench.text("runs/sample/best.dev.run");
    assert_eq!(without_tags(&written), without_tags(&bench.text("set.run")));
    assert!(written.lines().all(|line| line.ends_with(" best")));
    let file = bench.text("best.toml");
    let description = format!("description = \"bm25 with the best R@5 on train: {best}\"");
    assert!(file.contains(&description), "{file}");
}

#[test]
fn files_that_are_no_systems_are_refused_before_the_search() {
    let bench = Bench::with_sample();
    let refused = |output: &str| {
        bench.refused(&format!("tune bm25 --data data --grid bm25.k1=1,2 -o {output}"))
    };
    assert_eq!(
        refused("best.json"),
        "error: --output\n  expected: a file that ends in .toml\n     found: best.json\nhint: \
         systems are read from such files, for example `-o tuned.toml`\n"
    );
    assert!(refused("my_ä.toml").contains("a file name of letters, digits"));
    let bm25 = bench.succeed("systems show bm25").stdout;
    bench.write("own.toml", bm25);
    let onto_itself = "tune own.toml --data data --grid bm25.k1=1,2 -o own.toml";
    assert!(bench.refused(onto_itself).contains("an output apart from the files that are read"));
}
