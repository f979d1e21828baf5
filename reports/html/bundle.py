# SPDX-License-Identifier: MIT
"""Makes the one page of HTML reports: page.html with the style, the chart library and the script inlined,
and a content security policy that names the hash of each. Nothing else runs, and nothing is loaded.

    python3 bundle.py CHART_LIBRARY OUTPUT
"""
import base64
import hashlib
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def inlined(path: pathlib.Path) -> str:
    """A file's text as it may stand inside <script> or <style>."""
    text = re.sub(r"^//# sourceMappingURL=.*$", "", path.read_text(encoding="utf-8"), flags=re.M)
    text = re.sub(r"^ *//@include (\S+)$", lambda part: (FOLDER / part[1]).read_text(encoding="utf-8"), text, flags=re.M)
    if re.search(r"</(script|style)|<!--", text, re.I):
        sys.exit(f"{path} would end its element early")
    return f"\n{text.strip()}\n"


def source(text: str) -> str:
    """How a content security policy names this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def main(library: str, output: str) -> None:
    style = inlined(FOLDER / "report.css")
    scripts = [inlined(pathlib.Path(library)), inlined(FOLDER / "report.js")]
    policy = (f"default-src 'none'; style-src {source(style)}; style-src-attr 'unsafe-inline'; "
              f"script-src {' '.join(map(source, scripts))}; img-src data:; base-uri 'none'; form-action 'none'")
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    page = page.replace("<!--policy-->", policy)
    page = page.replace("<!--style-->", f"<style>{style}</style>")
    page = page.replace("<!--scripts-->", "\n".join(f"<script>{text}</script>" for text in scripts))
    pathlib.Path(output).write_text(page, encoding="utf-8")


main(*sys.argv[1:])
