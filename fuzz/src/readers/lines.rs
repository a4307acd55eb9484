//! Runs and qrels are read back as they were written.

use super::{both, read_back};
use clariq_core::{DocId, RequestId};
use clariq_files::{
    Judgement, Run, parse_qrels, parse_run, put_run_lines, read_qrels, read_run,
    strictly_decreasing,
};
use std::collections::HashMap;
use std::io::Write;

/// A ranking of a topic, best first.
type Ranking<'a> = (&'a RequestId, Vec<(&'a DocId, f64)>);

/// A run that is sorted and written reads back as the same rankings, its scores lowered only where they tie.
pub fn run(bytes: &[u8]) {
    let Some(run) = both(bytes, parse_run, read_run) else { return };
    let mut rankings = rankings(&run);
    let put = |rankings: &[Ranking]| {
        let mut written = Vec::new();
        for (topic, ranking) in rankings {
            put_run_lines(&mut written, topic, ranking.iter().copied(), "my\u{a0}tag").unwrap();
        }
        written
    };
    let written = put(&rankings);
    for (_, ranking) in &mut rankings {
        let scores: Vec<f64> = ranking.iter().map(|(_, score)| *score).collect();
        let lowered = strictly_decreasing(&scores);
        assert!(lowered.windows(2).all(|pair| pair[0] > pair[1]), "{lowered:?}");
        // Below the lowest finite number there is only infinity: scores near to it are raised.
        let is_low = |(now, before): (&f64, &f64)| now <= before || *now < f64::MIN * 0.999;
        assert!(lowered.iter().zip(&scores).all(is_low), "{lowered:?} of {scores:?}");
        ranking.iter_mut().zip(lowered).for_each(|(line, score)| line.1 = score);
    }
    let again = read_back(written.clone(), read_run);
    assert_eq!(self::rankings(&again), rankings);
    assert_eq!(written, put(&rankings), "strict scores need no lowering");
}

/// Topics in the order of their first lines, each with its lines by descending score.
fn rankings(run: &Run) -> Vec<Ranking<'_>> {
    let mut rankings: Vec<Ranking> = Vec::new();
    let mut places: HashMap<&RequestId, usize> = HashMap::new();
    for line in &run.lines {
        let place = *places.entry(&line.topic).or_insert(rankings.len());
        if place == rankings.len() {
            rankings.push((&line.topic, Vec::new()));
        }
        rankings[place].1.push((&line.document, line.score));
    }
    for (_, lines) in &mut rankings {
        lines.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    rankings
}

/// Judgements are written and read back.
pub fn qrels(bytes: &[u8]) {
    let Some(judgements) = both(bytes, parse_qrels, read_qrels) else { return };
    let mut written = Vec::new();
    for Judgement { topic, document, relevance } in &judgements {
        writeln!(written, "{topic} 0 {document} {relevance}").unwrap();
    }
    assert_eq!(read_back(written, read_qrels), judgements);
}
