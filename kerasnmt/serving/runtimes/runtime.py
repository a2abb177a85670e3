"""Base class of runtimes, the programs that run exports."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from kerasnmt.serving.contract.export_contract import SCORE_TOLERANCE
from kerasnmt.serving.protocol.meta_graph import Signature
from kerasnmt.serving.runtimes.session import ServedModelSession, Session
from kerasnmt.serving.runtimes.version_folder import newest_version
from kerasnmt.tasks.served_model import ServedModel

# A check of an export, which returns its findings, or raises an error about a problem.
Check = Callable[..., str]

# Options of a translation that exports without texts do not have, and what they do.
OPTIONS_OF_TEXTS = {
    "split_sentences": "split texts into sentences",
    "split_words": "split texts into words",
    "sentence_case": "read texts in capitals as sentences",
}


def lost_options(names: Iterable[str], title: str, model: Any) -> str:
    """Return a warning that exports for a runtime lack options of a model."""
    does = ", or ".join(OPTIONS_OF_TEXTS[name] for name in names)
    return f"exports for {title} do not {does}, as {model} does"


class Runtime:
    """Base class of runtimes.

    A new runtime is a subclass in a folder of its own, listed in `registry.py`.

    Attributes:
        name: Name for `kerasnmt export --runtime`.
        title: Name in messages.
        about: What the runtime is good for, a sentence for help.
        mark: Name or pattern of the file by which an export is known.
        further_files: Names or patterns of the other files of every export.
        versions: Whether an export is a folder `<name>` with a folder for each version.
        only_translates: Whether the runtime answers only requests to translate.
        splits_texts: Whether an export can split texts into sentences or words.
        needs_tensorflow: Whether an export is loaded with TensorFlow in Python.
        fixed_search: Whether the options of the search are fixed in an export.
        own_options: Options of `export` that no other runtime has.
        lacks: Names of the signatures that no export for this runtime has.
        session_without: Package that must not be imported where a session runs, or None.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    mark: ClassVar[str]
    further_files: ClassVar[tuple[str, ...]] = ()
    versions: ClassVar[bool] = False
    only_translates: ClassVar[bool] = True
    splits_texts: ClassVar[bool] = False
    needs_tensorflow: ClassVar[bool] = True
    fixed_search: ClassVar[bool] = True
    own_options: ClassVar[frozenset[str]] = frozenset()
    lacks: ClassVar[frozenset[str]] = frozenset()
    session_without: ClassVar[str | None] = None

    def find(self, directory: Path) -> Path | None:
        """Return the export in a directory, or its newest version, or None if there is none."""
        newest = newest_version(directory) if self.versions else None
        folders = [directory] if newest is None else [directory, newest]
        marked = (one for one in folders if any(map(Path.is_file, one.glob(self.mark))))
        return next(marked, None)

    def version(self, export: Path) -> tuple[str, int]:
        """Return the name and the version of an export, under which a server offers it."""
        return export.name, 1

    def export(self, model: Any, directory: Path, **options: Any) -> str:
        """Write an export, completely or not at all, and return its path.

        Args:
            model: A model with tokenizers.
            directory: Path of the folder to write.
            **options: Options of the search; `weights`, their number format; and options that
                only this runtime has.

        Raises:
            ValueError: If the runtime does not run the model, or has no such option.
        """
        raise NotImplementedError

    def load(self, export: Path, search: Sequence[str] = ()) -> ServedModel:
        """Load an export for `Translator`.

        Args:
            export: Folder of the export.
            search: Changes of the search, such as `beam_size=8`, if it is not fixed.

        Raises:
            ValueError: If it cannot be loaded, or an option is out of range.
        """
        raise NotImplementedError

    def open(self, export: Path) -> Session:
        """Open a session with an export, for a server or the check.

        Raises:
            ValueError: If it cannot be loaded.
        """
        return ServedModelSession(self.load(export))

    def check_files(self, export: Path) -> None:
        """Check that the files of an export are there.

        Raises:
            ValueError: If a file is missing.
        """
        names = (self.mark, *self.further_files)
        if missing := [name for name in names if not any(export.glob(name))]:
            raise ValueError(
                f"Expected the folder of an export for {self.title}. Received: {export}, without "
                f"{' and '.join(missing)}. Export the model again."
            )

    def declared_signatures(self, export: Path) -> Mapping[str, Signature]:
        """Return the signatures that the files of an export declare, or an empty dict."""
        return {}

    def op_support(self, export: Path) -> dict[str, str]:
        """Return why a server cannot run each op of an export, or an empty string if it can."""
        return {}

    def checks_before_loading(self) -> Mapping[str, Check]:
        """Return checks of `kerasnmt check` that only this runtime has, by name."""
        return {}

    def checks(self) -> Mapping[str, Check]:
        """Return the same, for checks of a loaded export."""
        return {}

    def tolerance(self, description: Mapping[str, Any]) -> float:
        """Return by how much the scores of a row may differ, alone and in a batch."""
        return SCORE_TOLERANCE


def refuse(problems: Sequence[str]) -> None:
    """Raise a `RuntimeError` if a check has found problems."""
    if problems:
        raise RuntimeError("; ".join(problems))
