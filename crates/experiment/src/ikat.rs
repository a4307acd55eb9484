//! The figures of iKAT: what a run says of statements, passages and responses, scored by the labels
//! of a split.

mod by_turn;
mod evaluate;
mod figures;

pub use by_turn::{Part, columns};
pub use evaluate::{Evaluated, Labels};
pub(crate) use figures::names;
pub use figures::{figures, rankings, sets};
