//! Refusals before the first request is ranked.

use super::input::RunInput;
use crate::needs::writes_needs;
use crate::record;
use crate::session::Session;
use clariq_core::{Observer, Result, bail, one_or, printable};
use clariq_files::{Target, refuse_input};
use clariq_systems::{Rewrites, SystemConfig};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

/// The maximum number of characters of an id in a message.
const SHOWN: usize = 200;

/// Refuses an input that does not fit the system. Warns about requests without a rewrite.
pub fn check_input(
    config: &SystemConfig,
    input: &dyn RunInput,
    observer: &dyn Observer,
) -> Result<()> {
    if let Some(rewrites) = &config.rewrites {
        check_rewrites(rewrites, input, observer)?;
    }
    input.check(config)
}

/// Refuses a path if the run, or a file beside it, would replace a file that is read.
pub(super) fn refuse_input_as_output(
    session: &Session,
    config: &SystemConfig,
    input: &dyn RunInput,
    path: &Path,
) -> Result<()> {
    refuse_input(path)?;
    if Target::new(path).is_stream() {
        return Ok(());
    }
    for (_, file) in input.files(path) {
        refuse_input(&file)?;
    }
    refuse_input(&record::path_of(path))?;
    if !config.endpoints.is_empty() {
        refuse_input(&record::completions_path(path))?;
    }
    if writes_needs(session, config) && input.in_memory().is_some() {
        refuse_input(&record::need_path(path))?;
    }
    Ok(())
}

/// Warns about requests without a rewrite and ids without a request.
///
/// # Errors
///
/// No id is that of a request.
fn check_rewrites(
    rewrites: &Rewrites,
    input: &dyn RunInput,
    observer: &dyn Observer,
) -> Result<()> {
    let mut unmatched: HashSet<&str> = rewrites.ids().collect();
    let mut example = String::new();
    let mut all = 0;
    let mut matched = 0;
    input.read(&mut |query| {
        let request = &query.request;
        all += 1;
        matched += u64::from(rewrites.has(request));
        unmatched.remove(request.id.as_str());
        example = request.id.to_string();
        ControlFlow::Continue(())
    })?;
    let name = rewrites.name();
    let location = input.location();
    let unknown = unmatched.len();
    let other = printable(unmatched.into_iter().min().unwrap_or_default(), SHOWN);
    if matched == 0 && all > 0 {
        let hint = format!("its ids look like `{example}`; --split names another split");
        bail!(name, "rewrites of requests of {location}", "`{other}` and others", hint);
    }
    rewrites.report_missing(all - matched, all, observer);
    if unknown > 0 {
        observer.note(&format!(
            "warning: {name}: {} to no request of {location}, such as `{other}`",
            one_or(unknown, "1 id belongs", &format!("{unknown} ids belong"))
        ));
    }
    Ok(())
}
