"""Models from runs, presets, exports and servers."""

import shlex
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from kerasnmt.atomic_write import atomic_write
from kerasnmt.cli.quiet import load_tensorflow, without_talk
from kerasnmt.decoding import TranslationOptions
from kerasnmt.kinds import kind_of
from kerasnmt.presets.folders import CONFIG, METADATA, preset_folder, preset_hint


class SearchChanges(NamedTuple):
    """Changes to the search of a run or a preset.

    Attributes:
        beam_size: Beam size instead of the model's.
        search: Changes to the search options, such as `no_repeat_ngram=3`.
        others: Further runs or presets, whose models form an ensemble with the first model.
        lexicon: Translations that are looked up.
    """

    beam_size: int | None = None
    search: Sequence[str] | None = None
    others: Sequence[str | Path] | None = None
    lexicon: dict[str, str] | None = None

    @property
    def options(self) -> list[str]:
        """Changes to the search options, including the beam size.

        Raises:
            ValueError: If there are two beam sizes.
        """
        search = [*(self.search or [])]
        if self.beam_size is None:
            return search
        for option in search:
            if option.startswith("beam_size="):
                raise ValueError(
                    "Expected one beam size. "
                    f"Received: --beam-size {self.beam_size} and --search {option}."
                )
        return [*search, f"beam_size={self.beam_size}"]


class ServerModel(NamedTuple):
    """Model on a server.

    Attributes:
        url: URL of the server: `http://host:port`, `https://…`, or `grpc://host:port`.
        name: Name of the model on the server.
        version: Version of the model, or None for the server's choice.
        timeout: Seconds to wait for each answer, or None for 60 seconds.
    """

    url: str
    name: str
    version: int | None = None
    timeout: float | None = None


_UNCHANGED = SearchChanges()


def load_run(
    path: str | Path, changes: SearchChanges = _UNCHANGED, *, translates: bool = True
) -> tuple[Any, dict[str, Any]]:
    """Load the model of a run or a preset, or an ensemble of several.

    Args:
        path: Folder that `kerasnmt train` wrote, or the folder, the name or the URI of a preset.
        changes: Changes to the search.
        translates: Whether the model must translate. If False, it may also caption images or answer
            questions.

    Returns:
        The model, which computes in float32, and the `search_options` of the first model, with the
        changes.

    Raises:
        ValueError: If a path has no model, or a damaged model, or a model of another kind; if the
            models do not fit together; if a search option is unknown, out of range or given twice;
            or if search options are given for a model that does not search.
    """
    model, options = _load_one(path, changes.options, translates or bool(changes.others))
    if changes.others:
        from kerasnmt.models import Ensemble

        members = [model, *(_load_one(other, [], True)[0] for other in changes.others)]
        model = Ensemble(members, name="ensemble")
    if changes.lexicon:
        options["lexicon"] = dict(changes.lexicon)
    from kerasnmt.models import SearchModel

    if options and not isinstance(model, SearchModel):
        raise ValueError(
            f"Expected no search options, because {model.name} does not search. Received: "
            f"{', '.join(f'{key}={value}' for key, value in options.items())}."
        )
    return model, options


def keep_shortlist(path: Path, pairs: Sequence[tuple[str, str]], **options: int) -> Any:
    """Make the shortlist of the model of a run or a preset, and write it there.

    Args:
        path: Folder of the run or the preset.
        pairs: Sources and targets.
        **options: Options of `TranslationModel.make_shortlist`.

    Returns:
        The shortlist.

    Raises:
        ValueError: If the path is not such a folder, or the model cannot use a shortlist.
    """
    if not path.is_dir():
        hint = ", which has no folder of its own" if is_preset(path) else ""
        raise ValueError(
            f"Expected the folder of a run or a preset, to write to. Received: {path}{hint}. Write "
            "a preset to a folder with zoo.from_preset(name).save_to_preset(folder)."
        )
    trained = _trained(path)
    load_tensorflow()
    from kerasnmt.models import TranslationModel

    model = trained.load()
    if not isinstance(model, TranslationModel):
        raise ValueError(f"{path}: expected a model that translates. Received: {model.name}.")
    sources, targets = zip(*pairs, strict=True)
    model.make_shortlist(sources, targets, **options)
    trained.keep_shortlist(model)
    return model.shortlist


def _load_one(
    path: str | Path, search: Sequence[str], translates: bool
) -> tuple[Any, dict[str, Any]]:
    trained = _trained(path)
    load_tensorflow()
    from kerasnmt.models import TextModel, TranslationModel, in_float32

    model = trained.load()
    if not isinstance(model, TranslationModel if translates else TextModel):
        wanted = "that translates" if translates else "of kerasnmt, with tokenizers"
        raise ValueError(
            f"{trained.path}: expected a model {wanted}. Received: {model.name}, a "
            f"{type(model).__name__}."
        )
    options = TranslationOptions.with_changes(trained.search_options(model), search)
    return in_float32(model), options


