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
