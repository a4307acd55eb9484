//! Which examples every step of a training takes, which topics are held out, and the generators that
//! everything random is drawn from.

use clariq_core::{ExampleForm, JudgedQuestions, Recipe};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::{BTreeMap, HashMap};

/// Positions of the examples that are trained on, and of those that are held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExampleSplit {
    /// Trained on.
    pub(crate) train: Vec<usize>,
    /// Never trained on.
    pub(crate) held_out: Vec<usize>,
}

impl ExampleSplit {
    /// Splits by request, so that topics that ask the same are on one side. The requests are
    /// shuffled; of their shares, the one with the number `fold` is held out.
    pub(crate) fn draw(requests: &[String], share: f64, fold: usize, seed: u64) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut grouped: Vec<Vec<usize>> = Vec::new();
        for (example, request) in requests.iter().enumerate() {
            let number = numbers.entry(request.trim().to_ascii_lowercase());
            let number = *number.or_insert_with(|| {
                grouped.push(Vec::new());
                grouped.len() - 1
            });
            grouped[number].push(example);
        }
        let count = grouped.len();
        let end_of =
            |shares: usize| ((shares as f64 * share * count as f64).round() as usize).min(count);
        shuffle(&mut grouped, &mut generator(seed, 0));
        let mut held_out: Vec<usize> =
            grouped.drain(end_of(fold)..end_of(fold + 1)).flatten().collect();
        let mut train = grouped.concat();
        train.sort_unstable();
        held_out.sort_unstable();
        Self { train, held_out }
    }
}

/// A generator for one purpose: another number gives another sequence.
fn generator(seed: u64, purpose: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(purpose);
    generator
}

/// A number below `limit`; the bias of the remainder is below 2⁻⁴⁰ for any list here.
fn below(limit: usize, generator: &mut ChaCha8Rng) -> usize {
    (generator.next_u64() % limit.max(1) as u64) as usize
}

/// Fisher and Yates' shuffle.
fn shuffle<T>(list: &mut [T], generator: &mut ChaCha8Rng) {
    for end in (1..list.len()).rev() {
        list.swap(end, below(end + 1, generator));
    }
}

/// (topic, question) pairs of a step; their meaning depends on the objective.
pub(crate) type TrainingStep = Vec<(usize, u32)>;

/// The steps of an epoch.
pub(crate) fn steps(
    recipe: &Recipe,
    judged: &JudgedQuestions,
    split: &ExampleSplit,
    epoch: usize,
) -> Vec<TrainingStep> {
    let mut random = generator(recipe.seed, 1 + epoch as u64);
    let mut shuffled = |mut pairs: TrainingStep| {
        shuffle(&mut pairs, &mut random);
        pairs
    };
    let relevant = judged.pairs(&split.train, recipe.objective.sees_pairs_once());
    match recipe.objective.form() {
        ExampleForm::Texts { batch, per_request, .. } => {
            let pairs = shuffled(relevant);
            if per_request == 0 {
                return in_batches(&pairs, batch);
            }
            by_request(&pairs, batch, per_request, &mut random)
        }
        ExampleForm::Pairs { batch, negatives } => {
            let mut pairs = relevant;
            for &topic in &split.train {
                let questions = topped_up(judged, topic, negatives, recipe.seed);
                pairs.extend(questions.into_iter().map(|question| (topic, question)));
            }
            shuffled(pairs).chunks(batch).map(<[_]>::to_vec).collect()
        }
        ExampleForm::Lists { batch, negatives, depth } => {
            let positives = shuffled(relevant);
            let list = |(topic, question): (usize, u32)| {
                let candidates = &judged.candidates[topic];
                let mut pool: Vec<u32> = candidates.iter().copied().take(depth).collect();
                shuffle(&mut pool, &mut random);
                pool.truncate(negatives);
                while pool.len() < negatives {
                    pool.push(some_negative(judged, topic, &mut random));
                }
                let list = std::iter::once(question).chain(pool);
                list.map(|question| (topic, question)).collect()
            };
            let lists: Vec<TrainingStep> = positives.into_iter().map(list).collect();
            lists.chunks(batch).map(<[TrainingStep]>::concat).collect()
        }
    }
}

/// The last batch is left out if it is less than half full: a softmax over few questions says
/// little.
fn in_batches(pairs: &[(usize, u32)], batch: usize) -> Vec<TrainingStep> {
    let full = |step: &&[(usize, u32)]| step.len() * 2 >= batch || pairs.len() * 2 < batch;
    pairs.chunks(batch).filter(full).map(<[_]>::to_vec).collect()
}

/// Batches with several questions of each of their requests, and no request twice.
fn by_request(
    pairs: &[(usize, u32)],
    batch: usize,
    per_request: usize,
    random: &mut ChaCha8Rng,
) -> Vec<TrainingStep> {
    let mut of_topic: BTreeMap<usize, Vec<(usize, u32)>> = BTreeMap::new();
    for &pair in pairs {
        of_topic.entry(pair.0).or_default().push(pair);
    }
    let mut chunks: Vec<(usize, Vec<TrainingStep>)> = of_topic
        .into_iter()
        .map(|(topic, pairs)| (topic, pairs.chunks(per_request).map(<[_]>::to_vec).collect()))
        .collect();
    let width = (batch / per_request).max(1);
    let mut steps = Vec::new();
    while !chunks.is_empty() {
        // Topics with most chunks left come first, so that batches stay full to the end.
        shuffle(&mut chunks, random);
        chunks.sort_by_key(|(_, left)| std::cmp::Reverse(left.len()));
        let step: TrainingStep =
            chunks.iter_mut().take(width).filter_map(|(_, left)| left.pop()).flatten().collect();
        if chunks.len() * 2 >= width || steps.is_empty() {
            steps.push(step);
        }
        chunks.retain(|(_, left)| !left.is_empty());
    }
    shuffle(&mut steps, random);
    steps
}

