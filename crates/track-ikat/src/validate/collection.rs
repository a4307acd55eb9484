//! The ids of a collection of passages, looked up in a file that is too large for memory.

use clariq_core::{Result, bail};
use clariq_files::{BoundedLines, MOST_OF_A_LINE, Source, shorten};
use std::collections::HashSet;

/// The ids of `wanted` that a list of passages lacks. A line is an id (`page:number`), or the page, the
/// number and a checksum between tabs, as the organisers' segmentation writes them. The file is read
/// once from its beginning; memory holds `wanted` alone.
pub(super) fn missing<'w>(list: &Source, wanted: HashSet<&'w str>) -> Result<HashSet<&'w str>> {
    let mut left = wanted;
    let mut lines = BoundedLines::new(list.name(), list.stream()?, MOST_OF_A_LINE);
    let mut id = String::new();
    while !left.is_empty() {
        let Some((number, line)) = lines.next_bytes()? else { break };
        let text = str::from_utf8(line).map_or("", str::trim);
        let mut fields = text.split('\t');
        let page = fields.next().unwrap_or_default();
        id.clear();
        id.push_str(page);
        if let Some(passage) = fields.next() {
            id.push(':');
            id.push_str(passage);
        }
        if id.is_empty() && !line.trim_ascii().is_empty() || id.contains(' ') {
            let expected = "a passage id, or a page, a number and a checksum between tabs";
            let hint = "such as clueweb22-en0004-50-00170:0";
            let found = format!("`{}`", shorten(text));
            bail!((&*list.name(), number), expected, found, hint);
        }
        left.remove(id.as_str());
    }
    Ok(left)
}
