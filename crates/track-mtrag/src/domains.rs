//! The domains of the passages.

use clariq_collections::Task;

/// A domain: a collection of passages, and the requests that are answered from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// Web pages of a bank, in MTRAG-UN.
    Banking,
    /// Wikipedia, from the collection `ClapNQ`.
    Clapnq,
    /// Technical documentation of IBM Cloud.
    Cloud,
    /// Financial advice, from the collection `FiQA`.
    Fiqa,
    /// Pages of governments.
    Govt,
    /// Web pages of a telephone company, in MTRAG-UN.
    Telco,
}

impl Domain {
    /// All domains, by name.
    pub const ALL: [Self; 6] =
        [Self::Banking, Self::Clapnq, Self::Cloud, Self::Fiqa, Self::Govt, Self::Telco];

    /// The name of its task.
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The task of its passages alone.
    pub const fn task(self) -> Task {
        Task::new(self.name())
    }

    /// Its names in the released files: MTRAG-UN calls `cloud` `ibmcloud`.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Banking => &["banking"],
            Self::Clapnq => &["clapnq"],
            Self::Cloud => &["cloud", "ibmcloud"],
            Self::Fiqa => &["fiqa"],
            Self::Govt => &["govt"],
            Self::Telco => &["telco"],
        }
    }

    /// The domain of a task's `Collection`: `clapnq`, or the name of an index such as
    /// `mt-rag-clapnq-elser-512-100-20240503`.
    ///
    /// ```
    /// use clariq_track_mtrag::Domain;
    ///
    /// assert_eq!(Domain::of("mt-rag-ibmcloud-elser-512-100-20240502"), Some(Domain::Cloud));
    /// assert_eq!(Domain::of("govt"), Some(Domain::Govt));
    /// assert_eq!(Domain::of("wikipedia"), None);
    /// ```
    pub fn of(collection: &str) -> Option<Self> {
        let name = collection.strip_prefix("mt-rag-").unwrap_or(collection);
        let name = name.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|domain| domain.names().contains(&name))
    }

    /// The domain of that name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|domain| domain.name() == name)
    }
}
