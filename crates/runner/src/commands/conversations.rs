//! `clariq run --conversations FILE`: what does a system ask next in every conversation of a file?
//!
//! A file may hold millions of records, so they go through in blocks: one thread reads, all rank, and what is finished goes
//! to `<run>.partial`, with how far that is in `<run>.partial.json`. When everything is written, the run takes its name.
//! After a kill, `--resume` goes on behind the last whole block, if the same inputs would be read.

mod partial;

use crate::commands::run::RunArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::clariq::conversation::{Counts, MOST_TURNS, Reading, Record, read_records};
use clariq_collections::clariq::{Around, QuestionBank, put_text_run_line};
use clariq_core::{
    Location, Problem, ProblemKind, Ranking, Request, RequestId, sha256_hex, sha256_of_file,
};
use clariq_experiment::answers::{model_record, need_model, need_record};
use clariq_experiment::record;
use clariq_experiment::systems::check_names_differ;
use clariq_experiment::{Loaded, Observer, Registry, Session, Task};
use clariq_files::{Source, Staged, Target, protect};
use clariq_need::Classifier;
use clariq_rank::{Batch, Context, WrittenScores};
use partial::Partial;
use serde_json::{Value, json};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{panic, thread};

/// Contexts that are ranked together. A run does not depend on it, as long as no stage looks at the whole batch; those that
/// do see a block.
const BLOCK: usize = 4096;
/// Blocks that may wait to be ranked.
const WAITING: usize = 1;

pub(crate) fn run(
    settings: &Settings,
    arguments: &RunArgs,
    file: &Path,
) -> Result<Outcome, Failure> {
    let overrides = arguments.parameters.overrides()?;
    let load = |name: &String| Loaded::open(name, &overrides);
    let systems: Vec<Loaded> = arguments.configs.iter().map(load).collect::<Result<_, _>>()?;
    check_names_differ(&systems)?;
    let collection = settings.collection()?;
    let input = Conversations::open(file)?;
    let session = settings.session(&collection, &arguments.place);
    let models = Registry::new(&session);
    let around = Around::new(&collection, arguments.split);
    let context = session.context().with_models(&models).within(&around);
    let mut sheet = Sheet::new(&["system", "contexts", "lines", "uses", "run file"]);
    for loaded in &systems {
        let usual = || PathBuf::from(format!("runs/{}.{}.run", loaded.system.name, input.stem));
        let path = arguments.output.clone().unwrap_or_else(usual);
        let job = Job::new(settings, &session, arguments, &context, loaded, &input)?;
        let done = if Target::new(&path).is_stream() {
            job.stream(&path)?
        } else {
            job.write(&path, arguments.resume)?
        };
        done.tell(settings, &job.input.source.name());
        sheet.row(vec![
            Cell::text(&loaded.system.name),
            Cell::Count(done.progress.contexts),
            Cell::Count(done.progress.lines),
            super::run::uses_cell(loaded, None),
            Cell::text(path.display().to_string()),
        ]);
    }
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

/// A file of conversations, and what tells it from others.
struct Conversations {
    source: Source,
    stem: String,
    file: String,
    checksum: String,
}

impl Conversations {
    fn open(file: &Path) -> Result<Self, Failure> {
        let source = match Source::new(file) {
            // It is read more than once.
            Source::Stdin => Source::memory("<stdin>", Source::Stdin.read()?.bytes.into_owned()),
            source => source,
        };
        let checksum = match &source {
            Source::Path(path) if path.is_file() => {
                // It is an input from now on, though it is read only after outputs were begun.
                protect(path);
                sha256_of_file(path)?
            }
            // Whatever else it is, the reader says.
            Source::Path(_) => String::new(),
            other => sha256_hex(&other.read()?.bytes),
        };
        let name = file
            .file_name()
            .map_or_else(|| "stdin".into(), |name| name.to_string_lossy().into_owned());
        let stem = name
            .split('.')
            .next()
            .filter(|stem| !stem.is_empty() && *stem != "-")
            .unwrap_or("stdin")
            .to_owned();
        Ok(Self { source, stem, file: name, checksum })
    }
}

/// Takes the lines of a block, and how far the run is with them.
type Write<'a> = &'a mut dyn FnMut(&[u8], Progress) -> Result<(), Failure>;

/// How far a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Progress {
    /// Contexts of the file that are done.
    contexts: u64,
    /// Lines that were written for them.
    lines: u64,
    /// Contexts for which no question was left.
    silent: u64,
}

