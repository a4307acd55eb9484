//! `TrecWeb` as the track's segmenter writes it: a `<DOC>` for a page, with `<DOCNO>`, `<TITLE>`,
//! `<URL>` and a `<BODY>` of passages.
//!
//! It is no XML: nothing is escaped, and a text may hold anything. Only a line that is a tag from
//! end to end begins a passage or ends one; the segmenter puts no line end between the tags of a
//! body and those of its passages.

use super::{Each, LONGEST, Passage};
use crate::lines::Lines;
use clariq_core::Error;
use clariq_files::table::shorten;

const ENDS: [&str; 2] = ["</PASSAGE>", "</PASSAGE></BODY>"];

/// What was read of a page so far.
#[derive(Default)]
struct Page {
    name: String,
    open: Option<Passage>,
}

pub(super) fn read(lines: &mut Lines, each: Each) -> Result<(), Error> {
    let mut page = Page::default();
    while let Some(line) = lines.next("passage")? {
        let passage = match line {
            Ok(line) => {
                let line = line.to_owned();
                page.take(&line, lines)?.map(Ok)
            }
            Err(problem) => Some(Err(Error::Problem(problem))),
        };
        if let Some(passage) = passage
            && each(passage)?.is_break()
        {
            return Ok(());
        }
    }
    let Some(open) = page.open else { return Ok(()) };
    let expected = format!("`</PASSAGE>` for the passage that begins on line {}", open.line);
    Err(lines.problem(expected, "the end of the file").into())
}

impl Page {
    /// Takes the next line, and returns the passage that it ends.
    fn take(&mut self, line: &str, lines: &Lines) -> Result<Option<Passage>, Error> {
        let Some(open) = &mut self.open else {
            return self.take_between(line, lines).map(|()| None);
        };
        if ENDS.contains(&line) {
            open.text = open.text.trim().to_owned();
            return Ok(self.open.take());
        }
        if (open.text.len() + line.len()) as u64 > LONGEST {
            let expected = format!("`</PASSAGE>` after at most {LONGEST} bytes");
            let found = format!("a longer passage, which begins on line {}", open.line);
            return Err(lines.problem(expected, found).into());
        }
        open.text += line;
        open.text.push('\n');
        Ok(None)
    }

    /// Takes a line outside of passages.
    fn take_between(&mut self, line: &str, lines: &Lines) -> Result<(), Error> {
        if let Some(name) = page_name(line) {
            name.clone_into(&mut self.name);
        } else if line == "</DOC>" {
            self.name.clear();
        } else if let Some(number) = passage_number(line) {
            if self.name.is_empty() {
                let found = format!("`{}`", shorten(line));
                return Err(lines.problem("`<DOCNO>` before the passages of a page", found).into());
            }
            let id = format!("{}:{number}", self.name);
            self.open = Some(Passage { id, text: String::new(), line: lines.number() });
        }
        Ok(())
    }
}

/// `<DOCNO>clueweb22-en0004-50-00170</DOCNO>` → the name of the page.
fn page_name(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("<DOCNO>")?.strip_suffix("</DOCNO>")?.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// `<PASSAGE id=3>` → `3`.
fn passage_number(line: &str) -> Option<&str> {
    let line = line.trim();
    let tag = line.strip_prefix("<BODY>").unwrap_or(line).trim();
    let number = tag.strip_prefix("<PASSAGE id=")?.strip_suffix('>')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}
