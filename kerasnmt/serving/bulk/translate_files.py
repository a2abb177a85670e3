"""Translation of many files."""

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics

from kerasnmt.serving.bulk.formats import LineFile, ParquetFile, file_format
from kerasnmt.serving.bulk.translate import Translate
from kerasnmt.serving.runtimes.version_folder import DESCRIPTION

BROKEN = "broken.tsv"
# Folders for unfinished files, and for the broken lines of each finished file.
_PARTS, _BROKEN = ".parts", ".broken"


@dataclass(frozen=True)
class FileJob:
    """File to translate.

    Attributes:
        format: The file.
        output: Path of the translated file.
        parts: Folder for the translations of its blocks.
        broken: Path of the list of its broken lines.
    """

    format: LineFile | ParquetFile
    output: str
    parts: str
    broken: str

    def part(self, number: int) -> str:
        """Return the path of the translations of a block."""
        return FileSystems.join(self.parts, f"{number:06}.json")


class TranslateFiles(beam.PTransform):
    """Translates files with an export, line by line.

    The collections of Beam have no order. So a file is read as numbered blocks. Workers translate
    blocks, and write the translations of each block to a file of its own, a part. At the end, a
    worker merges the parts of a file. A file appears in the output folder when it is complete. If
    the pipeline is killed, the next one skips the files and the parts that are complete.

    A line is broken if it is not UTF-8 or longer than `max_bytes`, if a line of TSV has another
    number of columns, or if a text in Parquet is null. Its translation is empty, and
    `write_broken` lists it.

    Args:
        export: See `Translate`.
        input: Path or pattern of the files, such as `texts/*.txt`. The name shows the format:
            `.tsv`, `.parquet` or anything else for plain text. Text and TSV may have `.gz` in
            addition.
        output: Folder of the translated files. They have the names of the input files, and their
            folders below the first wildcard of the pattern.
        columns: Names of the columns of TSV and Parquet files. One must be `text`, and one
            `context` if the model reads contexts. By default, the columns of a TSV file are the
            fields of the model, and a Parquet file has its own names.
        scores: Whether a score follows each translation.
        batch_size: Number of lines that the model translates at once.
        max_bytes: Maximum size of a line, or of a text in Parquet.

    Attributes:
        jobs: The files to translate, without those that are done.
        done: Number of files that are done.

    Raises:
        ValueError: If the export does not translate, no file fits, a file does not have the
            right columns or is named `broken.tsv`, or the outputs would replace the inputs.
    """

    def __init__(
        self,
        export: str | Path,
        input: str,
        output: str,
        *,
        columns: Sequence[str] | None = None,
        scores: bool = False,
        batch_size: int = 64,
        max_bytes: int = 64 << 10,
    ) -> None:
        super().__init__()
        self._translate = Translate(export, batch_size=batch_size)
        fields = self._translate.handler.fields
        names = None if columns is None else tuple(columns)
        if names is not None and not {*fields} <= {*names}:
            raise ValueError(
                f"Expected columns with {' and '.join(fields)}, which this model reads. Received: "
                f"{','.join(names)}."
            )
        input, output = _absolute(input), _absolute(output)
        described = Path(self._translate.handler.export, DESCRIPTION).read_bytes()
        self.jobs: list[FileJob] = []
        self.done = 0
        for file in _matched(input, output):
            name = file.path[_start_of_name(input) :]
            if name == BROKEN:
                raise ValueError(
                    f"Expected input files with other names than {BROKEN}, the list of broken "
                    f"lines. Received: {file.path}. Rename it."
                )
            target = FileSystems.join(output, *name.split("/"))
            if FileSystems.exists(target):
                self.done += 1
                continue
            # Parts of another model, or of a file that has changed since, are not used.
            inputs = described, names, max_bytes, file.size_in_bytes, file.last_updated_in_seconds
            self.jobs.append(
                FileJob(
                    file_format(file.path, fields, names, scores, max_bytes),
                    output=target,
                    parts=FileSystems.join(output, _PARTS, _digest(name), _digest(inputs)),
                    broken=FileSystems.join(output, _BROKEN, f"{_digest(name)}.tsv"),
                )
            )

    def expand(self, pipeline: Any) -> Any:
        """Return the collection of the paths of the translated files."""
        read = (
            pipeline
            | "Files" >> beam.Create(self.jobs)
            | "Files to workers" >> beam.Reshuffle()
            | "Read" >> beam.ParDo(_Read()).with_outputs("jobs", "parts", main="blocks")
        )
        new = (
            read["blocks"]
            | "Blocks to workers" >> beam.Reshuffle()
            | "Translate" >> self._translate
            | "Write part" >> beam.ParDo(_write_part)
        )
        parts = (read["parts"], new) | "Parts" >> beam.Flatten()
        return (
            {"jobs": read["jobs"], "parts": parts}
            | "Parts of a file" >> beam.CoGroupByKey()
            | "Merge" >> beam.ParDo(_merge)
        )


