//! Runs over shards by the command. That parts of any size are the run over the whole file is tested
//! in one process: in `clariq-experiment`, and with learned systems in `learned_shards`.

use crate::common::Bench;
use std::fs;

/// The run over a file, and its record.
fn whole(bench: &Bench, system: &str, file: &str) -> (Vec<u8>, Vec<u8>) {
    let kind = if file.starts_with("requests") { "--requests" } else { "--conversations" };
    bench.succeed(&format!("-q run {system} --data data {kind} {file} -o whole.run"));
    (bench.read("whole.run"), bench.read("whole.run.json"))
}

/// Cuts a file into shards of so many contexts; how many there are.
fn cut(bench: &Bench, file: &str, contexts: usize, more: &str) -> usize {
    let line = format!("-q data shard {file} --data data -o s --contexts {contexts}{more}");
    bench.succeed(&line);
    let plan: serde_json::Value = serde_json::from_slice(&bench.read("s/plan.json")).expect("JSON");
    plan["shards"].as_array().expect("shards").len()
}

/// The same made of shards.
fn of_shards(bench: &Bench, system: &str, file: &str, contexts: usize) -> (Vec<u8>, Vec<u8>) {
    let shards = cut(bench, file, contexts, "");
    // Any order will do.
    for index in (0..shards).rev() {
        bench.succeed(&format!("-q run {system} --data data --shard s/plan.json:{index}"));
    }
    bench.succeed("-q run --merge s/plan.json -o merged.run");
    let merged = (bench.read("merged.run"), bench.read("merged.run.json"));
    fs::remove_dir_all(bench.path("s")).expect("removed");
    merged
}

/// Two runs with records that differ in nothing but the names of their files.
fn check_same(shards: &(Vec<u8>, Vec<u8>), whole: &(Vec<u8>, Vec<u8>), what: &str) {
    assert!(shards.0 == whole.0, "{what}");
    let text = |record: &[u8]| String::from_utf8_lossy(record).into_owned();
    assert_eq!(text(&shards.1).replace("merged.run", "whole.run"), text(&whole.1), "{what}");
}

#[test]
fn shards_make_the_run_over_the_whole_file() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data --split dev -o c.jsonl");
    let whole = whole(&bench, "bm25-multi-turn", "c.jsonl");
    assert!(whole.0.len() > 10_000);
    check_same(&of_shards(&bench, "bm25-multi-turn", "c.jsonl", 750), &whole, "conversations");
}

/// Requests in both forms, with blank lines between them.
fn requests() -> String {
    let line = |id: usize| match id % 3 {
        0 => format!("{{\"id\": {id}, \"text\": \"what about number {id} of a dog\"}}\n\n"),
        1 => format!(
            "{{\"id\": \"t{id}\", \"said\": [{{\"user\": \"saturn\"}}, {{\"system\": \"the car\"}}, \
             {{\"user\": \"no, {id}\"}}]}}\n"
        ),
        _ => format!(
            "{{\"id\": {id}, \"text\": \"a car\", \"candidates\": [\"Q00003\", \"Q00002\"]}}\n"
        ),
    };
    (0..130).map(line).collect()
}

#[test]
fn files_of_requests_are_run_and_cut_as_well() {
    let bench = Bench::with_sample();
    bench.write("requests.jsonl", requests());
    let whole = whole(&bench, "bm25", "requests.jsonl");
    check_same(&of_shards(&bench, "bm25", "requests.jsonl", 65), &whole, "requests");
    // The documents are those that `rank` answers with, in the same order.
    let line = "-q rank bm25 --data data --requests requests.jsonl --depth 1000 --format trec";
    let ranked = bench.succeed(line).stdout;
    let pairs = |text: &str| -> Vec<(String, String)> {
        let fields = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        fields.map(|fields| (fields[0].to_owned(), fields[2].to_owned())).collect()
    };
    assert_eq!(pairs(&ranked), pairs(&String::from_utf8_lossy(&whole.0)));
}

#[test]
fn bad_requests_are_refused_or_counted() {
    let bench = Bench::with_sample();
    bench
        .write("requests.jsonl", requests() + "{\"id\": 7}\n{\"id\": 800, \"text\": \"saturn\"}\n");
    for line in [
        "run bm25 --data data --requests requests.jsonl -o a.run",
        "data shard requests.jsonl --data data -o s --contexts 50",
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains("requests.jsonl:175"), "{line}: {}", refused.stderr);
        assert!(!bench.path("a.run").exists() && !bench.path("s/plan.json").exists(), "{line}");
    }
    bench.succeed("-q run bm25 --data data --requests requests.jsonl --skip-bad -o whole.run");
    let whole = (bench.read("whole.run"), bench.read("whole.run.json"));
    assert!(String::from_utf8_lossy(&whole.1).contains("\"bad_lines\": 1"));
    assert_eq!(cut(&bench, "requests.jsonl", 100, " --skip-bad"), 2);
    for index in [0, 1] {
        bench.succeed(&format!("-q run bm25 --data data --shard s/plan.json:{index}"));
    }
    bench.succeed("-q run --merge s/plan.json -o merged.run");
    check_same(&(bench.read("merged.run"), bench.read("merged.run.json")), &whole, "bad lines");
    for (line, says) in [
        ("run bm25 --data data --requests requests.jsonl --split dev", "no --split beside it"),
        ("run bm25 --data data --skip-bad", "--conversations or --requests beside it"),
        ("run bm25 --data data --requests gone.jsonl", "nothing at that path"),
        (
            "run bm25 --data data --requests requests.jsonl --skip-bad --need-model m.json",
            "a system whose stages look at predicted needs",
        ),
        ("run --merge s/plan.json -o m.run --need-model m.json", "no --need-model beside it"),
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{line}: {}", refused.stderr);
    }
}

