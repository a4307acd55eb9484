//! Calls of tools, which some servers leave in the text. They are no answer.

/// Marks of calls, in lower case: Llama, Mistral, Qwen, `DeepSeek`, Kimi, Granite, and others.
const MARKS: [&str; 11] = [
    "<|python_tag|>",
    "[tool_calls]",
    "<tool_call>",
    "<tool_calls>",
    "<function_calls>",
    "<function=",
    "<|tool_call|>",
    "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool▁calls▁begin|>",
    "<｜tool▁calls▁begin｜>",
];

/// Fences around calls: Gemma.
const FENCES: [&str; 2] = ["```tool_code", "```tool_call"];

/// True for a text that calls a tool.
pub(super) fn calls_tool(text: &str) -> bool {
    if !text.contains(['<', '[', '`']) {
        return false;
    }
    let text = text.to_lowercase();
    MARKS.iter().any(|mark| text.contains(mark))
        || FENCES.iter().any(|fence| text.trim_start().starts_with(fence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_marks() {
        for text in [
            "<|python_tag|>search(query=\"tents\")",
            "[TOOL_CALLS][{\"name\": \"search\"}]",
            "I will search.\n<tool_call>\n{\"name\": \"search\"}\n</tool_call>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search",
            "```tool_code\nsearch(\"tents\")\n```",
        ] {
            assert!(calls_tool(text), "{text}");
        }
        for text in
            ["tents", "which tool do you call?", "[1] tents", "```\ntents\n```", "<b>tents</b>"]
        {
            assert!(!calls_tool(text), "{text}");
        }
    }
}
