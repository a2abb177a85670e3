import json

import keras
import numpy as np
import pytest

from kerasnmt import layers
from kerasnmt.layers.composite import layers_within
from tests.numerics import dtype_policy

PARTS = {
    "AttentionalReadout": lambda: layers.AttentionalReadout(5),
    "ConditionalDecoderCell": lambda: layers.ConditionalDecoderCell(
        layers.GRUCell(4),
        layers.GRUCell(4),
        layers.BahdanauAttention(5, name="b"),
        state_dropout=0.3,
    ),
    "NormalizedGRUCell": lambda: layers.NormalizedGRUCell(5),
    "NormalizedLSTMCell": lambda: layers.NormalizedLSTMCell(5),
    "TanhReadout": lambda: layers.TanhReadout(5),
    "UpperLayer": lambda: layers.UpperLayer(layers.GRUCell(4), 0.1, 0.2, residual=True),
    "TransitionCell": lambda: layers.TransitionCell([layers.GRUCell(4), layers.GRUCell(4)]),
    "SSRU": lambda: layers.SSRU(5),
    "AverageAttention": lambda: layers.AverageAttention(layers.FeedForward(5, 4)),
    "GaussianAttention": lambda: layers.GaussianAttention(5, 3, width=2.0),
    "LocationFeatures": lambda: layers.LocationFeatures(4, 3, cumulative=False, loss_weight=0.1),
    "MonotonicAttention": lambda: layers.MonotonicAttention(
        layers.AdditiveScore(5),
        chunk_size=2,
        chunk_score=layers.AdditiveScore(4, name="b"),
        hard=True,
        noise=0.5,
        offset=-2.0,
    ),
    "ConcatReadout": lambda: layers.ConcatReadout(),
    "DeepOutputReadout": lambda: layers.DeepOutputReadout(),
    "DoublyStochastic": lambda: layers.DoublyStochastic(0.5),
    "GatedDecoderCell": lambda: layers.GatedDecoderCell(
        layers.LSTMCell(4), layers.BahdanauAttention(5, penalty=layers.DoublyStochastic(0.1))
    ),
    "ImageEncoder": lambda: layers.ImageEncoder(
        keras.Sequential([keras.Input((6, 6, 3)), keras.layers.Conv2D(4, 3, strides=3)]),
        layers.LearnedPositions(4),
        context_dropout=0.4,
    ),
    "HistoryDecoderCell": lambda: layers.HistoryDecoderCell(
        layers.GRUCell(4),
        layers.BahdanauAttention(5, name="b"),
        layers.BahdanauAttention(6, name="c"),
        state_dropout=0.3,
    ),
    "InputFeedingDecoderCell": lambda: layers.InputFeedingDecoderCell(
        layers.LSTMCell(4), layers.Attention(layers.GeneralScore(4))
    ),
    "LuongDecoderCell": lambda: layers.LuongDecoderCell(
        layers.LSTMCell(4), layers.Attention(layers.GeneralScore(4)), state_dropout=0.3
    ),
    "HardAttentionDecoder": lambda: layers.HardAttentionDecoder(
        keras.layers.Embedding(9, 4),
        layers.FirstStateDecoderCell(layers.LSTMCell(4)),
        layers.JumpAlignment(3),
        layers.AttentionalReadout(5),
        layers.VocabularyProjection(9),
        dropout=0.3,
        output_dropout=0.4,
    ),
    "IndependentAlignment": lambda: layers.IndependentAlignment(layers.GeneralScore(4)),
    "JumpAlignment": lambda: layers.JumpAlignment(3),
    "MonotonicAlignment": lambda: layers.MonotonicAlignment(layers.AdditiveScore(5)),
    "StateDropout": lambda: layers.StateDropout(0.3, [4, 5]),
    "StateReadout": lambda: layers.StateReadout(),
    "AdjacentMemories": lambda: layers.AdjacentMemories(
        2, 9, 4, layers.PositionEncoding(), layers.SentenceAges(5, 0.1)
    ),
    "BagOfWords": lambda: layers.BagOfWords(),
    "LayerwiseMemories": lambda: layers.LayerwiseMemories(2, 9, 4, layers.BagOfWords()),
    "MemoryEmbedding": lambda: layers.MemoryEmbedding(9, 4, layers.PositionEncoding(), 5),
    "MemoryHop": lambda: layers.MemoryHop(7),
    "PositionEncoding": lambda: layers.PositionEncoding(2.0),
    "SentenceAges": lambda: layers.SentenceAges(5, 0.1),
    "AdditiveScore": lambda: layers.AdditiveScore(5),
    "Attention": lambda: layers.Attention(
        layers.AdditiveScore(5),
        layers.LocalPredictiveWindow(5),
        layers.Coverage(),
        layers.DoublyStochastic(0.5),
    ),
    "Entmax": lambda: layers.Entmax(1.3, temperature=2.0),
    "Entmax15": lambda: layers.Entmax15(0.5),
    "Softmax": lambda: layers.Softmax(2.0),
    "Sparsemax": lambda: layers.Sparsemax(),
    "BackwardLayer": lambda: layers.BackwardLayer(layers.GRUCell(4), 0.3),
    "BidirectionalLayer": lambda: layers.BidirectionalLayer(layers.GRUCell(4)),
    "Coverage": lambda: layers.Coverage(0.5),
    "DenseBridge": lambda: layers.DenseBridge([3, 4]),
    "FirstStateDecoderCell": lambda: layers.FirstStateDecoderCell(
        layers.GRUCell(4), state_dropout=0.3
    ),
    "ForwardLayer": lambda: layers.ForwardLayer(layers.GRUCell(4)),
    "FusedCell": lambda: layers.FusedCell(keras.layers.GRU(4, return_sequences=True, name="b")),
    "LastStateBridge": lambda: layers.LastStateBridge(),
    "StackedCell": lambda: layers.StackedCell(
        [layers.GRUCell(4), layers.LSTMCell(4)], residual=True
    ),
    "ThoughtVectorDecoderCell": lambda: layers.ThoughtVectorDecoderCell(layers.GRUCell(4)),
    "ZeroBridge": lambda: layers.ZeroBridge([3, 4]),
    "BackwardStateBridge": lambda: layers.BackwardStateBridge(5, num_layers=2),
    "BahdanauAttention": lambda: layers.BahdanauAttention(5, layers.Coverage()),
    "BahdanauDecoderCell": lambda: layers.BahdanauDecoderCell(
        layers.GRUCell(4), layers.BahdanauAttention(5)
    ),
    "CosineScore": lambda: layers.CosineScore(3.0),
    "DotScore": lambda: layers.DotScore(),
    "GRUCell": lambda: layers.GRUCell(5),
    "GeneralScore": lambda: layers.GeneralScore(5),
    "LSTMCell": lambda: layers.LSTMCell(5),
    "LocalMonotonicWindow": lambda: layers.LocalMonotonicWindow(3),
    "LocalPredictiveWindow": lambda: layers.LocalPredictiveWindow(5, width=3),
    "LocationScore": lambda: layers.LocationScore(20),
    "MaxoutReadout": lambda: layers.MaxoutReadout(5),
    "PixelScaling": lambda: layers.PixelScaling(),
    "PointerDecoder": lambda: layers.PointerDecoder(
        keras.layers.Embedding(9, 3),
        layers.LuongDecoderCell(layers.LSTMCell(4), layers.BahdanauAttention(5)),
        dropout=0.1,
    ),
    "PointerGeneratorDecoder": lambda: layers.PointerGeneratorDecoder(
        layers.RecurrentDecoder(
            keras.layers.Embedding(9, 3),
            layers.FirstStateDecoderCell(layers.GRUCell(4)),
            layers.StateReadout(),
            layers.VocabularyProjection(9),
        ),
        layers.SigmoidGate(),
        layers.BahdanauAttention(5),
    ),
    "SigmoidGate": lambda: layers.SigmoidGate(),
    "SoftmaxGate": lambda: layers.SoftmaxGate(),
    "RecurrentDecoder": lambda: layers.RecurrentDecoder(
        keras.layers.Embedding(9, 3),
        layers.BahdanauDecoderCell(layers.GRUCell(4), layers.BahdanauAttention(5)),
        layers.MaxoutReadout(5),
        layers.VocabularyProjection(9),
        dropout=0.1,
        output_dropout=0.4,
        upper=[layers.UpperLayer(layers.LSTMCell(4))],
    ),
    "RecurrentEncoder": lambda: layers.RecurrentEncoder(
        keras.layers.Embedding(9, 3),
        [layers.BidirectionalLayer(layers.LSTMCell(5)), layers.ForwardLayer(layers.GRUCell(5))],
        dropout=0.1,
        residual=True,
        context_dropout=0.4,
        tags=layers.TagFeatures([5]),
    ),
    "ScaledDotScore": lambda: layers.ScaledDotScore(),
    "SimpleRNNCell": lambda: layers.SimpleRNNCell(5),
    "TagFeatures": lambda: layers.TagFeatures([5, 6], merge="sum", space_ids=[4]),
    "TimeDistributedDenseScorer": lambda: layers.TimeDistributedDenseScorer(5),
    "TiedVocabularyProjection": lambda: layers.TiedVocabularyProjection(9),
    "VocabularyProjection": lambda: layers.VocabularyProjection(9),
    "ContextDecoder": lambda: layers.ContextDecoder(
        keras.layers.Embedding(9, 3),
        PARTS["ContextDecoderCell"](),
        layers.MaxoutReadout(5),
        layers.VocabularyProjection(9),
        dropout=0.1,
    ),
    "ContextDecoderCell": lambda: layers.ContextDecoderCell(
        layers.GRUCell(4),
        layers.BahdanauAttention(5, name="b"),
        layers.BahdanauAttention(6, name="c"),
        state_dropout=0.1,
    ),
    "ContextEncoder": lambda: layers.ContextEncoder(
        keras.layers.Embedding(9, 3),
        layers.BidirectionalLayer(layers.GRUCell(5), name="b"),
        layers.BidirectionalLayer(layers.GRUCell(5), name="c"),
        dropout=0.1,
        context_dropout=0.4,
    ),
    "ContextGate": lambda: layers.ContextGate(),
    "ContextPointerDecoder": lambda: layers.ContextPointerDecoder(
        PARTS["ContextDecoder"](), layers.ContextGate(name="b")
    ),
    "FeedForward": lambda: layers.FeedForward(5, 4),
    "LearnedPositions": lambda: layers.LearnedPositions(7),
    "ByteDropout": lambda: layers.ByteDropout(0.1, seed=7),
    "LayerNormalization": lambda: layers.LayerNormalization(1e-5),
    "MultiHeadAttention": lambda: layers.MultiHeadAttention(4, 2, dropout=0.1),
    "MultiHeadSelfAttention": lambda: layers.MultiHeadSelfAttention(4, 2, dropout=0.1, causal=True),
    "PostNorm": lambda: layers.PostNorm(0.1),
    "PreNorm": lambda: layers.PreNorm(0.1),
    "SinusoidalPositions": lambda: layers.SinusoidalPositions(),
    "TransformerDecoder": lambda: layers.TransformerDecoder(
        keras.layers.Embedding(9, 4),
        layers.LearnedPositions(7),
        [PARTS["TransformerDecoderLayer"]()],
        layers.VocabularyProjection(9),
        keras.layers.LayerNormalization(),
        dropout=0.1,
    ),
    "TransformerDecoderLayer": lambda: layers.TransformerDecoderLayer(
        layers.MultiHeadSelfAttention(4, 2, causal=True, name="b"),
        layers.MultiHeadAttention(4, 4, name="c"),
        layers.FeedForward(5, 4),
        [layers.PreNorm(0.1), layers.PreNorm(0.2), layers.PostNorm(0.3)],
    ),
    "TransformerEncoder": lambda: layers.TransformerEncoder(
        None,
        layers.SinusoidalPositions(),
        [PARTS["TransformerEncoderLayer"]()],
        keras.layers.LayerNormalization(),
        dropout=0.1,
    ),
    "TransformerEncoderLayer": lambda: layers.TransformerEncoderLayer(
        layers.MultiHeadSelfAttention(4, 2),
        layers.FeedForward(5, 4),
        [layers.PreNorm(0.1), layers.PostNorm(0.2)],
    ),
}


