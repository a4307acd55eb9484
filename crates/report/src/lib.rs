//! Self-contained HTML pages that show runs side by side: figures with significance, differences by
//! topic, and what each track shows beside them.
//!
//! A page loads nothing and executes nothing. The same input gives the same bytes.

mod answer;
mod bars;
mod charts;
mod clariq;
mod differences;
mod ikat;
mod judged;
mod means;
mod mtrag;
mod page;
mod pages;
mod request;
mod scale;
mod scores;
mod several;
mod words;

pub use charts::{Chart, charts};
pub use judged::JudgedPage;
pub use pages::page_of;
pub use request::{PageRequest, PageRun, RenderedPage};
pub use several::{SeveralRun, several_page};
