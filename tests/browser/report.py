#!/usr/bin/env python3
"""Reports in a real browser: report.py SHERD FOLDER [DOCS]

Makes reports into FOLDER with the command SHERD, looks at them in a headless Chromium, and fails where one fetches or runs
anything, shows what a file says as markup, cannot be read by keyboard, screen reader or on a phone, or has too little
contrast. Screenshots go to FOLDER, and with DOCS those of the documentation there."""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

from browser import Browser

HOSTILE = ["</script><script>document.title='run'</script>", "\"><img src=x onerror=document.title='run'>", "a\nb\tc",
           "\u202eturned\u2066", "<!--", "'quote'&amp;", "\x1b[31mred", "</title></style><h1>big</h1>", ""]


def safetensors(path, tensors, metadata=None):
    head, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, raw) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def model(rng, shift=0.0):
    """A small language model: names as people know them, weights at random."""
    def weights(rows, columns, draw):
        values = [draw() for _ in range(rows * columns)]
        raw = b"".join(struct.pack("<f", v)[2:] for v in values)
        return "BF16", [rows, columns], raw

    def gauss(spread):
        return lambda: rng.gauss(0, spread) + shift

    tensors = {"model.embed_tokens.weight": weights(500, 64, gauss(0.02))}
    for i in range(6):
        layer = f"model.layers.{i}."
        tensors[layer + "input_layernorm.weight"] = ("F32", [64], struct.pack("<64f", *(rng.gauss(1, 0.1) for _ in range(64))))
        for part in "qkvo":
            tensors[f"{layer}self_attn.{part}_proj.weight"] = weights(64, 64, gauss(0.06))
        tensors[layer + "mlp.up_proj.weight"] = weights(172, 64, lambda: rng.expovariate(30) * rng.choice((-1, 1)))
        tensors[layer + "mlp.gate_proj.weight"] = weights(172, 64, lambda: rng.uniform(-0.1, 0.1))
        tensors[layer + "mlp.down_proj.weight"] = weights(64, 172, gauss(0.03))
    tensors["model.norm.weight"] = ("F32", [64], struct.pack("<64f", *([1.0] * 64)))
    tensors["lm_head.weight"] = weights(500, 64, gauss(0.02))
    return tensors


def graph_lines(folder):
    rng = random.Random(5)
    nodes = [{"id": f"n{i}", "nodeType": rng.choice(["FUNCTION", "FUNCTION", "CLASS", "MODULE", "<b>ODD</b>"]), "name": f"f{i}",
              "file": f"src/{rng.choice(['auth', 'core', 'web'])}/f{i % 40}.js"} for i in range(400)]
    edges = [{"src": f"n{rng.randrange(400)}", "dst": f"n{min(rng.randrange(400), rng.randrange(400))}",
              "edgeType": rng.choice(["CALLS", "CALLS", "IMPORTS", "CONTAINS"])} for _ in range(1500)]
    for name, records in (("nodes", nodes), ("edges", edges)):
        (folder / name).write_text("".join(json.dumps(r) + "\n" for r in records))


