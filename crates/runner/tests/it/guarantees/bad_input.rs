//! Bad input of every kind: the command ends with status 2, reports location, expectation, finding
//! and hint, prints no results, and leaves every file as it was.

mod arguments;
mod data;
mod files;

use crate::common::Bench;

const RUN: &str = "run bm25 --data data -o out/old.run";

/// Writes `size` MiB of blank lines as gzip: one member of 1 MiB, repeated.
fn bomb(bench: &Bench, name: &str, size: usize) {
    assert_eq!(bench.shell(&["sh"], "yes '' | head -c 1M | gzip -9 > one").status, Some(0));
    bench.write(name, bench.read("one").repeat(size));
    bench.remove("one");
}

#[test]
fn a_damaged_archive_of_documents_ends_the_command() {
    let bench = Bench::new();
    bench.write("gzip/x.jsonl.gz", b"\x1f\x8b\x08\x00garbage");
    bench.write("zstandard/x.jsonl.zst", b"\x28\xb5\x2f\xfdgarbage");
    for folder in ["gzip", "zstandard"] {
        for command in ["check", "stats"] {
            let finished = bench.run(&["data", command, "--data", folder]);
            assert_eq!(finished.status, Some(2), "{command} {folder}: {}", finished.stderr);
        }
    }
}
