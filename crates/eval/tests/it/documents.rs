//! The documentation of the measures.

use std::fs;
use std::path::Path;

#[test]
fn the_table_of_measures_is_that_of_the_catalogue() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/measures.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("<!-- measures: begin -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- measures: end -->").unwrap();
    assert_eq!(table, clariq_eval::measure_table());
}
