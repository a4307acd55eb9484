//! Cuts a collection of pages into passages, on all cores and in bounded memory.
//!
//! The files are those of the track's `ikat_tools.py`: JSON lines for an index, `TrecWeb`, and the
//! MD5 of every passage. They only depend on the pages, and appear when all are complete.

use crate::passages;
use clariq_core::{Error, Problem, ProblemKind, printable, problem};
use clariq_files::{BoundedLines, Source, StagedFile, StagedWriter, protect};
use md5::{Digest, Md5};
use rayon::prelude::*;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Maximum length of a line in bytes, so that a file of another kind does not fill the memory.
const LONGEST_LINE: u64 = 64 << 20;
/// Number of characters of a wrong id in messages.
const SHOWN: usize = 200;
/// The bytes after which a block of lines ends.
const BLOCK: usize = 8 << 20;

/// JSON lines of `id`, `contents` and `url`.
pub const JSON_LINES: &str = "passages.jsonl";
/// A `<DOC>` for every page.
pub const TRECWEB: &str = "passages.trecweb";
/// Lines of page, number of the passage and MD5 of its text, with tabs between them.
pub const HASHES: &str = "hashes.tsv";

/// Counts of a segmentation so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentCounts {
    /// Web pages that were read.
    pub pages: u64,
    /// Passages written.
    pub passages: u64,
    /// Bytes read, unpacked.
    pub bytes: u64,
}

/// A web page, a JSON line of `ClueWeb22`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WebPage {
    /// Its id, such as `clueweb22-en0000-00-00000`.
    #[serde(rename = "ClueWeb22-ID")]
    pub id: String,
    /// Its address. The released files end it with a line end.
    #[serde(rename = "URL")]
    pub url: String,
    /// Its text, of which the first line is the title.
    #[serde(rename = "Clean-Text")]
    pub text: String,
    /// Where its sentences start, as another program found: characters of [`passages::page_text`],
    /// the first 0. Without it, sentences are found by rules.
    #[serde(rename = "Sentence-Starts")]
    pub sentence_starts: Option<Vec<usize>>,
}

impl WebPage {
    /// Reads a page from a line of `file`.
    pub fn parse(line: &[u8], file: &str, number: u64) -> Result<Self, Box<Problem>> {
        let wrong = |found: String| {
            let is_bzip2 = number == 1 && line.starts_with(b"BZh");
            let hint = if is_bzip2 {
                "unpack it first: bzcat FILE | clariq data segment - -o DIR"
            } else {
                "pages are JSON lines as ClueWeb22 releases them; remove the line or fetch it again"
            };
            let expected = "a JSON object with the texts `ClueWeb22-ID`, `URL` and `Clean-Text`";
            Box::new(problem!((file, number), expected, found, hint))
        };
        let page: Self = serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?;
        // Ids become fields of lines.
        if page.id.is_empty() || page.id.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let found = format!("the id `{}`", printable(&page.id, SHOWN));
            return Err(wrong(format!("{found}, empty or with blanks")));
        }
        if let Some(starts) = &page.sentence_starts {
            let characters = passages::page_text(&page.text).chars().count();
            let rises = starts.windows(2).all(|pair| pair[0] < pair[1]);
            let begins = starts.first().is_none_or(|first| *first == 0);
            let ends = starts.last().is_none_or(|last| *last < characters);
            if !(rises && begins && ends && starts.is_empty() == (characters == 0)) {
                let id = printable(&page.id, SHOWN);
                let expected = "`Sentence-Starts` that rise from 0, below the number of characters of \
                                the text: its first 10,000, stripped";
                let found = format!("others, of {characters} characters, in page {id}");
                let hint = "the documentation has the script that writes them (Other engines)";
                return Err(Box::new(problem!((file, number), expected, found, hint)));
            }
        }
        Ok(page)
    }
}

/// A block of lines, without blank ones.
#[derive(Default)]
struct LineBlock {
    bytes: Vec<u8>,
    /// The number of each line, and its range in `bytes`.
    lines: Vec<(u64, Range<usize>)>,
}

impl LineBlock {
    /// Reads the next block; an empty one is the end.
    fn read(lines: &mut BoundedLines) -> Result<Self, Error> {
        let mut block = Self::default();
        while block.bytes.len() < BLOCK {
            let Some((number, line)) = lines.next_bytes()? else { break };
            if !line.trim_ascii().is_empty() {
                let start = block.bytes.len();
                block.bytes.extend_from_slice(line);
                block.lines.push((number, start..block.bytes.len()));
            }
        }
        Ok(block)
    }
}

/// Writes the passages of `pages` to three files in `folder`; calls `report` after every block.
///
/// # Errors
///
/// A line that is not a page, input without pages, errors of the file system. Nothing is written
/// then.
pub fn segment(
    pages: &[Source],
    folder: &Path,
    mut report: impl FnMut(SegmentCounts),
) -> Result<SegmentCounts, Error> {
    let is_new = !folder.exists();
    let result = segment_into(pages, folder, &mut report);
    if is_new && result.is_err() {
        // It is empty, unless another process has put something into it.
        let _ = fs::remove_dir(folder);
    }
    result
}