class _Run:
    """Model that `kerasnmt train` wrote."""

    low_score: float | None = None
    about: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, run: Any) -> None:
        self.run = run
        self.path = run.model

    def search_options(self, model: Any) -> dict[str, Any]:
        """Return the search options of the model, or those of the recipe if it has none.

        Training adds them to the model at its end. Later, a user can change either of them.
        """
        own = model.search_options
        if not self.run.recipe.exists():
            return own
        from kerasnmt.training import Recipe

        of_recipe = Recipe.load(self.run.recipe).search.options
        if own and TranslationOptions(**own) != TranslationOptions(**of_recipe):
            warnings.warn(
                f"the search has the options of {self.path}: {own}. {self.run.recipe} has others, "
                f"which are not used: {of_recipe}",
                stacklevel=2,
            )
        return own or of_recipe

    def load(self) -> Any:
        """Return the model."""
        from kerasnmt.models import load_model

        return load_model(self.path, compile=False)

    def keep_shortlist(self, model: Any) -> None:
        """Write the model again, with its shortlist."""
        with atomic_write(self.path) as temporary:
            model.save(temporary)


class _Preset:
    """Model that was saved as a preset."""

    def __init__(self, path: str) -> None:
        load_tensorflow()
        from kerasnmt.zoo import get_preset

        self.path = path
        self.preset = get_preset(path)
        self.low_score = self.preset.low_score
        self.about = self.preset.about

    def search_options(self, model: Any) -> dict[str, Any]:
        """Return the search options of the model, with which the preset was scored."""
        return model.search_options

    def load(self) -> Any:
        """Return the model."""
        return self.preset.load()

    def keep_shortlist(self, model: Any) -> None:
        """Write the shortlist of the model into the preset."""
        self.preset.keep_shortlist(model.shortlist)


def _trained(path: str | Path) -> _Run | _Preset:
    """Return the trained model of a run or a preset.

    Raises:
        ValueError: If the path is neither the folder of a run or a preset, nor the name or URI of
            a preset.
    """
    from kerasnmt.training import RunFolder

    run = RunFolder(path)
    if run.model.exists():
        return _Run(run)
    if is_preset(path):
        return _Preset(str(path))
    raise ValueError(
        "Expected the folder of a run, with the model.keras of `kerasnmt train`, or a preset. "
        f"Received: {path}{no_model(path)}"
    )


