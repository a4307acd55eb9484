//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use crate::messages::say_line;
use clariq_experiment::Job;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;
use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Without a terminal, a line is printed for each tenth of the steps; shorter tasks print none.
const BEFORE_LINES: Duration = Duration::from_secs(5);
/// The interval of lines where the number of steps is not known.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

pub(crate) struct StepBar {
    progress: ProgressBar,
    /// True until a terminal shows the bar.
    waits: AtomicBool,
    /// The last printed line, if there is no terminal.
    last: Option<Mutex<PrintedLine>>,
}

/// The time of a line, and the tenths of the steps that were done.
struct PrintedLine {
    at: Instant,
    tenths: u64,
}

/// On a terminal, shorter tasks show no bar.
const BEFORE_BAR: Duration = Duration::from_millis(500);

/// The form of a progress bar.
pub(crate) const STEPS: &str = "{prefix:<16} {wide_bar} {pos}/{len} {speed} {eta} left {msg}";
/// The same where steps are bytes.
pub(crate) const BYTES: &str =
    "{prefix:<28} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left";

impl StepBar {
    /// Starts a task, whose number of steps may be unknown; printed only if `shown`.
    pub(crate) fn start(name: &str, steps: Option<u64>, form: &str, shown: bool) -> Self {
        if !shown {
            return Self {
                progress: ProgressBar::hidden(),
                waits: AtomicBool::new(false),
                last: None,
            };
        }
        let is_terminal = io::stderr().is_terminal();
        let last =
            (!is_terminal).then(|| Mutex::new(PrintedLine { at: Instant::now(), tenths: 0 }));
        let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::hidden());
        bar.set_prefix(name.to_owned());
        let form = if steps.is_some() { form } else { "{prefix:<16} {pos} done, {speed}" };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.with_key("speed", write_speed));
        }
        Self { progress: bar, waits: AtomicBool::new(is_terminal), last }
    }

    fn print_line(&self) {
        let name = self.progress.prefix();
        let done = self.progress.position();
        let message = self.progress.message();
        let seconds = self.progress.elapsed().as_secs_f64();
        let speed = speed(done, seconds);
        let comma = if message.is_empty() { "" } else { ", " };
        let line = match self.progress.length() {
            Some(steps) if done > 0 => {
                let left = steps.saturating_sub(done) as f64 * seconds / done as f64;
                let left = duration(left);
                format!("{name}: {done} of {steps}, {speed}, {left} left{comma}{message}")
            }
            Some(steps) => format!("{name}: {done} of {steps}"),
            None => format!("{name}: {done}, {speed}"),
        };
        say_line(&line);
    }
}

/// Steps per second, or per minute where that is less than one.
fn speed(steps: u64, seconds: f64) -> String {
    match steps as f64 / seconds {
        speed if speed >= 10.0 => format!("{speed:.0} per second"),
        speed if speed >= 1.0 => format!("{speed:.1} per second"),
        speed => format!("{:.1} per minute", speed * 60.0),
    }
}

/// A time in the two units that tell most of it.
fn duration(seconds: f64) -> String {
    let seconds = Duration::try_from_secs_f64(seconds.round()).unwrap_or_default().as_secs();
    match seconds / 60 {
        0..2 => format!("{seconds} s"),
        minutes @ ..60 => format!("{minutes} min {} s", seconds % 60),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

fn write_speed(state: &ProgressState, out: &mut dyn fmt::Write) {
    let _ = out.write_str(&speed(state.pos(), state.elapsed().as_secs_f64()));
}

impl Job for StepBar {
    fn advance(&self, steps: u64) {
        self.progress.inc(steps);
        if self.waits.load(Relaxed) && self.progress.elapsed() >= BEFORE_BAR {
            self.waits.store(false, Relaxed);
            self.progress.set_draw_target(ProgressDrawTarget::stderr());
        }
        if self.progress.elapsed() < BEFORE_LINES {
            return;
        }
        // A thread that holds the lock prints the line.
        if let Some(Some(mut last)) = self.last.as_ref().map(Mutex::try_lock) {
            let tenths = self.progress.length().filter(|&steps| steps > 0);
            let tenths = tenths.map(|steps| self.progress.position() * 10 / steps);
            let is_due = match tenths {
                Some(tenths) => tenths > last.tenths,
                None => last.at.elapsed() >= BETWEEN_LINES,
            };
            if is_due {
                *last = PrintedLine { at: Instant::now(), tenths: tenths.unwrap_or(0) };
                self.print_line();
            }
        }
    }

    fn describe(&self, text: &str) {
        self.progress.set_message(text.to_owned());
    }

    fn finish(self: Box<Self>, result: &str) {
        self.progress.finish_and_clear();
        let elapsed = self.progress.elapsed();
        if self.last.is_some() && elapsed >= BEFORE_LINES {
            let name = self.progress.prefix();
            say_line(&format!("{name}: {result} in {}", duration(elapsed.as_secs_f64())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, speed};

    #[test]
    fn slow_steps_are_counted_per_minute() {
        let shown = [speed(600, 5.0), speed(12, 5.0), speed(1, 120.0)];
        assert_eq!(shown, ["120 per second", "2.4 per second", "0.5 per minute"]);
    }

    #[test]
    fn long_times_are_in_minutes_and_hours() {
        let shown = [7.4, 119.2, 1318.0, 7384.0].map(duration);
        assert_eq!(shown, ["7 s", "119 s", "21 min 58 s", "2 h 3 min"]);
    }
}
