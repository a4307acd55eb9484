//! Systems and recipes that cannot run.

use super::{BM25, bench, system};
use crate::common::Bench;
use crate::common::here::{Work, printed, write};
use clariq_core::Error;
use clariq_experiment::training::TrainMode;

/// The defect, a function that creates it, the action (a system that is run, a recipe that is
/// trained with other values of its keys, or a command), and parts of the message.
type Case = (&'static str, fn(&Bench), &'static str, [&'static str; 3]);

/// The message that a case is refused with.
fn refusal(bench: &Bench, line: &str) -> String {
    let words = line.split(' ').collect::<Vec<_>>();
    let work = Work::on(bench, "data", "dev");
    let done: Result<(), Error> = match words[..] {
        ["run", system] => work.run(system, &[], "s.run").map(drop),
        ["train", recipe, ref set @ ..] => {
            work.train(recipe, set, TrainMode::Reuse, Some("m")).map(drop)
        }
        _ => {
            let finished = bench.run(&words);
            assert_eq!((finished.status, &*finished.stdout), (Some(2), ""), "{}", finished.stderr);
            return finished.stderr;
        }
    };
    printed(&done.expect_err(line))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn systems_and_recipes_that_cannot_run_are_refused_with_a_hint() {
    let cases: &[Case] = &[
        (
            "a trained model that is not declared",
            |bench| {
                write(
                    bench,
                    "s.toml",
                    &system("s", "", &[BM25, "\"rerank\"\nmodel = \"@/scorer.toml\""]),
                );
            },
            "run s.toml",
            ["s.toml", "train-labels", "scorer.toml`, which is trained"],
        ),
        (
            "a model that is nowhere",
            |bench| {
                write(bench, "s.toml", &system("s", "", &[BM25, "\"rerank\"\nmodel = \"nobody\""]));
            },
            "run s.toml",
            ["nobody", "", ""],
        ),
        (
            "an encoder in place of a cross-encoder",
            |bench| {
                write(
                    bench,
                    "s.toml",
                    &system(
                        "s",
                        "\"train-labels\"",
                        &[BM25, "\"rerank\"\nmodel = \"@/vectors.toml\""],
                    ),
                );
            },
            "run s.toml",
            ["vectors.toml", "a cross-encoder", "an encoder"],
        ),
        (
            "weights that were cut off",
            |bench| {
                let bytes = bench.read("tiny/model.safetensors");
                bench.write("tiny/model.safetensors", &bytes[..bytes.len() / 2]);
                write(bench, "s.toml", &system("s", "", &["\"dense\""]));
            },
            "run s.toml",
            ["model.safetensors", "weights", ""],
        ),
        (
            "a key that no recipe has",
            |bench| bench.edit("scorer.toml", |text| text.replace("learning_rate", "learning_rat")),
            "train scorer.toml",
            ["scorer.toml:4", "a training recipe", "learning_rat"],
        ),
        (
            "a parameter that no recipe has",
            |_| {},
            "train scorer.toml learning_rat=1",
            ["--set", "a key of a recipe", "unknown field `learning_rat`"],
        ),
        (
            "a fold that is none",
            |_| {},
            "train scorer.toml held_out=0.5 fold=2",
            ["--set", "a fold below 1 / held_out", ""],
        ),
        (
            "a rate below 0",
            |bench| bench.edit("scorer.toml", |text| text.replace("1e-3", "-1e-3")),
            "train scorer.toml",
            ["scorer.toml", "learning_rate above 0", ""],
        ),
        (
            "a folder that exists already",
            |bench| bench.write("m/mine.txt", "mine"),
            "train scorer.toml",
            ["--output", "does not exist", "m exists already"],
        ),
        (
            "a folder with another model",
            |bench| bench.write("m/training.json", "{\"key\": \"other\"}"),
            "train scorer.toml",
            ["--output", "this recipe's model", "m exists already"],
        ),
        (
            "two models for one folder",
            |_| {},
            "--data data train scorer.toml vectors.toml -o m",
            ["--output", "one model", "2 models"],
        ),
        (
            "nothing to train",
            |_| {},
            "--data data train bm25",
            ["CONFIG", "a trained model", "`bm25`"],
        ),
        (
            "a base that is nowhere",
            |bench| bench.edit("scorer.toml", |text| text.replace("/tiny\"", "/nobody\"")),
            "train scorer.toml",
            ["nobody", "", ""],
        ),
        (
            "a device that is not there",
            |bench| write(bench, "s.toml", &system("s", "", &["\"dense\""])),
            "--device cuda:9 run s.toml --data data -o s.run",
            ["--device", "`cpu`", "`cuda:9`"],
        ),
        (
            "a training split without questions",
            |bench| {
                bench.edit("data/train.tsv", |text| {
                    text.lines().next().expect("a header").to_owned() + "\n"
                });
            },
            "train vectors.toml",
            ["train.tsv", "", ""],
        ),
    ];
    for (name, arrange, line, [place, expected, found]) in cases {
        let bench = bench();
        arrange(&bench);
        let before = bench.snapshot();
        let stderr = &refusal(&bench, line);
        assert!(
            stderr.lines().any(|line| line.starts_with("error: ") && line.contains(place)),
            "{name}: {stderr}"
        );
        for (label, text) in [("  expected: ", expected), ("     found: ", found), ("hint: ", &"")]
        {
            let line = stderr.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
            assert!(
                !line.is_empty() && line.contains(text),
                "{name}: no `{label}{text}` in\n{stderr}"
            );
        }
        assert!(bench.snapshot() == before, "{name}: a file was left or changed");
    }
}
