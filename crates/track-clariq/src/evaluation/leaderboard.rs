//! The final leaderboards of the `ClariQ` challenge, and the rank that a run would have there.
//!
//! The tables are in the folder `leaderboard`, which names their source. The challenge ranked by one
//! measure on test: Recall@30 (then Recall@20) for questions, NDCG@3 for documents, F1 for need. The
//! same measure orders the entries on the split of the page; the published rank is shown beside it.

use crate::evaluation::ScorerTask;
use crate::splits;
use clariq_collections::Split;

/// The first digits of the checksum of the released bank, on which the published scores were
/// measured.
pub const RELEASED_BANK: &str = "2100c70232f6";

#[derive(Debug, Clone, PartialEq)]
pub struct LeaderboardEntry {
    /// The published rank, by the scores on test; `None` for the oracles, which were not ranked.
    pub rank: Option<usize>,
    /// The team that submitted the entry.
    pub team: String,
    /// The name of the model.
    pub model: String,
    /// A score for each of [`Leaderboard::measures`].
    pub scores: Vec<f64>,
}

/// The published entries of one task and split, in the published order.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaderboard {
    /// The measures, named as the official scorer names them.
    pub measures: &'static [&'static str],
    /// The positions in `measures` that order the entries: the first decides, the others break ties.
    pub ordered_by: &'static [usize],
    /// All entries, oracles included.
    pub entries: Vec<LeaderboardEntry>,
    /// A row that is known to be published otherwise than it was scored.
    pub remark: Option<&'static str>,
}

const SHIFTED: &str = "The challenge's page shifts the row of NoQuestion by a column: .1475, under NDCG3, is \
                       its NDCG5; the official scorer gives .1450 and .1475.";

/// The rank that a run would have.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Its rank, from 1, among the ranked entries and itself: one more than the number of entries that
    /// are better.
    pub rank: usize,
    /// The number of ranked entries, the run included.
    pub ranked: usize,
    /// The entries in the order of their scores on this split; the run belongs before
    /// `entries[before]`.
    pub order: Vec<usize>,
    /// The number of entries of `order`, oracles included, before the run.
    pub before: usize,
}

type ReleasedTable = (ScorerTask, bool, Split, &'static str, &'static str);

macro_rules! table {
    ($name:literal) => {
        include_str!(concat!("../../leaderboard/", $name, ".tsv"))
    };
}

/// The task, true for multi-turn, the split, the prefix of the columns, and the file.
const TABLES: [ReleasedTable; 7] = [
    (ScorerTask::Ranking, false, splits::DEV, "", table!("question_relevance.dev")),
    (ScorerTask::Ranking, false, splits::TEST, "", table!("question_relevance.test")),
    (ScorerTask::Documents, false, splits::DEV, "", table!("document_relevance.dev")),
    (ScorerTask::Documents, false, splits::TEST, "", table!("document_relevance.test")),
    (ScorerTask::Documents, true, splits::TEST, "", table!("multi_turn_document_relevance.test")),
    (ScorerTask::Need, false, splits::DEV, "dev_", table!("clarification_need")),
    (ScorerTask::Need, false, splits::TEST, "test_", table!("clarification_need")),
];

/// The official scorer's names of the columns of a task, and the positions of those that order the
/// entries.
fn measures(task: ScorerTask) -> (&'static [&'static str], &'static [usize]) {
    match task {
        ScorerTask::Ranking => (&["Recall5", "Recall10", "Recall20", "Recall30"], &[3, 2]),
        ScorerTask::Documents => (&["MRR100", "P1", "NDCG3", "NDCG5"], &[2]),
        ScorerTask::Need => (&["Precision", "Recall", "F1"], &[2]),
    }
}

