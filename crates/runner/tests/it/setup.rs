//! `clariq setup --from`; the rest of the set-up is tested by `python/tests/test_setup.py`.
#![cfg(feature = "bert")]

use crate::common::Bench;
use std::fs;

#[test]
fn a_folder_is_installed_under_a_name_if_it_opens() {
    let bench = Bench::new();
    bench.copy("crates/bert/tests/data/tiny", "tiny");
    bench.succeed("setup --model own-tiny --from tiny");
    bench.succeed("setup --model own-tiny --from tiny --force");
    assert!(bench.path("cache/models/own-tiny/model.safetensors").exists());

    bench.write("cut/config.json", bench.read("tiny/config.json"));
    bench.write("cut/vocab.txt", bench.read("tiny/vocab.txt"));
    bench.write("cut/model.safetensors", &bench.read("tiny/model.safetensors")[..90_000]);
    for (line, found) in [
        ("setup --model other --from cut", "model.safetensors"),
        ("setup --model encoder --from tiny", "which is a recipe"),
        ("setup --model ../other --from tiny", "expected a name"),
        ("setup --from tiny", "--model"),
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        assert!(finished.stderr.contains(found), "{line}: {}", finished.stderr);
        let installed = fs::read_dir(bench.path("cache/models")).expect("a folder").flatten();
        let installed = installed.filter(|entry| entry.file_name() != "all-MiniLM-L6-v2");
        assert_eq!(installed.count(), 1, "{line}");
    }
}

#[test]
fn the_path_of_a_folder_is_no_name_of_the_hub() {
    let bench = Bench::new();
    for path in ["/nosuch/model", "./model", "~/model", "models/mine/tiny"] {
        assert_eq!(
            bench.refused(&format!("setup --model {path}")),
            format!(
                "error: --model\n  expected: the name of a model\n     found: `{path}`, the path of a \
                 folder\nhint: `clariq setup --model NAME --from {path}` installs a folder\n"
            )
        );
    }
}