#[test]
fn an_id_that_comes_twice_is_refused_where_a_run_is_made() {
    let bench = Bench::with_sample();
    bench.write("requests.jsonl", requests() + "{\"id\": \"8\", \"text\": \"saturn\"}\n");
    let rank = "rank bm25 --data data --requests requests.jsonl --depth 3";
    for line in [
        "run bm25 --data data --requests requests.jsonl -o a.run",
        "data shard requests.jsonl --data data -o s --contexts 50",
        &format!("{rank} --format trec"),
        &format!("{rank} --format trec --batch"),
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        for part in ["requests.jsonl:175", "`8`, as in line 12", "--skip-bad"] {
            assert!(refused.stderr.contains(part), "{line}: {}", refused.stderr);
        }
        assert!(!bench.path("a.run").exists() && !bench.path("s/plan.json").exists(), "{line}");
    }
    bench.succeed("-q run bm25 --data data --requests requests.jsonl --skip-bad -o first.run");
    bench.write("requests.jsonl", requests());
    bench.succeed("-q run bm25 --data data --requests requests.jsonl -o once.run");
    assert_eq!(bench.read("first.run"), bench.read("once.run"));
    // A stream of requests may ask again under the same id.
    bench.write("requests.jsonl", "{\"id\": 1, \"text\": \"saturn\"}\n".repeat(2));
    assert_eq!(bench.succeed(rank).stdout.lines().count(), 2);
}

#[test]
fn a_part_is_made_once_and_again_where_it_is_damaged() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data --split dev -o c.jsonl");
    let whole = whole(&bench, "bm25-multi-turn", "c.jsonl");
    assert_eq!(cut(&bench, "c.jsonl", 1000, " --system bm25-multi-turn"), 2);
    let run = |index: usize| {
        bench.succeed(&format!("run bm25-multi-turn --data data --shard s/plan.json:{index}"))
    };
    run(0);
    assert!(run(0).stderr.contains("is there already, whole"));
    let line = "run bm25-multi-turn --data data --shard s/plan.json:0 --index idx -o other.run";
    bench.succeed(line);
    assert!(bench.path("idx/clariq-index.sha256").exists(), "the index that is named is used");
    run(1);
    let part = "s/bm25-multi-turn.part-00001.run";
    let good = bench.read(part);
    let damages: [fn(&Bench); 5] = [
        |bench| bench.write("s/bm25-multi-turn.part-00001.run", "cut"),
        |bench| bench.remove("s/bm25-multi-turn.part-00001.run"),
        |bench| bench.remove("s/bm25-multi-turn.part-00001.run.json"),
        |bench| {
            bench.edit("s/bm25-multi-turn.part-00001.run.json", |text| {
                text.replace("shard\": 1", "shard\": 0")
            });
        },
        |bench| {
            bench.edit("s/bm25-multi-turn.part-00001.run.json", |text| {
                text.replace("seed\": 42", "seed\": 43")
            });
        },
    ];
    for damage in damages {
        damage(&bench);
        let refused = bench.run(&["run", "--merge", "s/plan.json", "-o", "merged.run"]);
        assert_eq!(refused.status, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("expected: part 1 of 2 whole"), "{}", refused.stderr);
        assert!(!bench.path("merged.run").exists());
        assert!(!run(1).stderr.contains("whole"));
        assert!(bench.read(part) == good);
    }
    bench.succeed("-q run bm25-multi-turn --merge s/plan.json -o merged.run");
    let merged = (bench.read("merged.run"), bench.read("merged.run.json"));
    check_same(&merged, &whole, "after damage");
}

