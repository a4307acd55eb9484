//! What chat models write where a line, a digit, an order or a response is asked for, in the forms that
//! they have, and what is read of it.

mod marks;
mod orders;

use clariq_core::Completion;
use clariq_rank::answers;

fn whole(text: &str) -> Completion {
    Completion { text: text.to_owned(), ..Completion::default() }
}

fn cut(text: &str) -> Completion {
    Completion { cut: true, ..whole(text) }
}

#[test]
fn one_line_is_a_query_or_a_question() {
    for (text, read) in [
        ("flat bike tyre hole", Some("flat bike tyre hole")),
        ("\n  flat bike tyre hole \n\n", Some("flat bike tyre hole")),
        ("\"flat bike tyre hole\"", Some("flat bike tyre hole")),
        ("“flat bike tyre hole”", Some("flat bike tyre hole")),
        ("**flat bike tyre hole**", Some("flat bike tyre hole")),
        ("`flat bike tyre hole`", Some("flat bike tyre hole")),
        ("- flat bike tyre hole", Some("flat bike tyre hole")),
        ("1. flat bike tyre hole", Some("flat bike tyre hole")),
        ("Rewritten: flat bike tyre hole", Some("flat bike tyre hole")),
        ("**Rewritten utterance:** flat bike tyre hole", Some("flat bike tyre hole")),
        ("Rewritten query: \"flat bike tyre hole\"", Some("flat bike tyre hole")),
        (
            "Sure! This is the rewritten utterance:\n\nflat bike tyre hole",
            Some("flat bike tyre hole"),
        ),
        ("Sure! Here is the rewritten utterance: flat bike tyre hole", Some("flat bike tyre hole")),
        ("Certainly! flat bike tyre hole", Some("flat bike tyre hole")),
        ("You can ask: \"Do you mean tyres?\"", Some("Do you mean tyres?")),
        ("Clarifying question: Do you mean tyres?", Some("Do you mean tyres?")),
        ("```\nflat bike tyre hole\n```", Some("flat bike tyre hole")),
        ("```json\n{\"query\": \"flat bike tyre hole\"}\n```", Some("flat bike tyre hole")),
        ("Here is the query:\n```text\nflat bike tyre hole\n```", Some("flat bike tyre hole")),
        ("{\"rewritten_utterance\": \"flat bike tyre hole\"}", Some("flat bike tyre hole")),
        ("[\"flat bike tyre hole\"]", Some("flat bike tyre hole")),
        ("<answer>flat bike tyre hole</answer>", Some("flat bike tyre hole")),
        ("flat bike tyre hole<|im_end|>", Some("flat bike tyre hole")),
        ("flat bike tyre hole </s>\n</s>", Some("flat bike tyre hole")),
        ("<|START_RESPONSE|>flat bike tyre hole<|END_RESPONSE|>", Some("flat bike tyre hole")),
        ("flat bike tyre hole<｜end▁of▁sentence｜>", Some("flat bike tyre hole")),
        ("flat bike tyre hole[e~[", Some("flat bike tyre hole")),
        ("<Output>\nflat bike tyre hole\n</Output>", Some("flat bike tyre hole")),
        ("<CONCLUSION>flat bike tyre hole</CONCLUSION>", Some("flat bike tyre hole")),
        ("<my_query>flat bike tyre hole</my_query>", Some("flat bike tyre hole")),
        ("<response>flat bike tyre hole", Some("flat bike tyre hole")),
        (
            "<answer><|begin_of_box|>flat bike tyre hole<|end_of_box|></answer>",
            Some("flat bike tyre hole"),
        ),
        (
            "<answer>```json\n{\"query\": \"flat bike tyre hole\"}\n```</answer><|im_end|>",
            Some("flat bike tyre hole"),
        ),
        ("<T> is a type", Some("<T> is a type")),
        ("<p>a</p> or <p>b</p>", Some("<p>a</p> or <p>b</p>")),
        ("what does <|im_end|> mean?", Some("what does <|im_end|> mean?")),
        ("Star Wars: who made it?", Some("Star Wars: who made it?")),
        ("\"Alien\" or \"Aliens\"", Some("\"Alien\" or \"Aliens\"")),
        ("3.5 mm jack", Some("3.5 mm jack")),
        ("flat bike tyre hole\n\nI replaced \"it\" by the tyre.", None),
        ("Do you mean bees?\nOr wasps?", None),
        ("{\"query\": \"a\", \"reason\": \"b\"}", None),
        ("[\"a\", \"b\"]", None),
        ("I'm sorry, but I cannot help with that.", None),
        ("As an AI language model, I have no tyre.", None),
        ("Sure!\n\n", None),
        ("...", None),
        ("", None),
    ] {
        assert_eq!(answers::line(&whole(text)).as_deref(), read, "{text:?}");
    }
    assert_eq!(answers::line(&cut("How do I repair a punc")), None);
    // Of Qwen2.5-Coder-0.5B-Instruct, which was asked without the words "alone, on one line".
    for (text, read) in [
        ("How many moons does Jupiter have?", Some("How many moons does Jupiter have?")),
        (
            "```json\n{\n  \"query\": \"How do I repair a flat tyre?\"\n}\n```",
            Some("How do I repair a flat tyre?"),
        ),
        (
            "```json\n{\n  \"query\": \"How many moons does Jupiter have?\",\n  \"source\": \
             \"Jupiter\"\n}\n```",
            None,
        ),
        (
            "Sure, here's a clarifying question about kombucha:\n\nWhat is it?\n\nKombucha is a drink.",
            None,
        ),
    ] {
        assert_eq!(answers::line(&whole(text)).as_deref(), read, "{text:?}");
    }
}

