//! Classes of systems: what a system may see of a request.

/// The class of a system, which TREC calls the type of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Sees what a user and a system have said so far, and the user's statements.
    Automatic,
    /// Sees also the resolved utterances and the relevant statements, of this turn and of earlier
    /// ones.
    Manual,
    /// Sees what an automatic system sees, and the passages to answer from.
    OnlyResponse,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::Manual, Self::OnlyResponse];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
            Self::OnlyResponse => "only-response",
        }
    }

    /// The class of this name, in any spelling of TREC iKAT.
    ///
    /// ```
    /// use clariq_collections::Class;
    ///
    /// assert_eq!(Class::parse("generation-only"), Some(Class::OnlyResponse));
    /// assert_eq!(Class::parse("auto"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "automatic" => Some(Self::Automatic),
            "manual" => Some(Self::Manual),
            "only-response" | "only_response" | "generation-only" => Some(Self::OnlyResponse),
            _ => None,
        }
    }
}
