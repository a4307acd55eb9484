//! What a system asks next in every conversation of a file.
//!
//! A file may hold millions of records, so they are ranked in blocks: one thread reads, all rank,
//! and what is finished is appended to `<run>.partial`, with how far that is in
//! `<run>.partial.json`. When everything is written, the run takes its name. After a kill, a run
//! that is resumed continues behind the last whole block, if the same inputs would be read.

mod partial;

use crate::answers::model_record;
use crate::error::Error;
use crate::needs::{need_model, need_record};
use crate::observer::{Observer, Task};
use crate::record;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::conversation::{Counts, Reading, Record, read_records};
use clariq_collections::clariq::{ClariQ, QuestionBank, put_text_run_line};
use clariq_core::{Location, Problem, ProblemKind, Ranking, Request, RequestId, sha256_hex};
use clariq_files::{Source, Staged, Target};
use clariq_need::Classifier;
use clariq_rank::{Batch, Context, System, Uses, WrittenScores};
use partial::{Partial, Progress};
use serde_json::{Value, json};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{panic, thread};

/// Contexts that are ranked together. A run does not depend on it: a stage that looks at the whole
/// batch refuses conversations.
const BLOCK: usize = 4096;
/// Blocks that may wait to be ranked.
const WAITING: usize = 1;

/// A file of conversations, and what tells it from others.
pub struct Conversations {
    source: Source,
    stem: String,
    file: String,
    checksum: String,
}

