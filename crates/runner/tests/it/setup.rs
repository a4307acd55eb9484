//! `clariq setup`, as far as it works without a download.

use crate::common::{Bench, root};
use std::fs;
use std::process::Command;

#[test]
fn libtorch_is_linked_in_the_cache_and_nowhere_else() {
    let bench = Bench::new();
    for folder in ["cache", "programs", "one", "two"] {
        fs::create_dir_all(bench.path(folder)).expect("created");
    }
    let link = "import setup, pathlib, sys; setup.link_libtorch(pathlib.Path(sys.argv[1]))";
    for libtorch in ["one", "two", "two"] {
        let status = Command::new("python3")
            .args(["-B", "-c", link])
            .arg(bench.path(libtorch))
            .env("PYTHONPATH", root().join("crates/runner/src/commands"))
            .env("CLARIQ_CACHE", bench.path("cache"))
            .current_dir(bench.path("programs"))
            .status();
        assert!(status.expect("Python").success());
        assert_eq!(
            fs::read_link(bench.path("cache/libtorch")).expect("a link"),
            bench.path(libtorch)
        );
    }
    let outside = bench.snapshot().into_keys().find(|path| path.is_file() || path.is_symlink());
    assert_eq!(outside, None);
}
