"""Every model of the zoo with a search, on tiny sizes, and what it is fed.

`NAMES` are read from the register, so `test_every_model.py` and `test_every_model_with_text.py` try
a new model without being told: its numbers, padding, gradients, training, saving and loading.
"""

import functools

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import CaptionModel, Seq2Seq
from tests.numerics import fill

TINY = {"embedding_dim": 6, "units": 4, "dropout": 0.0}
TINY_TRANSFORMER = {
    **{"units": 6, "num_heads": 3, "hidden_units": 5, "encoder_layers": 1, "decoder_layers": 2},
    **{"dropout": 0.0, "attention_dropout": 0.0},
}
TINY_CAPTIONS = {**TINY, "image_size": 8, "filters": (3, 4)}
SOURCE = np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]], "int32")
TARGETS = np.array([[12, 5, 7, 3], [4, 3, 0, 0], [9, 11, 3, 0]], "int32")
TARGET_IDS = np.where(TARGETS, np.pad(TARGETS, ((0, 0), (1, 0)), constant_values=2)[:, :4], 0)
INPUTS = {"source_ids": SOURCE, "target_ids": TARGET_IDS}
# For models that copy: 10 of the first source is outside the vocabulary, and the target's 12 is it.
COPYING = {
    "source_ids": np.where(SOURCE == 10, 1, SOURCE),
    "extended_source_ids": np.where(SOURCE == 10, 13, SOURCE),
    "target_ids": np.where(TARGET_IDS == 12, 1, TARGET_IDS),
}
COPIED_TARGETS = np.where(TARGETS == 12, 13, TARGETS)
# For models that read a context: 14 stands in the first one alone, and is in no target.
CONTEXT = np.array([[14, 7, 13, 4, 3], [9, 5, 3, 0, 0], [3, 0, 0, 0, 0]], "int32")
IN_CONTEXT = {
    **COPYING,
    "context_ids": np.where(CONTEXT > 12, 1, CONTEXT),
    "extended_context_ids": CONTEXT,
}
IMAGES = np.random.default_rng(2).integers(0, 256, (3, 8, 8, 3), "uint8")
OF_IMAGES = {"images": IMAGES, "target_ids": TARGET_IDS}