impl Conversations {
    /// Opens a file; `-` is standard input.
    pub fn open(file: &Path) -> Result<Self, Error> {
        let source = Source::new(file).repeatable()?;
        let checksum = match &source {
            // Whatever else it is, the reader says.
            Source::Path(path) if !path.is_file() => String::new(),
            // It is an input from now on, though it is read only after outputs were begun.
            source => source.checksum()?,
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

    /// The file's name up to the first dot, which runs over it are named after.
    pub fn stem(&self) -> &str {
        &self.stem
    }
}

/// How a run over conversations is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// The last field of every line; the system's name if there is none.
    pub tag: Option<&'a str>,
    /// Whether bad records are left out and counted; else the first is the error.
    pub skip_bad: bool,
    /// Whether an interrupted run is continued.
    pub resume: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct Done {
    /// Contexts that were ranked.
    pub contexts: u64,
    /// Lines that were written for them.
    pub lines: u64,
}

/// Why no further block can be written.
enum Stop {
    Output(io::Error),
    Error(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Takes the lines of a block, and how far the run is with them.
type Write<'a> = &'a mut dyn FnMut(&[u8], Progress) -> Result<(), Stop>;

/// Ranks the next question for every conversation of a file, and writes the run and its record to
/// `path`. A stream gets the run alone.
pub fn run(
    session: &Session,
    context: &Context,
    loaded: &Loaded,
    input: &Conversations,
    options: &RunOptions,
    path: &Path,
) -> Result<Done, Error> {
    let job = Job::new(session, context, loaded, input, options)?;
    let (progress, counts) = if Target::new(path).is_stream() {
        job.stream(path)?
    } else {
        job.write(path, options.resume)?
    };
    job.report(progress, &counts);
    Ok(Done { contexts: progress.contexts, lines: progress.lines })
}

/// One system over one file.
struct Job<'a> {
    observer: &'a dyn Observer,
    bank: &'a QuestionBank,
    context: &'a Context<'a>,
    loaded: &'a Loaded,
    input: &'a Conversations,
    need: Option<Classifier>,
    tag: String,
    skip_bad: bool,
    made_by: Value,
}

/// Refuses stages that compare requests with each other. A file of conversations goes through in
/// blocks, and what a context gets must not depend on the block that it falls into.
fn refuse_batch_stages(system: &System) -> Result<(), Error> {
    let mut stages = system.pipeline.about();
    let Some(stage) = stages.find(|stage| stage.uses.contains(&Uses::Batch)) else { return Ok(()) };
    let at = Location::file(format!("stage `{}`", stage.name));
    let expected = "the requests of a split, of which each has questions of its own";
    Err(Problem::new(at, ProblemKind::Argument, expected, "conversations")
        .hint(
            "systems for conversations are `dense-conversation`, `bm25-conversation` and \
             `bm25-multi-turn`",
        )
        .into())
}

impl<'a> Job<'a> {
    fn new(
        session: &Session<'a>,
        context: &'a Context<'a>,
        loaded: &'a Loaded,
        input: &'a Conversations,
        options: &RunOptions,
    ) -> Result<Self, Error> {
        let (system, bank) = (&loaded.system, &ClariQ::of(session.collection)?.bank);
        refuse_batch_stages(system)?;
        // Nothing is ranked, but what the stages need is opened: the weights are part of what
        // makes the run.
        let nothing = Batch::new(context, &[]);
        system.pipeline.run(&nothing, nothing.unranked())?;
        let need = need_model(session, context, system)?;
        let tag = options.tag.unwrap_or(&system.name);
        let tag: String = tag.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        let skip_bad = options.skip_bad;
        let made_by = json!({
            "clariq": env!("CARGO_PKG_VERSION"),
            "system": system.name,
            "config_sha256": loaded.checksum,
            "uses": loaded.uses(None),
            "stages": system.pipeline.parameters(),
            "models": model_record(context, system),
            "need": need.as_ref().map(need_record),
            "conversation": system.conversation,
            "seed": session.options.seed,
            "run_tag": tag,
            "skip_bad": skip_bad,
            "conversations": { "file": input.file, "sha256": input.checksum },
            "bank": { "sha256": bank.checksum(), "questions": bank.len() },
        });
        let observer = session.observer;
        Ok(Self { observer, bank, context, loaded, input, need, tag, skip_bad, made_by })
    }

    /// Writes to standard output or a pipe, which cannot be taken back.
    fn stream(&self, path: &Path) -> Result<(Progress, Counts), Error> {
        let mut done = Err(Stop::Output(io::ErrorKind::WriteZero.into()));
        let written = Target::new(path).write(|out| {
            let write: Write = &mut |lines, _| out.write_all(lines).map_err(Stop::Output);
            done = self.answer(Progress::default(), write);
            match &mut done {
                Err(Stop::Output(error)) => {
                    Err(std::mem::replace(error, io::ErrorKind::Other.into()))
                }
                _ => Ok(()),
            }
        });
        match done {
            Ok(done) => written.map(|()| done).map_err(Error::from),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Output(error)) => Err(written.map_or_else(Error::from, |()| {
                let (action, path) = ("write", path.to_owned());
                clariq_core::Error::Io { action, path, source: error }.into()
            })),
        }
    }

    /// Writes a file by way of a partial one, and the record beside it.
    fn write(&self, path: &Path, resume: bool) -> Result<(Progress, Counts), Error> {
        let fingerprint = sha256_hex(self.made_by.to_string().as_bytes());
        let (mut partial, progress, note) = Partial::open(path, &fingerprint, resume)?;
        if let Some(note) = note {
            self.observer.note(&note);
        }
        let write: Write = &mut |lines, progress| Ok(partial.append(lines, progress)?);
        let (progress, counts) = match self.answer(progress, write) {
            Ok(done) => done,
            Err(stop) => {
                // What was refused once is refused again: there is nothing to continue from.
                partial.remove();
                return Err(match stop {
                    Stop::Error(error) => error,
                    Stop::Output(source) => {
                        let (action, path) = ("write", path.to_owned());
                        clariq_core::Error::Io { action, path, source }.into()
                    }
                });
            }
        };
        let run = Staged::new(path, |out| partial.copy(out))?;
        let mut made_by = self.made_by.clone();
        made_by["conversations"]["contexts"] = progress.contexts.into();
        made_by["conversations"]["bad_records"] = counts.bad.into();
        let files: Vec<record::Output> = vec![("run", path.to_owned(), run)];
        let record = record::stage(path, made_by, &files)?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        partial.remove();
        Ok((progress, counts))
    }

    fn report(&self, progress: Progress, counts: &Counts) {
        if let Some(first) = &counts.first {
            let (file, bad) = (self.input.source.name(), counts.bad);
            self.observer.note(&format!(
                "warning: {file}: {bad} bad records are left out; the first: {first}"
            ));
        }
        if progress.silent > 0 {
            self.observer.note(&format!(
                "warning: for {} contexts no question is left, and they have no line, as in the \
                 published runs",
                progress.silent
            ));
        }
    }

    /// Ranks every context behind those that are done already. `write` gets the lines of each block.
    fn answer(&self, mut progress: Progress, write: Write) -> Result<(Progress, Counts), Stop> {
        let task = self.observer.begin(&self.loaded.system.name, None);
        let (send, blocks) = sync_channel(WAITING);
        let counts = thread::scope(|scope| {
            let reader = scope.spawn(move || self.read(progress.contexts, &send));
            let ranked = self.rank_all(blocks, task.as_ref(), &mut progress, write);
            let read = reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            ranked?;
            Ok::<Counts, Stop>(read?)
        })?;
        task.finish(&format!("{} contexts", progress.contexts));
        Ok((progress, counts))
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
    ) -> Result<(), Stop> {
        let mut lines = Vec::new();
        for mut block in blocks {
            self.predict_need(&mut block)?;
            let batch = Batch::new(self.context, &block);
            let rankings = self.loaded.system.pipeline.run(&batch, batch.unranked())?;
            lines.clear();
            for (request, ranking) in block.iter().zip(&rankings) {
                let written = self.put(&mut lines, &request.id, ranking).map_err(Stop::Output)?;
                progress.lines += written;
                progress.silent += u64::from(written == 0);
            }
            progress.contexts += block.len() as u64;
            write(&lines, *progress)?;
            task.advance(block.len() as u64);
        }
        Ok(())
    }

    fn predict_need(&self, block: &mut [Request]) -> Result<(), Error> {
        let Some(model) = &self.need else { return Ok(()) };
        let openings: Vec<&str> = block.iter().map(Request::opening).collect();
        let predictions = model.predict(&openings)?;
        for (request, prediction) in block.iter_mut().zip(predictions) {
            request.need = Some(prediction.need);
        }
        Ok(())
    }

    /// Writes the lines of one context; how many.
    fn put(&self, out: &mut Vec<u8>, context: &RequestId, ranking: &Ranking) -> io::Result<u64> {
        let form = self.loaded.system.conversation;
        let hits = &ranking[..ranking.len().min(form.lines.get())];
        for (index, hit) in hits.iter().enumerate() {
            let (rank, score) = match form.scores {
                WrittenScores::Own => (index + 1, hit.score),
                WrittenScores::Remaining => (index, (ranking.len() - index) as f64),
            };
            put_text_run_line(out, context, self.bank.text(hit.doc), rank, score, &self.tag)?;
        }
        Ok(hits.len() as u64)
    }
}
