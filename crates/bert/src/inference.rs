//! Inference on all cores: groups of texts of one length, one group per thread.
//!
//! A thread that computes a group alone never waits for another inside a matrix product, and its
//! numbers stay in its own caches. The result of a group does not depend on how many threads there
//! are, so that every bit of a result is the same.

use crate::batch::TokenBatch;
use crate::network::Network;
use crate::tokens::Tokens;
use crate::weights::values;
use clariq_core::{Progress, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::{panic, thread};
use tch::Tensor;

/// How many tokens a group has at most. Measured on two cores with MiniLM: from 500 to 2,000 the
/// speed is the same to a few percent, above that activations leave the caches.
pub(crate) const GROUP_TOKENS: usize = 1024;
/// The limit with which every text is a group of its own.
pub(crate) const ALONE: usize = 1;

/// The function that is computed of a group, one row of numbers per text.
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

    /// Computes `answer` for all texts, in groups of at most so many tokens; gives the rows of all
    /// texts, in order. `progress` counts texts.
    pub(crate) fn rows(
        &self,
        all: &[Tokens],
        group_tokens: usize,
        answer: Forward,
        progress: Progress,
    ) -> Result<Vec<f32>> {
        keep_memory();
        let groups = groups(all, group_tokens);
        let start = || Ok(self.network.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let work = |network: &mut Network, number: usize| {
            let texts: Vec<&Tokens> = groups[number].iter().map(|&text| &all[text]).collect();
            let rows =
                values(&answer(network, &TokenBatch::new(&texts, network.device(), false))?)?;
            progress(texts.len() as u64);
            Ok(rows)
        };
        let found = on_threads(self.threads, groups.len(), start, work)?;
        let width = found.first().map_or(0, |rows| rows.len() / groups[0].len());
        let mut rows = vec![0.0; all.len() * width];
        for (group, found) in groups.iter().zip(found) {
            for (&text, row) in group.iter().zip(found.chunks_exact(width)) {
                rows[text * width..][..width].copy_from_slice(row);
            }
        }
        Ok(rows)
    }
}

/// Does so many pieces of work on several threads, each with something of its own that `start` makes;
/// what came of the pieces, in order. Where one fails, no other is begun.
pub(crate) fn on_threads<S, T: Send>(
    threads: usize,
    pieces: usize,
    start: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let run = || -> Result<Vec<(usize, T)>> {
        // The number of threads inside libtorch is a property of the thread that calls it, and so is
        // the missing tape.
        tch::set_num_threads(1);
        let _without_tape = tch::no_grad_guard();
        let mut own = start()?;
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces || failed.load(Ordering::Relaxed) {
                return Ok(done);
            }
            let made = work(&mut own, piece);
            done.push((piece, made.inspect_err(|_| failed.store(true, Ordering::Relaxed))?));
        }
    };
    let finished: Vec<Result<_>> = thread::scope(|scope| {
        let threads = threads.clamp(1, pieces.max(1));
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let joined = handles.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|done| done.unwrap_or_else(|panic| panic::resume_unwind(panic))).collect()
    });
    let mut done = Vec::with_capacity(pieces);
    for some in finished {
        done.extend(some?);
    }
    done.sort_unstable_by_key(|(piece, _)| *piece);
    Ok(done.into_iter().map(|(_, made)| made).collect())
}

/// Positions in a list, in groups of one length each and of at most `tokens` tokens (or one text), the
/// longest first: the last group to be finished is then a short one.
/// The groups depend on the texts alone, not on the number of threads: that keeps every bit of the
/// result the same.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_is_in_one_group_of_its_length(lengths in prop::collection::vec(1_usize..20, 0..100), limit in 1_usize..80) {
            let all: Vec<Tokens> = lengths.iter().map(|&length| Tokens { ids: vec![0; length], segments: vec![0; length] }).collect();
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
