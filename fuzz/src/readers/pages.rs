//! Pages of a collection, and how their texts are cut.

use super::NAME;
use clariq_text::{Page, passages, sentences, tokens};

/// Reads every line as a page. What is read is cut into passages that hold all of its text.
pub fn pages(bytes: &[u8]) {
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        match Page::parse(line, NAME, number) {
            Ok(page) => cut(&page.text),
            Err(problem) => {
                assert_eq!(problem.at.line, Some(number));
                assert!(!problem.found.is_empty() && !problem.hint.is_empty());
            }
        }
    }
}

fn cut(page: &str) {
    let text = passages::page_text(page);
    let sentences = sentences::split(&text);
    let passages = passages::of(page);
    assert_eq!(passages.is_empty(), sentences.is_empty());
    let kept: usize = sentences.iter().map(|sentence| sentence.len()).sum();
    assert!(kept <= text.len() && text.len() <= kept + sentences.len());
    let count = tokens::count(&text);
    assert!(text.split_whitespace().count() <= count && count <= 2 * text.chars().count());
    assert_eq!(tokens::first(&text, count), text.trim_end());
}
