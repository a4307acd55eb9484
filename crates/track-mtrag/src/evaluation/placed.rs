//! Answers that the organisers' scorer does not find where it looks for them.

use crate::domains::Domain;
use crate::submission::SubmittedTask;
use clariq_core::{RequestId, counted};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Where the organisers' scorer looks for the answers of a submission.
#[derive(Default)]
pub(super) struct Placed {
    /// Answers that are not found there, by domain: they name another `Collection` than that of their request,
    /// or a request that the split lacks. They count in the weight of the domain, and in no mean.
    pub(super) elsewhere: BTreeMap<Domain, usize>,
    /// The requests among them that the split has.
    pub(super) misplaced: HashSet<RequestId>,
    /// The number of passages that are given again for a request.
    repeated: usize,
}

impl Placed {
    pub(super) fn add(
        &mut self,
        answer: &SubmittedTask,
        request: Option<&RequestId>,
        domains: &HashMap<&RequestId, Domain>,
    ) {
        let mut ids: Vec<&str> = answer.contexts.iter().map(|(id, _)| id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        self.repeated += answer.contexts.len() - ids.len();
        let domain = request.and_then(|request| domains.get(request)).copied();
        if let Some(named) = answer.other_domain(domain) {
            *self.elsewhere.entry(named).or_default() += 1;
            self.misplaced.extend(request.cloned());
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        counted(&[
            (
                self.elsewhere.values().sum(),
                "answer is to a request that the split does not have in its `Collection`: as in the \
                 organisers' scorer, it counts in the weight of that domain, and in no mean",
                "answers are to requests that the split does not have in their `Collection`: as in the \
                 organisers' scorer, they count in the weights of these domains, and in no mean",
            ),
            (
                self.repeated,
                "passage is given again for its request: the last score counts",
                "passages are given again for their requests: the last score of each counts",
            ),
        ])
    }
}
