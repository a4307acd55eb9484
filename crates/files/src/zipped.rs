//! The only file in a zip archive, as a stream.
//!
//! The directory of an archive is at its end, so that a stream is read into memory first.

use clariq_core::{Error, IoAction, Result, bail, problem};
use flate2::{Crc, bufread::DeflateDecoder};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// The first bytes of a zip archive: the header of a file, or the directory of an empty archive.
pub(crate) const ZIP_MAGIC: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The packed bytes of the only file in an archive, and what is needed to unpack them.
pub(crate) struct ZippedFile<'a> {
    packed: Box<dyn Read + 'a>,
    is_deflated: bool,
    crc: u32,
}

impl<'a> ZippedFile<'a> {
    /// Finds the file in the archive of that name.
    pub(crate) fn find(name: &str, archive: impl Read + Seek + 'a) -> Result<Self> {
        let refused = |error: ZipError| -> Error {
            match error {
                ZipError::UnsupportedArchive(why) => {
                    let hint = "unpack it, or pack it with gzip or zstd";
                    problem!(name, "a file in it that is deflated or stored", "{why}", hint).into()
                }
                error => {
                    let hint = "the file is cut short or damaged: fetch it again";
                    problem!(name, "a whole zip archive", "{error}", hint).into()
                }
            }
        };
        let mut archive = ZipArchive::new(archive).map_err(refused)?;
        let mut found = None;
        for index in 0..archive.len() {
            let file = archive.by_index_raw(index).map_err(refused)?;
            let path = file.name().to_owned();
            if !file.is_file() || is_of_macos(&path) {
                continue;
            }
            drop(file);
            if found.is_some() {
                let found = format!("a second file, `{path}`");
                let hint = "unpack it into a folder, or save a workbook or document as text";
                bail!(name, "a zip archive with one file in it", found, hint);
            }
            let file = archive.by_index(index).map_err(refused)?;
            let is_deflated = file.compression() == CompressionMethod::Deflated;
            found = Some((file.data_start(), file.compressed_size(), is_deflated, file.crc32()));
        }
        let Some((start, size, is_deflated, crc)) = found else {
            bail!(
                name,
                "a zip archive with one file in it",
                "no file in it",
                "is it the right one?"
            );
        };
        let mut archive = archive.into_inner();
        archive.seek(SeekFrom::Start(start)).map_err(Error::io(IoAction::Read, name))?;
        Ok(Self { packed: Box::new(archive.take(size)), is_deflated, crc })
    }

    /// The content of the file. Its checksum is verified at its end.
    pub(crate) fn unpack(self) -> Box<dyn Read + 'a> {
        let packed = self.packed;
        let content: Box<dyn Read + 'a> = if self.is_deflated {
            Box::new(DeflateDecoder::new(BufReader::new(packed)))
        } else {
            packed
        };
        Box::new(CheckedReader { content, crc: Crc::new(), expected: self.crc })
    }
}

/// True for the files of attributes that macOS adds.
fn is_of_macos(path: &str) -> bool {
    path.starts_with("__MACOSX/") || path.rsplit('/').next().is_some_and(|it| it.starts_with("._"))
}

/// Content whose checksum is compared at its end.
struct CheckedReader<'a> {
    content: Box<dyn Read + 'a>,
    crc: Crc,
    expected: u32,
}

