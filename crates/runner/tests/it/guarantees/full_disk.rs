//! No space, no permission, no file: a command that the operating system refuses reports it and
//! replaces nothing.

use crate::common::{Bench, Finished};
use std::fs;
use std::os::unix::fs::FileTypeExt as _;

fn refused(finished: &Finished, found: &str) {
    assert_eq!(finished.status, Some(2), "{}", finished.stderr);
    for text in ["error: ", "expected: ", "found: ", "hint: ", found] {
        assert!(finished.stderr.contains(text), "no `{text}` in {}", finished.stderr);
    }
}

fn with_old_files() -> Bench {
    let bench = Bench::with_sample();
    bench.succeed("index build --data data");
    for name in ["old.run", "old.need", "old.run.json"] {
        bench.write(name, "old");
    }
    bench
}

/// Runs a script in a small file system of its own; `None` if this machine allows none.
fn in_file_system(bench: &Bench, options: &str, script: &str) -> Option<Finished> {
    let unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh"];
    let mount = format!("mkdir -p disk && mount -t tmpfs -o {options} tmpfs disk");
    if bench.shell(&["sh"], "command -v unshare").status != Some(0)
        || bench.shell(&unshare, &mount).status != Some(0)
    {
        println!("skipped: this machine mounts no file system for a test");
        return None;
    }
    Some(bench.shell(&unshare, &format!("{mount} && {script}")))
}

#[test]
fn a_limit_on_file_sizes_leaves_the_old_files() {
    let bench = with_old_files();
    let before = bench.snapshot();
    // The signal becomes an error of the write.
    let run = "ulimit -f 1; exec \"$0\" run bm25 --data data -o old.run";
    let finished = bench.shell(&["bash"], run);
    refused(&finished, "ulimit -f");
    assert_eq!(finished.stdout, "");
    assert!(bench.snapshot() == before);
    let index = "ulimit -f 1; exec \"$0\" index build --data data --index idx";
    refused(&bench.shell(&["bash"], index), "ulimit -f");
    assert!(bench.snapshot() == before);
}

/// The run, the need file and the record belong together: where only the last does not fit, none is
/// replaced.
#[test]
fn a_disk_that_is_full_before_the_last_file_replaces_none() {
    let bench = with_old_files();
    let script = "cp old.* disk && df --output=avail -k disk >&2 && \
                  { \"$0\" run bm25 --data data -o disk/old.run >/dev/null; echo $?; ls -A disk; cat disk/old.*; }";
    let mut refusals = 0;
    // Memory pages of 4 kB: the old files take three, the new ones four (run), one (need file) and
    // one (record).
    for kilobytes in [12, 16, 24, 28, 32, 36, 48] {
        let Some(finished) = in_file_system(&bench, &format!("size={kilobytes}k"), script) else {
            return;
        };
        let (status, rest) = finished.stdout.split_once('\n').unwrap_or_default();
        if status == "0" {
            assert!(rest.contains("\"clariq\""), "{kilobytes} kB");
            continue;
        }
        refusals += 1;
        assert_eq!(
            (status, rest),
            ("2", "old.need\nold.run\nold.run.json\noldoldold"),
            "{}",
            finished.stderr
        );
        assert!(finished.stderr.contains("hint: free some space"), "{}", finished.stderr);
    }
    assert!((4..7).contains(&refusals), "{refusals} of 7 disks were too small");
}

#[test]
fn a_file_system_that_is_read_only_is_named_as_such() {
    let bench = with_old_files();
    let script = "exec \"$0\" run bm25 --data data -o disk/new.run";
    let Some(finished) = in_file_system(&bench, "ro", script) else { return };
    refused(&finished, "hint: choose a folder that can be written to");
    let script = "exec \"$0\" run bm25 --data data --index disk/idx -o new.run";
    refused(&in_file_system(&bench, "ro", script).expect("as before"), "Read-only");
    assert!(!bench.path("new.run").exists());
}

#[test]
fn a_folder_of_the_system_that_takes_no_files_is_refused() {
    refused(
        &with_old_files().run(&["run", "bm25", "--data", "data", "-o", "/proc/new.run"]),
        "hint: no file can be",
    );
}

