"""What an export promises: the signatures of a SavedModel, and what their outputs mean.

All functions here look at names and NumPy arrays only, and return what is wrong as sentences; an
empty list means that nothing is.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kerasnmt.serving.meta_graph import Signature, TensorInfo

# What an export holds translations of, for its check: texts of several lengths, so that there is
# padding; nothing to translate; signs no vocabulary holds.
EXAMPLE_TEXTS = ("Two dogs run.", "A man in a red shirt is reading a book .", "", "   ", "naïve 🙂")

# What comes to a server that anybody can reach; each is to be answered, alone and among others.
ODD_TEXTS = {
    "no text": b"",
    "only spaces": b"   \t ",
    "10,000 characters": b"two dogs . " * 909 + b"x",
    "a word of 10,000 characters": b"x" * 10_000,
    "emoji": "👩\u200d👩\u200d👧 🇩🇪 dogs 🙂🙂".encode(),
    "bytes that are not UTF-8": b"\xff\xfe dogs \xc3( \xed\xa0\x80",
    "text from right to left": "שלום עולם مرحبا بالعالم .".encode(),
    "combining marks": "a\u0301\u0323\u0308 Z\u0351\u036b\u0343 e\u0301".encode(),
    "a null byte": b"two\0dogs \0 run",
    "control characters": bytes(range(1, 32)) + b"\x7f two dogs",
    "line breaks": b"two dogs\nrun .\r\n",
}

ABSENT_SCORE = -1e9
SCORE_TOLERANCE = 1e-4
WEIGHT_TOLERANCE = 1e-3

# The one input of each signature, then the outputs with their dtypes and axes, batch first.
INPUT = {"text": ("string", ("batch",))}
OUTPUTS = {
    "serving_default": {
        "translation": ("string", ("batch",)),
        "score": ("float32", ("batch",)),
    },
    "n_best": {
        "translations": ("string", ("batch", "beam")),
        "scores": ("float32", ("batch", "beam")),
    },
    "attention": {
        "source_tokens": ("string", ("batch", "source_length")),
        "target_tokens": ("string", ("batch", "target_length")),
        "weights": ("float32", ("batch", "target_length", "source_length")),
        "generate_probability": ("float32", ("batch", "target_length")),
    },
}
OPTIONAL_SIGNATURES = frozenset({"attention"})  # a model without attention lacks it
OPTIONAL_OUTPUTS = frozenset({"generate_probability"})  # only a pointer-generator has it


def signature_problems(signatures: Mapping[str, Signature]) -> list[str]:
    """Compares the declared signatures of a SavedModel with the contract.

    Args:
        signatures: The signatures by name. Others than the contract's may stand beside them.

    Returns:
        What is missing, too much, of another dtype or of another shape.
    """
    problems = []
    for name, outputs in OUTPUTS.items():
        if name in signatures:
            problems += _tensor_problems(f"{name} input", signatures[name].inputs, INPUT)
            problems += _tensor_problems(f"{name} output", signatures[name].outputs, outputs)
        elif name not in OPTIONAL_SIGNATURES:
            problems.append(f"no signature {name!r}")
    return problems


def shape_problems(name: str, outputs: Mapping[str, np.ndarray], batch_size: int) -> list[str]:
    """Compares the shapes that a request returned with the contract.

    Args:
        name: The signature's name.
        outputs: Its outputs by name.
        batch_size: The number of texts of the request.

    Returns:
        The outputs whose number of axes or batch size is another, or which disagree on an axis.
    """
    problems = []
    sizes = {"batch": batch_size}
    for output, (_, axes) in _present(OUTPUTS[name], outputs).items():
        shape = outputs[output].shape
        fits = len(shape) == len(axes)
        if not fits or any(sizes.setdefault(a, n) != n for a, n in zip(axes, shape, strict=True)):
            problems.append(
                f"{name}: {output} has shape {shape} where {_written(axes)} is expected"
            )
    return problems


def n_best_problems(
    default: Mapping[str, np.ndarray], n_best: Mapping[str, np.ndarray]
) -> list[str]:
    """Checks that `n_best` is a ranking whose best is what `serving_default` returns.

    Args:
        default: The outputs of `serving_default`: `translation` and `score`, [batch].
        n_best: The outputs of `n_best` for the same texts: `translations` and `scores`,
            [batch, beam].

    Returns:
        Scores that are not finite or not in falling order, a best that is another, and absent
        hypotheses that are not written as an empty text and -1e9.
    """
    translations, scores = n_best["translations"], n_best["scores"]
    if not scores.shape[1]:
        return ["n_best has no hypotheses"]
    absent = scores <= ABSENT_SCORE / 2
    problems = []
    if not (np.isfinite(scores).all() and np.isfinite(default["score"]).all()):
        problems.append("scores are not finite")
    if (scores[:, 1:] > scores[:, :-1]).any():
        problems.append("n_best is not in the order of its scores")
    if (translations[absent] != b"").any() or (scores[absent] != np.float32(ABSENT_SCORE)).any():
        problems.append("absent hypotheses of n_best are not written as an empty text and -1e9")
    if absent[:, :1].any():
        problems.append("n_best has no hypothesis at all for a text")
    best = {"translation": translations[:, 0], "score": scores[:, 0]}
    problems += [f"best of n_best, {problem}" for problem in differences(default, best)]
    return problems


def attention_problems(attention: Mapping[str, np.ndarray]) -> list[str]:
    """Checks that tokens are padded on the right and that weights are shares of a source.

    Args:
        attention: The outputs of `attention`: `source_tokens` [batch, source_length],
            `target_tokens` [batch, target_length], `weights` [batch, target_length, source_length],
            and of a pointer-generator `generate_probability` [batch, target_length].

    Returns:
        Real tokens behind padding, weights that are negative or not finite, weights of padding that
        are not 0, and target tokens whose weights sum to nothing or to more than 1. (Around a
        predicted place, as with Luong's local-p, they sum to less.) Of `generate_probability`,
        values outside [0, 1], to 1e-3, and those of padding that are not 0.
    """
    weights = attention["weights"]
    real = {side: attention[f"{side}_tokens"] != b"" for side in ("source", "target")}
    problems = [
        f"{side}_tokens has an empty string before a token"
        for side, mask in real.items()
        if (mask[:, 1:] & ~mask[:, :-1]).any()
    ]
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        problems.append("weights are negative or not finite")
    pairs = real["target"][:, :, None] & real["source"][:, None, :]
    if (weights[~pairs] != 0).any():
        problems.append("weights of padding are not 0")
    sums = weights.sum(axis=-1)[real["target"]]
    wrong = sums[~((sums > 0) & (sums <= 1 + WEIGHT_TOLERANCE))]
    if wrong.size:
        problems.append(
            f"weights of a target token sum to {wrong[0]:.4f} where more than 0 and at most 1 is "
            "expected"
        )
    if "generate_probability" in attention:
        probability = attention["generate_probability"]
        wrong = probability[~(np.abs(probability - 0.5) <= 0.5 + WEIGHT_TOLERANCE)]
        if wrong.size:
            problems.append(f"generate_probability has {wrong[0]:.4f} where 0 to 1 is expected")
        if (probability[~real["target"]] != 0).any():
            problems.append("generate_probability of padding is not 0")
    return problems


def encoding_problems(outputs: Mapping[str, np.ndarray]) -> list[str]:
    """Looks for strings that no JSON can hold.

    Args:
        outputs: Outputs by name, the batch first.

    Returns:
        The first string of each output that is not UTF-8.
    """
    problems = []
    for name, values in outputs.items():
        if values.dtype != object:
            continue
        for index, value in np.ndenumerate(values):
            if value.decode(errors="ignore").encode() != value:
                problems.append(f"{name} of text {index[0]} is not UTF-8: {value!r}")
                break
    return problems


def differences(
    expected: Mapping[str, np.ndarray], received: Mapping[str, np.ndarray]
) -> list[str]:
    """Compares two sets of outputs: texts exactly, numbers to 1e-4.

    Args:
        expected: Outputs by name, the batch first.
        received: Outputs by name, the batch first.

    Returns:
        The outputs that only one of both has, and the first difference of each that differs.
    """
    problems = [f"only one has the output {name!r}" for name in expected.keys() ^ received.keys()]
    for name in expected.keys() & received.keys():
        one, other = expected[name], received[name]
        if one.shape != other.shape:
            problems.append(f"{name}: shape {other.shape} where {one.shape} is expected")
            continue
        if one.dtype == object:
            unequal = one != other
        else:
            unequal = ~np.isclose(other, one, rtol=0, atol=SCORE_TOLERANCE)
        if unequal.any():
            index = tuple(int(place[0]) for place in np.nonzero(unequal))
            problems.append(
                f"{name} of text {index[0]}: {_shown(other[index])} "
                f"where {_shown(one[index])} is expected"
            )
    return sorted(problems)


def _tensor_problems(
    where: str,
    declared: Mapping[str, TensorInfo],
    expected: Mapping[str, tuple[str, Sequence[str]]],
) -> list[str]:
    expected = _present(expected, declared)
    if declared.keys() != expected.keys():
        return [f"{where}: names {sorted(declared)} where {sorted(expected)} are expected"]
    problems = []
    for name, (dtype, axes) in expected.items():
        _, found, shape = declared[name]
        if found != dtype:
            problems.append(f"{where} {name!r}: dtype {found} where {dtype} is expected")
        # An unknown rank promises nothing wrong: the requests show it.
        if shape is not None and (len(shape) != len(axes) or shape[0] != -1):
            problems.append(
                f"{where} {name!r}: shape {shape} where {_written(axes)} with any batch is expected"
            )
    return problems


def _present(expected: Mapping[str, Any], found: Collection[str]) -> dict[str, Any]:
    """What is expected, without the optional outputs that are not there."""
    absent = OPTIONAL_OUTPUTS.difference(found)
    return {name: value for name, value in expected.items() if name not in absent}


def _written(axes: Sequence[str]) -> str:
    return f"[{', '.join(axes)}]"


def _shown(value: bytes | np.generic) -> str:
    return repr(value.decode(errors="replace")) if isinstance(value, bytes) else f"{value:.6g}"
