//! How often a command opens the record beside a run: once.

use crate::common::Bench;
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use std::mem::MaybeUninit;

/// The number of times that a file is opened meanwhile.
fn opens(bench: &Bench, file: &str, line: &str) -> usize {
    let watch = init(CreateFlags::NONBLOCK).expect("a queue");
    // Equal events that follow each other are one: those of closing are between.
    let events = WatchFlags::OPEN | WatchFlags::CLOSE;
    add_watch(&watch, bench.path(file), events).expect("watched");
    bench.succeed(line);
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut found = Reader::new(watch, &mut buffer);
    let mut count = 0;
    while let Ok(event) = found.next() {
        count += usize::from(event.events().contains(ReadFlags::OPEN));
    }
    count
}

#[test]
fn a_command_opens_the_record_of_each_file_once() {
    let bench = Bench::with_sample();
    for (system, run) in [("bm25", "a.run"), ("no-question", "b.run")] {
        bench.succeed(&format!("run {system} --data data --split dev -o {run}"));
    }
    for command in [
        "eval a.run",
        "eval a.run -m AP --per-topic",
        "eval a.need --task clarification_need",
        "compare a.run b.run",
        "compare b.run a.run --topic 13",
        "report a.run b.run",
        "report b.run --baseline a.run",
        "validate a.run",
        "validate a.need",
    ] {
        let line = format!("{command} --data data");
        assert_eq!(opens(&bench, "a.run.json", &line), 1, "{command}");
    }
}
