//! Pages as a browser and a reader see them. The tests of the command include this file.

#![allow(dead_code, reason = "each crate uses its part")]

use scraper::{ElementRef, Html, Selector};

pub(crate) fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

/// The words of an element, as a reader sees them.
pub(crate) fn words(element: &ElementRef) -> String {
    element.text().flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The page is well-formed, its ids are unique, and its links stay on it.
pub(crate) fn assert_whole(page: &Html) {
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    let with_id = select(page, "[id]");
    let mut ids: Vec<_> = with_id.iter().filter_map(|element| element.attr("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "ids are unique");
    for link in select(page, "a") {
        let target = link.attr("href").and_then(|target| target.strip_prefix('#'));
        let target = target.expect("links stay on the page");
        assert!(ids.binary_search(&target).is_ok(), "{target}");
    }
}
