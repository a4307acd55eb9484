//! Bad input of every kind: the command ends with status 2, says where, what was expected, what was
//! found and what to do next, prints no results, and leaves every file as it was.

mod arguments;
mod configurations;
mod data;
mod files;

use crate::common::Bench;

const RUN: &str = "run bm25 --data data -o out/old.run";

fn gzip_cut(bench: &Bench, from: &str, to: &str) {
    let packed = bench
        .shell(&["sh"], &format!("gzip -c {from} > {to}.whole && head -c 900 {to}.whole > {to}"));
    assert_eq!(packed.status, Some(0), "{}", packed.stderr);
}

/// So many MiB of blank lines, packed.
fn bomb(bench: &Bench, name: &str, size: usize) {
    let script = format!("yes '' | head -c {size}M | gzip -9 > {name}");
    assert_eq!(bench.shell(&["sh"], &script).status, Some(0));
}
