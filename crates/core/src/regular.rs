//! Opens and reads regular files of a bounded length.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file for reading. It must be a regular file: a command could wait
/// for a pipe forever, and a device never ends.
#[expect(clippy::disallowed_methods, reason = "here it is known to be a file")]
pub fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    File::open(path)
}

/// Reads a regular file of at most `most` bytes.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("it has more than {most} bytes, which no file of its kind has");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_and_devices_are_not_waited_for_and_lengths_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let [fifo, file] = ["fifo", "file"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [&fifo, Path::new("/dev/zero"), folder.path()] {
            assert_eq!(read_regular(path, 9).unwrap_err().kind(), io::ErrorKind::InvalidInput);
            assert!(crate::Checksum::of_file(path).is_err());
        }
        fs::write(&file, "12345").unwrap();
        assert_eq!(read_regular(&file, 5).unwrap(), b"12345");
        assert_eq!(read_regular(&file, 4).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(
            read_regular(&folder.path().join("absent"), 5).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
