"""`kerasnmt translate-files`."""

import logging
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import progress_console, say
from kerasnmt.cli.quiet import without_talk
from kerasnmt.extras import extras

_LOCAL = [
    "--runner=FnApiRunner",
    "--direct_running_mode=multi_processing",
    "--direct_num_workers=0",
]


def translate_files(
    context: typer.Context,
    export: Annotated[
        Path, typer.Argument(metavar="EXPORT", help="Folder of an export, or of its version.")
    ],
    input: Annotated[
        str,
        typer.Option(
            "--input", metavar="PATTERN", help="Files to translate, such as 'texts/*.txt.gz'."
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", metavar="FOLDER", help="Folder of the translated files.")
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Names of the columns of TSV and Parquet files, such as id,text.",
            show_default="text in TSV, the file's in Parquet",
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add a column with the length-normalized log-probability."),
    ] = False,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1)] = 64,
    max_text_bytes: Annotated[
        int,
        typer.Option(
            "--max-text-bytes", min=1, help="Maximum size of a line; a longer one is broken."
        ),
    ] = 64 << 10,
) -> None:
    """Translate many files with Apache Beam, on one or many machines, line by line, in order.

    Plain text, TSV and Parquet are recognized by their names; text and TSV may be .gz. Each file
    has an output of the same format and name in FOLDER, with one row for each row of the input. TSV
    and Parquet keep their columns, and the translation follows. FOLDER/broken.tsv lists the lines
    that cannot be read, with file, line and reason; their translations are empty. A second run
    skips the files that are done, and continues the others.

    All further options are Beam's, such as --runner FlinkRunner. By default, a process per core of
    this machine translates (--runner FnApiRunner --direct_running_mode multi_processing
    --direct_num_workers 0). Write Beam's options after EXPORT.
    """
    console = progress_console()
    is_local = not any(one.split("=")[0] == "--runner" for one in context.args)
    if is_local:
        # The processes of the workers report much that is of no interest. Each has one core.
        logging.getLogger().setLevel(logging.ERROR)
        os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    with extras():
        import apache_beam as beam
    from kerasnmt.serving.bulk import TranslateFiles
    from kerasnmt.serving.bulk.translate_files import BROKEN, write_broken

    options = _beam_options([*(_LOCAL if is_local else ()), *context.args])
    files = TranslateFiles(
        export,
        input,
        output,
        columns=columns.split(",") if columns else None,
        scores=scores,
        batch_size=batch_size,
        max_bytes=max_text_bytes,
    )
    if files.done:
        say(console, f"done before: {files.done} of {files.done + len(files.jobs)} files")
    if files.jobs:
        pipeline = beam.Pipeline(options=options)
        _ = pipeline | files
        hidden = without_talk() if is_local else nullcontext()
        with console.status(f"translating {len(files.jobs)} files"), hidden:
            result = pipeline.run()
            result.wait_until_finish()
        counters = result.metrics().query()["counters"]
        counts = {one.key.metric.name: one.result for one in counters}
        say(console, f"translated lines: {counts.get('lines', 0):,}")
        if truncated := counts.get("truncated"):
            say(console, f"lines truncated to the max_length of the model: {truncated:,}")
    if broken := write_broken(output):
        say(console, f"lines that cannot be read: {broken:,}, see {output}/{BROKEN}")


def _beam_options(arguments: list[str]) -> Any:
    """Return the options of Beam.

    Raises:
        ValueError: If Beam does not know an option.
    """
    from apache_beam.options.pipeline_options import PipelineOptions

    options = PipelineOptions(arguments)
    known = options.get_all_options()
    unknown = options.get_all_options(retain_unknown_options=True).keys() - known.keys()
    if unknown:
        raise ValueError(f"No such option: --{' --'.join(sorted(unknown))}")
    return options
