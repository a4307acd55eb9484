//! The sample, and folders of files in the form of the release.

use clariq_collections::Collection;
use clariq_collections::DataDir;
use clariq_collections::evaluation::{Answers, ScoreCell, ScoreOptions};
use clariq_files::Source;
use clariq_track_mtrag::Mtrag;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the sample.
pub(crate) fn sample_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-mtrag")
}

/// The released files, or `None` after printing that the test is skipped.
pub(crate) fn released() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mtrag");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

pub(crate) fn open(folder: &Path) -> Mtrag {
    Mtrag::open(DataDir::Folder(folder.to_owned()), None).unwrap()
}

pub(crate) fn sample() -> Mtrag {
    open(&sample_folder())
}

/// Writes a file of a folder, with the folders above it.
pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Copies a folder with its subfolders.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::write(target, fs::read(&path).unwrap()).unwrap();
        }
    }
}

/// The rows of the table of figures of a file.
pub(crate) fn rows(mtrag: &Mtrag, split: &str, file: &Path) -> Vec<Vec<ScoreCell>> {
    let collection: &dyn Collection = mtrag;
    let split = collection.find_split(split).unwrap();
    let evaluation = collection.evaluation(split).unwrap();
    let file = Source::new(file);
    let mut result = evaluation.cases(Answers::File(&file), &ScoreOptions::default()).unwrap();
    result.tables.remove(0).rows
}
