//! The files of a run: what is handed in, the rankings of statements and of passages, and the
//! record.

use super::answer::Answers;
use crate::error::Error;
use crate::record;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::Collection as _;
use clariq_collections::ikat::run::put_submission;
use clariq_collections::ikat::{Folder, Ikat, PASSAGES, STATEMENTS, Split, statement_number};
use clariq_core::{QuestionId, Ranking, TopicId};
use clariq_files::{Staged, put_run_lines};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Where the files of a run are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// What is handed in.
    pub submission: PathBuf,
    /// The ranking of statements as a TREC run.
    pub statements: PathBuf,
    /// The ranking of passages as a TREC run.
    pub passages: PathBuf,
}

impl Paths {
    /// `RUNS/SYSTEM.SPLIT.json`, and beside it `.statements.run` and `.passages.run`. Runs of the
    /// sample are in a folder of their own.
    pub fn usual(runs: &Path, ikat: &Ikat, system: &str, split: Split) -> Self {
        let file = format!("{system}.{split}.json");
        match ikat.folder() {
            Folder::Path(_) => Self::beside(&runs.join(file)),
            Folder::Sample => Self::beside(&runs.join(ikat.label()).join(file)),
        }
    }

    /// The files that belong to a submission.
    pub fn beside(submission: &Path) -> Self {
        let name = submission.to_string_lossy();
        let stem = name.strip_suffix(".json").unwrap_or(&name);
        let with = |ending: &str| PathBuf::from(format!("{stem}.{ending}"));
        Self {
            submission: submission.to_owned(),
            statements: with("statements.run"),
            passages: with("passages.run"),
        }
    }
}

/// Writes all files, the record last; none takes its place before all are complete.
pub fn write(
    session: &Session,
    ikat: &Ikat,
    loaded: &Loaded,
    answers: &Answers,
    paths: &Paths,
) -> Result<(), Error> {
    let Paths { submission, statements, passages } = paths;
    let number = |id: &str| QuestionId::from(statement_number(id));
    let name = &loaded.system.name;
    let files: Vec<record::Output> = vec![
        (
            "submission",
            submission.clone(),
            Staged::new(submission, |out| put_submission(out, &answers.submission))?,
        ),
        (
            "statements",
            statements.clone(),
            Staged::new(statements, |out| {
                let bank = ikat.bank(STATEMENTS);
                let id = |doc| number(bank.id(doc).as_str());
                put(out, &answers.turns, &answers.statements, name, id)
            })?,
        ),
        (
            "passages",
            passages.clone(),
            Staged::new(passages, |out| {
                let bank = ikat.bank(PASSAGES);
                put(out, &answers.turns, &answers.passages, name, |doc| bank.id(doc).clone())
            })?,
        ),
    ];
    let record = record::stage(submission, made_by(session, ikat, loaded, answers)?, &files)?;
    files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
    Ok(())
}

fn put(
    out: &mut dyn io::Write,
    turns: &[String],
    rankings: &[Ranking],
    tag: &str,
    id: impl Fn(clariq_core::Doc) -> QuestionId,
) -> io::Result<()> {
    for (turn, ranking) in turns.iter().zip(rankings) {
        let turn = TopicId::from(turn.as_str());
        let ids: Vec<QuestionId> = ranking.iter().map(|hit| id(hit.doc)).collect();
        let hits = ids.iter().zip(ranking.iter().map(|hit| hit.score));
        put_run_lines(out, [(&turn, hits)], tag)?;
    }
    Ok(())
}

fn made_by(
    session: &Session,
    ikat: &Ikat,
    loaded: &Loaded,
    answers: &Answers,
) -> Result<Value, Error> {
    let system = &loaded.system;
    let split = answers.split;
    let bytes = ikat.source(split.name())?.read()?.bytes;
    let bank = |task: &str| json!({ "sha256": ikat.bank(task).checksum(), "count": ikat.bank(task).len() });
    let tasks: serde_json::Map<String, Value> =
        system.tasks.iter().map(|(task, pipeline)| (task.clone(), pipeline.parameters())).collect();
    Ok(json!({
        "clariq": env!("CARGO_PKG_VERSION"),
        "system": system.name,
        "config_sha256": loaded.checksum,
        "uses": system.uses,
        "tasks": tasks,
        "answer": loaded.answer()?,
        "models": answers.models,
        "seed": session.options.seed,
        "split": split.name(),
        "topics": {
            "file": split.topics_file(),
            "sha256": clariq_core::sha256_hex(&bytes),
            "count": answers.turns.len(),
        },
        "statements": bank(STATEMENTS),
        "passages": bank(PASSAGES),
    }))
}
