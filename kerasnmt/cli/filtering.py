"""`kerasnmt score --filter`: the good pairs of a corpus."""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from rich.console import Console

from kerasnmt.atomic_write import atomic_write
from kerasnmt.cli.console import say
from kerasnmt.cli.pairs import Pair, PairFiles
from kerasnmt.cli.parts import parts_of
from kerasnmt.cli.records import Format, RecordWriter
from kerasnmt.data.cleaning import PairFilter
from kerasnmt.data.tables import table_format
from kerasnmt.data.writing import opened_to_write
from kerasnmt.progress_lines import progress_bar

# Number of pairs of a part, after which interrupted work goes on.
_PART = 4096
# Number of malformed rows that are dropped even if there are fewer pairs.
_MALFORMED = 100


class Choice(NamedTuple):
    """Which pairs are kept, and how they are written.

    Attributes:
        outputs: File of the kept pairs, or files of their sources and of their targets.
        max_ratio: See `PairFilter`.
        scripts: Scripts of both sides, such as `latin,han`, or None for the usual ones.
        keep: Rules that drop no pairs.
        min_score: Lowest score, or None.
        rank: Whether to write the best pairs first.
        scores: Whether to add the scores.
        report: File of the report in JSON, or None.
    """

    outputs: Sequence[Path]
    max_ratio: float
    scripts: str | None
    keep: Sequence[str]
    min_score: float | None
    rank: bool
    scores: bool
    report: Path | None

    @property
    def needs_scores(self) -> bool:
        """Whether a model must score the pairs."""
        return self.min_score is not None or self.rank or self.scores

    def check(self) -> None:
        """Check the outputs.

        Raises:
            ValueError: If there are not one or two, a file exists, or two files have no scores.
        """
        if not 1 <= len({*self.outputs}) == len(self.outputs) <= 2:
            raise ValueError(
                "Expected --output FILE with --filter, or --output twice, for sources and targets. "
                f"Received: {len(self.outputs)} files."
            )
        for output in self.outputs:
            if output.exists():
                raise ValueError(f"Expected a new file. Received: --output {output}, which exists.")
        if self.scores and len(self.outputs) == 2:
            raise ValueError("Expected one --output with --scores, which adds a column.")

    def rules(self, files: PairFiles) -> PairFilter:
        """Return the rules for the pairs of files."""
        scripts = None
        if self.scripts is not None:
            scripts = [one.strip() for one in self.scripts.split(",")]
        pairs = ((pair.source, pair.target) for pair in files)
        return PairFilter.fitted(
            pairs, max_ratio=self.max_ratio, scripts=scripts, without=self.keep
        )


def write_good_pairs(
    files: PairFiles,
    choice: Choice,
    console: Console,
    score: Callable[[list[Pair]], list[float]] | None,
    work: list[Any],
) -> None:
    """Write the pairs that the rules and the model keep, and report how many are dropped.

    The scores of each part of the pairs are kept in `OUTPUT.parts` until the end, so that a second
    run goes on after an interruption. One part is in memory, and the hashes of all pairs.

    Args:
        files: The pairs.
        choice: Which pairs are kept.
        console: Console of the progress and the report.
        score: Function that scores pairs, or None for the rules alone.
        work: What the scores depend on, in addition to the files and the rules.
    """
    if files.malformed > max(files.count, _MALFORMED):
        raise ValueError(
            f"Expected files with more pairs than malformed rows. Received: {files.malformed:,} "
            f"malformed rows, and pairs: {files.count:,}. All rows should have the columns of the "
            "first one, so look there first."
        )
    rules = choice.rules(files)
    about = {"max_ratio": rules.max_ratio, "ratio": rules.ratio, "scripts": rules.scripts}
    about |= {"without": sorted(rules.without), "min_score": choice.min_score}
    parts, stack = None, ExitStack()
    if score is not None:
        facts = [(str(path), path.stat().st_size, path.stat().st_mtime) for path in files.paths]
        rule_facts = [value for name, value in about.items() if name != "min_score"]
        all_work = [facts, files.columns, rule_facts, work]
        parts = stack.enter_context(parts_of(choice.outputs[0], all_work))
        if done := len([*parts.glob("*.json")]) * _PART:
            say(console, f"already scored: {min(done, files.count):,} of {files.count:,} pairs")
    dropped = Counter(dict.fromkeys(("malformed", *rules.reasons), 0))
    if choice.min_score is not None:
        dropped["score"] = 0

    def kept() -> Iterator[tuple[Pair, float | None]]:
        with progress_bar(console, "filtering", files.count) as advance:
            for number, chunk in enumerate(files.chunks(_PART)):
                good = []
                for pair in chunk:
                    reason = rules.reason(pair.source, pair.target)
                    if reason is None:
                        good.append(pair)
                    else:
                        dropped[reason] += 1
                if score is None or parts is None:
                    yield from ((pair, None) for pair in good)
                else:
                    scores = _scores(parts / f"{number}.json", good, score)
                    for pair, one in zip(good, scores, strict=True):
                        if choice.min_score is not None and one < choice.min_score:
                            dropped["score"] += 1
                        else:
                            yield pair, one
                advance(len(chunk))

    with stack:
        written = _write(kept(), choice, files.named)
        dropped["malformed"] = files.malformed
        total = files.count + files.malformed
        report = {"pairs": total, "kept": written, "dropped": dict(dropped), "rules": about}
        if choice.report is not None:
            with atomic_write(choice.report) as path:
                path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    say(console, f"kept: {written:,} of {total:,} pairs")
    counts = ", ".join(f"{name} {count:,}" for name, count in dropped.items() if count)
    say(console, f"dropped: {counts or 'none'}")


def _scores(
    path: Path, pairs: list[Pair], score: Callable[[list[Pair]], list[float]]
) -> list[float]:
    """Return the scores of a part, from its file if there is one."""
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    scores = [round(one, 6) for one in score(pairs)] if pairs else []
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(scores), encoding="utf-8")
    return scores


def _write(pairs: Iterator[tuple[Pair, float | None]], choice: Choice, named: bool) -> int:
    """Write pairs, and return their number."""
    scores = array("d")
    writer = RecordWriter(Format(table_format(choice.outputs[0])), heading=named)
    with ExitStack() as stack:
        files = [
            stack.enter_context(opened_to_write(stack.enter_context(atomic_write(path))))
            for path in choice.outputs
        ]
        # Where each row begins, to write the rows in another order.
        rows = [stack.enter_context(TemporaryFile()) if choice.rank else one for one in files]
        starts = [array("q", [0]) for _ in files]
        for pair, score in pairs:
            if len(files) == 2:
                lines = [f"{pair.source}\n", f"{pair.target}\n"]
            else:
                added = {"score": score} if choice.scores else {}
                *heading, line = writer.lines([(pair.record, added)])
                files[0].writelines(one.encode() for one in heading)
                lines = [line]
            for file, line, begins in zip(rows, lines, starts, strict=True):
                file.write(line.encode())
                if choice.rank:
                    begins.append(begins[-1] + len(line.encode()))
            scores.append(0.0 if score is None else score)
        if choice.rank:
            order = sorted(range(len(scores)), key=lambda row: -scores[row])
            for file, spooled, begins in zip(files, rows, starts, strict=True):
                for row in order:
                    spooled.seek(begins[row])
                    file.write(spooled.read(begins[row + 1] - begins[row]))
    return len(scores)