/// One system over one file.
struct Job<'a> {
    settings: &'a Settings,
    bank: &'a QuestionBank,
    context: &'a Context<'a>,
    loaded: &'a Loaded,
    input: &'a Conversations,
    need: Option<Classifier>,
    tag: String,
    skip_bad: bool,
    made_by: Value,
}

/// What came of it.
struct Done {
    progress: Progress,
    counts: Counts,
}

impl Done {
    fn tell(&self, settings: &Settings, file: &str) {
        if let Some(first) = &self.counts.first {
            settings.note(&format!(
                "warning: {file}: {} bad records are left out; the first: {first}",
                self.counts.bad
            ));
        }
        if self.progress.silent > 0 {
            settings.note(&format!(
                "warning: for {} contexts no question is left, and they have no line, as in the published runs",
                self.progress.silent
            ));
        }
    }
}

impl<'a> Job<'a> {
    fn new(
        settings: &'a Settings,
        session: &Session<'a>,
        arguments: &RunArgs,
        context: &'a Context<'a>,
        loaded: &'a Loaded,
        input: &'a Conversations,
    ) -> Result<Self, Failure> {
        let (system, collection) = (&loaded.system, session.collection);
        // Nothing is asked, but what the stages work with is opened: the weights are part of what makes the run.
        let nothing = Batch::new(context, &[]);
        system.pipeline.run(&nothing, nothing.unranked())?;
        let need = need_model(session, context, system)?;
        let tag = arguments.run_tag.as_deref().unwrap_or(&system.name);
        let tag: String = tag.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        let made_by = json!({
            "clariq": env!("CARGO_PKG_VERSION"),
            "system": system.name,
            "config_sha256": loaded.checksum,
            "uses": loaded.uses(None),
            "stages": system.pipeline.parameters(),
            "models": model_record(context, system),
            "need": need.as_ref().map(need_record),
            "conversation": system.conversation,
            "seed": settings.seed,
            "run_tag": tag,
            "skip_bad": arguments.skip_bad,
            "conversations": { "file": input.file, "sha256": input.checksum },
            "bank": { "sha256": collection.bank.checksum(), "questions": collection.bank.len() },
        });
        let skip_bad = arguments.skip_bad;
        Ok(Self {
            settings,
            bank: &collection.bank,
            context,
            loaded,
            input,
            need,
            tag,
            skip_bad,
            made_by,
        })
    }

    /// Writes to standard output or a pipe, which cannot be taken back.
    fn stream(&self, path: &Path) -> Result<Done, Failure> {
        let mut done = None;
        let mut failure = None;
        Target::new(path).write(|out| {
            match self.answer(Progress::default(), &mut |bytes, _| Ok(out.write_all(bytes)?)) {
                Ok(all) => done = Some(all),
                Err(Failure::Output(error)) => return Err(error),
                Err(other) => failure = Some(other),
            }
            Ok(())
        })?;
        match (done, failure) {
            (Some(done), None) => Ok(done),
            (_, Some(failure)) => Err(failure),
            (None, None) => Err(Failure::Output(io::ErrorKind::WriteZero.into())),
        }
    }

    /// Writes a file by way of a partial one, and the record beside it.
    fn write(&self, path: &Path, resume: bool) -> Result<Done, Failure> {
        let fingerprint = sha256_hex(self.made_by.to_string().as_bytes());
        let (mut partial, progress, said) = Partial::open(path, &fingerprint, resume)?;
        if let Some(said) = said {
            self.settings.note(&said);
        }
        let done =
            match self.answer(progress, &mut |bytes, progress| partial.append(bytes, progress)) {
                Ok(done) => done,
                Err(failure) => {
                    // What was refused once is refused again: there is nothing to go on from.
                    partial.remove();
                    return Err(failure);
                }
            };
        let run = Staged::new(path, |out| partial.copy(out))?;
        let mut made_by = self.made_by.clone();
        made_by["conversations"]["contexts"] = done.progress.contexts.into();
        made_by["conversations"]["bad_records"] = done.counts.bad.into();
        let files: Vec<record::Output> = vec![("run", path.to_owned(), run)];
        let record = record::stage(path, made_by, &files)?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        partial.remove();
        Ok(done)
    }

