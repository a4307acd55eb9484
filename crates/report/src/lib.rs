//! The parts of a self-contained HTML page that shows runs side by side: figures with significance
//! and differences by topic. What a collection shows beside them is made in its own folder.
//!
//! A page loads nothing and executes nothing. The same input gives the same bytes.

mod bars;
mod charts;
pub mod differences;
pub mod figures;
pub mod page;
pub mod scale;
pub mod words;

pub use charts::{Chart, charts};
