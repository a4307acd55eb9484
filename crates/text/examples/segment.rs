//! Cuts pages into passages and prints how fast: `segment DIR PAGES...`

use clariq_files::Source;
use std::env;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (folder, pages) = arguments.split_first().ok_or("usage: segment DIR PAGES...")?;
    let pages: Vec<Source> = pages.iter().map(Source::new).collect();
    let start = Instant::now();
    let progress = clariq_text::segment(&pages, Path::new(folder), |_| ())?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"pages\": {}, \"passages\": {}, \"bytes\": {}, \"seconds\": {seconds:.4}}}",
        progress.pages, progress.passages, progress.bytes
    );
    Ok(())
}
