//! Segmentation of whole files.

use clariq_core::{Error, Problem};
use clariq_files::Source;
use clariq_track_ikat::{HASHES, JSON_LINES, SegmentCounts, TRECWEB, segment};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;

fn page(number: usize, sentences: usize) -> String {
    let text: Vec<String> = (0..sentences).map(|n| format!("Word {n} of {number} ends.")).collect();
    let text = format!("Title {number}\n{}", text.join(" "));
    let url = format!("https://example.org/{number}\n");
    serde_json::json!({ "ClueWeb22-ID": format!("page-{number}"), "URL": url, "Clean-Text": text })
        .to_string()
}

fn cut(pages: impl Into<Vec<u8>>, folder: &Path) -> Result<SegmentCounts, Error> {
    segment(&[Source::memory("pages", pages.into())], folder, |_| ())
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("a file")
}

#[test]
fn the_files_are_those_of_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Tea\nA \"b\" é 😀\t\u{7f} \\ C.";
    let line = serde_json::json!({
        "URL": "https://example.org/\n", "ClueWeb22-ID": "page", "Clean-Text": text, "Language": "en"
    });
    let progress = cut(format!("\u{feff}{line}\r\n\n"), folder.path()).unwrap();
    assert_eq!((progress.pages, progress.passages), (1, 1));
    assert_eq!(
        read(folder.path(), JSON_LINES),
        "{\"id\": \"page:0\", \"contents\": \"Tea A \\\"b\\\" \\u00e9 \\ud83d\\ude00\\t\\u007f \
         \\\\ C.\", \"url\": \"https://example.org/\"}\n"
    );
    assert_eq!(
        read(folder.path(), TRECWEB),
        "<DOC>\n<DOCNO>page</DOCNO>\n<DOCHDR>\n</DOCHDR>\n<HTML>\n<TITLE>Tea</TITLE>\n\
         <URL>https://example.org/</URL>\n<BODY>\n<PASSAGE id=0>\nTea A \"b\" é 😀\t\u{7f} \\ C.\n\
         </PASSAGE></BODY>\n</HTML>\n</DOC>\n"
    );
    // md5sum of the passage.
    assert_eq!(read(folder.path(), HASHES), "page\t0\tdf179d7707832450af85e4927b5b2b09\n");
}

#[test]
fn sentences_of_another_program_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    // Twelve sentences of two characters, in which no rule sees one.
    let text = "é ".repeat(12);
    let line = |starts: &[usize]| {
        serde_json::json!({ "URL": "u", "ClueWeb22-ID": "p", "Clean-Text": text,
                            "Sentence-Starts": starts })
        .to_string()
    };
    let starts: Vec<usize> = (0..12).map(|number| 2 * number).collect();
    assert_eq!(cut(line(&starts), folder.path()).unwrap().passages, 2);
    let passages = read(folder.path(), JSON_LINES);
    let second = passages.lines().nth(1).unwrap();
    assert!(
        second.contains(&format!("\"contents\": \"{}\"", ["\\u00e9"; 7].join(" "))),
        "{second}"
    );
    for wrong in [&[1, 2][..], &[0, 4, 4], &[0, 23], &[]] {
        let error = cut(line(wrong), folder.path()).unwrap_err().to_string();
        assert!(error.contains("`Sentence-Starts` that rise from 0"), "{wrong:?}: {error}");
    }
}

#[test]
fn threads_and_packing_change_no_byte() {
    let lines: Vec<String> = (0..300).map(|number| page(number, number % 37)).collect();
    let lines = lines.join("\n");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(lines.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let one = tempfile::tempdir().unwrap();
    let many = tempfile::tempdir().unwrap();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let alone = pool(1).install(|| cut(lines.clone(), one.path())).unwrap();
    assert_eq!(pool(3).install(|| cut(packed, many.path())).unwrap(), alone);
    assert_eq!(alone.bytes, lines.len() as u64);
    for name in [JSON_LINES, TRECWEB, HASHES] {
        assert_eq!(read(one.path(), name), read(many.path(), name), "{name}");
    }
    assert_eq!(read(one.path(), HASHES).lines().count() as u64, alone.passages);
    assert!(read(one.path(), HASHES).starts_with("page-0\t0\t"));
}

#[test]
fn progress_counts_over_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let sources = [1, 2].map(|n| Source::memory(format!("{n}"), page(n, 12).into_bytes()));
    let mut seen = Vec::new();
    let last = segment(&sources, folder.path(), |progress| seen.push(progress)).unwrap();
    assert_eq!(seen.last(), Some(&last));
    assert_eq!(seen.iter().map(|progress| progress.pages).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(last.passages, 4);
}

fn problem(error: Error) -> Problem {
    match error {
        Error::Problem(problem) => *problem,
        other @ Error::Io { .. } => panic!("{other}"),
    }
}

#[test]
fn a_line_that_is_no_page_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let good = page(1, 20);
    for bad in ["{\"URL\": \"x\"}", "[]", "{", "\"\u{1}\"", "{\"URL\": 1}"] {
        let found = problem(cut(format!("{good}\n\n{bad}\n{good}\n{{"), &out).unwrap_err());
        assert_eq!(found.at.to_string(), "pages:3", "{bad}");
        assert!(!found.hint.is_empty());
        assert!(fs::read_dir(&out).map_or(0, Iterator::count) == 0, "{bad}");
    }
}

#[test]
fn damaged_and_differently_packed_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(page(1, 2000).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let found = problem(cut(&packed[..packed.len() - 20], folder.path()).unwrap_err());
    assert_eq!(found.expected, "a whole archive", "{found}");
    let found = problem(cut(*b"BZh91AY&SY", folder.path()).unwrap_err());
    assert!(found.hint.contains("bzcat"), "{}", found.hint);
}

#[test]
fn empty_ids_and_ids_with_blanks_are_refused() {
    for id in ["", "a b", "a\tb", "a\u{a0}b", "a\nb", "\u{1b}[2J", " a"] {
        let folder = tempfile::tempdir().unwrap();
        let line = serde_json::json!({ "ClueWeb22-ID": id, "URL": "u", "Clean-Text": "One." });
        let pages = format!("{}\n{line}\n", page(1, 3));
        let problem = cut(pages, folder.path()).unwrap_err().to_problem();
        assert_eq!(problem.at.to_string(), "pages:2", "{problem}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
    }
}
