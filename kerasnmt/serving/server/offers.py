"""Models that a server offers under a name: a task in this process, or an export."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kerasnmt.kinds import kind_of
from kerasnmt.serving.runtimes.runtime import Runtime
from kerasnmt.serving.runtimes.session import Session
from kerasnmt.serving.runtimes.version_folder import read_description
from kerasnmt.serving.server.current_version import CurrentVersion, VersionWatcher
from kerasnmt.serving.server.page_models import ExportPageModel, PageModel
from kerasnmt.serving.server.rest_app import RestApp

Say = Callable[[str], None]
# Function from the session, the number and the description of a version to its application.
AppOf = Callable[[Session, int, Mapping[str, Any]], RestApp]


class Offer:
    """Base class of the models that a server offers.

    Attributes:
        name: Name of the model.
        number: Number of the version.
        session: Session that runs the model.
        description: Description of the model, or an empty dict.
        fields: Names of the fields of a request. Without them, there is no page.
    """

    name: str
    number: int
    session: Session
    description: Mapping[str, Any]
    fields: Sequence[str]

    def page_model(self, current: CurrentVersion) -> PageModel:
        """Return what the page asks of the model."""
        raise NotImplementedError

    def watch(
        self,
        current: CurrentVersion,
        app_of: AppOf,
        seconds: float,
        say: Say,
    ) -> None:
        """Replace the version in the background when there is a new one, if that is possible."""


class TaskOffer(Offer):
    """Task of a run or a preset, without an export.

    Args:
        task: The task.
        name: Name of the model.
    """

    def __init__(self, task: Any, name: str) -> None:
        from kerasnmt.serving.server.task_session import TaskSession  # imports TensorFlow

        self.name, self.number, self.session = name, 1, TaskSession(task)
        self.description, self.fields = task.description, task.fields
        self._task = task

    def page_model(self, current: CurrentVersion) -> PageModel:
        """See `Offer`."""
        return kind_of(self.fields).page_model(self._task)


class ExportOffer(Offer):
    """Export, which is loaded into a session.

    Args:
        runtime: Runtime of the export.
        export: Path of the export, or of one of its versions.
        name: Name of the model, or None for the name of its folder.
        watched: Whether a new version replaces this one.
        say: Function that reports a message, for example about an export without a description.

    Raises:
        ValueError: If the export cannot be loaded.
    """

    def __init__(
        self, runtime: Runtime, export: Path, name: str | None, *, watched: bool, say: Say
    ) -> None:
        folder, self.number = runtime.version(export)
        self.name = name or folder
        self.session = runtime.open(export)
        self._runtime, self._export, self._watched = runtime, export, watched and runtime.versions
        self.description = _described(export, lambda one: say(f"serving without a page: {one}"))
        self.fields = self.description.get("inputs", ())

    def page_model(self, current: CurrentVersion) -> PageModel:
        """See `Offer`."""
        return ExportPageModel(current)

    def watch(
        self,
        current: CurrentVersion,
        app_of: AppOf,
        seconds: float,
        say: Say,
    ) -> None:
        """See `Offer`."""
        if self._watched:

            def load(version: Path) -> RestApp:
                session, description = self._runtime.open(version), _described(version, say)
                return app_of(session, int(version.name), description)

            watcher = VersionWatcher(current, self._export.parent, self._runtime.mark, load, say)
            threading.Thread(target=watcher.watch, args=(seconds,), daemon=True).start()


def _described(export: Path, say: Say) -> Mapping[str, Any]:
    """Return the description of an export, or report why it has none."""
    try:
        return read_description(export)
    except ValueError as error:
        say(str(error))
        return {}
