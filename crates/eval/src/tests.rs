//! Small runs for tests.

use clariq_files::{Run, RunLine};

pub(crate) fn run(lines: &[(&str, &str, f64)]) -> Run {
    let lines = (1..).zip(lines).map(|(line, &(topic, document, score))| RunLine {
        topic: topic.into(),
        document: document.into(),
        score,
        line,
    });
    Run { lines: lines.collect(), ..Run::default() }
}
