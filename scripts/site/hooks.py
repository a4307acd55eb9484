"""Hooks of MkDocs: the help of every command, what the site takes from Cargo.toml, and options that stay
whole where a command wraps."""

import os
import re
import subprocess
from pathlib import Path

MARK = "<!-- commands -->"

# A browser breaks lines behind the hyphens of an option.
OPTION = re.compile(r'(<span class="w"> </span>)(--?[A-Za-z][\w-]*)(?=[<\n])')


def on_config(config):
    """The version and the address of the repository have one place."""
    manifest = (Path(config.config_file_path).parent / "Cargo.toml").read_text(encoding="utf-8")
    value = dict(re.findall(r'^(version|repository) = "(.*)"$', manifest, re.M))
    config.repo_url = value["repository"]
    config.copyright = f"clariq {value['version']} · Apache-2.0"
    return config


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


def on_page_content(html, **_):
    return OPTION.sub(r'\1<span class="option">\2</span>', html)