/// What models write around a question, and in its place.
#[test]
fn a_question_is_read_in_its_clothes_and_nothing_else_is_one() {
    let question = "what size of tyre do you need?";
    for around in [
        "*{}*",
        "_{}_",
        "__{}__",
        "\"\"\"{}\"\"\"",
        "\\boxed{{}}",
        "(1) {}",
        "[1] {}",
        "# {}",
        "### Question\n\n{}",
        "Question 1: {}",
        "System: {}",
        "AI: {}",
        "Bot: {}",
        "<clarifying_question>{}</clarifying_question>",
        "<final_answer>{}</final_answer>",
        "<Question>{}</Question>",
        "<answer>{}",
        "A good clarifying question would be: {}",
        "One clarifying question is: {}",
        "Great question! {}",
        "Alright, {}",
        "Sure, I can help with that! {}",
        "{}\u{200b}",
        "\u{feff}{}",
        "Question：{}",
    ] {
        let text = around.replace("{}", question);
        assert_eq!(answers::line(&whole(&text)).as_deref(), Some(question), "{text:?}");
    }
    for nothing in [
        "I cannot assist with that request.",
        "I can't help with that.",
        "Sorry, I can't assist with that.",
        "Sorry, but I cannot.",
        "I’m unable to help.",
        "I am not able to provide that.",
        "Unfortunately, I cannot do this.",
        "As a language model, I can't.",
        "I don't have enough information.",
        "N/A",
        "None.",
        "null",
        "undefined",
        "nan",
        "No clarifying question is needed.",
        "No question needed.",
        "(no question)",
        "No clarification needed",
        "{'question': 'what size?'}",
        "{question: \"what size?\"}",
        "{\"question\": \"what size?\",}",
        "{\n\"question\": \"what size?\",\n}",
        "[Your question here]",
        "{{question}}",
        "<question>",
        "<your question here>",
    ] {
        assert_eq!(answers::line(&whole(nothing)), None, "{nothing:?}");
        assert_eq!(answers::lines(&whole(nothing), 2, &[]), [""; 0], "{nothing:?}");
    }
    for text in [
        "I can't open my bike lock",
        "I am not able to log in, what now?",
        "I don't have enough space for a pan. Do you know any stores?",
        "Sorry, what do you mean?",
        "no country for old men",
        "none of us",
        "12: the movie",
        "12: 30 is the time",
        "\"Jaguar\" - do you mean the car?",
        "**Jaguar**: the car or the animal?",
    ] {
        assert_eq!(answers::line(&whole(text)).as_deref(), Some(text), "{text:?}");
    }
}