def make(sherd, folder):
    """Every kind of report, by its name."""
    def run(*words, status=0):
        done = subprocess.run([sherd, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == status, f"sherd {words}: {done.returncode}\n{done.stdout}{done.stderr}"

    rng = random.Random(1)
    first = model(rng)
    second = dict(first)
    for name in first:
        if "mlp" in name:
            raw = bytearray(first[name][2])
            for at in range(0, len(raw), 2 * rng.randrange(40, 90)):
                raw[at] ^= 0x40
            second[name] = (*first[name][:2], bytes(raw))
    del second["lm_head.weight"]
    second["lora.A"] = ("F32", [4], struct.pack("<4f", 1, 2, 3, 4))
    safetensors(folder / "model.safetensors", first, {"format": "pt"})
    safetensors(folder / "tuned.safetensors", second)
    run("convert", "model.safetensors", "model", "--to", "safetensors-index", "--shards", 4, "--replace", "--quiet")
    run("report", "model", "-o", "model.html", "--replace")
    run("report", "model.safetensors", "tuned.safetensors", "-o", "difference.html", "--replace")
    nan = struct.pack("<3f", float("nan"), 1, float("inf"))
    safetensors(folder / "hostile.safetensors", {n: ("F32", [3], nan) for n in HOSTILE}, {n: n for n in HOSTILE if n})
    run("report", "hostile.safetensors", "-o", "hostile.html", "--replace")
    safetensors(folder / "empty.safetensors", {})
    run("report", "empty.safetensors", "-o", "empty.html", "--replace")
    run("report", "model", "-o", "quick.html", "--replace", "--quick")
    run("checkpoint", "save", "model.safetensors", "damaged", "--shards", 2, "--replace", "--quiet")
    shard = folder / "damaged_shard_1.shard"
    raw = bytearray(shard.read_bytes())
    raw[len(raw) // 2] ^= 1
    shard.write_bytes(raw)
    run("report", "damaged", "-o", "damaged.html", "--replace", status=1)
    graph_lines(folder)
    run("graph", "create", "code", "--shards", 4, "--quiet")
    run("graph", "import", "code", "--nodes", "nodes", "--edges", "edges", "--quiet")
    run("report", "code", "-o", "graph.html", "--replace")
    return ["model", "difference", "hostile", "empty", "quick", "damaged", "graph"]


# Every text with less than 4.5 : 1 to what it stands on (3 : 1 where it is large), as WCAG counts it.
CONTRAST = """(() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1}; };
  const light = rgb => { const [r, g, b] = rgb.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a > .99) return c.rgb; }
    return parse(getComputedStyle(document.body).backgroundColor).rgb; };
  const bad = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) { const e = walk.currentNode.parentElement, s = getComputedStyle(e);
    if (!walk.currentNode.textContent.trim() || s.visibility !== 'visible' || !e.getClientRects().length) continue;
    const [a, b] = [light(parse(s.color).rgb), light(behind(e))].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && s.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) bad.push([walk.currentNode.textContent.trim().slice(0, 40), ratio.toFixed(2)]); }
  return bad; })()"""


def check_requests(browser, name):
    asked = [e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
    assert len(asked) == 1, f"{name}: asks for {asked}"
    said = [e for e in browser.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]
    assert not said, f"{name}: {said}"


def check_structure(browser, name):
    heads = browser.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
    assert heads[0] == 1 and heads.count(1) == 1, f"{name}: headings are {heads}"
    assert all(b - a <= 1 for a, b in zip(heads, heads[1:])), f"{name}: a level of headings is left out: {heads}"
    assert browser.evaluate("document.scripts.length") == 0, f"{name}: has scripts"
    assert browser.evaluate("document.images.length") == 0, f"{name}: has images"
    ids = browser.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)), f"{name}: ids twice: {ids}"
    lost = browser.evaluate("[...document.querySelectorAll('a')].filter(a => !document.getElementById(a.hash.slice(1))).length")
    assert lost == 0, f"{name}: links that lead nowhere"
    bare = browser.evaluate("[...document.querySelectorAll('table')].filter(t => !t.caption || !t.querySelector('thead th[scope=col]')).length")
    assert bare == 0, f"{name}: tables without a caption or heads"
    roles = browser.tree()
    pictures = [n for role, n in roles if role in ("image", "img", "graphics-document")]
    assert all(pictures), f"{name}: a picture without a name"
    assert any(role == "main" for role, _ in roles) and any(role == "navigation" for role, _ in roles)


def check_keyboard(browser, name):
    """Tab visits everything that takes the focus, in the order of the page, and it is seen."""
    wanted = browser.evaluate("document.querySelectorAll('a,summary,[tabindex]').length")
    tops = []
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for _ in range(wanted):
        browser.press("Tab", 9)
        at = browser.evaluate("(() => { const e = document.activeElement, s = getComputedStyle(e);"
                              "return [e.tagName, e.getBoundingClientRect().top + scrollY, s.outlineStyle]; })()")
        assert at[0] != "BODY" and at[2] != "none", f"{name}: the focus is not seen at {at}"
        tops.append(at[1])
    rest = tops[1:]  # the first one, which skips to the content, stands above the page
    assert rest == sorted(rest) or all(b - a > -60 for a, b in zip(rest, rest[1:])), f"{name}: the focus jumps: {tops}"


def check_hostile(browser):
    assert "run" != browser.evaluate("document.title")
    text = browser.evaluate("document.body.textContent")
    for name in HOSTILE:
        if name.isprintable() and name:
            assert name in text, f"{name!r} is not shown as it is"
    assert "\u202e" not in text and "\x1b" not in text, "a control character got through"
    assert browser.evaluate("document.querySelectorAll('h1').length") == 1


def look(browser, folder, name):
    path = folder / f"{name}.html"
    for dark in (False, True):
        browser.open(path, dark=dark)
        check_requests(browser, name)
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        faint = browser.evaluate(CONTRAST)
        assert not faint, f"{name}: too little contrast ({'dark' if dark else 'light'}): {faint[:5]}"
    browser.open(path)
    check_structure(browser, name)
    check_keyboard(browser, name)
    for width in (320, 390):
        browser.open(path, width=width, height=800, phone=True)
        wide = browser.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= width, f"{name}: {wide[0]} pixels wide on a phone of {width}"
    print(f"ok  {name}")


def main():
    sherd, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve() / "reports"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = make(sherd, folder)
    browser = Browser()
    try:
        for name in names:
            look(browser, folder, name)
            if name == "hostile":
                browser.open(folder / "hostile.html")
                check_hostile(browser)
        docs = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else folder
        for shot, (name, options, height, scale) in {
            "report-light": ("model", {"width": 1060}, 1330, 0.62),
            "report-dark": ("difference", {"width": 1060, "dark": True}, 1000, 0.62),
            "report-phone": ("graph", {"width": 390, "height": 800, "phone": True}, 1150, 0.7),
        }.items():
            browser.open(folder / f"{name}.html", **options)
            browser.shoot(docs / f"{shot}.png", height, scale)
            size = (docs / f"{shot}.png").stat().st_size
            assert size < 150_000, f"{shot}.png has {size} bytes"
    finally:
        browser.close()


if __name__ == "__main__":
    main()
