//! Values that clap refuses, reported like every other error.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clariq_core::{Problem, problem};
use std::error::Error as _;

/// A refused value, or two flags that exclude each other, as a problem; `None` for everything that clap reports itself: help, the version,
/// unknown or missing arguments.
pub(crate) fn refused_value(error: &clap::Error) -> Option<Problem> {
    if error.kind() == ErrorKind::ArgumentConflict {
        return conflict(error);
    }
    if !matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        return None;
    }
    let (argument, value) =
        (text(error, ContextKind::InvalidArg)?, text(error, ContextKind::InvalidValue)?);
    let at = argument.split(' ').next().unwrap_or(argument);
    let found = if value.is_empty() { "nothing".to_owned() } else { format!("`{value}`") };
    let hint = match text(error, ContextKind::SuggestedValue) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => "see --help for the accepted values".to_owned(),
    };
    Some(Problem::at(at, expected(error), found).hint(hint))
}

/// Two flags that exclude each other.
fn conflict(error: &clap::Error) -> Option<Problem> {
    let flag = |kind| Some(text(error, kind)?.split(' ').next().unwrap_or_default());
    let (flag, other) = (flag(ContextKind::InvalidArg)?, flag(ContextKind::PriorArg)?);
    let hint = "--help says what each is for";
    Some(problem!(flag, "no {other} beside it", other, hint))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    }
}

fn expected(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::ValidValue) {
        return format!("one of {}", names.join(", "));
    }
    let reason = error.source().map(ToString::to_string).unwrap_or_default();
    match reason.as_str() {
        "invalid float literal" | "cannot parse float from empty string" => "a number".to_owned(),
        "" => "a value".to_owned(),
        _ if reason.contains("digit")
            || reason.contains("integer")
            || reason.contains("number too") =>
        {
            "a whole number of at least 0".to_owned()
        }
        _ => reason.strip_prefix("expected ").unwrap_or(&reason).to_owned(),
    }
}