#[test]
fn what_a_plan_is_not_for_is_refused() {
    let bench = Bench::with_sample();
    bench.succeed("-q data synthesize --data data --split dev -o c.jsonl");
    cut(&bench, "c.jsonl", 1000, " --system bm25-multi-turn");
    bench.write("empty.json", "{}");
    bench.edit("s/plan.json", |text| text + "\n");
    bench.write("old/plan.json", bench.text("s/plan.json").replace("plan\": 2", "plan\": 9"));
    bench.write("changed/plan.json", bench.read("s/plan.json"));
    bench.write("changed/shard-00000.jsonl", bench.text("s/shard-00001.jsonl"));
    bench.write("other/plan.json", bench.read("s/plan.json"));
    let shard = |plan: &str| format!("run bm25-multi-turn --data data --shard {plan}");
    for (line, says) in [
        (shard("s/plan.json"), "as plan.json:0"),
        (shard("s/plan.json:2"), "a shard from 0 to 1"),
        (shard("empty.json:0"), "no key `clariq_plan`"),
        (shard("old/plan.json:0"), "a plan of form 9, not 2"),
        (shard("changed/plan.json:0"), "`shard-00000.jsonl` as it was cut"),
        (shard("other/plan.json:0"), "other/shard-00000.jsonl"),
        (format!("{} --k1 0.9", shard("s/plan.json:0")), "the system, parameters and weights"),
        (
            "run bm25-conversation --data data --shard s/plan.json:0".to_owned(),
            "the plan is for one system",
        ),
        ("run --merge s/plan.json -o m.run".to_owned(), "the first part of a run beside it"),
        ("run bm25-multi-turn --merge s/plan.json -o m.run".to_owned(), "part 0 of 2 whole"),
    ] {
        let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{line}: {}", refused.stderr);
    }
    bench.edit("c.jsonl", |text| text + "{}\n");
    let line = "data shard c.jsonl --data data -o bad --contexts 100";
    let refused = bench.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert_eq!(fs::read_dir(bench.path("bad")).expect("a folder").count(), 0);
    bench.edit("data/question_bank.tsv", |text| text + "Q99999\twhat else\n");
    let refused = bench.run(&shard("s/plan.json:0").split(' ').collect::<Vec<_>>());
    assert!(refused.stderr.contains("the question bank 575333ff3f8b"), "{}", refused.stderr);
}

#[test]
fn an_output_is_a_file_and_no_input_of_the_merge() {
    let bench = Bench::with_sample();
    bench.write("requests.jsonl", requests());
    assert_eq!(cut(&bench, "requests.jsonl", 100, ""), 2);
    let shard = "run bm25 --data data --shard s/plan.json:0";
    for index in [0, 1] {
        bench.succeed(&format!("-q run bm25 --data data --shard s/plan.json:{index}"));
    }
    let files = || -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(bench.path("s")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names.map(|name| format!("s/{}", name.display())).collect();
        names.sort();
        names.into_iter().map(|name| (name.clone(), bench.read(&name))).collect()
    };
    let before = files();
    let merge = "run --merge s/plan.json";
    for (line, output, says) in [
        (merge, "-", "expected: a file: --shard and --merge"),
        (merge, "/dev/null", "found: `/dev/null`"),
        (shard, "-", "expected: a file: --shard and --merge"),
        (shard, "s/shard-00000.jsonl", "an output apart from"),
        (shard, "s/shard-00001.jsonl", "an output apart from"),
        (shard, "s/plan.json", "an output apart from"),
        (merge, "s/plan.json", "an output apart from"),
        // Its record would take the place of the plan.
        (merge, "s/plan", "an output apart from"),
        (merge, "s/shard-00001.jsonl", "an output apart from"),
        (merge, "s/bm25.part-00000.run", "an output apart from"),
        (merge, "s/bm25.part-00001.run", "an output apart from"),
        (merge, "s/bm25.part-00001.run.json", "an output apart from"),
    ] {
        let refused = bench.run(&format!("{line} -o {output}").split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status, Some(2), "{line} {output}: {}", refused.stderr);
        assert!(refused.stderr.contains(says), "{line} {output}: {}", refused.stderr);
        assert!(refused.stderr.contains("hint: ") && refused.stdout.is_empty(), "{output}");
        assert!(!bench.path("-").exists() && files() == before, "{line} {output}");
    }
    bench.succeed(&format!("-q {merge} -o s/merged.run"));
}

#[test]
fn shards_of_an_earlier_plan_go_when_the_file_is_cut_again() {
    let bench = Bench::with_sample();
    bench.write("requests.jsonl", requests());
    // No plan names this one.
    bench.write("s/shard-00009.jsonl", "mine");
    assert_eq!(cut(&bench, "requests.jsonl", 33, ""), 4);
    bench.succeed("-q run bm25 --data data --shard s/plan.json:3");
    assert_eq!(cut(&bench, "requests.jsonl", 100, ""), 2);
    let there = |name: &str| bench.path(name).exists();
    // New shards have other names: the plan before was whole until the new one took its place.
    assert!(there("s/shard-00000-1.jsonl") && there("s/shard-00001-1.jsonl"));
    assert!((0..4).all(|index| !there(&format!("s/shard-{index:05}.jsonl"))));
    assert!(there("s/shard-00009.jsonl") && there("s/bm25.part-00003.run"));
    // The file that is cut may be a shard itself.
    assert_eq!(cut(&bench, "s/shard-00001-1.jsonl", 100, ""), 1);
    assert!(there("s/shard-00001-1.jsonl") && !there("s/shard-00000-1.jsonl"));
    // Names that the command does not write are not its own.
    bench.edit("s/plan.json", |text| text.replace("shard-00000.jsonl", "../requests.jsonl"));
    assert_eq!(cut(&bench, "requests.jsonl", 200, ""), 1);
    assert!(there("requests.jsonl"));
}
