//! The splits whose labels a model is trained on.

use serde::{Deserialize, Serialize};

/// The splits whose labels a model is trained on: `["train"]`, which is the default, or
/// `["train", "dev"]`.
///
/// A model never sees labels of the split that it answers or of a later one, so that dev counts for
/// models that answer test alone: see [`TrainOn::to_answer`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub enum TrainOn {
    /// Train alone.
    #[default]
    Train,
    /// Train, and dev for a model that answers test.
    TrainAndDev,
}

impl TrainOn {
    /// The names of the splits, in order.
    pub fn splits(self) -> &'static [&'static str] {
        match self {
            Self::Train => &["train"],
            Self::TrainAndDev => &["train", "dev"],
        }
    }

    /// What remains for a model that answers the split of that name, or requests of no split.
    #[must_use]
    pub fn to_answer(self, split: Option<&str>) -> Self {
        if split == Some("test") { self } else { Self::Train }
    }

    /// Whether it is the default, which configurations leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl TryFrom<Vec<String>> for TrainOn {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        [Self::Train, Self::TrainAndDev]
            .into_iter()
            .find(|known| known.splits() == names)
            .ok_or_else(|| format!("{names:?}, expected [\"train\"] or [\"train\", \"dev\"]"))
    }
}

impl From<TrainOn> for Vec<String> {
    fn from(train_on: TrainOn) -> Self {
        train_on.splits().iter().map(|&name| name.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_counts_for_test_alone() {
        let both = TrainOn::TrainAndDev;
        assert_eq!(both.to_answer(Some("test")), both);
        for split in [Some("train"), Some("dev"), None] {
            assert_eq!(both.to_answer(split), TrainOn::Train);
        }
        assert_eq!(TrainOn::Train.to_answer(Some("test")), TrainOn::Train);
    }

    #[test]
    fn names_round_trip_and_others_are_refused() {
        for known in [TrainOn::Train, TrainOn::TrainAndDev] {
            let text = serde_json::to_string(&known).unwrap();
            assert_eq!(serde_json::from_str::<TrainOn>(&text).unwrap(), known);
        }
        for wrong in ["[]", "[\"dev\"]", "[\"dev\", \"train\"]", "[\"train\", \"test\"]"] {
            let error = serde_json::from_str::<TrainOn>(wrong).unwrap_err().to_string();
            assert!(error.contains("expected [\"train\"] or [\"train\", \"dev\"]"), "{error}");
        }
    }
}
