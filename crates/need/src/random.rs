//! How is something drawn so that a seed gives the same on every machine?

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// A whole number below `count`, each as likely as the others to 1 in 2³².
pub(crate) fn below(random: &mut ChaCha8Rng, count: usize) -> usize {
    ((u64::from(random.next_u32()) * count as u64) >> 32) as usize
}

/// Puts items in a random order (Fisher and Yates).
pub(crate) fn shuffle<T>(random: &mut ChaCha8Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last + 1));
    }
}
