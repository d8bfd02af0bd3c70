"""Pages in headless Chromium."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
REPORT_ERRORS = """
window.addEventListener("error", (event) => document.body.dataset.errors = event.message);
document.addEventListener("securitypolicyviolation", (event) => document.body.dataset.errors = event.blockedURI);
"""
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-sync", "--disable-component-update"),
    *("--enable-logging=stderr", "--virtual-time-budget=4000", "--dump-dom"),
)


def browse(text: str, folder: Path, *, probe: str, width: int) -> dict[str, str]:
    """What a probe, a script in the page, has left in the body's data, errors under "errors", and the log under "log".

    Args:
        text: the page.
        folder: an empty one, for the browser.
    """
    probed = folder / "probed.html"
    script = f"<script>{REPORT_ERRORS}{probe}</script>"
    probed.write_text(text.replace("<footer>", f"{script}<footer>"), encoding="utf-8")
    places = (f"--user-data-dir={folder / 'profile'}", f"--window-size={width},1600", probed.as_uri())
    command = [str(CHROMIUM), *FLAGS, *places]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    body = re.search(r"<body([^>]*)>", done.stdout)
    assert body is not None
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return dict(re.findall(r'data-(\w+)="([^"]*)"', body[1])) | {"log": console}
