//! Inference on all cores: groups of texts of one length, one group per thread.
//!
//! A thread that computes a whole group never waits for another thread inside a matrix product, and
//! its data stay in its own caches. The result of a group does not depend on the number of threads, to
//! the last bit.

use crate::batch::TokenBatch;
use crate::network::Network;
use crate::weights::values;
use clariq_core::{Error, IoAction, Progress, Result};
use clariq_folder::Tokens;
use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use tch::Tensor;

/// The most tokens of a group. Measured on two cores with MiniLM: between 500 and 2,000, the speed
/// differs by a few percent; above, activations no longer fit into the caches.
pub(crate) const GROUP_TOKENS: usize = 1024;
/// The limit that makes every text a group of its own.
pub(crate) const ALONE: usize = 1;

/// The function that is computed for a group, one row of numbers per text.
pub(crate) type Forward = fn(&Network, &TokenBatch) -> Result<Tensor>;

/// A network that computes on several threads.
pub(crate) struct Parallel {
    network: Mutex<Network>,
    threads: usize,
}

impl Parallel {
    pub(crate) fn new(network: Network, threads: usize) -> Self {
        Self { network: Mutex::new(network), threads }
    }

    /// Computes `work` for all texts, in groups of one length and of at most `group_tokens` tokens,
    /// and returns the results of all texts, in order. `progress` counts texts.
    pub(crate) fn each<T: Send>(
        &self,
        all: &[Tokens],
        group_tokens: usize,
        work: impl Fn(&Network, &TokenBatch) -> Result<Vec<T>> + Sync,
        progress: Progress,
    ) -> Result<Vec<T>> {
        keep_memory();
        let groups = groups(all, group_tokens);
        let start = || Ok(self.network.lock().clone());
        let of_group = |network: &mut Network, number: usize| {
            let texts: Vec<&Tokens> = groups[number].iter().map(|&text| &all[text]).collect();
            let results = work(network, &TokenBatch::new(&texts, network.device(), false))?;
            progress(texts.len() as u64);
            Ok(results)
        };
        let results = on_threads(self.threads, groups.len(), start, of_group)?;
        let mut results: Vec<(usize, T)> =
            groups.into_iter().flatten().zip(results.into_iter().flatten()).collect();
        results.sort_unstable_by_key(|(text, _)| *text);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// Computes `forward` for all texts, in groups of at most `group_tokens` tokens, and returns the
    /// rows of all texts, in order. `progress` counts texts.
    pub(crate) fn rows(
        &self,
        all: &[Tokens],
        group_tokens: usize,
        forward: Forward,
        progress: Progress,
    ) -> Result<Vec<f32>> {
        let work = |network: &Network, batch: &TokenBatch| {
            let rows = values(&forward(network, batch)?)?;
            let width = rows.len() / batch.ids.size()[0] as usize;
            Ok(rows.chunks_exact(width.max(1)).map(<[f32]>::to_vec).collect())
        };
        Ok(self.each(all, group_tokens, work, progress)?.concat())
    }
}

/// Computes `work` for the numbers below `pieces` on several threads, and returns the results in
/// order. `start` makes the state of each thread. After an error, no further piece is begun.
pub(crate) fn on_threads<S, T: Send>(
    threads: usize,
    pieces: usize,
    start: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let run = || -> Result<Vec<(usize, T)>> {
        // This setting of libtorch belongs to the calling thread.
        let _no_grad = tch::no_grad_guard();
        let mut state = start()?;
        let mut results = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces || failed.load(Ordering::Relaxed) {
                return Ok(results);
            }
            match work(&mut state, piece) {
                Ok(result) => results.push((piece, result)),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let of_threads = Mutex::new(Vec::new());
    let pool = pool(threads)?;
    pool.scope(|scope| {
        for _ in 0..threads.clamp(1, pieces.max(1)) {
            scope.spawn(|_| {
                let of_thread = run();
                of_threads.lock().push(of_thread);
            });
        }
    });
    let mut results = Vec::with_capacity(pieces);
    for of_thread in of_threads.into_inner() {
        results.extend(of_thread?);
    }
    results.sort_unstable_by_key(|(piece, _)| *piece);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The threads for this number of them. They live as long as the process, because libtorch keeps a third
/// of a megabyte for each thread that has ended.
fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let threads = threads.max(1);
    let mut pools = POOLS.lock();
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    let pool = builder
        .start_handler(|_| tch::set_num_threads(1))
        .build()
        .map_err(|error| Error::io(IoAction::Start, "threads")(io::Error::other(error)))?;
    Ok(Arc::clone(pools.entry(threads).or_insert(Arc::new(pool))))
}

/// Groups texts of the same length, with at most `tokens` tokens per group (or one text). The longest
/// come first, so that the last group to be finished is a short one. The groups do not depend on the
/// number of threads.
fn groups(all: &[Tokens], tokens: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&text| (all[text].ids.len(), text));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for text in order {
        let length = all[text].ids.len();
        match groups.last_mut() {
            Some(group)
                if all[group[0]].ids.len() == length && (group.len() + 1) * length <= tokens =>
            {
                group.push(text);
            }
            _ => groups.push(vec![text]),
        }
    }
    groups.reverse();
    groups
}

/// Keeps large blocks of memory in the process. By default, glibc returns them to the system and faults
/// them in again with the next layer, which takes inference 1.3 to 1.6 times as long.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_is_in_one_group_of_its_length(lengths in prop::collection::vec(1_usize..20, 0..100), limit in 1_usize..80) {
            let all: Vec<Tokens> = lengths.iter().map(|&length| Tokens { ids: vec![0; length], segments: vec![0; length], ..Tokens::default() }).collect();
            let groups = groups(&all, limit);
            let mut seen: Vec<usize> = groups.concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..all.len()).collect::<Vec<_>>());
            for group in groups {
                prop_assert!(group.iter().all(|&text| lengths[text] == lengths[group[0]]));
                prop_assert!(group.len() == 1 || group.len() * lengths[group[0]] <= limit);
            }
        }
    }
}
