//! How far is it? A bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Where there is no terminal, a line is printed this often, and none for a task that is done sooner.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// A task with a number of steps.
pub(crate) struct Task {
    bar: ProgressBar,
    lines: Option<Lines>,
}

struct Lines {
    name: String,
    start: Instant,
    /// When what is counted now began.
    part: Mutex<Instant>,
    last: Mutex<Instant>,
}

impl Task {
    /// Starts a task; if not `shown`, nothing is ever printed.
    pub(crate) fn start(name: &str, steps: u64, shown: bool) -> Self {
        if !shown {
            return Self { bar: ProgressBar::hidden(), lines: None };
        }
        if !io::stderr().is_terminal() {
            let hidden = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
            return Self { bar: hidden, lines: Some(Lines::start(name)) };
        }
        let bar = ProgressBar::new(steps);
        let template = "{prefix:<16} {wide_bar} {pos}/{len} {per_sec} {eta} left {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        Self { bar, lines: None }
    }

    /// Starts a task whose number of steps nobody knows yet.
    pub(crate) fn open(name: &str, shown: bool) -> Self {
        let task = Self::start(name, 0, shown);
        if let Ok(style) = ProgressStyle::with_template("{prefix:<16} {pos} done, {per_sec}") {
            task.bar.set_style(style);
        }
        task.bar.unset_length();
        task
    }

    /// So many steps more are done. May be called from any thread.
    pub(crate) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        if let Some(lines) = &self.lines {
            lines.say(&self.bar);
        }
    }

    /// Counts from 0 again, for the next part of the task.
    pub(crate) fn next_part(&self, name: &str) {
        self.bar.reset();
        self.say(name);
        if let Some(lines) = &self.lines
            && let Ok(mut part) = lines.part.lock()
        {
            *part = Instant::now();
        }
    }

    /// Says how it goes, beside how far it is.
    pub(crate) fn say(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// The task is done.
    pub(crate) fn finish(self, what: &str) {
        self.bar.finish_and_clear();
        if let Some(lines) = self.lines.filter(|lines| lines.start.elapsed() >= BETWEEN_LINES) {
            eprintln!("{}: {what} in {:.0} s", lines.name, lines.start.elapsed().as_secs_f64());
        }
    }
}

impl Lines {
    fn start(name: &str) -> Self {
        let start = Instant::now();
        Self { name: name.to_owned(), start, part: Mutex::new(start), last: Mutex::new(start) }
    }

    fn say(&self, bar: &ProgressBar) {
        // Another thread that holds the lock is saying it already.
        if let Ok(mut last) = self.last.try_lock()
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            let (done, message) = (bar.position(), bar.message());
            let part = self.part.lock().map_or(self.start, |part| *part);
            let speed = done as f64 / part.elapsed().as_secs_f64();
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
