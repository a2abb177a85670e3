"""Results of the check of an export."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class CheckRow(NamedTuple):
    """Result of one check.

    Attributes:
        name: Name of the check.
        passed: Whether the check passed.
        detail: Findings, in one line.
    """

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class CheckReport:
    """Results of all checks of an export, in order.

    If a failure makes further checks impossible, its row is the last one.

    Attributes:
        directory: Path of the checked version.
        rows: Results of the checks.
    """

    directory: Path
    rows: tuple[CheckRow, ...]

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(row.passed for row in self.rows)

    def __str__(self) -> str:
        width = max(len(row.name) for row in self.rows)
        lines = [
            f"{'ok  ' if row.passed else 'FAIL'}  {row.name:{width}}  {row.detail}"
            for row in self.rows
        ]
        failed = [row.name for row in self.rows if not row.passed]
        lines.append(f"FAILED: {', '.join(failed)}" if failed else f"all {len(lines)} passed")
        return "\n".join(lines)
