//! Inference on all cores: groups of texts of one length, one group per thread.
//!
//! A thread that computes a group alone never waits for another inside a matrix product, and its
//! numbers stay in its own caches. What a group computes does not depend on how many threads there
//! are, so that every bit of a result is the same.

use crate::network::{Input, Network};
use crate::tokens::{Tokens, groups};
use clariq_core::Error;
use clariq_core::Progress;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use tch::{Kind, Tensor};

/// How many tokens a group has at most. Measured on two cores with MiniLM: from 500 to 2,000 the
/// speed is the same to a few percent, above that activations leave the caches.
pub(crate) const GROUP_TOKENS: usize = 1024;

/// What is computed of a group, one row of numbers per text.
pub(crate) type Answer = fn(&Network, &Input) -> Result<Tensor, Error>;

/// Computes `answer` for all texts; `width` numbers per text come back, in order.
pub(crate) fn answer_all(
    network: &Mutex<Network>,
    all: &[Tokens],
    width: usize,
    threads: usize,
    answer: Answer,
    progress: Progress,
) -> Result<Vec<f32>, Error> {
    answer_groups(network, all, &groups(all, GROUP_TOKENS), width, threads, answer, progress)
}

/// The same in groups of another size.
pub(crate) fn answer_groups(
    network: &Mutex<Network>,
    all: &[Tokens],
    groups: &[Vec<usize>],
    width: usize,
    threads: usize,
    answer: Answer,
    progress: Progress,
) -> Result<Vec<f32>, Error> {
    keep_memory();
    let workers = threads.clamp(1, groups.len().max(1));
    let replicas: Vec<Network> = {
        let network = network.lock().unwrap_or_else(PoisonError::into_inner);
        (0..workers).map(|_| network.replica()).collect()
    };
    // Long groups first: the last one to be finished is then a short one.
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let mut values = vec![0.0; all.len() * width];
    let work = |network: Network| -> Result<Vec<(usize, Vec<f32>)>, Error> {
        // The number of threads inside libtorch is a property of the thread that calls it, and so
        // is the missing tape.
        tch::set_num_threads(1);
        let _without_tape = tch::no_grad_guard();
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) =
                groups.len().checked_sub(place + 1).map(|place| (place, &groups[place]))
            else {
                break;
            };
            let numbers = one_group(&network, all, group.1, answer)
                .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            done.push((group.0, numbers));
            progress(group.1.len() as u64);
        }
        Ok(done)
    };
    let finished: Vec<Result<_, Error>> = thread::scope(|scope| {
        let handles: Vec<_> =
            replicas.into_iter().map(|network| scope.spawn(|| work(network))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    for done in finished {
        for (place, numbers) in done? {
            for (&text, row) in groups[place].iter().zip(numbers.chunks_exact(width)) {
                values[text * width..(text + 1) * width].copy_from_slice(row);
            }
        }
    }
    Ok(values)
}

fn one_group(
    network: &Network,
    all: &[Tokens],
    group: &[usize],
    answer: Answer,
) -> Result<Vec<f32>, Error> {
    let tokens = all[group[0]].ids.len() as i64;
    let table = |part: fn(&Tokens) -> &[i64]| {
        let flat: Vec<i64> = group.iter().flat_map(|&text| part(&all[text])).copied().collect();
        Tensor::from_slice(&flat).view([group.len() as i64, tokens]).to_device(network.device())
    };
    let (ids, segments) = (table(|text| &text.ids), table(|text| &text.segments));
    let output =
        answer(network, &Input { ids: &ids, segments: &segments, padding: None, train: false })?;
    crate::weights::values(&output.to_kind(Kind::Float))
}

/// glibc gives every large block back to the system and faults it in again with the next layer:
/// inference takes 1.3 to 1.6 times as long. Blocks are kept instead.
pub(crate) fn keep_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        #[expect(unsafe_code, reason = "mallopt only sets two numbers of the allocator")]
        // SAFETY: mallopt may be called at any time; it takes no pointers.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30);
            libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        }
    });
}
