//! Evaluation tables that tests write. The tests of several crates include this file.

/// An evaluation table with the same figures for each measure, of questions with their answers.
pub(crate) fn eval_table(metrics: &[&str], context: &str, figures: &[(&str, f64)]) -> String {
    eval_table_of(metrics, &[context], figures)
}

/// The same figures in several contexts.
pub(crate) fn eval_table_of(
    metrics: &[&str],
    contexts: &[&str],
    figures: &[(&str, f64)],
) -> String {
    let question = |(id, figure): &(&str, f64)| format!("V{id}\n(dVwith_answer\nF{figure}\nss");
    let questions: String = figures.iter().map(question).collect();
    let context = |context: &&str| format!("{context}\n(d{questions}s");
    let contexts: String = contexts.iter().map(context).collect();
    let metric = |name: &&str| format!("V{name}\n(d{contexts}s");
    format!("(d{}.", metrics.iter().map(metric).collect::<String>())
}
