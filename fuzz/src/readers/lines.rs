//! Runs, need files, qrels and multi-turn runs: what is read is what was written.

use super::{both, quoted, read_back};
use clariq_collections::clariq::{
    Bank, BankRow, parse_need_file, parse_text_run, put_need_lines, read_need_file, read_text_run,
};
use clariq_core::{Documents, Need, QuestionId, TopicId};
use clariq_files::{
    Judgement, Run, RunLine, parse_qrels, parse_run, put_run_lines, read_qrels, read_run,
    strictly_decreasing,
};
use std::collections::HashMap;
use std::io::Write;

/// A ranking of a topic, best first.
type Ranking<'a> = (&'a TopicId, Vec<(&'a QuestionId, f64)>);

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
        // Below the lowest of all doubles there is only infinity: what is near to it is raised.
        let is_low = |(is, was): (&f64, &f64)| is <= was || *is < f64::MIN * 0.999;
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
    let mut places: HashMap<&TopicId, usize> = HashMap::new();
    for line in &run.lines {
        let place = *places.entry(&line.topic).or_insert(rankings.len());
        if place == rankings.len() {
            rankings.push((&line.topic, Vec::new()));
        }
        rankings[place].1.push((&line.question, line.score));
    }
    for (_, lines) in &mut rankings {
        lines.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    rankings
}

/// Labels that a system may give are written and read back.
pub fn need(bytes: &[u8]) {
    let Some(lines) = both(bytes, parse_need_file, read_need_file) else { return };
    let need = |label: i64| u8::try_from(label).ok().and_then(Need::new);
    let labels: Vec<_> =
        lines.iter().filter_map(|line| Some((&line.topic, need(line.label)?))).collect();
    if labels.is_empty() {
        return;
    }
    let mut written = Vec::new();
    put_need_lines(&mut written, labels.clone()).unwrap();
    let again = read_back(written, read_need_file);
    assert_eq!(
        again.iter().filter_map(|line| Some((&line.topic, need(line.label)?))).collect::<Vec<_>>(),
        labels
    );
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

/// A multi-turn run names questions of the bank or none, and reads back when every field is quoted.
pub fn text_run(bytes: &[u8]) {
    let texts = [("Q00001", ""), ("Q00002", "which one"), ("Q00003", "the \"new\" one")];
    let row = |(id, text): (&str, &str)| BankRow { id: id.into(), text: text.to_owned() };
    let bank = Bank::from_rows(texts.map(row).to_vec());
    let read = |source: &_| read_text_run(source, &bank);
    let Some(run) = both(bytes, |input, sink| parse_text_run(input, &bank, sink), read) else {
        return;
    };
    assert!(run.lines.windows(2).all(|pair| pair[0].line < pair[1].line || bytes.contains(&b'\r')));
    let mut written = String::new();
    for RunLine { topic, question, score, .. } in &run.lines {
        let text =
            bank.find(question.as_str()).map_or("not in the bank", |number| bank.text(number));
        let fields = [topic.as_str(), "0", text, "0", &score.to_string(), "a tag"].map(quoted);
        written += &(fields.join(" ") + "\n");
    }
    let again = read_back(written.into_bytes(), read);
    let content = |run: &Run| {
        run.lines
            .iter()
            .map(|line| (line.topic.clone(), line.question.clone(), line.score))
            .collect::<Vec<_>>()
    };
    assert_eq!(content(&again), content(&run));
}
