//! The tables of a system's file with other values of its parameters, for a file of their own.

use crate::rewrite::REWRITE;
use crate::table::Override;
use clariq_core::{ProblemKind, Result, problem};
use toml::{Table, Value};

/// The tables beside stages that have parameters.
const SECTIONS: [&str; 5] = ["space", "models", "need", "answer", "ask"];

/// The tables of a file with the values of these parameters, and without the comments of the file. The
/// caller compares what it means with what the parameters mean.
pub fn with_parameters(name: &str, text: &str, parameters: &[Override]) -> Result<Table> {
    let mut file: Table = toml::from_str(text).map_err(|error| {
        let hint = "the documentation describes the file (reference, Systems)";
        problem!(name, "TOML", (error.message().to_owned()), hint).kind(ProblemKind::System)
    })?;
    set_in_pipeline(&mut file, None, parameters);
    if let Some(Value::Table(tasks)) = file.get_mut("tasks") {
        for (task, pipeline) in tasks.iter_mut() {
            if let Value::Table(pipeline) = pipeline {
                set_in_pipeline(pipeline, Some(task), parameters);
            }
        }
    }
    for section in SECTIONS {
        if let Some(Value::Table(table)) = file.get_mut(section) {
            set(table, None, section, parameters);
        }
    }
    Ok(file)
}

/// Sets parameters of the stages of a pipeline, and of those inside them.
fn set_in_pipeline(pipeline: &mut Table, task: Option<&str>, parameters: &[Override]) {
    if let Some(Value::Table(table)) = pipeline.get_mut(REWRITE) {
        set(table, task, REWRITE, parameters);
    }
    for stage in tables(pipeline.get_mut("stages")) {
        if let Some(name) = stage.get("stage").and_then(Value::as_str).map(str::to_owned) {
            set(stage, task, &name, parameters);
        }
        for (_, value) in stage.iter_mut() {
            tables(Some(value)).for_each(|inner| set_in_pipeline(inner, task, parameters));
        }
    }
}

/// The tables of an array.
fn tables(value: Option<&mut Value>) -> impl Iterator<Item = &mut Table> {
    value.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_table_mut)
}

fn set(table: &mut Table, task: Option<&str>, stage: &str, parameters: &[Override]) {
    for parameter in parameters {
        let Some(key) = parameter.key_of(task, stage) else { continue };
        let parsed = toml::from_str(&format!("value = {}", parameter.value));
        let parsed = parsed.ok().and_then(|mut read: Table| read.remove("value"));
        let value = parsed.unwrap_or_else(|| Value::String(parameter.value.clone()));
        match key.split_once('.') {
            Some((inner, key)) => {
                if let Some(Value::Table(inner)) = table.get_mut(inner) {
                    inner.insert(key.to_owned(), value);
                }
            }
            None => drop(table.insert(key.to_owned(), value)),
        }
    }
}
