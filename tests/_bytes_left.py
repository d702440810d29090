# -*- coding: utf-8 -*-
"""Whether a text is still somewhere in a folder: in any file, in any form that a program here writes."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["files_with"]


def files_with(text: str, folder: Path) -> list[str]:
    """The files that hold the text: as UTF-8, in JSON with and without escapes, or as UTF-16."""
    escaped = json.dumps(text)[1:-1].encode()
    forms = {text.encode("utf-8"), escaped, escaped.replace(b"\\", b"\\\\"), text.encode("utf-16-le")}
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes().lower()
            if any(form.lower() in data for form in forms):
                found.append(str(path.relative_to(folder)))
    return found