NAMES = zoo.list_models(Seq2Seq)
CAPTIONS = zoo.list_models(CaptionModel)
# Every name with its defaults, and the options that change what a model is made of.
OPTIONS = {
    **{name: (name, {}) for name in [*NAMES, *CAPTIONS]},
    "bahdanau_lstm coverage": ("bahdanau_lstm", {"coverage": 1.0}),
    "cgru deep": (
        "cgru",
        {"transitions": 3, "layer_normalization": True, "coverage": 0.5},
    ),
    "bahdanau_lstm stacked": ("bahdanau_lstm", {"num_layers": 3}),
    "cgru stacked": ("cgru", {"num_layers": 2, "layer_normalization": True}),
    "history_attention_gru stacked": ("history_attention_gru", {"num_layers": 2}),
    "pointer_generator_gru stacked": (
        "pointer_generator_gru",
        {"num_layers": 2, "attention": "location_sensitive", "own_pointer": True},
    ),
    "pointer_generator_lstm gaussian": ("pointer_generator_lstm", {"attention": "gaussian"}),
    "luong_general_gru location": (
        "luong_general_gru",
        {"attention": "location_sensitive", "input_feeding": True},
    ),
    "luong_scaled_dot_lstm monotonic": (
        "luong_scaled_dot_lstm",
        {"attention": "monotonic", "input_feeding": True},
    ),
    "luong_dot_lstm chunkwise": (
        "luong_dot_lstm",
        {"attention": "chunkwise", "input_feeding": True, "num_layers": 2},
    ),
    "context_attention_gru normalized": ("context_attention_gru", {"layer_normalization": True}),
    "pointer_network_lstm normalized": ("pointer_network_lstm", {"layer_normalization": True}),
    "show_attend_tell_lstm normalized": ("show_attend_tell_lstm", {"layer_normalization": True}),
    "bahdanau_gru location": ("bahdanau_gru", {"attention": "location_sensitive"}),
    "bahdanau_lstm monotonic": ("bahdanau_lstm", {"attention": "monotonic"}),
    "cgru gaussian": ("cgru", {"attention": "gaussian"}),
    "concat_gru chunkwise": ("concat_gru", {"attention": "chunkwise"}),
    "bahdanau_lstm normalized": ("bahdanau_lstm", {"layer_normalization": True}),
    "luong_general_gru normalized": (
        "luong_general_gru",
        {"layer_normalization": True, "num_layers": 2, "input_feeding": True},
    ),
    "dense_scorer_gru coverage": ("dense_scorer_gru", {"coverage": 0.0}),
    "history_attention_gru coverage": ("history_attention_gru", {"coverage": 0.1}),
    "hard_monotonic_lstm first order": ("hard_monotonic_lstm", {"order": 1, "width": 2}),
    "hard_attention_lstm stacked": (
        "hard_attention_lstm",
        {"num_layers": 2, "tie_embeddings": True, "layer_normalization": True},
    ),
    "luong_general_lstm feeding": ("luong_general_lstm", {"input_feeding": True}),
    "luong_local_p_lstm feeding coverage": (
        "luong_local_p_lstm",
        {"input_feeding": True, "coverage": 0.5, "width": 2},
    ),
    "luong_local_m_lstm feeding": ("luong_local_m_lstm", {"input_feeding": True, "width": 1}),
    "luong_general_gru wide encoder": (
        "luong_general_gru",
        {"encoder_units": 6, "input_feeding": True},
    ),
    "luong_general_lstm fused": ("luong_general_lstm", {"fused": True}),
    "luong_general_lstm forward": ("luong_general_lstm", {"bidirectional": False, "units": 5}),
    "luong_general_lstm forward, feeding": (
        "luong_general_lstm",
        {"bidirectional": False, "num_layers": 2, "input_feeding": True},
    ),
    "luong_dot_lstm stacked": ("luong_dot_lstm", {"num_layers": 2, "embedding_dim": 4}),
    "encoder_decoder_gru stacked": ("encoder_decoder_gru", {"num_layers": 3}),
    "encoder_decoder_lstm tied": (
        "encoder_decoder_lstm",
        {"num_layers": 2, "tie_embeddings": True, "units": 6},
    ),
    "pointer_generator_gru own pointer": ("pointer_generator_gru", {"own_pointer": True}),
    "pointer_generator_lstm coverage": ("pointer_generator_lstm", {"coverage": 0.1}),
    "pointer_network_lstm coverage": ("pointer_network_lstm", {"coverage": 0.0}),
    "transformer_tiny ssru": ("transformer_tiny", {"decoder": "ssru"}),
    "transformer_tiny average": ("transformer_tiny", {"decoder": "average_attention"}),
    "transformer_tiny learned": (
        "transformer_tiny",
        {"max_positions": 9, "tie_embeddings": False, "decoder_layers": 1},
    ),
    "bahdanau_gru entmax15": ("bahdanau_gru", {"normalizer": "entmax15"}),
    "luong_local_p_lstm sparsemax": (
        "luong_local_p_lstm",
        {"width": 2, "normalizer": "sparsemax"},
    ),
    "pointer_generator_gru entmax15": (
        "pointer_generator_gru",
        {"own_pointer": True, "normalizer": "entmax15"},
    ),
    "pointer_network_lstm sparsemax": ("pointer_network_lstm", {"normalizer": "sparsemax"}),
    "show_attend_tell_lstm entmax15": ("show_attend_tell_lstm", {"normalizer": "entmax15"}),
    "context_attention_gru entmax15": ("context_attention_gru", {"normalizer": "entmax15"}),
    "history_attention_gru sparsemax": ("history_attention_gru", {"normalizer": "sparsemax"}),
    "transformer_tiny sparsemax": ("transformer_tiny", {"normalizer": "sparsemax"}),
    "bahdanau_gru tags": ("bahdanau_gru", {"tags": "concat"}),
    "hard_monotonic_lstm tags": ("hard_monotonic_lstm", {"tags": "sum"}),
    "pointer_network_lstm tags": (
        "pointer_network_lstm",
        {"tags": "concat", "share_embeddings": True},
    ),
    "transformer_tiny tags": ("transformer_tiny", {"tags": "sum", "max_positions": 9}),
}
# One of every decoder cell, window and kind of score. XLA, search and JAX take seconds for each, so
# `make test` tries some of them there, and the others are thorough.
COMPILED = [
    "bahdanau_gru tags",
    "cgru deep",
    "cgru gaussian",
    "concat_gru chunkwise",
    "bahdanau_gru location",
    "bahdanau_lstm stacked",
    "context_attention_gru",
    "encoder_decoder_gru stacked",
    "dense_scorer_gru coverage",
    "hard_attention_lstm stacked",
    "hard_monotonic_lstm first order",
    "history_attention_gru coverage",
    "luong_cosine_lstm",
    "luong_location_lstm",
    "luong_local_p_lstm feeding coverage",
    "luong_local_m_lstm",
    "pointer_generator_lstm coverage",
    "pointer_network_lstm",
    "transformer_tiny average",
    "transformer_tiny ssru",
    "show_attend_tell_lstm",
    "transformer_tiny",
    "transformer_tiny tags",
]
thorough = pytest.mark.thorough("another model shows it, or this one does eagerly")
# Cases that combine parts of other cases in another way. `tests/layers` tests each part.
REPEATED = [
    *("bahdanau_lstm", "concat_gru", "context_attention_gru", "dense_scorer_gru"),
    *("encoder_decoder_gru", "encoder_decoder_lstm", "history_attention_gru", "luong_concat_lstm"),
    *("hard_attention_lstm", "hard_attention_lstm stacked"),
    *("luong_cosine_lstm", "luong_dot_lstm", "luong_general_gru", "luong_general_lstm"),
    *("luong_local_m_lstm", "luong_local_p_lstm", "luong_location_lstm", "luong_scaled_dot_lstm"),
    *("pointer_generator_gru", "pointer_generator_lstm", "pointer_network_lstm"),
    *("transformer_base", "bahdanau_lstm coverage", "luong_general_lstm feeding"),
    *("luong_local_m_lstm feeding", "luong_general_gru wide encoder", "luong_general_lstm fused"),
    *("luong_general_lstm forward", "luong_general_lstm forward, feeding"),
    *("luong_dot_lstm stacked", "encoder_decoder_gru stacked", "pointer_generator_lstm coverage"),
    *("transformer_tiny learned", "cgru", "bahdanau_lstm normalized"),
    "luong_general_gru normalized",
    *("luong_local_p_lstm sparsemax", "pointer_generator_gru entmax15"),
    *("pointer_network_lstm sparsemax", "show_attend_tell_lstm entmax15"),
    *("context_attention_gru entmax15", "history_attention_gru sparsemax"),
    *("transformer_tiny sparsemax", "hard_monotonic_lstm tags", "pointer_network_lstm tags"),
    *("history_attention_gru stacked", "cgru stacked", "pointer_generator_gru stacked"),
    *("luong_general_gru location", "luong_scaled_dot_lstm monotonic", "luong_dot_lstm chunkwise"),
    *("pointer_generator_lstm gaussian", "context_attention_gru normalized"),
    *("pointer_network_lstm normalized", "show_attend_tell_lstm normalized"),
]