#[test]
fn several_lines_are_queries() {
    let read = |text: &str, most| answers::lines(&whole(text), most, &[]);
    for text in [
        "red foxes\nblue foxes\ngrey foxes",
        "1. red foxes\n2. blue foxes\n3. grey foxes",
        "Here are three search queries:\n\n1. \"red foxes\"\n2. \"blue foxes\"\n3. \"grey foxes\"",
        "- red foxes\n- blue foxes\n- red foxes\n- grey foxes",
        "I would search as follows.\n\n* red foxes\n* blue foxes\n* grey foxes\n\nGood luck!",
        "```json\n[\"red foxes\", \"blue foxes\", \"grey foxes\"]\n```",
        "{\"queries\": [\"red foxes\", \"blue foxes\", \"grey foxes\"]}",
        "<query>red foxes</query>\n<query>blue foxes</query>\n<query>grey foxes</query>",
        "## Query 1\nred foxes\n## Query 2\nblue foxes\n## Query 3\ngrey foxes",
        "Query 1: red foxes\nQuery 2: blue foxes\nQuery 3: grey foxes",
        "(1) red foxes\n(2) blue foxes\n(3) grey foxes",
        "\"red foxes\",\n\"blue foxes\",\n\"grey foxes\"",
        "\"red foxes\",\n\"blue foxes\",\n\"grey foxes\",",
        "a) red foxes\nb) blue foxes\nc) grey foxes",
        "A. red foxes\nB. blue foxes\nC. grey foxes",
        "1 - red foxes\n2 - blue foxes\n3 - grey foxes",
        "1: red foxes\n2: blue foxes\n3: grey foxes",
        "#1 red foxes\n#2 blue foxes\n#3 grey foxes",
        "**1.** red foxes\n**2.** blue foxes\n**3.** grey foxes",
        "Q1: red foxes\nQ2: blue foxes\nQ3: grey foxes",
        "– red foxes\n– blue foxes\n– grey foxes",
        "+ red foxes\n+ blue foxes\n+ grey foxes",
        "- [ ] red foxes\n- [ ] blue foxes\n- [x] grey foxes",
        "I will write three queries.\nred foxes\nblue foxes\ngrey foxes",
        "1. red foxes\n   This finds foxes.\n2. blue foxes\n   This too.\n3. grey foxes\n   And this.",
    ] {
        assert_eq!(read(text, 3), ["red foxes", "blue foxes", "grey foxes"], "{text:?}");
    }
    // Qwen2.5-Coder-0.5B-Instruct.
    let text = "1. What is the largest planet?\n   system: Jupiter.\n\n2. How many moons does it have?\n   \
                system: Jupiter.\n\n3. How many moons does it have?";
    assert_eq!(read(text, 3), ["What is the largest planet?", "How many moons does it have?"]);
    let text = "1. \"What is wrong?\"\n2. \"How do I repair it?\"\n3. \"What is wrong?\"";
    assert_eq!(read(text, 3), ["What is wrong?", "How do I repair it?"]);
    let text = "1. \"red foxes\"\n\n2) 3.5 mm jack\n- blue foxes\nred foxes\n*bold*\n1984 novel";
    let all = ["red foxes", "3.5 mm jack", "blue foxes", "bold", "1984 novel"];
    assert_eq!(read(text, 9), all);
    assert_eq!(read(" \n\"\"\n", 2), [""; 0]);
    // Qwen2.5-Coder-1.5B-Instruct repeats what it was given about the user.
    let text = "What the user said about themselves; use it only where it matters:\n- I have a dog.\n- I am \
                vegan.\n- vegan dog food";
    let given = ["I have a dog.".to_owned(), "I am vegan.".to_owned()];
    assert_eq!(answers::lines(&whole(text), 2, &given), ["vegan dog food"]);
    for text in [
        "[{\"query\": \"red foxes\"}, {\"query\": \"blue foxes\"}]",
        "{\"query1\": \"red foxes\", \"query2\": \"blue foxes\"}",
    ] {
        assert_eq!(read(text, 3), ["red foxes", "blue foxes"], "{text:?}");
    }
    for text in [
        "{\"query\": \"red foxes\", \"reason\": \"they are red\"}",
        "[{\"query\": \"red foxes\", \"reason\": \"they are red\"}]",
        "{\"query1\": \"red foxes\", \"query2\": 2}",
    ] {
        assert_eq!(read(text, 3), [""; 0], "{text:?}");
    }
    // What is not clearly so many queries is none.
    for text in [
        "| # | query |\n|---|---|\n| 1 | red foxes |\n| 2 | blue foxes |\n| 3 | grey foxes |",
        "red foxes; blue foxes; grey foxes",
        "red foxes | blue foxes | grey foxes",
        "red foxes, blue foxes, grey foxes",
        "red foxes\\nblue foxes\\ngrey foxes",
        "1. red foxes - to find foxes\n2. blue foxes - to find others\n3. grey foxes - the rest",
        "1. red foxes (foxes)\n2. blue foxes (others)\n3. grey foxes (the rest)",
        "1. **red foxes**: finds foxes\n2. **blue foxes**: finds others\n3. **grey foxes**: the rest",
        "1. \"red foxes\" (finds foxes)\n2. \"blue foxes\" (others)\n3. \"grey foxes\" (the rest)",
    ] {
        assert_eq!(read(text, 3), [""; 0], "{text:?}");
    }
    assert_eq!(read("1984: a novel", 3), ["1984: a novel"]);
    assert_eq!(read("\"red foxes\" -cub", 3), ["\"red foxes\" -cub"]);
    assert_eq!(
        read("1. red foxes\n   They are red.\n2. blue foxes", 3),
        ["red foxes", "blue foxes"]
    );
    assert_eq!(answers::lines(&cut("red foxes\nblue fo"), 2, &[]), ["red foxes"]);
    assert_eq!(answers::lines(&cut("red fo"), 2, &[]), [""; 0]);
}

