"""Looks at the site in a browser. Usage: look.py BROWSER SITE FOLDER"""

import base64
import functools
import http.server
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report"))

from browser import Browser  # noqa: E402

PAGES = ["index", "start/ten-minutes", "reference/python", "how-to/compare"]
SCREENS = [(1280, "light"), (1280, "dark"), (800, "light"), (375, "light")]
# Elements that stick out of the screen and are not in a box that scrolls.
WIDE = """
(() => {
  const screen = document.documentElement.clientWidth, wide = new Set();
  for (const element of document.querySelectorAll('.md-content *')) {
    const { right, width } = element.getBoundingClientRect();
    if (!width || right <= screen + 1 || !element.checkVisibility()) continue;
    let box = element.parentElement;
    while (box && !['auto', 'scroll', 'hidden'].includes(getComputedStyle(box).overflowX)) box = box.parentElement;
    if (!box) wide.add(`${element.tagName}.${element.className} "${element.textContent.slice(0, 40)}"`);
  }
  return [...wide];
})()
"""
# Commands that stick out of their block.
COMMANDS = """
[...document.querySelectorAll('.language-sh code, .language-console code > span:has(> .gp)')]
  .filter(line => line.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || line.matches('code') && line.scrollWidth > line.clientWidth + 1)
  .map(line => line.textContent.trim())
"""
# What the theme's button copies: the visible text of the element that it marks.
COPIES = """
[...document.querySelectorAll('.language-console code')].map(code => {
  code.setAttribute('data-md-copying', '');
  const text = code.innerText.trimEnd();
  code.removeAttribute('data-md-copying');
  const commands = code.textContent.split('\\n').filter(line => line.startsWith('$ '));
  return [text, commands.map(line => line.slice(2)).join('\\n')];
})
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def look(browser, address, name, folder):
    failures = []
    for width, scheme in SCREENS:
        browser.screen(width, scheme, phone=width < 500)
        # A page chooses its colours when it is loaded, and remembers them.
        browser.evaluate("location.protocol.startsWith('http') && localStorage.clear()")
        browser.events.clear()
        browser.open(f"{address}/{name}.html")
        for event in browser.events:
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith((address, "data:", "blob:")):
                    failures.append(f"{name} loads {url}")
        for wide in browser.evaluate(WIDE):
            failures.append(f"{name}, {width} pixels: {wide} is wider than the screen")
        picture = browser.call("Page.captureScreenshot", format="png")["data"]
        file = folder / f"{name.replace('/', '-')}-{width}-{scheme}.png"
        file.write_bytes(base64.b64decode(picture))
    copies = browser.evaluate(COPIES)
    if name == "start/ten-minutes" and not copies:
        failures.append(f"{name} has no console block")
    wide = browser.evaluate(COMMANDS)
    failures += [f"{name}, {SCREENS[-1][0]} pixels: {command!r} does not wrap" for command in wide]
    for copied, commands in copies:
        if copied != commands:
            failures.append(f"{name}: a copy is {copied!r}, wanted {commands!r}")
    return failures


def main(program, site, folder):
    handler = functools.partial(Quiet, directory=site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with Browser(program) as browser:
        failures = [failure for page in PAGES for failure in look(browser, address, page, folder)]
    server.shutdown()
    print("\n".join(failures) or f"{len(PAGES)} pages on {len(SCREENS)} screens: no failure")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
