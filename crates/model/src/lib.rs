//! Model folders as Hugging Face and sentence-transformers lay them out: the configuration, which
//! tensors the weights hold, how tokens become one vector, and where the tokenizer is.
//!
//! Nothing here computes with a model. A folder is checked before an engine sees it, so that no
//! size in a file makes the engine allocate what the weights do not hold, and what is not understood
//! is refused by file and key.

mod config;
mod family;
mod files;
mod folder;
mod layout;
mod sentence;
mod t5;
mod tensors;
mod tokenizer;
mod transformer;

pub use config::{Activation, Disentangled, Shape};
pub use family::Family;
pub use folder::ModelFolder;
pub use layout::{
    DISTANCE_NORM, FUSED, check_head, check_layout, distance_parts, distance_table, head_names,
    layer_tensor, own_name, parse_header, usual_name,
};
pub use sentence::{Module, Sentence};
pub use t5::{HEAD as T5_HEAD, T5Folder, T5Shape};
pub use tensors::Tensors;
pub use tokenizer::{MOST_OF_A_TEXT, check_tokenizer, read_tokenizer};
pub use transformer::Words;
