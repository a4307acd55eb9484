"""Checks the layout, contrast and requests of a page in a browser. Usage: look.py BROWSER PAGE FOLDER"""

import base64
import sys
from pathlib import Path

from browser import Browser

# Everything that is visible, with the contrast of its text: ratios as WCAG 2.2 defines them.
CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parse = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const low = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || element.closest('.unseen, title') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [parse(element.closest('svg') ? style.fill : style.color), behind(element)].map(light);
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const name = `${element.tagName}.${element.getAttribute('class') || ''}`;
    if (ratio < 4.5) low.set(name, `${ratio.toFixed(2)} "${text.slice(0, 30)}"`);
  }
  return [...low].map(([what, how]) => `${what} ${how}`);
})()
"""

SCREENS = [
    ("light", 1280, "light"), ("dark", 1280, "dark"), ("tablet", 800, "light"),
    ("phone", 375, "light"), ("phone-dark", 375, "dark"),
]
# Texts and pictures that a box or the screen cuts. A box may scroll if a shadow at its edge shows it.
CUT = """
(() => {
  const cut = new Map(), screen = document.documentElement.clientWidth;
  const look = (content, element, box) => {
    let { left, right, top, bottom } = content.getBoundingClientRect();
    for (; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box), edge = box.getBoundingClientRect();
      const clips = style.overflowX !== 'visible' || /paint|content|strict/.test(style.contain);
      if (!clips) continue;
      const wide = left < edge.left - 1 || right > edge.right + 1;
      const high = top < edge.top - 3 || bottom > edge.bottom + 3;
      const scrolls = ['auto', 'scroll'].includes(style.overflowX) && style.backgroundImage !== 'none'
        && left >= edge.left - box.scrollLeft - 1;
      if ((wide || high) && !scrolls) return cut.set(box, element);
      left = Math.max(left, edge.left); right = Math.min(right, edge.right);
    }
    if (left + scrollX < -1 || right + scrollX > screen + 1) cut.set(document.body, element);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, range = document.createRange();
    if (!walker.currentNode.textContent.trim() || element.closest('.unseen, title') || !element.checkVisibility()) continue;
    range.selectNodeContents(walker.currentNode);
    look(range, element, element);
  }
  for (const image of document.querySelectorAll('svg, img'))
    if (image.checkVisibility()) look(image, image, image.parentElement);
  return [...cut].map(([box, element]) =>
    `${box.tagName}.${box.getAttribute('class') || ''} cuts "${element.textContent.trim().slice(0, 30)}"`);
})()
"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OPEN = "document.querySelectorAll('details').forEach(details => details.open = %s)"
FIRST_TOPIC = "(document.querySelector('details.topic') || {}).open = true"
# On paper the first ten topics are open.
PAPER = """
(() => {
  const height = query => [...document.querySelectorAll(query)]
    .map(e => e.checkVisibility({ contentVisibilityAuto: true }) ? e.getBoundingClientRect().height : 0);
  return { closed: height('details.topic > .inside').slice(0, 10).filter(h => h === 0).length,
           background: getComputedStyle(document.body).backgroundColor };
})()
"""


def picture(browser, path, part=None):
    clip = {"clip": part} if part else {}
    image = browser.call("Page.captureScreenshot", captureBeyondViewport=True, **clip)
    path.write_bytes(base64.b64decode(image["data"]))


def on_screens(browser, folder):
    """The problems on each screen, of which it also takes a picture."""
    for name, width, scheme in SCREENS:
        browser.screen(width, scheme, phone=width < 600)
        for state in ["true", "false"]:
            browser.evaluate(OPEN % state)
            if (over := browser.evaluate(OVERFLOW)) > 0:
                yield f"{name}: the page is {over} pixels wider than its screen (details open: {state})"
            for box in browser.evaluate(CUT):
                yield f"{name}: cut, and nothing shows it (details open: {state}): {box}"
            for low in browser.evaluate(CONTRAST):
                yield f"{name}: contrast below 4.5 (details open: {state}): {low}"
        browser.evaluate(FIRST_TOPIC)
        picture(browser, folder / f"{name}.png")
    browser.screen(1120, "light")
    picture(browser, folder / "top.png", {"x": 0, "y": 0, "width": 1120, "height": 590, "scale": 1})


def on_paper(browser, folder):
    browser.evaluate(OPEN % "false")
    browser.screen(794, "dark", media="print")
    paper = browser.evaluate(PAPER)
    if paper["closed"]:
        yield f"print: {paper['closed']} of the first ten topics are closed"
    if paper["background"] not in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"):
        yield f"print: the background is {paper['background']}"
    browser.screen(794, "dark")
    pdf = browser.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
    (folder / "print.pdf").write_bytes(base64.b64decode(pdf["data"]))


def in_events(browser, url):
    """The page's network requests, and its errors and warnings."""
    for event in browser.events:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                asked = parameters["request"]["url"]
                if asked != url and not asked.startswith(("data:", "about:")):
                    yield f"network: {asked}"
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                yield f"console: {parameters['entry']['text']}"
            case "Runtime.exceptionThrown":
                yield f"exception: {parameters['exceptionDetails']['text']}"
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                yield f"console: {parameters['args']}"


def main():
    program, page, folder = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
    with Browser(program) as browser:
        browser.open(page.as_uri())
        wrong = [*on_screens(browser, folder), *on_paper(browser, folder), *in_events(browser, page.as_uri())]
    for line in wrong:
        print(f"FAIL {line}", file=sys.stderr)
    print(f"{page.name}: {len(wrong) or 'nothing'} wrong")
    sys.exit(1 if wrong else 0)


main()
