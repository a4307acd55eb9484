//! Inference on all cores: groups of texts of one length, one group per thread.
//!
//! A thread that computes a group alone never waits for another inside a matrix product, and its
//! numbers stay in its own caches. What a group computes does not depend on how many threads there
//! are, so that every bit of a result is the same.

use crate::batch::Batch;
use crate::network::Network;
use crate::tokens::Tokens;
use crate::weights::values;
use clariq_core::{Progress, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use tch::Tensor;

/// How many tokens a group has at most. Measured on two cores with MiniLM: from 500 to 2,000 the
/// speed is the same to a few percent, above that activations leave the caches.
pub(crate) const GROUP_TOKENS: usize = 1024;
/// The limit with which every text is a group of its own.
pub(crate) const APART: usize = 1;

/// What is computed of a group, one row of numbers per text.
pub(crate) type Answer = fn(&Network, &Batch) -> Result<Tensor>;

/// A network that answers on several threads.
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
        answer: Answer,
        progress: Progress,
    ) -> Result<Vec<f32>> {
        keep_memory();
        let groups = groups(all, group_tokens);
        // Long groups first: the last one to be finished is then a short one.
        let (next, failed) = (AtomicUsize::new(groups.len()), AtomicBool::new(false));
        let take = |left: usize| left.checked_sub(1).filter(|_| !failed.load(Ordering::Relaxed));
        let work = |network: Network| -> Result<Vec<(usize, Vec<f32>)>> {
            // The number of threads inside libtorch is a property of the thread that calls it, and
            // so is the missing tape.
            tch::set_num_threads(1);
            let _without_tape = tch::no_grad_guard();
            let mut done = Vec::new();
            while let Ok(left) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                let group = &groups[left - 1];
                let texts: Vec<&Tokens> = group.iter().map(|&text| &all[text]).collect();
                let rows = answer(&network, &Batch::new(&texts, network.device(), false))
                    .and_then(|rows| values(&rows))
                    .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                done.push((left - 1, rows));
                progress(group.len() as u64);
            }
            Ok(done)
        };
        let finished: Vec<Result<_>> = thread::scope(|scope| {
            let replicas = self.replicas(groups.len());
            let work = &work;
            let handles: Vec<_> =
                replicas.into_iter().map(|network| scope.spawn(move || work(network))).collect();
            handles
                .into_iter()
                .map(|handle| {
                    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        });
        let mut done = Vec::with_capacity(groups.len());
        for part in finished {
            done.extend(part?);
        }
        let width = done.first().map_or(0, |(number, rows)| rows.len() / groups[*number].len());
        let mut rows = vec![0.0; all.len() * width];
        for (number, found) in done {
            for (&text, row) in groups[number].iter().zip(found.chunks_exact(width)) {
                rows[text * width..][..width].copy_from_slice(row);
            }
        }
        Ok(rows)
    }

    /// A network over the same weights for every thread that has something to do.
    fn replicas(&self, groups: usize) -> Vec<Network> {
        let network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.threads.clamp(1, groups.max(1))).map(|_| network.replica()).collect()
    }
}

/// Positions in a list, in groups of one length each and of at most `tokens` tokens (or one text).
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
