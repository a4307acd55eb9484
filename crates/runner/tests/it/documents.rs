//! The README and the documentation: their console examples are run.

use crate::common::{Folder, lend_weights, share_vectors};
use crate::pages::pages;
use std::path::Path;

#[test]
fn console_examples_print_what_the_pages_show() {
    let folder = Folder::new();
    let system = "name = \"my-system\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\n\
                  variant = \"bm25plus\"\ndepth = 30\n";
    folder.write("my-system.toml", system);
    let cache = folder.path("cache");
    lend_weights(&cache);
    share_vectors(&cache);
    folder.copy("data/sample-own", "mine");
    folder.copy("data/sample-mtrag", "data/mtrag");
    folder.copy("data/recorded", "data/recorded");
    // The examples write below the folder they run in, which no other test depends on.
    std::env::set_current_dir(folder.path("")).unwrap();
    for page in pages() {
        trycmd::TestCases::new()
            .register_bin("cat", Path::new("/bin/cat"))
            .env("CLARIQ_CACHE", cache.to_str().unwrap())
            .case(&page);
    }
}