def write_broken(output: str) -> int:
    """Write the list of broken lines of all files in an output folder.

    The list is `broken.tsv`, with the path of the file, the number of the line and the reason.
    There is no list if no line is broken.

    Args:
        output: Output folder of `TranslateFiles`.

    Returns:
        The number of broken lines.
    """
    output = _absolute(output)
    files = FileSystems.match([FileSystems.join(output, _BROKEN, "*.tsv")])[0].metadata_list
    lists = sorted(_read_file(one.path) for one in files)
    path = FileSystems.join(output, BROKEN)
    if lists:
        with _written(path, output) as file:
            file.writelines(lists)
    elif FileSystems.exists(path):
        FileSystems.delete([path])
    with suppress(OSError):  # on a local disk, if no file is unfinished
        os.rmdir(os.path.join(output, _PARTS))
    return sum(one.count(b"\n") for one in lists)


class _Read(beam.DoFn):
    """Reads the blocks of a file that have not been translated."""

    def process(self, job: FileJob) -> Iterator[Any]:
        number = -1
        for number, block in enumerate(job.format.blocks()):
            if FileSystems.exists(job.part(number)):
                yield beam.pvalue.TaggedOutput("parts", (job.output, number))
            else:
                yield {"job": job, "number": number, "broken": block.broken, **block.texts}
        yield beam.pvalue.TaggedOutput("jobs", (job.output, (job, number + 1)))


def _write_part(block: dict[str, Any]) -> Iterator[tuple[str, int]]:
    job, number = block["job"], block["number"]
    with _written(job.part(number), job.parts) as file:
        kept = {key: block[key] for key in ("translation", "score", "broken")}
        file.write(json.dumps(kept, ensure_ascii=False).encode())
    yield job.output, number


def _merge(group: tuple[str, dict[str, Any]]) -> Iterator[str]:
    """Merge the parts of a file in order."""
    output, values = group
    ((job, count),) = values["jobs"]
    if {*values["parts"]} != {*range(count)}:
        raise RuntimeError(f"{output}: expected {count} parts. Received: {sorted(values['parts'])}")
    broken = []
    with _written(output, job.parts) as file, job.format.writer(file) as write:
        for number, block in enumerate(job.format.blocks()):
            part = json.loads(_read_file(job.part(number)))
            write(block, part["translation"], part["score"])
            broken += [f"{job.format.path}\t{line}\t{why}\n" for line, why in part["broken"]]
            Metrics.counter("kerasnmt", "lines").inc(len(part["translation"]))
        if broken:
            with _written(job.broken, job.parts) as list_file:
                list_file.write("".join(broken).encode())
        elif FileSystems.exists(job.broken):  # from an output that was removed
            FileSystems.delete([job.broken])
    FileSystems.delete([os.path.dirname(job.parts)])
    yield output


def _absolute(path: str) -> str:
    """Return the path of a local file from the root, because workers may run elsewhere.

    Beam also finds no files for a local pattern without a folder.
    """
    return os.path.abspath(path) if _is_local(path) else path


def _is_local(path: str) -> bool:
    return "://" not in path


def _matched(pattern: str, output: str) -> list[Any]:
    """Return the metadata of the input files, sorted by path."""
    files = sorted(FileSystems.match([pattern])[0].metadata_list, key=lambda file: file.path)
    if not files:
        raise ValueError(f"Expected a file for --input. Received: {pattern}, which fits no file.")
    for file in files:
        if file.path.startswith(FileSystems.join(output, "")):
            raise ValueError(
                f"Expected an output folder without input files. Received: {output}, which "
                f"contains {file.path}."
            )
    return files


def _start_of_name(pattern: str) -> int:
    """Return where the names of the files start in the paths that fit a pattern."""
    return re.split(r"[*?\[]", pattern)[0].rfind("/") + 1


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def _read_file(path: str) -> bytes:
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return file.read()


@contextmanager
def _written(path: str, folder: str) -> Iterator[Any]:
    """Yield a binary file in a folder, which is renamed to `path` when it is complete.

    Its name is its own, because Beam may run a bundle twice at the same time.
    """
    temporary = FileSystems.join(folder, f".writing.{uuid.uuid4().hex}")
    try:
        with FileSystems.create(temporary, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            yield file
            if _is_local(path):  # so that the file is whole even after a power failure
                file.flush()
                os.fsync(file.fileno())
        if _is_local(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        FileSystems.rename([temporary], [path])
    except BaseException:
        with suppress(OSError):
            FileSystems.delete([temporary])
        raise