#[test]
fn a_grade_or_a_need_is_one_digit_that_stands_alone() {
    for (text, read) in [
        ("2", Some(2)),
        (" 2.", Some(2)),
        ("**2**", Some(2)),
        ("[2]", Some(2)),
        ("2<|eot_id|>", Some(2)),
        ("<|begin_of_box|>2<|end_of_box|>", Some(2)),
        ("(2)", Some(2)),
        ("Grade: 2", Some(2)),
        ("**Grade:** 2", Some(2)),
        ("Grade: 2/3", Some(2)),
        ("2 out of 3", Some(2)),
        ("The grade is 2.", Some(2)),
        ("2: it has some answer", Some(2)),
        ("From 0 to 3: 2", Some(2)),
        ("On a scale of 0-3, I would give it a 2.", Some(2)),
        ("Grade: 2\n\nIt names 1 of the 3 causes.", Some(2)),
        ("It names 1 of the 3 causes.\n\nGrade: 2", Some(2)),
        ("{\"grade\": 2}", Some(2)),
        ("```json\n{\"grade\": 2, \"reason\": \"some\"}\n```", Some(2)),
        ("1 or 3", None),
        ("-1", None),
        ("−1", None),
        ("2.5", None),
        ("4", None),
        ("10", None),
        ("2/5", None),
        ("Q2 is answered", None),
        ("Grade: 2\nGrade: 3", None),
        ("I'd say 2, because it names 3 causes", None),
        ("I would give it a 2", Some(2)),
        ("Its relevance to the query is 2", Some(2)),
        ("\\boxed{2}", Some(2)),
        ("On a scale of 0 to 3, this is a 2.", Some(2)),
        ("2 points", Some(2)),
        ("I can't rate this 2", None),
        ("It is not 2.", None),
        ("half of 2", None),
        ("2%", None),
        ("The passage is about World War 2 and does not answer the query.", None),
        ("2 causes are named", None),
        ("good", None),
        ("", None),
    ] {
        assert_eq!(answers::digit(&whole(text), &(0..=3)), read, "{text:?}");
    }
    assert_eq!(answers::digit(&whole("From 1 to 4: 3"), &(1..=4)), Some(3));
    assert_eq!(answers::digit(&whole("0"), &(1..=4)), None);
    assert_eq!(answers::digit(&cut("Grade: 2"), &(0..=3)), None);
}

