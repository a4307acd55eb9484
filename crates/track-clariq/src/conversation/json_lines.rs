//! Records as JSON lines: an object with the keys of the released dictionaries, and optionally a
//! `record_id`.

use super::RecordReader;
use super::draft::{Draft, HINT};
use clariq_collections::lines::ArchiveLines;
use clariq_collections::text_or_number::IdOrNumber;
use clariq_core::{Error, parse_json};
use clariq_files::MOST_OF_A_LINE;
use clariq_files::archive::Archive;

pub(super) fn read(archive: &Archive, reader: &mut RecordReader) -> Result<(), Error> {
    archive.with_content(|content| {
        let mut lines = ArchiveLines::new(archive, content, MOST_OF_A_LINE);
        while let Some(line) = lines.next("record")? {
            let draft = match line.map(str::trim_ascii) {
                Ok("") => continue,
                Ok(line) => parse_json::<Draft>(archive.name(), line.as_bytes()),
                Err(problem) => Err(problem),
            };
            let at = lines.at();
            let ended = match draft {
                Ok(mut draft) => {
                    let id = draft.record_id.take().map(IdOrNumber::into_text);
                    reader.finish(draft, id.unwrap_or_else(|| lines.number().to_string()), at)
                }
                Err(mut problem) => {
                    problem.at = at;
                    reader.take(Err(Box::new(problem.hint(HINT))))
                }
            };
            if ended.is_break() {
                break;
            }
        }
        Ok(())
    })
}
