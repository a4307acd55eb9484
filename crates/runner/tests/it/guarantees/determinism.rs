//! The same inputs give the same bytes: whatever the threads, the index, the time, the place and
//! the packing.

use crate::common::Bench;

const OUTPUTS: [&str; 3] = ["run", "need", "run.json"];

/// The bytes of the run, the need file and the record named `a`, written by `run` with
/// further arguments.
fn outputs(bench: &Bench, folder: &str, more: &str) -> [Vec<u8>; 3] {
    bench.succeed(&format!("run bm25 -q -o {folder}/a.run {more}"));
    OUTPUTS.map(|extension| bench.read(&format!("{folder}/a.{extension}")))
}

#[test]
fn threads_folders_and_repetition_change_no_byte() {
    let bench = Bench::with_sample();
    let expected = outputs(&bench, "first", "--data data --threads 1");
    assert!(expected.iter().all(|bytes| !bytes.is_empty()));
    for (folder, threads) in [("first", 1), ("second", 2), ("third", 4), ("first", 4)] {
        let more = format!("--data data --threads {threads}");
        assert!(outputs(&bench, folder, &more) == expected, "{folder}, {threads} threads");
    }
}

#[test]
fn how_the_index_was_built_changes_no_byte() {
    let bench = Bench::with_sample();
    let expected = outputs(&bench, "out", "--data data");
    for (threads, memory) in [(1, "15M"), (4, "64M"), (2, "1G")] {
        let index = format!("idx{threads}");
        bench.succeed(&format!(
            "index build -q --data data --index {index} --threads {threads} --memory {memory}"
        ));
        assert!(
            outputs(&bench, "out", &format!("--data data --index {index}")) == expected,
            "{index}"
        );
        assert!(
            outputs(&bench, "out", &format!("--data data --index {index} --threads 3")) == expected,
            "{index}"
        );
    }
}

#[test]
fn the_built_in_sample_and_its_folder_are_the_same() {
    let bench = Bench::with_sample();
    assert!(outputs(&bench, "out", "--data data") == outputs(&bench, "out", ""));
}

#[test]
fn standard_output_gets_the_bytes_of_the_file() {
    let bench = Bench::with_sample();
    let [run, ..] = outputs(&bench, "out", "--data data");
    let printed = bench.succeed("run bm25 --data data -o -");
    assert!(printed.stdout.as_bytes() == run);
}

#[test]
fn a_packed_run_unpacks_to_the_plain_one() {
    let bench = Bench::with_sample();
    let [run, need, _] = outputs(&bench, "out", "--data data");
    for _ in 0..2 {
        bench.succeed("run bm25 -q --data data -o packed/a.run.gz");
        assert!(bench.read("packed/a.run.gz").starts_with(&[0x1f, 0x8b]));
    }
    let unpacked = bench.shell(&["sh"], "gzip -dc packed/a.run.gz");
    assert!(unpacked.stdout.as_bytes() == run);
    assert!(bench.read("packed/a.need") == need);
    let [plain, packed] = ["out/a.run", "packed/a.run.gz"]
        .map(|run| bench.succeed(&format!("eval --data data {run}")));
    assert_eq!(plain.stdout, packed.stdout);
    assert!(!packed.stderr.contains("the record beside"), "{}", packed.stderr);
}

#[test]
fn carriage_returns_byte_order_marks_and_packing_change_no_answer() {
    let bench = Bench::with_sample();
    let [run, need, _] = outputs(&bench, "out", "--data data");
    for name in ["question_bank.tsv", "train.tsv", "dev.tsv"] {
        let text = format!("\u{feff}{}", bench.text(&format!("data/{name}")).replace('\n', "\r\n"));
        bench.write(&format!("windows/{name}"), text);
    }
    let packed = bench.shell(&["sh"], "cp -r windows packed && gzip packed/*");
    assert_eq!(packed.status, Some(0), "{}", packed.stderr);
    for folder in ["windows", "packed"] {
        let [other_run, other_need, _] = outputs(&bench, "out", &format!("--data {folder}"));
        assert!(other_run == run && other_need == need, "{folder}");
        let checked = bench.succeed(&format!("data check --data {folder}"));
        assert!(!checked.stderr.contains("error"), "{}", checked.stderr);
    }
}

#[test]
fn a_seed_that_nothing_uses_is_recorded_and_changes_no_answer() {
    let bench = Bench::with_sample();
    let [run, need, record] = outputs(&bench, "out", "--data data --seed 1");
    let [other_run, other_need, other_record] = outputs(&bench, "out", "--data data --seed 2");
    assert!(run == other_run && need == other_need && record != other_record);
}

#[test]
fn commands_that_run_together_write_whole_files() {
    let bench = Bench::with_sample();
    let expected = outputs(&bench, "alone", "--data data");
    // `wait -n` may miss a command that ended before it.
    let together = "for n in 1 2 3 4; do \"$0\" run bm25 -q --data data --index idx -o out/a.run & \
                    all=\"$all $!\"; done; for one in $all; do wait $one || exit 1; done";
    let finished = bench.shell(&["bash"], together);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert!(OUTPUTS.map(|extension| bench.read(&format!("out/a.{extension}"))) == expected);
}
