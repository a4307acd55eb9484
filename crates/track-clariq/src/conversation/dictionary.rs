//! The released form: a dictionary `{record_id: {field: value}}`.

use super::RecordReader;
use super::draft::{Draft, HINT};
use crate::read_dictionaries;
use clariq_collections::text_or_number::IdOrNumber;
use clariq_core::{Error, Location, parse_json};
use clariq_files::archive::Archive;
use clariq_files::shorten;
use serde::de::IgnoredAny;

/// The number of keys above a record: its id.
pub(crate) const DEPTH: usize = 1;

pub(super) fn read(archive: &Archive, reader: &mut RecordReader) -> Result<(), Error> {
    read_dictionaries(archive, DEPTH, &mut |line| {
        let (id, _) = parse_json::<(IdOrNumber, IgnoredAny)>(archive.name(), line)?;
        let id = id.into_text();
        let at = Location::file(format!("{}: record {}", archive.name(), shorten(&id)));
        Ok(match parse_json::<(IgnoredAny, Draft)>(archive.name(), line) {
            Ok((_, draft)) => reader.finish(draft, id, at),
            Err(mut problem) => {
                problem.at = at;
                // The record is the second item of the line.
                problem.expected = problem.expected.replace("`[1].", "`");
                reader.take(Err(Box::new(problem.hint(HINT))))
            }
        })
    })
}