def licenses_of(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return the presets among runs and presets that have a license, and what it says."""
    known = [(path, _trained(path).about) for path in paths]
    return [
        (path, f"{about['license']}. {about.get('attribution', '')}".strip())
        for path, about in known
        if "license" in about
    ]


def is_trained(path: str | Path) -> bool:
    """Return whether a path is the folder of a run with a model, or a preset."""
    from kerasnmt.training import RunFolder

    return RunFolder(path).model.exists() or is_preset(path)


def is_preset(path: str | Path) -> bool:
    """Return whether a path is the folder, the name or the URI of a preset."""
    return "://" in str(path) or preset_folder(path) is not None


def no_model(path: str | Path) -> str:
    """Return the end of an error message about a path without a model, with a hint if possible."""
    parts = [(Path(path) / name).exists() for name in (CONFIG, METADATA)]
    if any(parts):
        missing = METADATA if parts[0] else CONFIG
        return f", a preset without {missing}. Copy the preset again."
    hint = "" if Path(path).exists() else preset_hint(str(path))
    return f".{hint}" if hint else ""


def check_exportable(path: str | Path) -> None:
    """Check that a path has a model and that Keras can export it, without loading the model.

    Raises:
        ValueError: If there is no run or preset, or the backend of Keras does not write exports.
    """
    _trained(path)
    with without_talk():
        from kerasnmt.backends import need_export_backend

    need_export_backend()


def refuse_run(directory: Path) -> None:
    """Raise an error if a folder is a run instead of an export.

    Raises:
        ValueError: If the folder is a run. The error contains the command that exports it.
    """
    from kerasnmt.training import RunFolder

    if RunFolder(directory).model.exists():
        command = shlex.join(["kerasnmt", "export", str(directory), "saved_models/NAME"])
        with without_talk():
            import keras
        on_tensorflow = keras.backend.backend() == "tensorflow"
        raise ValueError(
            f"Expected the folder of an export. Received: {directory}, a run. Export it first: "
            f"{'' if on_tensorflow else 'KERAS_BACKEND=tensorflow '}{command}"
        )


def load_run_translator(path: str | Path, others: Sequence[str | Path] | None = None) -> Any:
    """Load a run, a preset, an export, or an ensemble, to score or align given translations.

    Args:
        path: See `load_translator`.
        others: Further runs or presets, for an ensemble.

    Returns:
        A `kerasnmt.tasks.Translator`.

    Raises:
        ValueError: See `load_run` and `load_translator`.
    """
    from kerasnmt.serving.runtimes.registry import find_runtime

    if not is_trained(path) and find_runtime(path) is not None:
        return load_translator(path, SearchChanges(others=others))
    model, options = load_run(path, SearchChanges(others=others))
    from kerasnmt.tasks import Translator, task_of

    return Translator(task_of(model, sentence_case=options.get("sentence_case", False)))


def load_translator(
    path: str | Path,
    changes: SearchChanges = _UNCHANGED,
    *,
    translates: bool = True,
    warns: bool = False,
) -> Any:
    """Load a run, a preset or an export.

    Args:
        path: Run or preset (see `load_run`), or export of any runtime.
        changes: Changes to the search. Most exports have a search of their own, so only its beam
            size fits.
        translates: See `load_run`.
        warns: Whether the translator of a preset, with its own search options, warns of texts with
            a low score.

    Returns:
        A `kerasnmt.tasks.Translator`.

    Raises:
        ValueError: If the path has no model, or a damaged model; if the model does not translate,
            but must; or if the beam size differs from the beam size of an export.
    """
    if is_trained(path):
        model, options = load_run(path, changes, translates=translates)
        from kerasnmt.tasks import Translator, task_of

        searches_anew = any(changes._replace(lexicon=None))
        low_score = _trained(path).low_score if warns and not searches_anew else None
        return Translator(task_of(model, **options), low_score)
    from kerasnmt.serving.runtimes.registry import find_runtime, runtimes

    directory = Path(path)
    match = find_runtime(directory)
    if match is None:
        *marks, last = (f"a {runtime.mark}" for runtime in runtimes())
        raise ValueError(
            "Expected the folder of a run, with a model.keras, or the folder of an export, with "
            f"{', '.join(marks)} or {last}, or a preset. Received: {path}{no_model(path)}"
        )
    runtime, export = match
    if any(option.startswith("shortlist=") for option in changes.search or ()):
        raise ValueError(
            f"Expected a run or a preset with --shortlist. Received: {directory}, an export for "
            f"{runtime.title}. Exports for TensorFlow and CTranslate2 use the shortlist if "
            "kerasnmt export wrote them with --search shortlist=true."
        )
    if changes.others or changes.lexicon or (changes.search and runtime.fixed_search):
        raise ValueError(
            "Expected a run or a preset, with --with, --search or --lexicon, which are fixed in an "
            "export. "
            f"Received: {directory}, an export for {runtime.title}."
        )
    beam_size = changes.beam_size if runtime.fixed_search else None
    if runtime.needs_tensorflow:
        load_tensorflow()
    with without_talk():
        from kerasnmt.tasks import Translator

        search = () if runtime.fixed_search else (changes.options,)
        translator = Translator(runtime.load(export, *search))
    if translates and not kind_of(translator.fields).translates:
        raise ValueError(
            f"{directory}: expected an export that translates. Received: an export that reads "
            f"{' and '.join(translator.fields)}."
        )
    fixed = translator.description.get("beam_size")
    if beam_size is not None and fixed is None:
        raise ValueError(
            f"Expected no --beam-size, because this export does not search. Received: {beam_size}."
        )
    if beam_size not in (None, fixed):
        raise ValueError(
            f"Expected the beam size that is fixed in the export, {fixed}. Received: "
            f"--beam-size {beam_size}. Omit the option, or export again with another beam size."
        )
    return translator


def connect_translator(model: ServerModel) -> Any:
    """Connect to a model on a server, for translation.

    Returns:
        A `kerasnmt.tasks.Translator`.

    Raises:
        ValueError: If the URL has another form, or the server rejects the request.
        ModuleNotFoundError: If the package for gRPC is not installed.
        TransientError: If the server does not answer.
    """
    url = urlsplit(model.url)
    if url.scheme in ("http", "https") and url.netloc:
        from kerasnmt.serving import RestClient

        client: Any = RestClient
    elif url.scheme == "grpc" and url.netloc and not url.path.strip("/"):
        load_tensorflow()
        from kerasnmt.serving import GrpcClient

        client = GrpcClient
    else:
        raise ValueError(
            "Expected --server http://host:port, https://host:port or grpc://host:port. "
            f"Received: --server {model.url}"
        )
    from kerasnmt.tasks import Translator

    timeout = 60.0 if model.timeout is None else model.timeout
    return Translator(client(model.url, model.name, model.version, timeout=timeout))