def test_no_layer_is_forgotten():
    classes = [name for name in layers.__all__ if isinstance(getattr(layers, name), type)]
    for structure_of_tensors in ("TimeCache", "Targets", "TokenProbability"):
        classes.remove(structure_of_tensors)
    bases = [
        *("BaseAttention", "Decoder", "DecoderCell", "Gate", "LatentAlignment", "Normalizer"),
        *("Readout", "Score", "ScoredAlignment"),
    ]
    for base in bases:
        classes.remove(base)
    assert sorted(classes) == sorted(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_config_round_trip(name):
    layer = PARTS[name]()
    written = json.dumps(keras.saving.serialize_keras_object(layer))
    copy = keras.saving.deserialize_keras_object(json.loads(written))
    assert type(copy) is type(layer) is getattr(layers, name)
    assert copy.name == layer.name
    assert type(layer).from_config({**layer.get_config(), "name": "a"}).name == "a"
    # As JSON, which does not distinguish tuples and lists.
    assert json.dumps(copy.get_config()) == json.dumps(layer.get_config())
    assert json.loads(written)["registered_name"] == f"kerasnmt>{name}"


@pytest.mark.parametrize("name", PARTS)
def test_dtype_policy_survives(name):
    with dtype_policy("mixed_bfloat16"):
        layer = PARTS[name]()
    config = keras.saving.serialize_keras_object(layer)
    copy = keras.saving.deserialize_keras_object(config)
    assert copy.dtype_policy.name == "mixed_bfloat16"
    # The config of a Keras model, such as a backbone, has no dtype policy.
    policies = {
        part.name: part.dtype_policy.name
        for part in copy._flatten_layers()
        if not isinstance(part, keras.Model | keras.layers.InputLayer)
    }
    # Loops cast nothing: attention weights and latent alignments go through them in float32.
    for name in ("loop", "recursion"):
        assert policies.pop(name, "float32") in ("float32", "mixed_bfloat16")
    assert set(policies.values()) == {"mixed_bfloat16"}


def flags(layer):
    return {path: inside.trainable for path, inside in layers_within(layer)}


@pytest.mark.parametrize("name", PARTS)
def test_what_is_frozen_stays_frozen(name):
    # Each third layer inside alone, then the whole.
    layer = PARTS[name]()
    for _, inside in list(layers_within(layer))[::3]:
        inside.trainable = False
    for _ in range(2):
        written = json.loads(json.dumps(keras.saving.serialize_keras_object(layer)))
        copy = keras.saving.deserialize_keras_object(written)
        assert (copy.trainable, flags(copy)) == (layer.trainable, flags(layer))
        layer.trainable = False
    assert not any(flags(layer).values())
    # What is frozen by the constructor, as here, is frozen in all parts.
    thawed = PARTS[name]()
    created = type(thawed).from_config({**thawed.get_config(), "trainable": False})
    assert not created.trainable and not any(flags(created).values())


def test_a_part_of_a_frozen_layer_can_train():
    layer = PARTS["TransformerDecoderLayer"]()
    layer.trainable = False
    layer.feed_forward.output_layer.trainable = True
    copy = type(layer).from_config(layer.get_config())
    (path,) = [path for path, trains in flags(copy).items() if trains]
    assert path == f"{layer.feed_forward.name}/output_layer"


@pytest.mark.parametrize("part", ["attention", "score"])
def test_a_score_by_name_is_frozen_with_its_attention_or_alone(part):
    attention = layers.Attention("general")
    query, values = np.ones((1, 3), "float32"), np.ones((1, 2, 4), "float32")
    attention(query, values=values)
    frozen = attention if part == "attention" else attention.score
    frozen.trainable = False
    loaded = layers.Attention.from_config(attention.get_config())
    loaded(query, values=values)
    assert flags(loaded) == flags(attention)
    assert loaded.trainable == (part == "score")
    assert loaded.variables
    assert not any(variable.trainable for variable in loaded.variables)


def test_an_attention_that_trains_keeps_the_name_of_its_score():
    attention = layers.Attention("general")
    attention(np.ones((1, 3), "float32"), values=np.ones((1, 2, 4), "float32"))
    assert attention.get_config()["score"] == "general"


def own_layers():
    """Return layers of user-defined classes that pass arguments on to their base class."""

    class Sharp(layers.Normalizer):
        def __init__(self, power=2.0, **kwargs):
            super().__init__(**kwargs)
            self.power = power

    class Cell(layers.GRUCell):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)

    class Decoder(layers.BahdanauDecoderCell):
        def __init__(self, cell, attention, extra=1, **kwargs):
            super().__init__(cell, attention, **kwargs)
            self.extra = extra

    class Consuming(layers.GRUCell):
        def __init__(self, units, **kwargs):
            self.kept = kwargs.pop("flavour", "")
            super().__init__(units, **kwargs)

        def get_config(self):
            return {**super().get_config(), "flavour": self.kept}

    class Passing(layers.BahdanauDecoderCell):
        def __init__(self, *args, extra=1, **kwargs):
            super().__init__(*args, **kwargs)
            self.extra = extra

    attention = layers.BahdanauAttention(4, window=layers.LocalMonotonicWindow(3))
    return {
        "temperature": (0.5, Sharp(power=3.0, temperature=0.5)),
        "units": (4, Cell(units=4, name="one")),
        "kept": ("sweet", Consuming(4, flavour="sweet")),
        "input_size": (12, layers.GRUCell(4, input_shape=(None, 12))),
        "extra": (2, Passing(layers.GRUCell(4), attention, extra=2)),
        "state_dropout": (0.3, Decoder(layers.GRUCell(4), attention, state_dropout=0.3)),
    }


