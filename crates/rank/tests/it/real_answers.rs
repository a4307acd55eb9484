//! What a chat model writes where nothing in the prompt asks for the answer alone: 88 answers of
//! Qwen2.5-Coder-1.5B-Instruct (4 bits) to prompts about eight conversations, and what a person reads in
//! each (`data/answers.jsonl`): a line, up to three lines, a grade from 0 to 3, a need from 1 to 4, the
//! first of four passages in their order, a response.

use clariq_core::Completion;
use clariq_rank::answers;
use serde_json::{Value, json};

fn read(usage: &str, answer: &Completion) -> Value {
    match usage {
        "line" => json!(answers::line(answer)),
        "lines" => json!(answers::lines(answer, 3, &[])),
        "grade" => json!(answers::digit(answer, &(0..=3))),
        "need" => json!(answers::digit(answer, &(1..=4))),
        "order" => {
            let order = answers::order(answer, 4);
            assert!(!order.is_whole, "{}", answer.text);
            let first = order.order.iter().take(order.named);
            json!(first.map(|index| index + 1).collect::<Vec<_>>())
        }
        "response" => json!(answers::response(&answer.text)),
        other => panic!("{other}"),
    }
}

#[test]
fn answers_of_a_real_model_are_read_as_a_person_reads_them() {
    let lines = include_str!("../data/answers.jsonl").lines();
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 88);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let wrong = answers.iter().filter_map(|answer| {
        let cut = answer["cut"] == true;
        let completion = Completion { text: text(&answer["text"]), cut, ..Completion::default() };
        let found = read(&text(&answer["use"]), &completion);
        (found != answer["read"]).then(|| format!("{found} of {answer}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}