impl Read for CheckedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        self.crc.update(&buffer[..count]);
        if count == 0 && !buffer.is_empty() && self.crc.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum is another"));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::archive::{Archive, ExpectedContent};
    use std::io::Write;

    static ANY: ExpectedContent = ExpectedContent { what: "text", hint: "" };

    /// An archive with these stored files, written by hand after APPNOTE 4.3.
    fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
        zipped(files, 0, <[u8]>::to_vec)
    }

    fn deflated(files: &[(&str, &[u8])]) -> Vec<u8> {
        zipped(files, 8, |bytes| {
            let level = flate2::Compression::best();
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        })
    }

    fn zipped(files: &[(&str, &[u8])], method: u16, pack: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let mut archive = Vec::new();
        let mut directory = Vec::new();
        for (name, bytes) in files {
            let packed = pack(bytes);
            let mut crc = Crc::new();
            crc.update(bytes);
            let mut common = Vec::new();
            for half in [20, 0, method, 0, 0x21] {
                common.extend(half.to_le_bytes());
            }
            for word in [crc.sum(), packed.len() as u32, bytes.len() as u32, name.len() as u32] {
                common.extend(word.to_le_bytes());
            }
            let start = archive.len() as u32;
            archive.extend(b"PK\x03\x04");
            archive.extend(&common);
            archive.extend(name.as_bytes());
            archive.extend(packed);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(start.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let start = archive.len() as u32;
        let count = (files.len() as u16).to_le_bytes();
        archive.extend(&directory);
        archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
        archive.extend([count, count].concat());
        archive.extend((directory.len() as u32).to_le_bytes());
        archive.extend(start.to_le_bytes());
        archive.extend([0, 0]);
        archive
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<u8>> {
        Ok(Source::memory("x.zip", bytes).read()?.bytes.into_owned())
    }

    fn streamed(bytes: Vec<u8>) -> Result<Vec<u8>> {
        let archive = Archive::new(&[Source::memory("x.zip", bytes)], &ANY)?;
        archive.with_content(|content| {
            let mut all = Vec::new();
            content.read_to_end(&mut all).map_err(|error| archive.broken(error))?;
            Ok(all)
        })
    }

    #[test]
    fn the_only_file_is_read_stored_or_deflated() {
        let files: &[(&str, &[u8])] = &[("__MACOSX/._a", b"no"), ("a/b.jsonl", b"one\ntwo\n")];
        for archive in [stored(files), deflated(files)] {
            assert_eq!(read(archive.clone()).unwrap(), b"one\ntwo\n");
            assert_eq!(streamed(archive.clone()).unwrap(), b"one\ntwo\n");
            let mut text = String::new();
            let source = Source::memory("x.zip", archive);
            source.stream().unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "one\ntwo\n");
        }
    }

    #[test]
    fn archives_of_several_files_or_none_are_refused() {
        let refused = |bytes: Vec<u8>| read(bytes).unwrap_err().to_string();
        assert_eq!(
            refused(stored(&[("a", b"1"), ("b", b"2")])),
            "x.zip: expected a zip archive with one file in it, found a second file, `b`"
        );
        assert_eq!(
            refused(stored(&[])),
            "x.zip: expected a zip archive with one file in it, found no file in it"
        );
    }

    #[test]
    fn damage_and_bombs_are_problems() {
        let mut damaged = stored(&[("a", b"some text")]);
        damaged[33] ^= 1;
        assert_eq!(
            read(damaged).unwrap_err().to_string(),
            "x.zip: expected a whole archive, found the checksum is another"
        );
        let cut = deflated(&[("a", b"some text")]);
        let cut = read(cut[..cut.len() - 9].to_vec()).unwrap_err().to_problem();
        assert_eq!(cut.expected, "a whole zip archive");
        let zeros = vec![0; 96 << 20];
        let bomb = deflated(&[("a", &zeros)]);
        let most = Source::memory("x.zip", bomb.clone()).read_at_most(1 << 20);
        assert_eq!(most.unwrap_err().to_problem().expected, "at most 1 MiB, unpacked");
        let bounded = Archive::of_at_most(1 << 20, &[Source::memory("x.zip", bomb)], &ANY).unwrap();
        let read = bounded.with_content(|content| {
            io::copy(content, &mut io::sink()).map_err(|error| bounded.broken(error))
        });
        assert_eq!(read.unwrap_err().to_problem().expected, "at most 1 MiB, unpacked");
    }
}
