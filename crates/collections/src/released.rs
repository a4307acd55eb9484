//! The public files of collections, each at one commit of its repository, with the digests that are
//! known: the tables in `released/`.

/// GitHub's limit on the size of a file: 100 MiB.
const LARGEST: u64 = 100 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleasedFile {
    /// The path in the data folder, with `/`.
    pub name: &'static str,
    /// Its path at the origin.
    pub path: &'static str,
    /// The SHA-256 in lower-case hexadecimal; `None` if the released bytes are not known.
    pub sha256: Option<&'static str>,
    /// The size in bytes, or an upper bound if the size is not known.
    pub most_bytes: u64,
    /// True if the data folder is useless without the file.
    pub required: bool,
    /// True for the large archives of conversations and multi-turn evaluation tables.
    pub archive: bool,
}

impl ReleasedFile {
    /// The path in a clone of its repository, behind `owner/repository/commit/` at the origin of several
    /// repositories.
    pub fn path_in_clone(&self) -> &'static str {
        let is_commit =
            |part: &str| part.len() == 40 && part.bytes().all(|it| it.is_ascii_hexdigit());
        match self.path.splitn(4, '/').collect::<Vec<_>>()[..] {
            [_, _, commit, path] if is_commit(commit) => path,
            _ => self.path,
        }
    }
}

/// The release of a collection's files.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// The address that their paths follow.
    pub at: &'static str,
    /// The table of the files.
    pub table: &'static str,
}

impl Release {
    /// The files. In the table, an empty field is unknown, and an empty path equals the name.
    pub fn files(&self) -> Vec<ReleasedFile> {
        self.table.lines().skip(1).filter_map(parse).collect()
    }
}

fn parse(line: &'static str) -> Option<ReleasedFile> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [name, needed, bytes, sha256, path] = fields[..] else { return None };
    Some(ReleasedFile {
        name,
        path: if path.is_empty() { name } else { path },
        sha256: Some(sha256).filter(|sha256| !sha256.is_empty()),
        most_bytes: bytes.parse().unwrap_or(LARGEST),
        required: needed == "always",
        archive: needed == "archive",
    })
}
