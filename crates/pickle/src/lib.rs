//! Python pickles, read without Python as a stream; nothing in them is executed.
//!
//! A pickle is a program for a small stack machine. [`fold`] is that machine for plain data,
//! protocols 0 to 5: numbers, text, bytes, tuples, lists, dictionaries, and numpy's numbers. A
//! class or function outside a short allow-list is an error that names it; nothing is ever imported
//! or called. No length in the file is trusted, and no input makes the machine panic, recurse or
//! allocate out of proportion.
//!
//! What becomes of dictionaries is up to a [`Sink`]. They arrive from the inside out, each complete
//! when it goes into the next, so that a file of a million records can be read one by one:
//!
//! ```
//! use clariq_pickle::{Plan, Sink, Value, fold};
//!
//! /// Counts the turns of each record of `{id: {field: value}}` and forgets the record.
//! struct Records(Vec<usize>);
//!
//! #[derive(Default)]
//! struct Fields {
//!     turns: usize,
//! }
//!
//! impl Sink for Records {
//!     type Dict = Fields;
//!
//!     fn insert(&mut self, dict: &mut Fields, key: &Value<Fields>, value: Value<Fields>) -> Result<(), String> {
//!         match value {
//!             Value::List(list) if key.as_text() == Some("conversation_context") => dict.turns = list.items().len(),
//!             // A dictionary that goes into another one is a whole record.
//!             Value::Dict(record) => self.0.push(record.content().turns),
//!             _ => {}
//!         }
//!         Ok(())
//!     }
//! }
//!
//! // pickle.dumps({7: {"topic_id": 1, "conversation_context": ["q", "a"]}}, 0)
//! let bytes = b"(dI7\n(dVtopic_id\nI1\nsVconversation_context\n(lVq\naVa\nass.";
//! let plan = Plan::scan(&bytes[..])?;
//! let mut records = Records(Vec::new());
//! fold(&bytes[..], &plan, &mut records)?;
//! assert_eq!(records.0, [2]);
//! # Ok::<(), clariq_pickle::PickleError>(())
//! ```
//!
//! The pickle is read twice: see [`Plan`].

mod batch;
mod bytes;
mod error;
mod globals;
mod machine;
mod opcode;
mod plan;
mod text;
mod value;
mod writer;

pub use batch::Rows;
pub use error::PickleError;
pub use machine::{Sink, fold};
pub use plan::Plan;
pub use value::{Dict, Dtype, Global, List, Text, Tuple, Value};
pub use writer::PickleWriter;