impl Leaderboard {
    /// The leaderboard of a task on a split; `None` if none was published.
    pub fn published(task: ScorerTask, multi_turn: bool, split: Split) -> Option<Self> {
        let wanted = (task, multi_turn, split);
        let (.., prefix, text) =
            TABLES.into_iter().find(|table| (table.0, table.1, table.2) == wanted)?;
        let (measures, ordered_by) = measures(task);
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next()?.split('\t').collect();
        let position = |measure: &&str| {
            let column = format!("{prefix}{}", measure.to_lowercase());
            header.iter().position(|name| *name == column)
        };
        let positions = measures.iter().map(position).collect::<Option<Vec<usize>>>()?;
        let entries =
            lines.map(|line| entry(line, &positions)).collect::<Option<Vec<LeaderboardEntry>>>()?;
        let is_shifted = wanted == (ScorerTask::Documents, false, splits::DEV);
        Some(Self { measures, ordered_by, entries, remark: is_shifted.then_some(SHIFTED) })
    }

    /// The sort key of scores, in units of the fourth decimal.
    pub fn key(&self, scores: &[f64]) -> Vec<i64> {
        self.ordered_by.iter().map(|&index| rounded(scores[index])).collect()
    }

    /// The entries with these scores, up to one in the fourth decimal: some were published cut, and not
    /// rounded.
    pub fn equals(&self, scores: &[f64]) -> impl Iterator<Item = &LeaderboardEntry> {
        self.entries.iter().filter(move |entry| {
            entry.scores.len() == scores.len()
                && entry.scores.iter().zip(scores).all(|(a, b)| (a - b).abs() < 1e-4)
        })
    }

    /// The remark, if no row has these scores, and one begins with two of them: the first columns are not
    /// shifted.
    pub fn remark_on(&self, scores: &[f64]) -> Option<&'static str> {
        let begins = |entry: &LeaderboardEntry| {
            entry.scores.iter().zip(scores).take(2).all(|(a, b)| (a - b).abs() < 1e-4)
        };
        let is_meant = self.equals(scores).next().is_none() && self.entries.iter().any(begins);
        self.remark.filter(|_| is_meant)
    }

    /// Places a run by its scores, one for each of [`Leaderboard::measures`], rounded to the four
    /// decimals of the published ones.
    pub fn place(&self, scores: &[f64]) -> Placement {
        let key = |scores: &[f64]| self.key(scores);
        let own_key = key(scores);
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        // Stable: equals stay in the published order.
        order.sort_by_key(|&entry| std::cmp::Reverse(key(&self.entries[entry].scores)));
        let before =
            order.iter().filter(|&&entry| key(&self.entries[entry].scores) > own_key).count();
        let ranked = || self.entries.iter().filter(|entry| entry.rank.is_some());
        Placement {
            rank: 1 + ranked().filter(|entry| key(&entry.scores) > own_key).count(),
            ranked: 1 + ranked().count(),
            order,
            before,
        }
    }
}

/// Rounds to four decimals, in units of the fourth.
fn rounded(score: f64) -> i64 {
    (score * 1e4).round() as i64
}

