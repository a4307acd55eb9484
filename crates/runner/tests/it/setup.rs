//! `clariq setup --from`; the rest of the set-up is tested by `python/tests/test_setup.py`.
#![cfg(feature = "bert")]

use crate::common::{Bench, root};
use std::fs;

#[test]
fn a_folder_is_installed_under_a_name_if_it_opens() {
    let bench = Bench::new();
    let data = root().join("crates/bert/tests/data");
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        bench.write(&format!("tiny/{name}"), fs::read(data.join("tiny").join(name)).expect("read"));
    }
    bench.write("tiny/.git/config", "hidden");
    bench.succeed("setup --model own-tiny --from tiny");
    assert!(!bench.path("cache/models/own-tiny/.git").exists());

    bench.write("cut/config.json", bench.read("tiny/config.json"));
    bench.write("cut/vocab.txt", bench.read("tiny/vocab.txt"));
    bench.write("cut/model.safetensors", &bench.read("tiny/model.safetensors")[..90_000]);
    let before = bench.snapshot();
    for (line, found) in [
        ("setup --model other --from cut", "model.safetensors"),
        ("setup --model own-tiny --from tiny", "exists already"),
        ("setup --model encoder --from tiny", "which is a recipe"),
        ("setup --model ../other --from tiny", "expected a name"),
        ("setup --model all-mpnet-base-v2 --from tiny", "is missing"),
        ("setup --from tiny", "--model"),
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        assert!(finished.stderr.contains(found), "{line}: {}", finished.stderr);
        assert!(bench.snapshot() == before, "{line}");
        let installed = fs::read_dir(bench.path("cache/models")).expect("a folder").flatten();
        let installed = installed.filter(|entry| entry.file_name() != "all-MiniLM-L6-v2");
        assert_eq!(installed.count(), 1, "{line}");
    }
    let t5 = data.join("t5/t5").display().to_string();
    bench.succeed(&format!("setup --model own-tiny --from {t5} --force"));
    assert!(bench.text("cache/models/own-tiny/config.json").contains("\"t5\""));
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
