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
    /// When a line was printed last, where there is no terminal.
    last: Option<Mutex<Instant>>,
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
            return Self { bar: ProgressBar::hidden(), last: None };
        }
        let (target, last) = if io::stderr().is_terminal() {
            (ProgressDrawTarget::stderr(), None)
        } else {
            (ProgressDrawTarget::hidden(), Some(Mutex::new(Instant::now())))
        };
        let bar = ProgressBar::with_draw_target(steps, target).with_prefix(name.to_owned());
        let form = if steps.is_some() { form } else { "{prefix:<16} {pos} done, {per_sec}" };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        Self { bar, last }
    }

    fn print_line(&self) {
        let (name, done, message) = (self.bar.prefix(), self.bar.position(), self.bar.message());
        let speed = done as f64 / self.bar.elapsed().as_secs_f64();
        let comma = if message.is_empty() { "" } else { ", " };
        match self.bar.length() {
            Some(steps) if done > 0 => {
                let left = steps.saturating_sub(done) as f64 / speed;
                eprintln!(
                    "{name}: {done} of {steps}, {speed:.1} per second, {left:.0} s left{comma}{message}"
                );
            }
            Some(steps) => eprintln!("{name}: {done} of {steps}"),
            None => eprintln!("{name}: {done}, {speed:.1} per second"),
        }
    }
}

impl Task for Bar {
    fn advance(&self, steps: u64) {
        self.bar.inc(steps);
        // Another thread that holds the lock is saying it already.
        if let Some(Ok(mut last)) = self.last.as_ref().map(Mutex::try_lock)
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            self.print_line();
        }
    }

    fn describe(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    fn finish(self: Box<Self>, result: &str) {
        self.bar.finish_and_clear();
        let elapsed = self.bar.elapsed();
        if self.last.is_some() && elapsed >= BETWEEN_LINES {
            eprintln!("{}: {result} in {:.0} s", self.bar.prefix(), elapsed.as_secs_f64());
        }
    }
}
