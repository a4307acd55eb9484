//! Defaults of keys that are whole numbers, as serde takes them: `#[serde(default = "number::<8, _>")]`.

use std::num::NonZeroUsize;

/// The number `N` in any type of number.
pub fn number<const N: u16, T: From<u16>>() -> T {
    N.into()
}

/// A whole number of at least 1.
pub fn positive<const N: usize>() -> NonZeroUsize {
    const { NonZeroUsize::new(N).unwrap() }
}
