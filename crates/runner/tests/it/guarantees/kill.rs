//! Killing a command at any moment leaves nothing that the next command takes for complete.

use crate::common::Bench;
use clariq_core::Checksum;
use clariq_index::DocumentIndex;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills at delays, for each test.
const DELAYS: u32 = 6;
/// Kills at each change.
const REPEATS: usize = 2;
/// Kills that hit for certain: one without delay and most at changes. Delays are shares of a duration
/// that was measured while other tests ran, and may be too long.
const FEWEST_HITS: usize = 3;
const QUESTIONS: usize = 2_500;
const RUN: &str = "run bm25 --data data --index idx --set bm25.depth=1000 -q -o out/a.run";
const OUTPUTS: [&str; 3] = ["out/a.run", "out/a.need", "out/a.run.json"];

/// The sample with further questions, so that every step of a command takes a while.
fn with_large_bank() -> Bench {
    let bench = Bench::with_sample();
    bench.edit("data/question_bank.tsv", |bank| {
        let words: Vec<String> = bank.split_whitespace().map(str::to_owned).collect();
        let mut state = 20_200_705_u64;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            words[(state >> 33) as usize % words.len()].as_str()
        };
        let question =
            |number| format!("Q{number}\t{} {number}\n", [(); 9].map(|()| word()).join(" "));
        bank + &(100_000..100_000 + QUESTIONS).map(question).collect::<String>()
    });
    bench
}

/// The usual duration of a command.
fn duration(bench: &Bench, line: &str) -> Duration {
    let start = Instant::now();
    bench.succeed(line);
    start.elapsed()
}

