//! Headings, labels behind a sentence, quotations, elements and calls of tools in what chat models write.

use super::whole;
use clariq_rank::answers;

#[test]
fn a_line_is_behind_a_heading_or_a_label() {
    for (text, read) in [
        ("**Final Answer**\n\nflat bike tyre hole", Some("flat bike tyre hole")),
        ("**Final Answer:** flat bike tyre hole", Some("flat bike tyre hole")),
        ("Final rewritten query: flat bike tyre hole", Some("flat bike tyre hole")),
        (
            "They ask about a bike. So the query would be: flat bike tyre hole",
            Some("flat bike tyre hole"),
        ),
        (
            "The user wants a repair. The rewritten query is: \"flat bike tyre hole\"",
            Some("flat bike tyre hole"),
        ),
        ("[/INST] flat bike tyre hole</s>", Some("flat bike tyre hole")),
        ("<start_of_turn>model\nflat bike tyre hole<end_of_turn>", Some("flat bike tyre hole")),
        ("<notes>a bike</notes>flat bike tyre hole", None),
        ("<|python_tag|>search(query=\"flat bike tyre hole\")", None),
        ("```tool_code\nsearch(\"flat bike tyre hole\")\n```", None),
        ("I will search.\n<tool_call>{\"name\": \"search\"}</tool_call>", None),
        ("Dr. Who: what is it?", Some("Dr. Who: what is it?")),
        ("It is flat. Bike: which one?", Some("It is flat. Bike: which one?")),
        ("It is flat. Query: which one?", Some("It is flat. Query: which one?")),
        ("<b>flat</b> bike", Some("<b>flat</b> bike")),
        ("<strong>flat</strong> bike", Some("<strong>flat</strong> bike")),
        ("which tool is a [TOOL]?", Some("which tool is a [TOOL]?")),
    ] {
        assert_eq!(answers::line(&whole(text)).as_deref(), read, "{text:?}");
    }
}

#[test]
fn headings_and_quotations_are_no_queries() {
    for text in [
        "**Final Answer**\n\nred foxes\nblue foxes\ngrey foxes",
        "**Queries:**\nred foxes\nblue foxes\ngrey foxes",
        "> They ask about foxes.\n> All of them.\n\nred foxes\nblue foxes\ngrey foxes",
        "> red foxes\n> blue foxes\n> grey foxes",
        "Here are three:\n> red foxes\n> blue foxes\n> grey foxes",
    ] {
        let read = answers::lines(&whole(text), 3, &[]);
        assert_eq!(read, ["red foxes", "blue foxes", "grey foxes"], "{text:?}");
    }
    let call = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search";
    assert!(answers::lines(&whole(call), 3, &[]).is_empty());
}

#[test]
fn a_response_is_behind_a_heading_and_calls_no_tool() {
    for (text, read) in [
        ("**Final Answer**\n\nBees fly [1].", Some("Bees fly [1].")),
        ("## Response\nBees fly [1].", Some("Bees fly [1].")),
        ("Assistant: Bees fly [1].", Some("Bees fly [1].")),
        ("<start_of_turn>model\nBees fly [1].<end_of_turn>", Some("Bees fly [1].")),
        ("[TOOL_CALLS][{\"name\": \"search\", \"arguments\": {}}]", None),
        ("I will search.\n<tool_call>\n{\"name\": \"search\"}\n</tool_call>", None),
        ("**Bees**\n\nThey fly [1].", Some("**Bees**\n\nThey fly [1].")),
        ("> Bees fly.\n\nSo it is said [1].", Some("> Bees fly.\n\nSo it is said [1].")),
        ("**Answer**", Some("Answer")),
    ] {
        assert_eq!(answers::response(text).as_deref(), read, "{text:?}");
    }
}