#[test]
fn a_response_has_no_preface() {
    for (text, read) in [
        ("Bees fly [1]. They sting [2].", Some("Bees fly [1]. They sting [2].")),
        ("Sure! Here is the answer:\n\nBees fly [1].", Some("Bees fly [1].")),
        ("Answer:\nBees fly [1].", Some("Bees fly [1].")),
        ("<answer>\nBees fly [1].\n</answer>", Some("Bees fly [1].")),
        ("<response>\nBees fly [1]. They", Some("Bees fly [1]. They")),
        ("<response>Bees fly [1].</response> done", Some("Bees fly [1].")),
        ("{\"answer\": \"Bees fly [1].\"}", Some("Bees fly [1].")),
        ("{\"answer\": \"Bees fly.\", \"citations\": [1, 2]}", None),
        ("{'answer': 'Bees fly.'}", None),
        ("Here is the answer: Bees fly [1].", Some("Bees fly [1].")),
        ("**Answer:** Bees fly [1].", Some("Bees fly [1].")),
        ("\"Bees fly [1].\"", Some("Bees fly [1].")),
        ("Bees fly [1].\n\nSources:\n[1] Bee book", Some("Bees fly [1].")),
        ("Bees fly [1].\n\n**References**: [1][2]", Some("Bees fly [1].")),
        ("Bees fly [1].\n\nUser: and then?\nAssistant: They sting [2].", Some("Bees fly [1].")),
        ("Bees fly [1].<|im_end|>\n<|im_start|>user\nAnd?", Some("Bees fly [1].")),
        ("Bees fly [1].\n\n### Human: and then?\nThey sting [2].", Some("Bees fly [1].")),
        ("Bees fly [1].\n\nQ: and then?\nA: They sting [2].", Some("Bees fly [1].")),
        ("Bees: they fly [1].", Some("Bees: they fly [1].")),
        ("Thought: of bees [2].\nFinal Answer: Bees fly [1].", Some("Bees fly [1].")),
        ("Bees.\n\n### **Final answer:**\n\nBees fly [1].", Some("Bees fly [1].")),
        ("A final answer: bees fly [1].", Some("bees fly [1].")),
        ("There is no final answer: bees fly.", Some("There is no final answer: bees fly.")),
        ("```\nBees fly [1].\n```", Some("Bees fly [1].")),
        ("Here is the answer:\n```text\nBees fly [1].\n```", Some("Bees fly [1].")),
        (
            "Run this:\n```\nbees\n```\nThey fly [1].",
            Some("Run this:\n```\nbees\n```\nThey fly [1]."),
        ),
        ("Bees fly [1].\n```\nbees\n```", Some("Bees fly [1].\n```\nbees\n```")),
        ("Bees fly [1].\n```", Some("Bees fly [1].")),
        ("<|START_RESPONSE|>Bees fly [1].<|END_RESPONSE|>", Some("Bees fly [1].")),
        ("There are two kinds:\n- bees\n- wasps", Some("There are two kinds:\n- bees\n- wasps")),
        ("Here is the answer:", Some("Here is the answer:")),
        ("…", None),
        ("", None),
    ] {
        assert_eq!(answers::response(text).as_deref(), read, "{text:?}");
    }
}

#[test]
fn long_texts_are_read_in_one_pass() {
    // A reader that takes quadratic time would not finish.
    let lines =
        (0..50_000).map(|number| format!("{number} is a line")).collect::<Vec<_>>().join("\n");
    for text in [
        lines,
        "[".repeat(1 << 19),
        "[1".repeat(1 << 18),
        "1-".repeat(1 << 18),
        "<a>".repeat(1 << 17),
        "<|a|>".repeat(1 << 17),
    ] {
        let answer = whole(&text);
        answers::line(&answer);
        assert!(answers::lines(&answer, 20, &[]).len() <= 20);
        answers::digit(&answer, &(0..=3));
        answers::order(&answer, 20);
        answers::response(&text);
    }
}