/// Root may replace a device by a file, which must not happen.
#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    let bench = with_old_files();
    bench.succeed("run bm25 --data data -o plain.run");
    let made = bench.shell(
        &["sh"],
        "mkfifo pipe && { \"$0\" run bm25 --data data -q -o pipe & cat pipe > read.run; wait; }",
    );
    assert_eq!((made.status, made.stdout.as_str()), (Some(0), ""), "{}", made.stderr);
    assert_eq!(bench.read("read.run"), bench.read("plain.run"));
    assert!(fs::metadata(bench.path("pipe")).expect("a pipe").file_type().is_fifo());
    assert!(!bench.path("pipe.need").exists() && !bench.path("pipe.json").exists());
}

#[test]
fn a_link_stays_a_link_and_its_target_is_replaced() {
    let bench = with_old_files();
    std::os::unix::fs::symlink("old.run", bench.path("link.run")).expect("linked");
    bench.succeed("run bm25 --data data -o link.run");
    assert!(bench.path("link.run").is_symlink());
    assert!(bench.text("old.run").ends_with(" bm25\n"));
}

#[test]
fn a_standard_output_that_is_full_or_missing_is_an_error_and_a_pipe_that_closes_is_not() {
    let bench = with_old_files();
    for arguments in [
        "run bm25 --data data -o -",
        "eval --data data plain.run",
        "data stats --data data",
        "--version",
        "help eval",
    ] {
        bench.succeed("run bm25 --data data -o plain.run");
        refused(&bench.shell(&["sh"], &format!("\"$0\" {arguments} > /dev/full")), "No space left");
    }
    refused(&bench.shell(&["sh"], "\"$0\" systems list >&-"), "it is closed");
    let piped = bench.shell(
        &["bash"],
        "set -o pipefail; \"$0\" run bm25 --data data --set bm25.depth=400 -o - | head -n 1",
    );
    assert_eq!(
        (piped.status, piped.stdout.lines().count(), piped.stderr.as_str()),
        (Some(0), 1, "")
    );
}

/// Commands that print to standard error, with a file that they write.
const TALKERS: [(&str, &str); 6] = [
    ("run bm25 -v --data data --split dev -o a.run", "a.run"),
    ("eval noted.run --data data --split dev --out-file per-topic.json", "per-topic.json"),
    ("data check --data data", ""),
    ("rank bm25 --data data --requests requests.jsonl --skip-bad --format trec", ""),
    ("report noted.run --data data --split dev -o page.html", "page.html"),
    ("compare noted.run old.run --data data --split dev", ""),
];

/// A bench on which all of [`TALKERS`] have a warning to print.
fn with_warnings() -> Bench {
    let bench = Bench::with_sample();
    bench.write("old.run", "13 0 Q00002 1 2 t\n");
    bench.write("noted.run", "# a comment\n13 0 Q00001 1 2 t\n13 0 Q00001 2 1 t\n");
    bench.write("requests.jsonl", "{\"id\":\"1\",\"text\":\"tea\"}\nbad\n");
    bench.edit("data/question_bank.tsv", |bank| bank + "Q99999\tyes?\n");
    bench
}

#[test]
fn a_standard_error_that_cannot_be_written_loses_no_result() {
    for (command, file) in TALKERS {
        let bench = with_warnings();
        let heard = bench.shell(&["bash"], &format!("\"$0\" {command}"));
        let expected = if file.is_empty() { Vec::new() } else { bench.read(file) };
        assert!(!heard.stderr.is_empty(), "{command} says nothing");
        for redirected in ["2>/dev/full", "2>&-"] {
            let bench = with_warnings();
            let finished = bench.shell(&["bash"], &format!("\"$0\" {command} {redirected}"));
            assert_eq!(finished.status, heard.status, "{command} {redirected}");
            assert_eq!(finished.stdout, heard.stdout, "{command} {redirected}");
            assert!(file.is_empty() || bench.read(file) == expected, "{command} {redirected}");
        }
        let bench = with_warnings();
        let script = format!("set -o pipefail; \"$0\" {command} 2>&1 | head -c1 >first; cat first");
        let finished = bench.shell(&["bash"], &script);
        assert_eq!(finished.stdout.len(), 1, "{command}");
        assert!(file.is_empty() || bench.read(file) == expected, "{command} into a closed pipe");
    }
}