/// The moment at which a command is killed.
#[derive(Clone, Copy)]
enum Moment {
    After(Duration),
    /// As soon as the file or folder of that name changes.
    Change(&'static str),
}

impl Moment {
    /// Delays that spread over a command and a little beyond its end, and the changes that it
    /// makes.
    fn of(whole: Duration, changes: &[&'static str]) -> impl Iterator<Item = Self> {
        let delay = move |kill: u32| whole.mul_f64(1.1 * f64::from(kill) / f64::from(DELAYS));
        let changes = changes.repeat(REPEATS);
        (0..DELAYS).map(delay).map(Self::After).chain(changes.into_iter().map(Self::Change))
    }

    /// Waits for it, or for the end of the command.
    fn wait(self, bench: &Bench, child: &mut Child, before: Option<State>) {
        match self {
            Self::After(delay) => std::thread::sleep(delay),
            Self::Change(name) => {
                while state(bench, name) == before && child.try_wait().expect("a child").is_none() {
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
        }
    }
}

/// The inode, length and modification time of a file or folder.
type State = (u64, u64, i64);

fn state(bench: &Bench, name: &str) -> Option<State> {
    fs::metadata(bench.path(name)).ok().map(|found| (found.ino(), found.len(), found.mtime_nsec()))
}

/// Starts a command and kills it at a moment; true if it was still running.
fn killed(bench: &Bench, line: &str, moment: Moment) -> bool {
    let arguments: Vec<&str> = line.split(' ').collect();
    let before = if let Moment::Change(name) = moment { state(bench, name) } else { None };
    let mut command = bench.command(&arguments);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    moment.wait(bench, &mut child, before);
    child.kill().expect("killed");
    child.wait().expect("gone").code().is_none()
}

fn outputs(bench: &Bench) -> [Vec<u8>; 3] {
    OUTPUTS.map(|name| bench.read(name))
}

/// Each file is the old one or the new one, and a record that does not fit its run or need file is
/// reported.
fn assert_complete_or_reported(bench: &Bench, old: &[Vec<u8>; 3], new: &[Vec<u8>; 3]) {
    let now = outputs(bench);
    for (place, name) in OUTPUTS.iter().enumerate() {
        assert!(
            now[place] == old[place] || now[place] == new[place],
            "{name} is neither the old nor the new one"
        );
    }
    let record: serde_json::Value = serde_json::from_slice(&now[2]).expect("a whole record");
    for (place, kind, task) in [(0, "run", "question_relevance"), (1, "need", "clarification_need")]
    {
        let fits =
            record["outputs"][kind]["sha256"].as_str() == Some(Checksum::of(&now[place]).as_str());
        let finished = bench.succeed(&format!("eval --data data {} --task {task}", OUTPUTS[place]));
        assert_eq!(finished.stderr.contains("the record beside"), !fits, "{}", finished.stderr);
    }
}

#[test]
fn a_killed_run_leaves_the_old_files_or_the_new_ones() {
    let bench = with_large_bank();
    bench.succeed(&format!("{RUN} --k1 0.9"));
    let old = outputs(&bench);
    let whole = duration(&bench, RUN);
    let new = outputs(&bench);
    assert_ne!(old[0], new[0]);
    let mut kills = 0;
    for moment in Moment::of(whole, &["out", "out/a.run", "out/a.need"]) {
        for (name, content) in OUTPUTS.iter().zip(&old) {
            bench.write(name, content);
        }
        kills += usize::from(killed(&bench, RUN, moment));
        assert_complete_or_reported(&bench, &old, &new);
        bench.succeed(RUN);
        assert!(outputs(&bench) == new, "the next run gives the same bytes");
    }
    assert!(kills >= FEWEST_HITS, "{kills} kills hit");
}

#[test]
fn a_killed_first_run_leaves_no_file_or_whole_ones() {
    let bench = with_large_bank();
    let whole = duration(&bench, RUN);
    let complete = outputs(&bench);
    for moment in Moment::of(whole, &["out/a.run"]) {
        fs::remove_dir_all(bench.path("out")).expect("removed");
        fs::remove_dir_all(bench.path("idx")).expect("removed");
        killed(&bench, RUN, moment);
        for (name, content) in OUTPUTS.iter().zip(&complete) {
            assert!(!bench.path(name).exists() || bench.read(name) == *content, "half of {name}");
        }
        bench.succeed(RUN);
        assert!(outputs(&bench) == complete, "the next run gives the same bytes");
    }
}

/// No index at all, or one that opens and has every question.
fn absent_or_whole(bench: &Bench) {
    let folder = bench.path("idx");
    if folder.exists() {
        let index = DocumentIndex::open(&folder).expect("a whole index");
        assert!(index.documents() > QUESTIONS);
    }
}

#[test]
fn a_killed_build_leaves_no_index_or_a_whole_one() {
    let bench = with_large_bank();
    let build = "index build --data data --index idx --force -q";
    bench.succeed(RUN);
    let complete = outputs(&bench);
    let whole = duration(&bench, build);
    let mut kills = 0;
    for (place, moment) in Moment::of(whole, &[".", "idx"]).enumerate() {
        // Every other build finds an index in its place.
        if place % 2 == 0 && bench.path("idx").exists() {
            fs::remove_dir_all(bench.path("idx")).expect("removed");
        }
        kills += usize::from(killed(&bench, build, moment));
        absent_or_whole(&bench);
        bench.succeed(RUN);
        assert!(outputs(&bench) == complete, "the next run gives the same bytes");
    }
    assert!(kills >= FEWEST_HITS, "{kills} kills hit");
}

#[test]
fn a_killed_export_leaves_no_folder_or_a_whole_one() {
    let bench = with_large_bank();
    let export = "data export --data data -o out";
    let whole = duration(&bench, export);
    let complete = files_in(&bench, "out");
    for moment in Moment::of(whole, &["."]) {
        if bench.path("out").exists() {
            fs::remove_dir_all(bench.path("out")).expect("removed");
        }
        killed(&bench, export, moment);
        if !bench.path("out").exists() {
            bench.succeed(export);
            // What the killed one left is removed by the next.
            let names = bench.snapshot().into_keys();
            let left: Vec<_> =
                names.filter(|name| name.extension().is_some_and(|end| end == "tmp")).collect();
            assert!(left.is_empty(), "{left:?}");
        }
        assert!(files_in(&bench, "out") == complete);
    }
}

#[test]
fn a_killed_report_leaves_no_page_without_its_figures() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data --split dev -o a.run");
    bench.succeed("run bm25-english --data data --split dev -o b.run");
    let report = "report a.run b.run --data data --split dev -o out/page.html --charts out/figures";
    let whole = duration(&bench, report);
    let complete = files_in(&bench, "out/figures");
    assert!(!complete.is_empty());
    for moment in Moment::of(whole, &["out", "out/figures", "out/page.html"]) {
        if bench.path("out").exists() {
            fs::remove_dir_all(bench.path("out")).expect("removed");
        }
        killed(&bench, report, moment);
        if bench.path("out/page.html").exists() {
            assert!(files_in(&bench, "out/figures") == complete);
        }
    }
}

/// The names and contents of the files of a folder that are not hidden.
fn files_in(bench: &Bench, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(bench.path(folder)).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            let content = bench.read(&format!("{folder}/{name}"));
            files.push((name, content));
        }
    }
    files.sort();
    files
}

#[test]
fn an_interrupted_reproduction_prints_the_figures_so_far() {
    let bench = Bench::with_sample();
    let line = "reproduce no-question bm25 bm25-english bm25-tuned --data data";
    let mut child = bench
        .command(&line.split(' ').collect::<Vec<_>>())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut notes = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first =
        notes.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("no-question on")));
    assert!(first.is_some(), "a system is done");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let output = child.wait_with_output().expect("it ends");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.lines().nth(1).is_some_and(|row| row.starts_with("no-question")), "{printed}");
}
