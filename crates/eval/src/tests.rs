//! Small runs for tests.

use clariq_files::{Run, RunLine};

pub(crate) fn run(lines: &[(&str, &str, f64)]) -> Run {
    let lines = (1..).zip(lines).map(|(line, &(topic, question, score))| RunLine {
        topic: topic.into(),
        question: question.into(),
        score,
        line,
    });
    Run { lines: lines.collect(), ..Run::default() }
}
