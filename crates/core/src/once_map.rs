//! Values that are opened once and shared.

use crate::problem::Result;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, each of which is opened when it is first asked for.
#[derive(Debug)]
pub struct OnceMap<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> OnceMap<K, V> {
    /// The value of a key. `open` makes it at the first call, while other threads wait for it; an
    /// error is not kept.
    pub fn get_or_open(&self, key: K, open: impl FnOnce() -> Result<V>) -> Result<V> {
        let mut opened = self.0.lock();
        if let Some(found) = opened.get(&key) {
            return Ok(found.clone());
        }
        let new = open()?;
        opened.insert(key, new.clone());
        Ok(new)
    }

    /// All values so far with their keys, in any order.
    pub fn entries(&self) -> Vec<(K, V)>
    where
        K: Clone,
    {
        self.0.lock().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bail;

    #[test]
    fn a_value_is_opened_once_and_an_error_is_not_kept() {
        let map = OnceMap::default();
        let fail = || bail!("a", "a value", "none");
        assert!(map.get_or_open("a", fail).is_err());
        assert_eq!(map.get_or_open("a", || Ok(1)).unwrap(), 1);
        assert_eq!(map.get_or_open("a", fail).unwrap(), 1);
        assert_eq!(map.get_or_open("b", || Ok(2)).unwrap(), 2);
        let mut entries = map.entries();
        entries.sort_unstable();
        assert_eq!(entries, [("a", 1), ("b", 2)]);
    }
}
