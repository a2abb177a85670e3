"""What the check of an export found."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class CheckRow(NamedTuple):
    """One thing that was checked.

    Attributes:
        name: What was checked, in one word.
        passed: Whether it is as it should be.
        detail: What was found, in one line.
    """

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class CheckReport:
    """The rows of a check, in the order in which they were made.

    A row that leaves nothing to check after it is the last one.

    Attributes:
        directory: The folder of the version that was checked.
        rows: What was checked.
    """

    directory: Path
    rows: tuple[CheckRow, ...]

    @property
    def passed(self) -> bool:
        """Whether every row passed."""
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
