//! How does a model learn? Recipes, examples, objectives, and the loop that follows them.

mod adamw;
mod batch;
mod card;
mod checkpoint;
mod curve;
mod evaluate;
mod examples;
mod learner;
mod objective;
mod recipe;

pub use curve::{Curve, Row};
pub use examples::{Examples, TopicSplit};
pub use learner::{Event, Trained, Training, key};
pub use recipe::{Makes, Objective, Recipe, Schedule};
