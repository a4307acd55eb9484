//! Outputs never replace inputs, and nothing temporary is left, however a command ends.

use crate::common::Bench;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A folder with the sample, a run, a configuration, conversations and a need model.
fn with_inputs() -> Bench {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data -o a.run");
    bench.write("q.qrels", "1 0 Q1 1\n");
    bench.succeed("data synthesize --data data --turns 2 -o c.jsonl");
    bench.succeed("need train bm25-tuned --data data --repeats 1 --folds 2 -o model.json");
    let system = "name = \"x\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\nvariant = \"okapi\"\n\
                  k1 = 1.5\nb = 0.75\ndepth = 3\n[need]\nmodel = \"majority\"\n";
    bench.write("x.toml", system);
    bench
}

#[test]
fn every_command_refuses_to_overwrite_its_inputs() {
    let bench = with_inputs();
    std::os::unix::fs::symlink("data/train.tsv", bench.path("link")).expect("linked");
    fs::hard_link(bench.path("data/train.tsv"), bench.path("hard")).expect("linked");
    let before = bench.snapshot();
    let lines = [
        "run bm25 --data data -o data/dev.tsv",
        "run bm25 --data data -o data/test.tsv",
        "run bm25 --data data -o data/../data/dev.tsv",
        "run bm25 --data data -o link",
        "run bm25 --data data -o hard",
        "run x.toml --data data -o x.toml",
        "run bm25-multi-turn --data data --conversations c.jsonl -o c.jsonl",
        "eval a.run --data data --out-file a.run",
        "eval a.run --data data --out-file data/dev.tsv",
        "eval a.run --data data --out-file a.run.json",
        "eval a.run --qrels q.qrels -m AP --out-file a.run.json",
        "report a.run --data data -o a.run",
        "report a.run --data data -o data/dev.qrel",
        "need predict bm25-tuned --data data -o data/dev.tsv",
        "need predict model.json --data data -o model.json",
        "need train x.toml --data data -o x.toml",
        "need train bm25-tuned --data data --repeats 1 --folds 2 -o data/train.tsv",
    ];
    for line in lines {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        let refused = finished.stderr.contains("an output apart from");
        assert!(refused, "{line}: {}", finished.stderr);
        assert!(finished.stderr.contains("hint: "), "{line}: {}", finished.stderr);
    }
    let after = bench.snapshot();
    assert!(after == before, "a file was left or changed");
    bench.succeed("run x.toml --data data -o a.run");
    bench.succeed("eval a.run --data data --out-file a.json");
}

#[test]
fn files_of_a_data_folder_are_never_replaced_even_if_unread() {
    let bench = Bench::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../track-ikat/sample-ikat");
    for entry in fs::read_dir(sample).expect("the sample") {
        let entry = entry.expect("a file");
        let name = entry.file_name().into_string().expect("UTF-8");
        bench.write(&format!("data/qrels/{name}"), fs::read(entry.path()).expect("a file"));
    }
    for name in ["ptkb_rel_org", "ptkb_rel_nist", "2023-qrels.all-turns.txt", "passages.jsonl"] {
        std::os::unix::fs::symlink(format!("data/qrels/{name}"), bench.path("link"))
            .expect("linked");
        let before = bench.snapshot();
        let words = ["run", "ikat-bm25", "--data", "data", "-o", "link"];
        let refused = bench.run(&words);
        assert_eq!(refused.status, Some(2), "{name}: {}", refused.stderr);
        assert!(bench.snapshot() == before, "{name}");
        bench.remove("link");
    }
}

#[test]
fn requests_named_like_the_record_of_the_run_stay() {
    let bench = Bench::with_sample();
    bench.write("x.run.json", "{\"id\": 1, \"text\": \"saturn\"}\n");
    let before = bench.snapshot();
    let line = "run bm25 --data data --requests x.run.json -o x.run";
    let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("an output apart from"), "{}", refused.stderr);
    assert!(bench.snapshot() == before);
}

/// The temporary files in the bench.
fn temporaries(bench: &Bench) -> Vec<String> {
    let names = bench.snapshot().into_keys().map(|path| path.display().to_string());
    names.filter(|name| name.as_bytes().ends_with(b".tmp")).collect()
}

#[test]
fn sigint_removes_temporary_files() {
    use std::os::unix::process::ExitStatusExt as _;

    let bench = Bench::with_sample();
    // A command that takes long: its temporary file exists while the conversations are written.
    bench.succeed("data synthesize --data data --turns 3 -o c.jsonl");
    let mut hits = 0;
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-INT", 2), ("-TERM", 15)] {
        let line =
            "data synthesize --data data --turns 3 --order permutations -o out/long.jsonl.gz";
        let mut child = bench
            .command(&line.split(' ').collect::<Vec<_>>())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let start = Instant::now();
        while temporaries(&bench).is_empty()
            && child.try_wait().expect("a child").is_none()
            && start.elapsed() < Duration::from_secs(20)
        {
            std::thread::yield_now();
        }
        let id = child.id().to_string();
        std::process::Command::new("kill").args([signal, &id]).status().expect("kill");
        let status = child.wait().expect("gone");
        if status.code() != Some(0) {
            hits += 1;
            assert_eq!(status.signal(), Some(number), "a shell reports {}", 128 + number);
            assert!(!bench.path("out/long.jsonl.gz").exists());
        }
        assert_eq!(temporaries(&bench), Vec::<String>::new());
        let _ = fs::remove_file(bench.path("out/long.jsonl.gz"));
    }
    assert!(hits > 0, "every command was done before its signal came");
}

#[test]
fn help_leaves_the_common_options_to_a_command_of_their_own() {
    let bench = Bench::new();
    for command in ["", "run ", "data fetch ", "need train "] {
        for flag in ["-h", "--help"] {
            let help = bench.succeed(&format!("{command}{flag}")).stdout;
            assert!(
                !help.contains("--no-progress") && help.contains("clariq help options"),
                "{help}"
            );
        }
    }
    let options = bench.succeed("options").stdout;
    assert!(options.contains("Common options:") && options.contains("--no-progress"), "{options}");
    let help = bench.succeed("help options").stdout;
    assert!(help.contains(options.trim()), "{help}");
}

#[test]
fn flags_of_the_official_scorer_have_both_spellings() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data -o a.run");
    let official = "eval --eval_task question_relevance --data_dir data --experiment_type dev --run_file a.run \
                    --out_file a.json";
    let expected = bench.succeed(official);
    let hyphens = official.split(' ').map(|word| match word.strip_prefix("--") {
        Some(flag) => format!("--{}", flag.replace('_', "-")),
        None => word.to_owned(),
    });
    let line = hyphens.collect::<Vec<_>>().join(" ");
    assert_eq!(bench.succeed(&line).stdout, expected.stdout);
}

#[test]
fn no_output_gets_a_name_under_which_a_data_folder_would_be_read() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data -o data/a.run");
    let before = bench.snapshot();
    for line in [
        "run bm25 --data data -o data/dev.tsv.gz",
        "run bm25 --data data -o data/documents.jsonl",
        "run bm25 --data data -o data/requests.test.jsonl",
        "run bm25 --data data -o data/qrels.test.txt",
        "eval data/a.run --data data --out-file data/figures.json",
        "report data/a.run --data data -o page.html --charts data",
        "need predict bm25-tuned --data data -o data/test.qrel",
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
        assert!(finished.stderr.contains("a name that is no data"), "{line}: {}", finished.stderr);
    }
    assert!(bench.snapshot() == before, "a file was left or changed");
    bench.succeed("report data/a.run --data data -o data/page.html --charts charts");
}
