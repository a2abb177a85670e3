"""The version of a model that a server serves, and the search for new versions."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from werkzeug.wsgi import ClosingIterator

from kerasnmt.serving.contract.export_contract import declared_contract
from kerasnmt.serving.runtimes.version_folder import newest_version
from kerasnmt.serving.server.rest_app import RestApp, route_of

# Size and time of the last change of each file.
_Files = dict[Path, tuple[int, int]]


class CurrentVersion:
    """WSGI application that answers with the current version of a model, which can be replaced.

    Args:
        app: The application of the first version.
    """

    def __init__(self, app: RestApp) -> None:
        self._app = app
        self._borrowers: Counter[RestApp] = Counter()
        self._returned = threading.Condition()

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._app.name

    @property
    def version(self) -> int:
        """Number of the version."""
        return self._app.version

    @contextmanager
    def borrowed(self) -> Iterator[RestApp]:
        """Yield the application of the version, whose session stays open until the block ends."""
        with self._returned:
            app = self._app
            self._borrowers[app] += 1
        try:
            yield app
        finally:
            with self._returned:
                self._borrowers[app] -= 1
                self._returned.notify_all()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one WSGI request. The whole answer is made before this returns, or it is streamed.

        A stream borrows the version until its iterator is closed.
        """
        with ExitStack() as borrowing:
            answer = borrowing.enter_context(self.borrowed())(environ, start_response)
            if route_of(environ["PATH_INFO"]) == "stream":
                return ClosingIterator(answer, borrowing.pop_all().close)
            return answer

    def replace(self, app: RestApp) -> None:
        """Serve another version, and close the old one when nobody borrows it any more."""
        with self._returned:
            old, self._app = self._app, app
            self._returned.wait_for(lambda: not self._borrowers[old])
            del self._borrowers[old]
        old.session.close()


class VersionWatcher:
    """Search for new versions of an export, which replace the version that is served.

    As in TF Serving, the version with the highest number is served. A version that is still being
    copied is not loaded: its files must be the same at two looks. `kerasnmt export` moves a version
    to its place in one operation. A loaded version answers an example before it is served, because
    the first run of a signature takes long.

    Args:
        current: The version that is served.
        directory: Path of the model's folder, `<name>`.
        mark: Name of the file by which a version is known.
        load: Function that loads the folder of a version, and raises a `ValueError` if it cannot.
        say: Function that reports a message.
    """

    def __init__(
        self,
        current: CurrentVersion,
        directory: Path,
        mark: str,
        load: Callable[[Path], RestApp],
        say: Callable[[str], None],
    ) -> None:
        self._current, self._directory, self._mark = current, directory, mark
        self._load, self._say = load, say
        self._seen: _Files | None = None
        self._failed: _Files | None = None
        self._reported: set[Path] = set()

    def watch(self, seconds: float) -> NoReturn:
        """Look again and again, with pauses of this many seconds."""
        while True:
            time.sleep(seconds)
            self.look()

    def look(self) -> None:
        """Look once, and serve the newest version if it is another one and has not failed."""
        try:
            version = newest_version(self._directory)
            if version is None or int(version.name) == self._current.version:
                return
            files = _files(version)
        except OSError:  # the folder changes, or cannot be reached for a moment
            return
        seen, self._seen = self._seen, files
        if files != seen or files == self._failed or version / self._mark not in files:
            return
        try:
            app = self._warmed_up(version)
        except ValueError as error:
            self._failed = files
            if version not in self._reported:
                self._reported.add(version)
                self._say(f"still serving version {self._current.version}: {error}")
            return
        if not version.exists():  # it was removed while it was loaded
            app.session.close()
            return
        self._say(f"serving version {version.name} of {self._current.name}")
        self._current.replace(app)

    def _warmed_up(self, version: Path) -> RestApp:
        """Load a version, and run each signature once."""
        app = self._load(version)
        try:
            contract = declared_contract(app.session.signatures)
            for name, signature in app.session.signatures.items():
                # Other exports are not kerasnmt's.
                if {*signature.inputs} == {*contract.inputs_of(name)}:
                    app.session.run(name, contract.columns(contract.example_rows[:1], name))
        except Exception as error:  # whatever it is, the old version stays
            app.session.close()
            raise ValueError(
                f"{version}: the export fails to answer an example: {error}"
            ) from error
        return app


def _files(version: Path) -> _Files:
    """Return the size and the time of the last change of each file."""
    states = {path: path.stat() for path in version.rglob("*")}
    return {path: (state.st_size, state.st_mtime_ns) for path, state in states.items()}
