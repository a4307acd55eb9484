//! The cache: where indexes, models and vectors are kept between runs.

use std::env;
use std::path::PathBuf;

/// `$CLARIQ_CACHE`, or `clariq` in the user's cache folder (XDG base directories), or in the folder for temporary files.
pub fn folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CLARIQ_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("clariq")))
        .or_else(|| env::home_dir().map(|home| home.join(".cache/clariq")))
        .unwrap_or_else(|| env::temp_dir().join("clariq"))
}
