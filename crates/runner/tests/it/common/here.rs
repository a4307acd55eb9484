//! Systems with learned models that are run in this process: starting one that loads libtorch takes
//! longer than most of what they compute.

use super::Bench;
use clariq_collections::clariq::{ClariQ, DataDir};
use clariq_core::Error;
use clariq_experiment::run::{FileInput, FileKind, RunOptions, run};
use clariq_experiment::{Contexts, Loaded, Options, Session};
use clariq_rank::Override;

/// Calls `test` with a session on the collection in `data` and the cache of a bench.
pub(crate) fn with_session<T>(bench: &Bench, test: impl FnOnce(&Session) -> T) -> T {
    let collection = ClariQ::open(DataDir::Folder(bench.path("data"))).expect("the collection");
    let options = Options { cache: bench.path("cache"), threads: 2, ..Options::default() };
    let mut session = Session::new(&collection, options).expect("a session");
    session.engine = Some(&clariq_bert::Torch);
    test(&session)
}

/// The run by a system, with another value of a key of a stage, over a file of conversations.
pub(crate) fn run_conversations(
    bench: &Bench,
    (system, set): (&str, Option<[&str; 3]>),
    file: &str,
) -> Result<String, Error> {
    let value = |[stage, key, value]: [&str; 3]| Override {
        stage: stage.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let path = bench.path(system).display().to_string();
    let loaded = Loaded::open(&path, &set.map(value).into_iter().collect::<Vec<_>>())?;
    with_session(bench, |session| {
        let (contexts, kind) = (Contexts::new(session), Some(FileKind::Conversations));
        let input = FileInput::open(session, &bench.path(file), kind, false)?;
        run(&contexts, &loaded, &input, &RunOptions::default(), &bench.path("here.run"))?;
        Ok(bench.text("here.run"))
    })
}
