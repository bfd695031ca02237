"""JUnit XML of a test of beliefs, for build servers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from credenda.interfaces.cli.render import list_diff
from credenda.model.evaluation import BeliefTestReport
from credenda.paths import check_path
from credenda.portability.atomic_write import replace_file

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot contain."""


def write_junit(report: BeliefTestReport, path: str) -> None:
    """Write the report to a file in one step; raises `Unavailable` if it cannot be written."""
    with replace_file(check_path(path)) as file:
        file.write(format_junit(report))


def format_junit(report: BeliefTestReport) -> bytes:
    """Return the report as JUnit XML: one test case an assertion."""
    name = Path(report.path).name
    suite = ET.Element(
        "testsuite", name=_clean(name), tests=str(len(report.checks)), failures=str(report.failed), errors="0"
    )
    for check in report.checks:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=_clean(name),
            name=_clean(check.assertion),
            file=_clean(name),
            line=str(check.line),
        )
        if not check.passed:
            lines = list(list_diff(check))
            failure = ET.SubElement(case, "failure", message=_clean(f"expected {'; '.join(check.expected)}"))
            failure.text = _clean("\n".join(lines))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="utf-8") + b"\n"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
