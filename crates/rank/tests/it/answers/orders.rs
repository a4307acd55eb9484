//! What is read where the numbers of passages are asked for, in order.

use super::{cut, whole};
use clariq_rank::answers::{self, Order};

#[test]
fn an_order_is_that_of_the_numbers_in_brackets() {
    for (text, order, named, is_whole) in [
        ("[2] > [3] > [1]", [1, 2, 0], 3, true),
        ("[2] > [3] > [1].", [1, 2, 0], 3, true),
        ("[2, 3, 1]", [1, 2, 0], 3, true),
        ("2,3,1", [1, 2, 0], 3, true),
        ("2 > 3 > 1", [1, 2, 0], 3, true),
        ("The ranking of the 3 passages is [2] > [3] > [1]", [1, 2, 0], 3, true),
        ("1. [2]\n2. [3]\n3. [1]", [1, 2, 0], 3, true),
        ("1. Passage 2\n2. Passage 3\n3. Passage 1", [1, 2, 0], 3, true),
        ("```\n[2] > [3] > [1]\n```", [1, 2, 0], 3, true),
        ("1. Saturn has rings.\n2. Bread is baked.\n3. Kombucha is tea.", [0, 1, 2], 0, false),
        ("The correct answer is:\n\n[2] Kombucha is tea.\n\nIt says so.", [1, 0, 2], 1, false),
        ("[3] > [3]", [2, 0, 1], 1, false),
        ("[4] > [2] > [1] > [3]", [1, 0, 2], 3, false),
        ("[0] > [2]", [1, 0, 2], 1, false),
        ("99999999999999999999999 1 2 3", [0, 1, 2], 3, false),
        ("I cannot rank these.", [0, 1, 2], 0, false),
        (
            "Passage 1 is about bees.\nPassage 2 is about wasps.\nPassage 3: tea",
            [0, 1, 2],
            0,
            false,
        ),
        ("Ranking: 2, 3, 1", [1, 2, 0], 3, true),
        ("The order of [1], [2] and [3] is: [2] > [3] > [1]", [1, 2, 0], 3, true),
        ("From [1] to [3]: [2] > [3] > [1]", [1, 2, 0], 3, true),
        ("Passages [1]-[3] ranked: [2] > [3] > [1]", [1, 2, 0], 3, true),
        ("[1] is tea.\n[2] is bread.\n\nRanking: [2] > [3] > [1]", [1, 2, 0], 3, true),
        ("[2] (0.9) > [3] (0.5) > [1]", [1, 2, 0], 3, true),
        ("[2] > [3] > [1]\n\n[1] is only about [3].", [1, 2, 0], 3, true),
        ("Rank 1: 2\nRank 2: 3\nRank 3: 1", [1, 2, 0], 3, true),
        ("1: 2\n2: 3\n3: 1", [1, 2, 0], 3, true),
        ("The 3 passages: 2, 3, 1", [1, 2, 0], 3, true),
        ("Top 3 passages: 2, 3, 1", [1, 2, 0], 3, true),
        ("2 (0.9), 3 (0.5), 1 (0.1)", [1, 2, 0], 3, true),
        ("2 (score 5)\n3 (score 4)\n1 (score 1)", [1, 2, 0], 3, true),
        ("(2) > (3) > (1)", [1, 2, 0], 3, true),
        ("{\"ranking\": [2, 3, 1]}", [1, 2, 0], 3, true),
        ("[\"2\", \"3\", \"1\"]", [1, 2, 0], 3, true),
        ("[[2], [3], [1]]", [1, 2, 0], 3, true),
        ("from least to most relevant: 2, 3, 1", [0, 1, 2], 0, false),
        ("least relevant to most relevant: [2] > [3] > [1]", [0, 1, 2], 0, false),
        ("[1] < [3] < [2]", [0, 1, 2], 0, false),
        ("3. [2]\n2. [3]\n1. [1]", [0, 1, 2], 0, false),
        ("| Rank | Passage |\n|---|---|\n| 1 | 3 |", [0, 1, 2], 0, false),
        ("[1]: 2\n[2]: 3\n[3]: 1", [0, 1, 2], 0, false),
        ("**[2]**: 3\n**[3]**: 2.5\n[1] = 1", [1, 2, 0], 3, true),
        ("[{\"rank\": 1, \"passage\": 3}]", [0, 1, 2], 0, false),
        ("{\"1\": 3, \"2\": 1}", [0, 1, 2], 0, false),
        ("<|START_TEXT|>2 > 3 > 1<|END_TEXT|>", [1, 2, 0], 3, true),
        ("", [0, 1, 2], 0, false),
    ] {
        let expected = Order { order: order.to_vec(), named, is_whole };
        assert_eq!(answers::order(&whole(text), 3), expected, "{text:?}");
    }
    let half = answers::order(&cut("[12] > [3] > [1"), 12);
    assert_eq!((half.named, half.is_whole, &half.order[..2]), (2, false, &[11, 2][..]));
    let half = answers::order(&cut("12, 3, 1"), 12);
    assert_eq!((half.named, half.is_whole), (2, false));
}

#[test]
fn a_description_of_one_passage_after_the_other_is_no_order() {
    for text in [
        "[1] The passage is about bees.\n[2] It is about wasps.\n[3] It is about ants.",
        "[1]: relevant\n[2]: not relevant\n[3]: relevant",
        "[1] 0.2\n[2] 0.9\n[3] 0.5",
        "[3] is not relevant. [2] is somewhat relevant. [1] is the most relevant.",
        "Least relevant: [1]\nMost relevant: [2]",
        "Not relevant: [1]. Relevant: [2], [3].",
        "Ascending order of relevance: [1] > [3] > [2]",
        "Passage 1: 2\nPassage 2: 9\nPassage 3: 5",
    ] {
        assert_eq!(answers::order(&whole(text), 3).named, 0, "{text:?}");
    }
    for text in [
        "Passage [2] is the best, then [3], and [1] is not relevant.",
        "[2] > [3] > [1]\n\n[1] is not relevant for [3].",
        "[2]\n[3]\n[1]",
    ] {
        let order = answers::order(&whole(text), 3);
        assert_eq!((&order.order[..], order.is_whole), (&[1, 2, 0][..], true), "{text:?}");
    }
    assert!(answers::order(&whole("[1], [2], [3]"), 3).is_whole);
}