fn entry(line: &str, positions: &[usize]) -> Option<LeaderboardEntry> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [rank, team, model, ..] = fields[..] else { return None };
    let scores = positions
        .iter()
        .map(|&index| fields.get(index)?.parse().ok())
        .collect::<Option<Vec<f64>>>()?;
    Some(LeaderboardEntry {
        rank: rank.parse().ok(),
        team: team.to_owned(),
        model: model.to_owned(),
        scores,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(task: ScorerTask, multi_turn: bool, split: Split) -> Leaderboard {
        Leaderboard::published(task, multi_turn, split).expect("it was published")
    }

    #[test]
    fn every_published_table_is_read() {
        for (task, multi_turn, split, ..) in TABLES {
            let entries = board(task, multi_turn, split).entries;
            let ranks: Vec<usize> = entries.iter().filter_map(|entry| entry.rank).collect();
            assert_eq!(ranks, (1..=ranks.len()).collect::<Vec<_>>(), "{task:?} {split}");
            assert!(
                entries
                    .iter()
                    .all(|entry| entry.scores.iter().all(|score| (0.0..1.0).contains(score)))
            );
        }
        assert_eq!(Leaderboard::published(ScorerTask::Documents, true, splits::DEV), None);
        assert_eq!(Leaderboard::published(ScorerTask::Ranking, false, splits::TRAIN), None);
    }

    #[test]
    fn the_published_order_is_that_of_the_scores_on_test() {
        for (task, multi_turn, split, ..) in
            TABLES.into_iter().filter(|table| table.2 == splits::TEST)
        {
            let board = board(task, multi_turn, split);
            let order = board.place(&vec![0.0; board.measures.len()]).order;
            let mut published: Vec<usize> = (0..order.len()).collect();
            if task == ScorerTask::Need {
                // Published as .4868 before .4871.
                published.swap(6, 7);
            }
            assert_eq!(order, published, "{task:?}");
        }
    }

    #[test]
    fn a_run_has_the_rank_of_its_equals() {
        let board = board(ScorerTask::Ranking, false, splits::TEST);
        let first = board.place(&[0.3404, 0.6329, 0.8335, 0.874_43]);
        assert_eq!((first.rank, first.before), (1, 0), "rounded, it equals the first");
        let second = board.place(&[0.9, 0.1, 0.8335, 0.8743]);
        assert_eq!((second.rank, second.before), (2, 1));
        assert_eq!(board.place(&[0.0; 4]).rank, 28);
    }

    #[test]
    fn figures_of_a_published_row_find_it() {
        let names = |task, split, scores: &[f64]| -> Vec<String> {
            board(task, false, split).equals(scores).map(|entry| entry.model.clone()).collect()
        };
        // The published run of BM25 on dev, whose R@5 was published as .3245.
        let recalls = [0.324_557, 0.563_804, 0.667_5, 0.691_282];
        assert_eq!(names(ScorerTask::Ranking, splits::DEV, &recalls), ["BM25"]);
        let documents = [0.309_592, 0.231_25, 0.160_769, 0.152_997];
        let both = ["BM25", "BERT+BM25"];
        assert_eq!(names(ScorerTask::Documents, splits::DEV, &documents), both);
        let worst = [0.084_055, 0.0125, 0.025_19, 0.031_353];
        let oracle = ["Oracle WorstQuestion"];
        assert_eq!(names(ScorerTask::Documents, splits::DEV, &worst), oracle);
        assert!(names(ScorerTask::Ranking, splits::TEST, &recalls).is_empty());
        assert!(names(ScorerTask::Documents, splits::DEV, &worst[..3]).is_empty());
    }

    #[test]
    fn the_row_that_is_shifted_has_a_remark() {
        let dev = board(ScorerTask::Documents, false, splits::DEV);
        let scored = [0.299_984, 0.206_25, 0.145_044, 0.147_540];
        assert_eq!(dev.remark_on(&scored), Some(SHIFTED));
        let bm25 = [0.309_592, 0.231_25, 0.160_769, 0.152_997];
        assert_eq!(dev.remark_on(&bm25), None);
        assert_eq!(board(ScorerTask::Documents, false, splits::TEST).remark, None);
    }

    #[test]
    fn recall_at_20_decides_between_equals() {
        let board = board(ScorerTask::Ranking, false, splits::TEST);
        assert_eq!(
            board.place(&[0.0, 0.0, 0.7584, 0.7682]).rank,
            26,
            "between BERT-reranker and BM25"
        );
    }

    #[test]
    fn oracles_are_shown_and_not_ranked() {
        let board = board(ScorerTask::Documents, false, splits::TEST);
        let placement = board.place(&[0.4, 0.3, 0.2, 0.15]);
        assert_eq!((placement.rank, placement.before, placement.ranked), (1, 1, 29));
    }
}
