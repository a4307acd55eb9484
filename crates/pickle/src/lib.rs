//! Python pickles, read without Python as a stream; nothing in them is executed.
//!
//! A pickle is a program for a small stack machine. [`fold`] is that machine for plain data,
//! protocols 0 to 5: numbers, text, bytes, tuples, lists, dictionaries, and numpy's numbers. A
//! class or function outside a short allow-list is an error that names it; nothing is ever imported
//! or called. No length in the file is trusted, and no input makes the machine panic, recurse or
//! allocate out of proportion.
//!
//! What becomes of dictionaries is up to a [`Sink`]. They arrive from the inside out, each complete
//! when it goes into the next, so that a file of a million records can be read one by one. The
//! pickle is read twice: see [`Plan`].

mod bytes;
mod error;
mod globals;
mod machine;
mod opcode;
mod plan;
mod text;
mod value;
mod writer;

pub use error::PickleError;
pub use machine::{Sink, fold};
pub use plan::Plan;
pub use value::{Dict, Dtype, Global, List, Text, Tuple, Value};
pub use writer::PickleWriter;
