//! `TrecWeb` as the track's segmenter writes it: a `<DOC>` for each page, with `<DOCNO>`, `<TITLE>`,
//! `<URL>` and a `<BODY>` of passages.
//!
//! It is not XML: nothing is escaped, and a text may contain anything but lines that begin with a
//! passage tag. Only a line that consists of tags begins or ends a passage; the segmenter writes the
//! tags of a body on the same lines as those of its passages. Any other line with a passage tag is an
//! error, so that no passage is lost.

use super::{LONGEST, Passage, PassageSink};
use crate::lines::ArchiveLines;
use clariq_core::Error;
use clariq_files::quoted;

const ENDS: [&str; 2] = ["</PASSAGE>", "</PASSAGE></BODY>"];

/// The beginning of the tag before a passage.
const OPENING: &str = "<PASSAGE";

/// The part of a page read so far.
#[derive(Default)]
struct PartialPage {
    name: String,
    open: Option<Passage>,
}

pub(super) fn read(lines: &mut ArchiveLines, each: PassageSink) -> Result<(), Error> {
    let mut page = PartialPage::default();
    let mut is_empty = true;
    while let Some(line) = lines.next("passage")? {
        let passage = match line {
            Ok(line) => {
                let line = line.trim_ascii_end().to_owned();
                page.take(&line, lines)?.map(Ok)
            }
            Err(problem) => Some(Err(Error::Problem(problem))),
        };
        let Some(passage) = passage else { continue };
        is_empty = false;
        if each(passage)?.is_break() {
            return Ok(());
        }
    }
    let Some(open) = page.open else {
        if is_empty {
            let expected = "a passage between `<PASSAGE id=N>` and `</PASSAGE>`";
            return Err(lines.problem(expected, "a file without any").into());
        }
        return Ok(());
    };
    let expected = format!("`</PASSAGE>` for the passage that begins on line {}", open.line);
    Err(lines.problem(expected, "the end of the file").into())
}

impl PartialPage {
    /// Takes the next line, and returns the passage that it ends.
    fn take(&mut self, line: &str, lines: &ArchiveLines) -> Result<Option<Passage>, Error> {
        let Some(open) = &mut self.open else {
            return self.take_between(line, lines).map(|()| None);
        };
        if ENDS.contains(&line) {
            open.text = open.text.trim().to_owned();
            return Ok(self.open.take());
        }
        if line.starts_with("</PASSAGE>") || opening(line).starts_with(OPENING) {
            return Err(not_alone(line, lines));
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
    fn take_between(&mut self, line: &str, lines: &ArchiveLines) -> Result<(), Error> {
        if let Some(name) = page_name(line) {
            name.clone_into(&mut self.name);
        } else if line == "</DOC>" {
            self.name.clear();
        } else if let Some(number) = passage_number(line) {
            if self.name.is_empty() {
                let found = quoted(line);
                return Err(lines.problem("`<DOCNO>` before the passages of a page", found).into());
            }
            let id = format!("{}:{number}", self.name);
            self.open = Some(Passage { id, text: String::new(), line: lines.number() });
        } else if [OPENING, "</PASSAGE>", "<DOCNO>"].iter().any(|tag| line.contains(tag)) {
            return Err(not_alone(line, lines));
        }
        Ok(())
    }
}

/// `<DOCNO>clueweb22-en0004-50-00170</DOCNO>` → the name of the page.
fn page_name(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("<DOCNO>")?.strip_suffix("</DOCNO>")?.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// The line from the tag that may begin a passage.
fn opening(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("<BODY>").unwrap_or(line).trim()
}

/// The error for a line with a misplaced tag, or with text beside a tag.
fn not_alone(line: &str, lines: &ArchiveLines) -> Error {
    let expected = "`<DOCNO>…</DOCNO>`, `<PASSAGE id=N>` and `</PASSAGE>` on lines of their own, \
                    each passage closed before the next";
    lines.problem(expected, quoted(line)).into()
}

/// `<PASSAGE id=3>` or `<PASSAGE id="3">` → `3`.
fn passage_number(line: &str) -> Option<&str> {
    let number = opening(line).strip_prefix("<PASSAGE id=")?.strip_suffix('>')?;
    let unquoted = number.strip_prefix('"').and_then(|number| number.strip_suffix('"'));
    let number = unquoted.unwrap_or(number);
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

#[cfg(test)]
mod tests {
    use crate::documents::read_passages;
    use clariq_files::Source;

    fn read(body: &str) -> Result<Vec<String>, String> {
        let text = format!("<DOC>\n<DOCNO>p</DOCNO>\n<TITLE>t</TITLE>\n{body}</DOC>\n");
        match read_passages(&Source::memory("p.trecweb", text.into_bytes())) {
            Ok(passages) => Ok(passages.into_iter().map(|found| found.id + &found.text).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn numbers_may_be_quoted() {
        let body =
            "<BODY>\n<PASSAGE id=\"0\">\na\n</PASSAGE>\n<PASSAGE id=1>\nb\n</PASSAGE></BODY>\n";
        assert_eq!(read(body).unwrap(), ["p:0a", "p:1b"]);
    }

    #[test]
    fn tags_that_are_not_alone_on_their_line_are_errors() {
        for (body, line) in [
            ("<PASSAGE id=0>a\n</PASSAGE>\n", 4),
            ("<PASSAGE id=x>\na\n</PASSAGE>\n", 4),
            ("<PASSAGE id=0>\na\n</PASSAGE> b\n", 6),
            ("<PASSAGE id=0>\na</PASSAGE>\n<PASSAGE id=1>\nb\n</PASSAGE>\n", 6),
            ("<PASSAGE id=0>\na\n</PASSAGE>\n</PASSAGE>\n", 7),
            ("<BODY><PASSAGE id=0>a</PASSAGE></BODY>\n", 4),
            ("</DOC>\n<DOC><DOCNO>q</DOCNO><PASSAGE id=0>a</PASSAGE></DOC>\n", 5),
            ("</DOC>\n<DOC>\n<DOCNO>q q</DOCNO>\n", 6),
        ] {
            let error = read(body).unwrap_err();
            assert!(error.starts_with(&format!("p.trecweb:{line}: expected")), "{body}: {error}");
        }
    }
}