    /// Ranks every context behind those that are done already. `write` gets the lines of each block.
    fn answer(&self, mut progress: Progress, write: Write) -> Result<Done, Failure> {
        let task = self.settings.begin(&self.loaded.system.name, None);
        let (send, blocks) = sync_channel(WAITING);
        let counts = thread::scope(|scope| {
            let reader = scope.spawn(move || self.read(progress.contexts, &send));
            let ranked = self.rank_all(blocks, task.as_ref(), &mut progress, write);
            let read = reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            ranked?;
            Ok::<Counts, Failure>(read?)
        })?;
        task.finish(&format!("{} contexts", progress.contexts));
        Ok(Done { progress, counts })
    }

    /// Reads the file and sends every context once, in blocks, but for the first `done`.
    fn read(
        &self,
        done: u64,
        send: &SyncSender<Vec<Request>>,
    ) -> Result<Counts, clariq_core::Error> {
        let reading = Reading { bank: Some(self.bank), skip_bad: self.skip_bad };
        let (mut seen, mut block) = (0, Vec::with_capacity(BLOCK));
        let counts = read_records(&self.input.source, &reading, &mut |record: Record| {
            seen += u64::from(!record.again);
            if record.again || seen <= done {
                return ControlFlow::Continue(());
            }
            block.push(Request::from(&record.conversation));
            if block.len() < BLOCK {
                return ControlFlow::Continue(());
            }
            let full = std::mem::replace(&mut block, Vec::with_capacity(BLOCK));
            // Nobody takes it where ranking has failed.
            if send.send(full).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if !block.is_empty() {
            let _ = send.send(block);
        }
        Ok(counts)
    }

    fn rank_all(
        &self,
        blocks: Receiver<Vec<Request>>,
        task: &dyn Task,
        progress: &mut Progress,
        write: Write,
    ) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for mut block in blocks {
            self.predict_need(&mut block)?;
            let batch = Batch::new(self.context, &block);
            let rankings = self.loaded.system.pipeline.run(&batch, batch.unranked())?;
            lines.clear();
            for (request, ranking) in block.iter().zip(&rankings) {
                let written = self.put(&mut lines, &request.id, ranking)?;
                progress.lines += written;
                progress.silent += u64::from(written == 0);
            }
            progress.contexts += block.len() as u64;
            write(&lines, *progress)?;
            task.advance(block.len() as u64);
        }
        Ok(())
    }

    fn predict_need(&self, block: &mut [Request]) -> Result<(), Failure> {
        let Some(model) = &self.need else { return Ok(()) };
        let openings: Vec<&str> = block.iter().map(Request::opening).collect();
        let predictions = model.predict(&openings)?;
        for (request, prediction) in block.iter_mut().zip(predictions) {
            request.need = Some(prediction.need);
        }
        Ok(())
    }

    /// Writes the lines of one context; how many.
    fn put(
        &self,
        out: &mut Vec<u8>,
        context: &RequestId,
        ranking: &Ranking,
    ) -> Result<u64, Failure> {
        let form = self.loaded.system.conversation;
        let hits = &ranking[..ranking.len().min(form.lines.get())];
        for (place, hit) in hits.iter().enumerate() {
            let (rank, score) = match form.scores {
                WrittenScores::Own => (place + 1, hit.score),
                WrittenScores::Remaining => (place, (ranking.len() - place) as f64),
            };
            put_text_run_line(out, context, self.bank.text(hit.doc), rank, score, &self.tag)?;
        }
        Ok(hits.len() as u64)
    }
}

/// What `--resume` and `--skip-bad` are about.
pub(crate) fn only_with_conversations(arguments: &RunArgs) -> Result<(), Failure> {
    let given = [("--resume", arguments.resume), ("--skip-bad", arguments.skip_bad)];
    match given.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            let expected = "--conversations beside it";
            let problem = Problem::new(
                Location::file(flag),
                ProblemKind::Argument,
                expected,
                "a run over a split",
            );
            let hint = format!(
                "a split takes seconds and has no records; conversations have up to {MOST_TURNS} turns"
            );
            Err(problem.hint(hint).into())
        }
        None => Ok(()),
    }
}