fn segment_into(
    pages: &[Source],
    folder: &Path,
    report: &mut dyn FnMut(SegmentCounts),
) -> Result<SegmentCounts, Error> {
    for source in pages {
        if let Source::Path(path) = source {
            protect(path);
        }
    }
    let outputs =
        [JSON_LINES, TRECWEB, HASHES].map(|name| StagedWriter::create(&folder.join(name)));
    let mut outputs = outputs.into_iter().collect::<Result<Vec<_>, _>>()?;
    let progress = segment_all(pages, &mut outputs, report)?;
    let staged = outputs.into_iter().map(StagedWriter::finish).collect::<Result<Vec<_>, _>>()?;
    staged.into_iter().try_for_each(StagedFile::commit)?;
    Ok(progress)
}

fn segment_all(
    pages: &[Source],
    outputs: &mut [StagedWriter],
    report: &mut dyn FnMut(SegmentCounts),
) -> Result<SegmentCounts, Error> {
    let mut progress = SegmentCounts::default();
    for source in pages {
        let name = source.name();
        let before = progress.bytes;
        let mut lines = BoundedLines::new(&name, source.stream()?, LONGEST_LINE);
        let mut block = LineBlock::read(&mut lines)?;
        while !block.lines.is_empty() {
            let mut cuts = Vec::new();
            let mut next = Ok(LineBlock::default());
            // The next block is read while this one is cut.
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| cuts = cut_block(&block, &name));
                next = LineBlock::read(&mut lines);
            });
            for cut in cuts {
                let cut = cut.map_err(Error::Problem)?;
                for (output, content) in outputs.iter_mut().zip([&cut.json, &cut.web, &cut.hashes])
                {
                    output.put(|out| out.write_all(content.as_bytes()))?;
                }
                progress.pages += 1;
                progress.passages += cut.passages;
            }
            progress.bytes = before + lines.bytes();
            report(progress);
            block = next?;
        }
    }
    if progress.pages == 0 {
        let names: Vec<String> = pages.iter().map(Source::name).collect();
        let hint = "was the command that wrote it interrupted?";
        let problem = problem!((names.join(" + ")), "web pages as JSON lines", "no line", hint);
        return Err(problem.kind(ProblemKind::Empty).into());
    }
    Ok(progress)
}

/// The lines of one page in the three files.
#[derive(Default)]
struct PassageLines {
    json: String,
    web: String,
    hashes: String,
    passages: u64,
}

fn cut_block(block: &LineBlock, file: &str) -> Vec<Result<PassageLines, Box<Problem>>> {
    let cut = |(number, line): &(u64, Range<usize>)| {
        Ok(PassageLines::of(&WebPage::parse(&block.bytes[line.clone()], file, *number)?))
    };
    block.lines.par_iter().map(cut).collect()
}

impl PassageLines {
    fn of(page: &WebPage) -> Self {
        let passages = passages::of(&page.text, page.sentence_starts.as_deref());
        let url = page.url.trim();
        let mut cut = Self { passages: passages.len() as u64, ..Self::default() };
        for (number, passage) in passages.iter().enumerate() {
            cut.add_json(&format!("{}:{number}", page.id), passage, url);
            let hash = Md5::digest(passage.as_bytes());
            let _ = writeln!(cut.hashes, "{}\t{number}\t{hash:x}", page.id);
        }
        cut.add_web(page, url, &passages);
        cut
    }

    fn add_json(&mut self, id: &str, contents: &str, url: &str) {
        let keys = [("{\"id\": ", id), (", \"contents\": ", contents), (", \"url\": ", url)];
        for (key, value) in keys {
            self.json.push_str(key);
            push_ascii_json(&mut self.json, value);
        }
        self.json.push_str("}\n");
    }

    fn add_web(&mut self, page: &WebPage, url: &str, passages: &[String]) {
        let title = page.text.split('\n').next().unwrap_or_default();
        let _ = write!(
            self.web,
            "<DOC>\n<DOCNO>{}</DOCNO>\n<DOCHDR>\n</DOCHDR>\n<HTML>\n<TITLE>{title}</TITLE>\n\
             <URL>{url}</URL>\n<BODY>\n",
            page.id
        );
        for (number, passage) in passages.iter().enumerate() {
            let separator = if number > 0 { "\n" } else { "" };
            let _ = write!(self.web, "{separator}<PASSAGE id={number}>\n{passage}\n</PASSAGE>");
        }
        self.web.push_str("</BODY>\n</HTML>\n</DOC>\n");
    }
}

/// Appends a JSON text in ASCII, as Python's `json.dumps` writes it.
fn push_ascii_json(out: &mut String, text: &str) {
    for c in serde_json::Value::from(text).to_string().chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}
