//! Cutting a file into shards.

use super::{FORM, MOST_OF_A_PLAN, Plan, Shard};
use crate::record::{Arithmetic, stage_json};
use crate::run::{FileInput, Job, side_by_side};
use crate::session::Contexts;
use crate::systems::Loaded;
use clariq_core::{Error, Result, Sha256Sum, problem, read_regular};
use clariq_files::{Lock, Staged, refuse_input};
use std::collections::HashSet;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

const WAITING: usize = 1024;

/// Cuts a file of conversations or requests into files of at most `count` contexts or requests
/// in `folder`. Each is in one of them, once, in the order of the file. `plan.json` takes its place
/// last, when all shards are complete; the plan that was there before is whole until then, and its
/// shards go afterwards. With a system, the plan is for runs by that system alone.
pub fn cut(
    contexts: &Contexts,
    file: &Path,
    skip_bad: bool,
    count: NonZeroUsize,
    folder: &Path,
    system: Option<&Loaded>,
) -> Result<Plan> {
    let session = contexts.session;
    let input = FileInput::open(session, file, None, skip_bad)?;
    fs::create_dir_all(folder).map_err(Error::io("write", folder))?;
    // Other processes are kept from cutting a file into the same folder.
    let _lock = Lock::acquire(&folder.join(".plan.lock"), || {
        session.observer.note("note: waiting for another process, which cuts a file there");
    })?;
    let before = shards_before(folder);
    let (mut fingerprint, mut arithmetic) = (None, None);
    if let Some(loaded) = system {
        fingerprint = Some(Job::new(contexts, loaded, &input, None)?.fingerprint());
        arithmetic = Arithmetic::of(session, loaded);
    }
    // Names of which the plan before has none.
    let used: HashSet<usize> = before.iter().filter_map(generation).collect();
    let free = (0..=used.len()).find(|generation| !used.contains(generation)).unwrap_or_default();
    let (send, lines) = sync_channel(WAITING);
    let source = &input;
    let read = move || {
        source.lines(&mut |line| match send.send(line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        })
    };
    let (skipped, shards) = side_by_side(read, || write_shards(lines, count, folder, free));
    // Nothing has its name yet: what fails leaves the plan before as it was.
    let (skipped, shards) = (skipped?, shards?);
    if let (true, Some(first)) = (shards.is_empty(), &skipped.first) {
        return Err(first.clone().into());
    }
    let (shards, files): (Vec<Shard>, Vec<Staged>) = shards.into_iter().unzip();
    let contexts = shards.iter().map(|shard| shard.contexts).sum();
    let input = input.cut(contexts, skipped.count);
    let bank_sha256 = session.documents.checksum().to_string();
    let plan = Plan { form: FORM, input, bank_sha256, fingerprint, arithmetic, shards };
    let path = folder.join("plan.json");
    let staged = stage_json(&path, &plan)?;
    // Read again before it takes its place: whoever is given it could not say what to do.
    staged.source().read_at_most(MOST_OF_A_PLAN).map_err(|_| {
        let (most, found) = (MOST_OF_A_PLAN >> 20, plan.shards.len());
        problem!(&*path, "shards that a plan of {most} MiB can name", "{found}", "cut larger ones")
    })?;
    files.into_iter().chain([staged]).try_for_each(Staged::commit)?;
    for shard in before.iter().filter(|shard| generation(shard).is_some()) {
        let path = folder.join(&shard.file);
        // It may be the file that was cut.
        if path.exists() && refuse_input(&path).is_ok() {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    skipped.report(&plan.input.file, session.observer);
    Ok(plan)
}

/// The name of a shard. Generations tell the shards of a plan from those of the plan before, which
/// stay whole until the new plan takes its place.
fn shard_name(index: usize, generation: usize) -> String {
    match generation {
        0 => format!("shard-{index:05}.jsonl"),
        _ => format!("shard-{index:05}-{generation}.jsonl"),
    }
}

/// The generation of a shard, if its name is one that this command gives.
fn generation(shard: &Shard) -> Option<usize> {
    let (index, generation) = shard
        .file
        .strip_prefix("shard-")?
        .strip_suffix(".jsonl")
        .map(|numbers| numbers.split_once('-').unwrap_or((numbers, "0")))?;
    let (index, generation) = (index.parse().ok()?, generation.parse().ok()?);
    (shard.file == shard_name(index, generation)).then_some(generation)
}

/// The shards that the plan in a folder names, if there is one. It is no input: it is replaced.
fn shards_before(folder: &Path) -> Vec<Shard> {
    let plan = read_regular(&folder.join("plan.json"), MOST_OF_A_PLAN).ok();
    let plan: Option<Plan> = plan.and_then(|plan| serde_json::from_slice(&plan).ok());
    plan.map(|plan| plan.shards).unwrap_or_default()
}

fn write_shards(
    lines: Receiver<Vec<u8>>,
    most: NonZeroUsize,
    folder: &Path,
    generation: usize,
) -> Result<Vec<(Shard, Staged)>> {
    let (mut lines, mut first) = (lines.into_iter().peekable(), 0);
    let mut shards = Vec::new();
    while lines.peek().is_some() {
        let file = shard_name(shards.len(), generation);
        let (mut count, mut sum) = (0, Sha256Sum::default());
        let staged = Staged::new(&folder.join(&file), |out| {
            for line in lines.by_ref().take(most.get()) {
                sum.update(&line);
                out.write_all(&line)?;
                count += 1;
            }
            Ok(())
        })?;
        let sha256 = sum.checksum().to_string();
        shards.push((Shard { file, first, contexts: count, sha256 }, staged));
        first += count;
    }
    Ok(shards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Options, Session};
    use crate::shards::Planned;
    use clariq_collections::DataDir;
    use clariq_rank::Override;
    use std::thread;

    fn write_requests(path: &Path, count: usize, end: &str) {
        let line = |id| format!("{{\"id\": {id}, \"text\": \"saturn {id}\"}}\n");
        fs::write(path, (0..count).map(line).collect::<String>() + end).unwrap();
    }

    /// The files of a folder with their content.
    fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            entries.map(|path| (path.display().to_string(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    }

    /// Calls `test` with a file of requests, and a folder for its shards.
    fn with_requests(requests: usize, test: impl FnOnce(&Contexts, &Path, &Path)) {
        let folder = tempfile::tempdir().unwrap();
        let (file, shards) = (folder.path().join("r.jsonl"), folder.path().join("s"));
        write_requests(&file, requests, "");
        let collection = clariq_collections::open(&DataDir::Sample).unwrap();
        let options = Options { cache: folder.path().join("cache"), ..Options::default() };
        let session = Session::new(&*collection, options).unwrap();
        test(&Contexts::new(&session), &file, &shards);
    }

    fn cut_by(
        count: usize,
        contexts: &Contexts,
        file: &Path,
        shards: &Path,
    ) -> Result<Plan, Error> {
        cut(contexts, file, false, NonZeroUsize::new(count).unwrap(), shards, None)
    }

    #[test]
    fn a_failed_data_shard_leaves_the_plan_before_it_whole() {
        with_requests(30, |contexts, file, shards| {
            cut_by(10, contexts, file, shards).unwrap();
            let before = files(shards);
            assert_eq!(before.len(), 4);
            write_requests(file, 100, "{}\n");
            cut_by(10, contexts, file, shards).unwrap_err();
            assert_eq!(files(shards), before);
            write_requests(file, 15, "");
            for generation in [1, 0, 1] {
                let plan = cut_by(10, contexts, file, shards).unwrap();
                let names = plan.shards.iter().map(|shard| shard.file.clone());
                assert!(names.eq((0..2).map(|index| shard_name(index, generation))));
                assert_eq!(files(shards).len(), 3);
            }
        });
    }

    #[test]
    fn data_shards_at_once_leave_a_plan_with_its_shards() {
        with_requests(15, several_at_once);
    }

    fn several_at_once(contexts: &Contexts, file: &Path, shards: &Path) {
        let cut = |count| cut_by(count, contexts, file, shards).unwrap();
        thread::scope(|scope| {
            let cutting = [3, 5, 7].map(|count| scope.spawn(move || cut(count)));
            for cutting in cutting {
                cutting.join().unwrap();
            }
        });
        let planned = Planned::read(&shards.join("plan.json")).unwrap();
        assert_eq!(files(shards).len(), planned.plan.shards.len() + 1);
        for shard in &planned.plan.shards {
            let path = shards.join(&shard.file);
            assert_eq!(clariq_core::sha256_of_file(&path).unwrap(), shard.sha256);
        }
    }

    #[test]
    fn a_plan_that_lists_a_shard_twice_or_other_contexts_is_refused() {
        with_requests(15, altered_plans);
    }

    fn altered_plans(contexts: &Contexts, file: &Path, shards: &Path) {
        cut_by(7, contexts, file, shards).unwrap();
        let path = shards.join("altered.json");
        let whole = fs::read(shards.join("plan.json")).unwrap();
        let read = |change: &dyn Fn(&mut Plan)| {
            let mut plan: Plan = serde_json::from_slice(&whole).unwrap();
            change(&mut plan);
            fs::write(&path, serde_json::to_vec(&plan).unwrap()).unwrap();
            Planned::read(&path)
        };
        assert!(read(&|_| {}).is_ok());
        let changes: [&dyn Fn(&mut Plan); 6] = [
            &|plan| plan.shards.extend(plan.shards.clone()),
            &|plan| plan.shards[1].file = plan.shards[0].file.clone(),
            &|plan| plan.shards[1].first += 1,
            &|plan| plan.shards[0].contexts += 1,
            &|plan| plan.shards.last_mut().unwrap().contexts = u64::MAX,
            &|plan| plan.input.contexts += 1,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(read(change).is_err(), "change {number}");
        }
        // Such a plan is one of another file.
        let altered = read(&|plan| {
            plan.input.contexts += 1;
            plan.shards.last_mut().unwrap().contexts += 1;
        })
        .unwrap();
        let (bm25, last) = (Loaded::open("bm25", &[]).unwrap(), altered.plan.shards.len() - 1);
        let error = altered.run_shard(contexts, &bm25, last, None).unwrap_err().to_string();
        assert!(error.contains("as it was cut"), "{error}");
    }

    #[test]
    fn a_bad_first_line_does_not_say_what_a_file_holds() {
        with_requests(15, bad_first_lines);
    }

    fn bad_first_lines(contexts: &Contexts, file: &Path, shards: &Path) {
        let sound = fs::read_to_string(file).unwrap();
        let ten = NonZeroUsize::new(10).unwrap();
        for bad in ["{\"id\": 1}", "{broken", "7", "garbage", "{}"] {
            fs::write(file, format!("{bad}\n{sound}")).unwrap();
            let plan = cut(contexts, file, true, ten, shards, None).unwrap();
            assert_eq!((plan.input.contexts, plan.input.bad_records), (15, 1), "{bad}");
            assert!(cut(contexts, file, false, ten, shards, None).is_err(), "{bad}");
            // Nothing is left of a file of such lines alone.
            fs::write(file, format!("{bad}\n{bad}\n")).unwrap();
            assert!(cut(contexts, file, true, ten, shards, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn another_fingerprint_takes_no_place_of_a_part() {
        with_requests(15, parts_of_others);
    }

    fn parts_of_others(contexts: &Contexts, file: &Path, shards: &Path) {
        cut_by(10, contexts, file, shards).unwrap();
        let planned = Planned::read(&shards.join("plan.json")).unwrap();
        let load = |k1: &str| {
            let (stage, key, value) = ("bm25".to_owned(), "k1".to_owned(), k1.to_owned());
            Loaded::open("bm25", &[Override { stage, key, value }]).unwrap()
        };
        let (first, other) = (load("0.9"), load("0.3"));
        let part = planned.run_shard(contexts, &first, 0, None).unwrap();
        let before = fs::read(&part).unwrap();
        let error = planned.run_shard(contexts, &other, 0, None).unwrap_err().to_problem();
        assert!(error.hint.starts_with("-o names another file"), "{error}");
        assert_eq!(fs::read(&part).unwrap(), before);
        planned.run_shard(contexts, &other, 0, Some(&shards.join("other.run"))).unwrap();
        planned.run_shard(contexts, &other, 0, Some(&part)).unwrap();
        assert_ne!(fs::read(&part).unwrap(), before);
    }
}
