//! Commands that must be refused: with status 2, a message of four parts, no results, and every
//! file as it was.

use super::{Bench, Finished};

/// A command that must be refused.
pub(crate) struct Case {
    /// The defect.
    name: &'static str,
    /// Creates the defect, in a folder with the sample in `data` and old outputs in `out`.
    arrange: fn(&Bench),
    /// The command, words separated by spaces.
    line: &'static str,
    /// Parts of the message: location, expected, found.
    says: [&'static str; 3],
}

pub(crate) const NOTHING: fn(&Bench) = |_| {};
const OLD: [&str; 4] = ["out/old.run", "out/old.need", "out/old.run.json", "out/old.json"];

pub(crate) const fn case(
    name: &'static str,
    arrange: fn(&Bench),
    line: &'static str,
    says: [&'static str; 3],
) -> Case {
    Case { name, arrange, line, says }
}

/// Checks each case in a bench of its own, beside outputs of earlier commands.
pub(crate) fn check(cases: &[Case]) {
    let good = Bench::with_sample();
    good.succeed("run bm25 --data data -o good.run");
    for case in cases {
        let bench = Bench::with_sample();
        for name in OLD {
            bench.write(name, "old");
        }
        bench.write("good.run", good.read("good.run"));
        (case.arrange)(&bench);
        let before = bench.snapshot();
        let finished = bench.run(&case.line.split(' ').collect::<Vec<_>>());
        assert_refused(case, &finished);
        assert!(bench.snapshot() == before, "{}: a file was left or changed", case.name);
    }
}

fn assert_refused(case: &Case, finished: &Finished) {
    let name = case.name;
    let stderr = &finished.stderr;
    assert_eq!(finished.status, Some(2), "{name}: {stderr}");
    assert_eq!(finished.stdout, "", "{name}");
    let [place, expected, found] = case.says;
    let title = stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(title.contains(place), "{name}: no `{place}` in\n{stderr}");
    for (label, text) in [("  expected: ", expected), ("     found: ", found), ("hint: ", "")] {
        let line = stderr.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
        assert!(!line.is_empty() && line.contains(text), "{name}: no `{label}{text}` in\n{stderr}");
    }
}
