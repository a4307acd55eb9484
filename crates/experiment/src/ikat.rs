//! The figures of iKAT: what a run says of statements, passages and responses, scored by the labels
//! of a split.

mod evaluate;
mod figures;

pub use evaluate::{Evaluated, Labels};
pub(crate) use figures::names;
pub use figures::{figures, rankings, sets};
