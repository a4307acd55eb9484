//! No output of a program replaces a file that it has read. There is one test, because the
//! protection holds for the whole process.

use clariq_core::Error;
use clariq_files::{
    Source, StagedFile, Target, protect, protect_folder, protect_inputs, refuse_input,
    write_atomically,
};
use std::fs;
use std::path::Path;

fn is_refused(result: Result<(), Error>) -> bool {
    match result {
        Ok(()) => false,
        Err(Error::Problem(problem)) => problem.expected.starts_with("an output apart from"),
        Err(error) => panic!("{error}"),
    }
}

fn write(path: &Path) -> Result<(), Error> {
    write_atomically(path, |out| out.write_all(b"new"))
}

#[test]
fn outputs_never_replace_inputs_whatever_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["read", "listed", "other"] {
        fs::write(path(name), "old").unwrap();
    }
    let read = || Source::new(path("read")).read().unwrap();
    read();
    assert!(!is_refused(write(&path("read"))), "a library may write what it has read");
    protect_inputs();
    read();
    protect(&path("listed"));
    protect(&path("absent"));
    fs::create_dir(path("folder")).unwrap();
    std::os::unix::fs::symlink("read", path("symbolic")).unwrap();
    fs::hard_link(path("read"), path("hard")).unwrap();
    for path in ["read", "folder/../read", "listed", "symbolic", "hard"].map(path) {
        assert!(is_refused(write(&path)), "{}", path.display());
        assert!(is_refused(Target::new(&path).write(|_| Ok(()))), "{}", path.display());
    }
    assert_eq!(fs::read(path("read")).unwrap(), b"new");
    assert!(!is_refused(write(&path("other"))) && !is_refused(write(&path("absent"))));

    // A name that would be read as data is refused before a command begins.
    let is_data = |path: &Path| path.extension().is_some_and(|ending| ending == "jsonl");
    protect_folder(folder.path(), is_data);
    for (name, is_allowed) in [
        ("new.jsonl", false),
        ("folder/../new.jsonl", false),
        ("new.run", true),
        ("folder/new.jsonl", true),
        ("absent/new.jsonl", true),
    ] {
        assert_eq!(refuse_input(&path(name)).is_ok(), is_allowed, "{name}");
    }
    assert!(!is_refused(write(&path("fetched.jsonl"))), "a writer of data is no command's output");

    // An input is not removed even if it has the name of a killed command's temporary file.
    let stale = path(".otherAb12Cd.tmp");
    fs::write(&stale, "old").unwrap();
    let file = fs::File::options().write(true).open(&stale).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    protect(&stale);
    write(&path("other")).unwrap();
    assert_eq!(fs::read(&stale).unwrap(), b"old");

    // An output that was read to be checked is no input: the same command may write it again.
    for _ in 0..2 {
        let staged = StagedFile::new(&path("out"), |out| out.write_all(b"x")).unwrap();
        staged.source().read().unwrap();
        staged.commit().unwrap();
    }
}
