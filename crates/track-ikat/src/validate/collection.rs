//! The ids of a collection of passages, looked up in a file that is too large for memory.

use clariq_core::{Result, bail};
use clariq_files::{BoundedLines, MOST_OF_A_LINE, Source, quoted};
use std::collections::HashSet;

/// The ids of `wanted` that a list of passages lacks. A line is an id (`page:number`), or the page, the
/// number and a checksum between tabs, as the organisers' segmentation writes them. The file is read
/// once from its beginning; memory holds `wanted` alone.
pub(super) fn missing<'w>(list: &Source, wanted: HashSet<&'w str>) -> Result<HashSet<&'w str>> {
    let mut left = wanted;
    let mut lines = BoundedLines::new(list.name(), list.stream()?, MOST_OF_A_LINE);
    let mut id = String::new();
    let mut any = false;
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
        let is_blank = line.trim_ascii().is_empty();
        any |= !is_blank;
        // A first line may name the columns.
        let is_id = id.contains(':') || number == 1 && !id.is_empty();
        if !is_blank && (!is_id || id.contains([' ', ',', ';', '"'])) {
            let expected = "a passage id, or a page, a number and a checksum between tabs";
            let hint = "such as clueweb22-en0004-50-00170:0";
            bail!((&*list.name(), number), expected, (quoted(text)), hint);
        }
        left.remove(id.as_str());
    }
    if !left.is_empty() && !any {
        bail!(list.name(), "ids of passages", "none", "was the file fetched in full?");
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(list: &str) -> std::result::Result<Vec<&'static str>, String> {
        let list = Source::memory("ids", list.as_bytes());
        let left = missing(&list, HashSet::from(["p-0:0", "p-0:1"]));
        let left = left.map_err(|error| error.to_string())?;
        let mut left: Vec<&str> = left.into_iter().collect();
        left.sort_unstable();
        Ok(left)
    }

    #[test]
    fn ids_are_looked_up_in_lists_of_both_forms() {
        assert_eq!(unknown("p-0:0\np-0:1\n"), Ok(vec![]));
        assert_eq!(unknown("page\tpassage\tmd5\np-0\t1\tabc\n\n"), Ok(vec!["p-0:0"]));
        assert_eq!(unknown("passage_id\np-0:0\n"), Ok(vec!["p-0:1"]));
    }

    #[test]
    fn lists_of_another_form_are_refused_and_not_taken_for_ids_that_lack() {
        for (list, says) in [
            ("p-0,0,abc\n", "ids:1: expected a passage id"),
            ("p-0;0;abc\n", "ids:1: expected a passage id"),
            ("\"p-0:0\"\n", "ids:1: expected a passage id"),
            ("p-0\np-1\n", "ids:2: expected a passage id"),
            ("p-0 0 abc\n", "ids:1: expected a passage id"),
            ("\n", "ids: expected ids of passages, found none"),
        ] {
            let error = unknown(list).unwrap_err();
            assert!(error.starts_with(says), "{list:?}: {error}");
        }
    }
}