fn some_negative(judged: &JudgedQuestions, topic: usize, random: &mut ChaCha8Rng) -> u32 {
    loop {
        let question = below(judged.questions.len(), random) as u32;
        if !judged.questions[question as usize].is_empty() && !judged.is_relevant(topic, question) {
            return question;
        }
    }
}

/// The best candidates of a topic, and questions at random where there are too few; the same in
/// every epoch.
fn topped_up(judged: &JudgedQuestions, topic: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut negatives: Vec<u32> = judged.candidates[topic].iter().copied().take(count).collect();
    let mut random = generator(seed, (1 << 32) + topic as u64);
    while negatives.len() < count {
        let negative = some_negative(judged, topic, &mut random);
        if !negatives.contains(&negative) {
            negatives.push(negative);
        }
    }
    negatives
}

/// Every pair of so many epochs, once.
pub(crate) fn pairs_of(
    recipe: &Recipe,
    judged: &JudgedQuestions,
    split: &ExampleSplit,
    epochs: usize,
) -> Vec<(usize, u32)> {
    let mut all: Vec<(usize, u32)> =
        (0..epochs).flat_map(|epoch| steps(recipe, judged, split, epoch)).flatten().collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_topic_is_held_out_in_one_fold() {
        let requests: Vec<String> = (0..13).map(|topic| format!("request {topic}")).collect();
        let fold = |fold| ExampleSplit::draw(&requests, 0.2, fold, 7).held_out;
        let mut all: Vec<usize> = (0..5).flat_map(fold).collect();
        all.sort_unstable();
        assert_eq!(all, (0..13).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn no_request_is_on_both_sides(kinds in prop::collection::vec(0_u8..30, 1..60), share in 0.0..0.9_f64, seed: u64) {
            let requests: Vec<String> = kinds.iter().map(|kind| format!("Request {kind} ")).collect();
            let split = ExampleSplit::draw(&requests, share, 0, seed);
            prop_assert_eq!(split.train.len() + split.held_out.len(), kinds.len());
            for &train in &split.train {
                prop_assert!(split.held_out.iter().all(|&held| kinds[held] != kinds[train]));
            }
            prop_assert_eq!(ExampleSplit::draw(&requests, share, 0, seed), split);
        }
    }

    fn judged() -> JudgedQuestions {
        JudgedQuestions {
            topics: vec!["1".into(), "2".into(), "3".into()],
            requests: vec!["a".into(), "b".into(), "c".into()],
            questions: (0..20)
                .map(|number| if number == 0 { String::new() } else { format!("q{number}") })
                .collect(),
            relevant: vec![vec![1, 2, 2], vec![3, 4], vec![5, 6]],
            candidates: vec![vec![7, 8], vec![9], vec![10, 11, 12]],
            evaluation: Vec::new(),
        }
    }

    fn recipe(objective: &str) -> Recipe {
        let text = format!(
            "name = \"m\"\nbase = \"b\"\nepochs = 2\nlearning_rate = 1e-3\n[objective]\n{objective}"
        );
        Recipe::parse("m.toml", &text).unwrap()
    }

    fn split() -> ExampleSplit {
        ExampleSplit { train: vec![0, 2], held_out: vec![1] }
    }

    const OBJECTIVES: [&str; 4] = [
        "kind = \"in-batch-softmax\"\nbatch = 4",
        "kind = \"in-batch-softmax\"\nbatch = 4\nper_request = 2",
        "kind = \"cross-entropy\"\nbatch = 4\nnegatives = 5\nsystem = \"bm25\"",
        "kind = \"listwise\"\nbatch = 2\nnegatives = 4\nsystem = \"bm25\"\ndepth = 3",
    ];

    #[test]
    fn no_held_out_topic_is_in_any_step() {
        for objective in OBJECTIVES {
            let recipe = recipe(objective);
            let pairs = pairs_of(&recipe, &judged(), &split(), 5);
            assert!(!pairs.is_empty(), "{objective}");
            assert!(pairs.iter().all(|&(topic, _)| topic != 1), "{objective}: {pairs:?}");
        }
    }

    #[test]
    fn the_empty_question_is_never_a_negative_and_relevant_ones_neither() {
        for objective in &OBJECTIVES[2..4] {
            let recipe = recipe(objective);
            let pairs = pairs_of(&recipe, &judged(), &split(), 5);
            let relevant =
                pairs.iter().filter(|&&(topic, question)| judged().is_relevant(topic, question));
            assert_eq!(relevant.count(), 4, "{objective}");
            assert!(pairs.iter().all(|&(_, question)| question != 0), "{objective}");
        }
    }

    #[test]
    fn the_published_recipe_repeats_positives_and_tops_negatives_up() {
        let steps = steps(&recipe(OBJECTIVES[2]), &judged(), &split(), 0);
        let pairs = steps.concat();
        assert_eq!(pairs.len(), 3 + 2 + 2 * 5);
        assert_eq!(pairs.iter().filter(|&&pair| pair == (0, 2)).count(), 2);
        assert!(
            [7, 8].iter().all(|&question| pairs.contains(&(0, question))),
            "candidates come first"
        );
    }

    #[test]
    fn epochs_differ_and_repeat_themselves() {
        for objective in OBJECTIVES {
            let recipe = recipe(objective);
            let epoch = |epoch| steps(&recipe, &judged(), &split(), epoch);
            assert_eq!(epoch(0), epoch(0), "{objective}");
            assert_ne!(epoch(0), epoch(1), "{objective}");
        }
    }
}
