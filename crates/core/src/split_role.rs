//! Roles of splits: the purpose of their labels.

use serde::{Deserialize, Serialize};

/// The role of a set of requests: what its labels are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SplitRole {
    /// Models are trained on it: `train`.
    Learn,
    /// Parameters are chosen on it, and models for held-out requests may be trained on it: `dev`.
    Tune,
    /// Systems are compared on it, and use none of its labels: `test`.
    HeldOut,
}

impl SplitRole {
    /// Other data sets' names of the usual split with this role.
    pub fn also(self) -> &'static [&'static str] {
        match self {
            Self::Learn => &["training"],
            Self::Tune => &["validation", "valid", "val", "development"],
            Self::HeldOut => &["evaluation"],
        }
    }
}

/// The splits whose labels a model is trained on: `["train"]`, which is the default, or
/// `["train", "dev"]`.
///
/// A model never sees labels of the split that it answers or of a later one, so that only models for
/// test are trained on dev: see [`TrainOn::to_answer`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub enum TrainOn {
    /// Only train.
    #[default]
    Train,
    /// Train, and dev for a model that answers test.
    TrainAndDev,
}

impl TrainOn {
    /// The roles of the splits, in order.
    pub fn roles(self) -> &'static [SplitRole] {
        match self {
            Self::Train => &[SplitRole::Learn],
            Self::TrainAndDev => &[SplitRole::Learn, SplitRole::Tune],
        }
    }

    /// The names of these roles in configurations, in order.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Train => &["train"],
            Self::TrainAndDev => &["train", "dev"],
        }
    }

    /// Restricts the splits to those allowed for a model that answers requests of a split with this
    /// role, or of no split.
    #[must_use]
    pub fn to_answer(self, role: Option<SplitRole>) -> Self {
        if role == Some(SplitRole::HeldOut) { self } else { Self::Train }
    }

    /// True for the default, which configurations leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl TryFrom<Vec<String>> for TrainOn {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        [Self::Train, Self::TrainAndDev]
            .into_iter()
            .find(|known| known.names() == names)
            .ok_or_else(|| format!("{names:?}, expected [\"train\"] or [\"train\", \"dev\"]"))
    }
}

impl From<TrainOn> for Vec<String> {
    fn from(train_on: TrainOn) -> Self {
        train_on.names().iter().map(|&name| name.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_counts_for_test_alone() {
        let both = TrainOn::TrainAndDev;
        assert_eq!(both.to_answer(Some(SplitRole::HeldOut)), both);
        for role in [Some(SplitRole::Learn), Some(SplitRole::Tune), None] {
            assert_eq!(both.to_answer(role), TrainOn::Train);
        }
        assert_eq!(TrainOn::Train.to_answer(Some(SplitRole::HeldOut)), TrainOn::Train);
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
