//! `clariq eval`: a run scored as the official scorer of its collection does, or by measures of the
//! literature.

mod arguments;
mod clariq;
mod ikat;
mod measures;
mod origin;

use crate::failure::{Failure, Outcome};
use crate::settings::Settings;
use arguments::Mode;
use clariq_files::python_float;
use std::io::{self, Write};
use std::path::PathBuf;

pub(crate) use arguments::EvalArgs;

pub(crate) fn eval(settings: &Settings, arguments: &EvalArgs) -> Result<Outcome, Failure> {
    let path = arguments
        .run
        .as_ref()
        .or(arguments.run_file.as_ref())
        .cloned()
        .unwrap_or_else(|| PathBuf::from("-"));
    match arguments.mode(settings.format)? {
        Mode::Questions => clariq::questions(settings, arguments, &path)?,
        Mode::Need => clariq::needs(settings, arguments, &path)?,
        Mode::Documents => clariq::documents(settings, arguments, &path)?,
        Mode::Conversations => clariq::contexts(settings, arguments, &path)?,
        Mode::Measures => measures::measures(settings, arguments, &path)?,
        Mode::Ikat(split) => ikat::ikat(settings, arguments, split, &path)?,
    }
    Ok(Outcome::Done)
}

/// `{"Recall5": {"101": 0.2, …}, …}`, spaced as Python's `json.dump` does.
fn write_per_topic(metrics: &[(&str, Vec<(String, f64)>)], out: &mut dyn Write) -> io::Result<()> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let metrics = metrics.iter().map(|(name, figures)| {
        let figures =
            figures.iter().map(|(id, figure)| format!("{}: {}", quoted(id), python_float(*figure)));
        format!("{}: {{{}}}", quoted(name), figures.collect::<Vec<_>>().join(", "))
    });
    write!(out, "{{{}}}", metrics.collect::<Vec<_>>().join(", "))
}

fn say(settings: &Settings, counts: &[(usize, &str)]) {
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        settings.note(&format!("warning: {count} {what}"));
    }
}
