//! The stems of the Snowball analysers against `PyStemmer`. `scripts/make-golden snowball` writes the files.

use clariq_index::Analyzer;
use std::fs;
use std::path::Path;

#[test]
fn words_of_each_language_have_the_stems_of_pystemmer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snowball");
    for analyzer in Analyzer::all() {
        let Ok(file) = fs::read_to_string(folder.join(format!("{analyzer}.tsv"))) else { continue };
        let (mut stems, mut stop_words) = (0, 0);
        for line in file.lines() {
            let (word, stem) = line.split_once('\t').expect("a word and its stem");
            match &analyzer.tokens(word)[..] {
                [] => stop_words += 1,
                tokens => {
                    assert_eq!(tokens, [stem], "{analyzer}: {word}");
                    stems += 1;
                }
            }
        }
        assert!(stems >= 10, "{analyzer}: {stems} stems, {stop_words} stop words");
    }
}

#[test]
fn every_analyser_of_another_language_has_a_file() {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snowball"));
    assert_eq!(files.unwrap().count(), Analyzer::all().len() - 3);
}
