//! Model folders as Hugging Face lays them out: the configuration, which tensors the weights hold,
//! and where the tokenizer is.
//!
//! Nothing here computes with a model. A folder is checked before an engine sees it, so that no
//! size in a file makes the engine allocate what the weights do not hold.

mod config;
mod folder;
mod layout;
mod tensors;

pub use config::{Activation, Shape};
pub use folder::ModelFolder;
pub use layout::{check_head, check_layout, layer_tensor};
pub use tensors::{Tensors, parse_header, usual_name};
