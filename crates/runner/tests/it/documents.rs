//! The README and the documentation: their console examples are run.

use crate::pages::{pages, root};
use std::fs;
use std::path::Path;

#[test]
fn console_examples_print_what_the_pages_show() {
    let folder = tempfile::tempdir().unwrap();
    let system = "name = \"my-system\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\n\
                  variant = \"bm25plus\"\ndepth = 30\n";
    fs::write(folder.path().join("my-system.toml"), system).unwrap();
    let cache = folder.path().join("cache");
    crate::common::lend_weights(&cache);
    crate::common::share_vectors(&cache);
    for (from, to) in [("data/sample-own", "mine"), ("data/recorded", "data/recorded")] {
        let to = folder.path().join(to);
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(root().join(from)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    // The examples write below the folder they run in, which no other test depends on.
    std::env::set_current_dir(folder.path()).unwrap();
    for page in pages() {
        trycmd::TestCases::new()
            .register_bin("cat", Path::new("/bin/cat"))
            .env("CLARIQ_CACHE", cache.to_str().unwrap())
            .case(&page);
    }
}
