//! Building the file of passage ids from lists of them.

use crate::json;
use crate::lines::Lines;
use clariq_core::{Error, bail};
use clariq_files::archive::{Archive, Form};
use clariq_files::{Source, shorten, write_atomically};
use fst::set::OpBuilder;
use fst::{Set, SetBuilder, Streamer};
use std::borrow::Cow;
use std::path::Path;
use std::{io, mem};

/// A longer line names no passage; those of passages with their texts may be long.
const LONGEST: u64 = 16 << 20;

static FORM: Form = Form {
    what: "a list of passage ids",
    hint: "a line is `page<TAB>number<TAB>md5`, as the track lists them, or `page:number`, or a passage in JSON",
};

/// The memory that ids of a whole collection wait in, in bytes.
pub const MEMORY: usize = 512 << 20;

/// Bytes that an id takes beside its text while it waits: where it is, and space that is not used.
const WAITING: usize = 64;

/// What went into a file of passage ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildReport {
    /// The number of passages.
    pub ids: u64,
    /// How often an id was given again.
    pub repeated: u64,
}

/// Builds a file of passage ids from lists of them, each plain or gzip, and replaces `path` by it.
///
/// A line is `page<TAB>number<TAB>md5`, `page:number`, or a passage in JSON. `memory` is the number
/// of bytes that ids wait in before they are sorted and become a set of about a byte per id;
/// [`MEMORY`] suits a whole collection.
pub fn build(sources: &[Source], path: &Path, memory: usize) -> Result<BuildReport, Error> {
    let refused = |error: fst::Error| Error::io("write", path)(io::Error::other(error));
    let (mut waiting, mut bytes, mut given, mut sets) = (Vec::new(), 0, 0, Vec::new());
    for source in sources {
        let archive = Archive::new(std::slice::from_ref(source), &FORM)?;
        archive.with_content(|content| {
            let mut lines = Lines::new(&archive, content, LONGEST);
            while let Some(line) = lines.next("passage id")? {
                let line = line?.trim_ascii();
                let Some(id) = id_of_line(line) else {
                    if line.is_empty() {
                        continue;
                    }
                    let found = format!("`{}`", shorten(line));
                    return Err(lines.problem(FORM.what, found).into());
                };
                given += 1;
                bytes += WAITING + id.len();
                waiting.push(id.into_owned());
                if bytes > memory {
                    bytes = 0;
                    sets.push(set_of(mem::take(&mut waiting)).map_err(refused)?);
                }
            }
            Ok(())
        })?;
    }
    if given == 0 {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        bail!((names.join(" + ")), (FORM.what), "no id", (FORM.hint));
    }
    sets.push(set_of(waiting).map_err(refused)?);
    let mut ids = 0;
    write_atomically(path, |out| {
        let mut builder = SetBuilder::new(out).map_err(io::Error::other)?;
        let mut merged = sets.iter().collect::<OpBuilder>().union();
        while let Some(id) = merged.next() {
            ids += 1;
            builder.insert(id).map_err(io::Error::other)?;
        }
        builder.finish().map_err(io::Error::other)
    })?;
    Ok(BuildReport { ids, repeated: given - ids })
}

fn set_of(mut ids: Vec<String>) -> Result<Set<Vec<u8>>, fst::Error> {
    ids.sort_unstable();
    ids.dedup();
    Set::from_iter(ids)
}

fn id_of_line(line: &str) -> Option<Cow<'_, str>> {
    if line.starts_with('{') {
        let node = json::parse_text(1, line).ok()?;
        let text = |key: &str| node.get(key)?.text().map(str::to_owned);
        let id =
            text("id").or_else(|| Some(format!("{}:{}", text("doc_id")?, text("passage_id")?)));
        return id.filter(|id| is_id(id)).map(Cow::Owned);
    }
    let mut fields = line.split('\t');
    let (first, number) = (fields.next()?, fields.next());
    let id = match number {
        None => Cow::Borrowed(first),
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            Cow::Owned(format!("{first}:{number}"))
        }
        Some(_) => return None,
    };
    is_id(&id).then_some(id)
}

/// A page, a colon and a number.
fn is_id(id: &str) -> bool {
    id.rsplit_once(':').is_some_and(|(page, number)| {
        !page.is_empty()
            && !page.contains(char::is_whitespace)
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
