//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use clariq_experiment::Task;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Where there is no terminal, a line is printed this often, and none for shorter tasks.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

pub(crate) struct Bar {
    bar: ProgressBar,
    lines: Option<Lines>,
}

struct Lines {
    name: String,
    start: Instant,
    last: Mutex<Instant>,
}

/// How a bar looks on a terminal.
pub(crate) const STEPS: &str = "{prefix:<16} {wide_bar} {pos}/{len} {per_sec} {eta} left {msg}";
/// The same where steps are bytes.
pub(crate) const BYTES: &str =
    "{prefix:<28} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left";

impl Bar {
    /// Starts a task, whose number of steps may be unknown; printed only if `shown`.
    pub(crate) fn start(name: &str, steps: Option<u64>, form: &str, shown: bool) -> Self {
        if !shown {
            return Self { bar: ProgressBar::hidden(), lines: None };
        }
        if !io::stderr().is_terminal() {
            let hidden = ProgressBar::with_draw_target(steps, ProgressDrawTarget::hidden());
            return Self { bar: hidden, lines: Some(Lines::start(name)) };
        }
        let (bar, template) = match steps {
            Some(steps) => (ProgressBar::new(steps), form),
            None => (ProgressBar::no_length(), "{prefix:<16} {pos} done, {per_sec}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        Self { bar, lines: None }
    }
}

impl Task for Bar {
    fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        if let Some(lines) = &self.lines {
            lines.print(&self.bar);
        }
    }

    fn describe(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    fn finish(self: Box<Self>, result: &str) {
        self.bar.finish_and_clear();
        if let Some(lines) = self.lines.filter(|lines| lines.start.elapsed() >= BETWEEN_LINES) {
            eprintln!("{}: {result} in {:.0} s", lines.name, lines.start.elapsed().as_secs_f64());
        }
    }
}

impl Lines {
    fn start(name: &str) -> Self {
        let start = Instant::now();
        Self { name: name.to_owned(), start, last: Mutex::new(start) }
    }

    fn print(&self, bar: &ProgressBar) {
        // Another thread that holds the lock is saying it already.
        if let Ok(mut last) = self.last.try_lock()
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            let (done, message) = (bar.position(), bar.message());
            let speed = done as f64 / self.start.elapsed().as_secs_f64();
            let comma = if message.is_empty() { "" } else { ", " };
            match bar.length() {
                Some(steps) if done > 0 => {
                    let left = steps.saturating_sub(done) as f64 / speed;
                    eprintln!(
                        "{}: {done} of {steps}, {speed:.1} per second, {left:.0} s left{comma}{message}",
                        self.name
                    );
                }
                Some(steps) => eprintln!("{}: {done} of {steps}", self.name),
                None => eprintln!("{}: {done}, {speed:.1} per second", self.name),
            }
        }
    }
}
