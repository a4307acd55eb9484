"""A hook of MkDocs: fills docs/reference/commands.md with the help of every command."""

import os
import re
import subprocess

MARK = "<!-- commands -->"


def help_of(*command):
    words = [os.environ.get("CLARIQ", "clariq"), *command, "--help"]
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.rstrip()


def subcommands(text):
    listing = re.search(r"^Commands:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
    names = re.findall(r"^  (\S+)", listing[1], re.M) if listing else []
    return [name for name in names if name != "help"]


def sections(*command):
    text = help_of(*command)
    title = " ".join(["clariq", *command])
    yield f"{'##' if len(command) < 2 else '###'} {title}\n\n```text\n{text}\n```\n"
    for name in subcommands(text):
        yield from sections(*command, name)


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri != "reference/commands.md":
        return markdown
    return markdown.replace(MARK, "\n".join(sections()))