#[test]
fn what_a_model_says_about_the_task_is_no_query() {
    for text in [
        "The last utterance is already self-contained.",
        "No rewrite needed: flat bike tyre hole",
        "(No changes needed) flat bike tyre hole",
        "flat bike tyre hole (unchanged)",
        "flat bike tyre hole (Note: I replaced \"it\" with \"a tyre\".)",
        "flat bike tyre hole? *(I replaced it by a tyre)*",
        "What is it? Explanation: \"it\" is the tyre.",
        "\"flat tyre\" Reasoning: the user said it.",
        "What is a tyre? A: It is round.",
        "\"fix it\" -> \"fix a tyre\"",
        "The rewritten utterance is \"fix a tyre\"",
        "What is the user's last utterance?",
        "What the user said about themselves; use it only where it matters:",
        "Please provide the conversation history.",
        "The request is clear, so no clarification is needed.",
        "As an AI, I cannot repair tyres.",
        "I’m really sorry, but I can’t help with that.",
        "I must decline.",
        "抱歉，我无法回答这个问题。",
        "query = \"flat tyre\"",
        "search(\"flat tyre\")",
        "NO_CHANGE",
        "Unchanged",
        "Same as above.",
        "N.A.",
        "<Thinking Process>a</Thinking Process>flat tyre",
        "<思考>a</思考>flat tyre",
    ] {
        assert_eq!(answers::line(&whole(text)), None, "{text:?}");
    }
    for text in [
        "what is a self-contained flat?",
        "standalone headset (2024)",
        "Jaguar (\"the car\")",
        "what does the user manual say?",
        "the user interface of a phone",
        "I'm looking for notes: which app?",
        "a reason to stay",
        "The user wants to know how to stop snoring.",
        "how is 3/4 rewritten as a decimal?",
        "convert docx -> pdf",
        "let me in",
    ] {
        assert_eq!(answers::line(&whole(text)).as_deref(), Some(text), "{text:?}");
    }
    let turn = "flat bike tyre hole<|endoftext|>Human: and then?";
    assert_eq!(answers::line(&whole(turn)).as_deref(), Some("flat bike tyre hole"));
}

#[test]
fn remarks_between_and_below_queries_are_none() {
    for text in [
        "red foxes\nblue foxes\nLet me know if you need more!",
        "red foxes\nblue foxes\n\nThese queries cover the request.",
        "1. red foxes\n2. blue foxes\n\n**Note:** I kept them short.",
        "Rationale: foxes.\nred foxes\nblue foxes",
        "Query 1: red foxes\nReason: colour\nQuery 2: blue foxes\nReason: colour",
        "red foxes\nblue foxes\n\nUser: and wasps?\nred wasps",
        "red foxes\nblue foxes\n\n### User: and wasps?\nred wasps",
        "red foxes\nblue foxes\n\n**Human:** and wasps?\nred wasps",
        "1.\nred foxes\n2.\nblue foxes",
        "First query: red foxes\nSecond query: blue foxes",
        "queries = [\n  \"red foxes\",\n  \"blue foxes\"\n]",
    ] {
        let read = answers::lines(&whole(text), 5, &[]);
        assert_eq!(read, ["red foxes", "blue foxes"], "{text:?}");
    }
    for text in [
        "1. red foxes 2. blue foxes",
        "1) red foxes, 2) blue foxes",
        "\"red foxes\" \"blue foxes\"",
        "red foxes OR blue foxes",
        "Query 1: red foxes Query 2: blue foxes",
    ] {
        assert_eq!(answers::lines(&whole(text), 5, &[]), [""; 0], "{text:?}");
    }
}

#[test]
fn a_bound_is_no_grade() {
    for text in [
        "Grade: >2",
        "Grade: > 2",
        "≥2",
        "<= 2",
        "<2",
        "~2",
        "2+",
        "Grade: below 2",
        "The grade should be higher than 1",
        "{\"id\": 1, \"grade\": \"high\"}",
    ] {
        assert_eq!(answers::digit(&whole(text), &(0..=3)), None, "{text:?}");
    }
    for text in ["Grade -> 2", "> 2", "<2>", "{\"passage\": 1, \"grade\": 2}"] {
        assert_eq!(answers::digit(&whole(text), &(0..=3)), Some(2), "{text:?}");
    }
}

#[test]
fn a_response_is_a_text_without_further_turns() {
    for (text, read) in [
        ("Bees fly [1].\n\nQuestion: And wasps?\nAnswer: They sting [2].", Some("Bees fly [1].")),
        ("Bees fly [1].\n\n### Instruction:\nAnd wasps?", Some("Bees fly [1].")),
        ("system: Bees fly [1].", Some("Bees fly [1].")),
        ("N/A", None),
        ("None", None),
        ("No answer", None),
        ("[Your answer here]", None),
        ("<your answer>", None),
        ("<notes>a</notes>Bees fly [1].", None),
        ("None of them fly [1].", Some("None of them fly [1].")),
        ("<table>a</table>\nBees fly [1].", Some("<table>a</table>\nBees fly [1].")),
    ] {
        assert_eq!(answers::response(text).as_deref(), read, "{text:?}");
    }
}
