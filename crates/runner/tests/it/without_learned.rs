//! The command without `clariq-learned`: everything lexical works; where a model is needed, the
//! error names what is missing.

use crate::common::{Bench, root};

#[test]
fn learned_systems_are_refused_with_a_hint() {
    let bench = Bench::with_sample().with_learned("");
    let before = bench.snapshot();
    for line in [
        "run dense --data data -o out.run",
        "run bert-reranker --data data -o out.run",
        "run best --data data -o out.run",
        "run strict bm25 --data data",
        "train best --data data",
        "reproduce dense --data data",
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        assert!(
            finished.stderr.contains("found: one that was built without them"),
            "{line}: {}",
            finished.stderr
        );
        assert!(
            finished
                .stderr
                .contains("hint: `scripts/install` in a clone adds them; the page Install"),
            "{line}"
        );
        assert!(bench.snapshot() == before, "{line}: a file was left or changed");
    }
}

#[test]
fn lexical_systems_need_no_libtorch() {
    let bench = Bench::with_sample().with_learned("");
    bench.succeed("run bm25-tuned --data data -o lexical.run");
    assert_eq!(bench.text("lexical.need").lines().count(), 15);
    let shown = bench.succeed("reproduce --data data").stdout;
    for (system, is_there) in [
        ("no-question", true),
        ("bm25", true),
        ("bm25-tuned", true),
        ("dense", false),
        ("best", false),
    ] {
        let row = shown.lines().any(|line| line.split_whitespace().next() == Some(system));
        assert_eq!(row, is_there, "{system}: {shown}");
    }
    assert!(
        bench
            .run(&["doctor", "--data", "data"])
            .stdout
            .contains("not in this build; `scripts/install` in a clone adds them")
    );
}

#[test]
fn the_systems_that_are_left_out_are_named() {
    let bench = Bench::new().with_learned("");
    let data = root().join("data/sample-ikat").display().to_string();
    let told = bench.succeed(&format!("reproduce --data {data} --split 2023-test")).stderr;
    let note = "note: this build has no learned models; ikat-sparse, ikat-dense, ikat-automatic, ";
    assert!(told.contains(note), "no `{note}` in\n{told}");
}

/// Linked with libtorch, the command would need a quarter of a second to start.
#[cfg(target_os = "linux")]
#[test]
fn the_command_loads_no_libtorch() {
    let bench = Bench::new();
    let mut command = bench.command(&["--version"]);
    let output = command.env("LD_TRACE_LOADED_OBJECTS", "1").output().expect("it starts");
    let libraries = String::from_utf8_lossy(&output.stdout);
    assert!(libraries.contains("libc.so") && !libraries.contains("libtorch"), "{libraries}");
}

#[test]
fn both_versions_are_told_without_the_other_program() {
    let bench = Bench::new();
    let learned = "#!/bin/sh\ntouch started\n";
    std::fs::write(bench.path("learned"), learned).expect("written");
    let script =
        "chmod +x learned; export CLARIQ_LEARNED=./learned; \"$0\" -V >short; \"$0\" --version";
    let long = bench.shell(&["sh"], script);
    assert_eq!(long.stdout, bench.text("short"));
    assert!(long.stdout.contains("\nlearned models  ./learned\n"), "{}", long.stdout);
    assert!(!bench.path("started").exists());
}

#[test]
fn doctor_explains_a_program_that_does_not_start() {
    let bench = Bench::with_sample().with_learned("/nonexistent/clariq-learned");
    let finished = bench.run(&["doctor", "--data", "data"]);
    assert_eq!(finished.status, Some(1), "{}", finished.stderr);
    let row = "/nonexistent/clariq-learned does not start: No such file";
    assert!(finished.stdout.contains(row), "{}", finished.stdout);
    assert!(finished.stderr.contains("hint: learned models: clariq setup"), "{}", finished.stderr);
    let finished = bench.run(&["run", "dense", "--data", "data", "-o", "x.run"]);
    assert_eq!(finished.status, Some(2), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("/nonexistent/clariq-learned: cannot start"),
        "{}",
        finished.stderr
    );
}

#[test]
fn set_up_lists_missing_parts_and_refuses_a_folder_without_libtorch() {
    let bench = Bench::new();
    let run = |arguments: &[&str]| {
        // cargo sets it for tests, and it names a libtorch.
        let output = bench.command(arguments).env_remove("LIBTORCH").output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (status, shown, _) = run(&["setup", "--check"]);
    assert_eq!(status, Some(1));
    assert!(shown.contains("libtorch\tMISSING\t"), "{shown}");
    let (status, _, errors) = run(&["setup", "--libtorch", "nowhere"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("nowhere/include/torch/csrc/autograd/engine.h is missing"), "{errors}");
    assert!(errors.contains("hint: LIBTORCH or --libtorch"), "{errors}");
}