@pytest.mark.filterwarnings("ignore:Do not pass an `input_shape`")
def test_arguments_that_a_subclass_passes_on_are_saved():
    made = own_layers()
    for name, (value, layer) in made.items():
        copy = type(layer).from_config(layer.get_config())
        assert getattr(copy, name) == value
    assert copy.attention.window.width == 3
    # An encoder layer copies its cell by its config.
    assert layers.ForwardLayer(made["units"][1]).loops[0].cell.units == 4


def test_a_frozen_layer_is_found_whatever_layers_were_created_before():
    class Two(layers.Score):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.parts = [keras.layers.Dense(4), keras.layers.Dense(4)]

    score = Two()
    score.parts[0].trainable = False
    keras.layers.Dense(4)  # so the copy's layers have other automatic names
    config = score.get_config()
    assert config["non_trainable_layers"] == ["dense#1"]
    assert [part.trainable for part in Two.from_config(config).parts] == [False, True]


def test_paths_of_earlier_versions_are_found():
    layer = PARTS["TransformerDecoderLayer"]()
    paths = [f"{layer.feed_forward.name}/output_layer", layer.residuals[1].name]
    copy = type(layer).from_config({**layer.get_config(), "non_trainable_layers": paths})
    frozen = [inside for _, inside in layers_within(copy) if not inside.trainable]
    assert frozen == [copy.residuals[1], copy.feed_forward.output_layer]


def test_a_frozen_layer_that_is_not_there_is_an_error():
    config = {**PARTS["FeedForward"]().get_config(), "non_trainable_layers": ["gate"]}
    with pytest.raises(ValueError, match="Received: gate"):
        layers.FeedForward.from_config(config)
