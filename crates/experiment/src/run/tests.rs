//! Runs of several blocks that are interrupted and continued.

use super::*;
use crate::session::Options;
use clariq_collections::DataDir;
use clariq_collections::ikat::Ikat;
use clariq_core::{Observer, Silent, Task};
use clariq_rank::Override;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::sync::Mutex;

/// Keeps the notes.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    /// Whether there is a note with that text; forgets all.
    fn take(&self, text: &str) -> bool {
        self.0.lock().unwrap().drain(..).any(|note| note.contains(text))
    }
}

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn detail(&self, _text: &str) {}

    fn begin(&self, _name: &str, _steps: Option<u64>) -> Box<dyn Task> {
        Box::new(Silent)
    }
}

/// Ranks and appends so many blocks, and leaves what a killed run leaves.
fn interrupt(job: &Job, path: &Path, resume: bool, blocks: usize) {
    let files: Vec<PathBuf> = job.input.files(path).into_iter().map(|(_, file)| file).collect();
    let (mut partial, progress, _) =
        Partial::open(&files, &job.fingerprint(), resume, &Silent).unwrap();
    let mut left = blocks;
    let write: Write = &mut |lines, progress, only| {
        partial.append(lines, progress, only)?;
        left -= 1;
        let killed = || problem!("a test", "a run that goes on", "a kill", "resume it");
        if left == 0 { Err(killed().into()) } else { Ok(()) }
    };
    let stopped = job.rank_blocks(progress, write).unwrap_err().to_string();
    assert!(stopped.contains("a kill"), "{stopped}");
}

/// The files of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap())
    };
    fs::read_dir(folder).unwrap().map(|entry| file(entry.unwrap().path())).collect()
}

fn damage(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

const RESUME: RunOptions = RunOptions { tag: None, resume: true };

/// Interrupts a run twice, the second time where it was continued, and continues it.
fn is_continued_to_the_same_bytes(
    session: &Session,
    notes: &Notes,
    system: &str,
    input: &dyn Input,
) {
    let folder = tempfile::tempdir().unwrap();
    let [whole, broken] = ["whole/a.json", "broken/a.json"].map(|name| folder.path().join(name));
    let loaded = Loaded::open_any(system, &[]).unwrap();
    let contexts = Contexts::new(session);
    run(&contexts, &loaded, input, &RunOptions::default(), &whole).unwrap();
    let job = Job::new(&contexts, &loaded, input, None).unwrap();
    interrupt(&job, &broken, false, 1);
    for (_, file) in input.files(&broken) {
        assert!(!file.exists(), "{} before it is complete", file.display());
    }
    // A half-written block behind the last whole one.
    damage(&partial::path_of(&broken), |bytes| bytes.write_all(b"10 0 \"half a li").unwrap());
    interrupt(&job, &broken, true, 1);
    job.run(&RESUME, &broken).unwrap();
    assert!(notes.take("continuing after 8 requests"), "{system}");
    assert!(files(whole.parent().unwrap()) == files(broken.parent().unwrap()), "{system}");
}

/// Calls `test` with a session that cuts no corner but keeps its cache in a folder of its own.
fn with_session(collection: &dyn Collection, test: impl FnOnce(Session, &Notes)) {
    let (folder, notes) = (tempfile::tempdir().unwrap(), Notes::default());
    let options = Options { cache: folder.path().to_owned(), ..Options::default() };
    let session = Session::new(collection, options).unwrap();
    test(Session { observer: &notes, ..session }, &notes);
}

/// Contexts enough for several blocks.
fn conversations<'a>(session: &Session<'a>) -> FileInput<'a> {
    let file = "../collections/sample/multi_turn_human_generated_data.tsv";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    FileInput::open(session, &file, Some(FileKind::Conversations), false).unwrap()
}

#[test]
fn an_interrupted_run_is_continued_to_the_same_bytes() {
    let sample = clariq_collections::open(&DataDir::Sample).unwrap();
    with_session(&*sample, |session, notes| {
        let input = conversations(&session);
        is_continued_to_the_same_bytes(&session, notes, "bm25-multi-turn", &input);
        let session = session.answering("dev");
        let loaded = Loaded::open("bm25-tuned", &[]).unwrap();
        let input = SplitInput::open(&session, &loaded, "dev", None).unwrap();
        is_continued_to_the_same_bytes(&session, notes, "bm25-tuned", &input);
    });
    let ikat = Ikat::open(DataDir::Sample, None).unwrap();
    with_session(&ikat, |session, notes| {
        let session = session.answering("2023-test");
        let loaded = Loaded::open_any("ikat-bm25", &[]).unwrap();
        let input = SplitInput::open(&session, &loaded, "2023-test", None).unwrap();
        is_continued_to_the_same_bytes(&session, notes, "ikat-bm25", &input);
    });
}

#[test]
fn a_run_of_other_inputs_or_with_damaged_lines_is_not_continued() {
    let sample = clariq_collections::open(&DataDir::Sample).unwrap();
    with_session(&*sample, |session, notes| {
        let (folder, input) = (tempfile::tempdir().unwrap(), conversations(&session));
        let [path, plain] = ["a.run", "plain.run"].map(|name| folder.path().join(name));
        let contexts = Contexts::new(&session);
        let [stage, key, value] = ["bm25", "k1", "0.9"].map(str::to_owned);
        let other = Override { stage, key, value };
        let loaded = Loaded::open("bm25-multi-turn", &[]).unwrap();
        let with_other = Loaded::open("bm25-multi-turn", &[other]).unwrap();
        let job = Job::new(&contexts, &loaded, &input, None).unwrap();
        interrupt(&job, &path, false, 1);
        run(&contexts, &with_other, &input, &RESUME, &path).unwrap();
        assert!(notes.take("beginning anew: the interrupted run was made from other inputs"));
        run(&contexts, &with_other, &input, &RunOptions::default(), &plain).unwrap();
        assert!(fs::read(&path).unwrap() == fs::read(&plain).unwrap());
        run(&contexts, &with_other, &input, &RESUME, &path).unwrap();
        assert!(notes.take("beginning anew: there is no "));
        interrupt(&job, &path, false, 2);
        let partial = partial::path_of(&path);
        damage(&partial, |bytes| *bytes.last_mut().unwrap() ^= 1);
        let refused = run(&contexts, &loaded, &input, &RESUME, &path).unwrap_err().to_string();
        assert!(refused.contains("is not as it was written"), "{refused}");
        fs::remove_file(partial).unwrap();
        run(&contexts, &loaded, &input, &RESUME, &path).unwrap();
        assert!(notes.take("beginning anew: "));
        run(&contexts, &loaded, &input, &RunOptions::default(), &plain).unwrap();
        assert!(fs::read(&path).unwrap() == fs::read(&plain).unwrap());
    });
}
