//! Fine-tuning: objectives, the optimiser, and the loop that follows a recipe.

mod adamw;
mod batch;
mod card;
mod checkpoint;
mod curve;
mod evaluate;
mod examples;
mod learner;
mod objective;
mod resolved;

pub use curve::{Curve, Row};
pub use examples::TopicSplit;
pub use learner::{Trained, train};