def marks(case, always):
    return [] if case in always else [thorough]


def sizes(name):
    if name in CAPTIONS:
        return TINY_CAPTIONS
    return TINY_TRANSFORMER if name.startswith("transformer") else TINY


class TaggedIds:
    """Stand-in for a tokenizer with tags, which needs no TensorFlow."""

    tag_ids, space_ids, log_frequencies = [5, 10], [4], None

    def __init__(self, vocabulary_size):
        self.vocabulary_size = vocabulary_size


def make(name, source=11, target=13, **options):
    if name in CAPTIONS:
        sides = [target]
    elif name.startswith(("pointer", "context")):
        sides = [target if isinstance(target, int) else source]
    else:
        sides = [source, target]
    if options.get("tags") and isinstance(sides[0], int):
        sides = [*map(TaggedIds, sides)]
    model = zoo.get_model(name)(*sides, **{**sizes(name), **options})
    return fill(model, scale=0.7)


@functools.cache
def shared(case):
    """A compiled model of `OPTIONS`, for tests that do not change its weights."""
    name, options = OPTIONS[case]
    model = make(name, **options)
    model.compile(label_smoothing=0.1)
    return model


def example(model):
    if model.name in CAPTIONS:
        return OF_IMAGES, TARGETS
    if "context_ids" in model.encoder.reads:
        return IN_CONTEXT, COPIED_TARGETS
    return (COPYING, COPIED_TARGETS) if model.copies else (INPUTS, TARGETS)


def alone(inputs, row):
    """Return one row of inputs, without its padding."""
    length = [5, 3, 1][row]
    return {
        key: rows[row : row + 1] if key == "images" else rows[row : row + 1, :length]
        for key, rows in inputs.items()
    }


def log_probabilities(model, outputs):
    return model.decoder.next_log_probability(outputs)
