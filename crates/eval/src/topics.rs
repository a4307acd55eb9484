//! The order of topics in results.

/// Sorts rows by topic as pandas groups them, and so the official scorer: by number where all ids
/// are whole numbers, by text otherwise.
pub fn sort_by_topic<T>(rows: &mut [T], id: impl Fn(&T) -> &str) {
    if rows.iter().all(|row| id(row).parse::<i64>().is_ok()) {
        rows.sort_by_key(|row| id(row).parse::<i64>().unwrap_or_default());
    } else {
        rows.sort_by(|a, b| id(a).cmp(id(b)));
    }
}
