import inspect
import json

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import CaptionModel, MemoryNetwork, Seq2Seq
from kerasnmt.text import CharacterTokenizer, WordTokenizer
from tests.zoo.tiny_models import NAMES, marks, shared, thorough

# Weights by path and shape, for source 11, target 13, embedding_dim 6, units 5.
BAHDANAU_GRU = {
    "encoder/embedding/embeddings": (11, 6),
    "encoder/layer_0/input_projection/kernel": (6, 30),
    "encoder/layer_0/input_projection/bias": (30,),
    "encoder/layer_0/forward/cell/recurrent_kernel": (5, 15),
    "encoder/layer_0/forward/cell/recurrent_bias": (15,),
    "encoder/layer_0/backward/cell/recurrent_kernel": (5, 15),
    "encoder/layer_0/backward/cell/recurrent_bias": (15,),
    "bridge/projection_0/kernel": (5, 5),
    "bridge/projection_0/bias": (5,),
    "decoder/embedding/embeddings": (13, 6),
    "decoder/cell/cell/recurrent_kernel": (5, 15),
    "decoder/cell/cell/recurrent_bias": (15,),
    "decoder/cell/attention/score/energy": (5, 1),
    "decoder/cell/attention/score/query_projection/kernel": (5, 5),
    "decoder/cell/attention/memory_projection/kernel": (10, 5),
    "decoder/cell/attention/memory_projection/bias": (5,),
    "decoder/cell/input_projection/kernel": (6, 15),
    "decoder/cell/input_projection/bias": (15,),
    "decoder/cell/context_projection/kernel": (10, 15),
    "decoder/readout/projection/kernel": (21, 12),
    "decoder/readout/projection/bias": (12,),
    "decoder/generator/kernel": (6, 13),
    "decoder/generator/bias": (13,),
}
TINY = {"embedding_dim": 6, "units": 5}


def test_names():
    assert zoo.list_models() == sorted(zoo.list_models())
    assert "bahdanau_gru" in zoo.list_models()
    for name in zoo.list_models():
        constructor = zoo.get_model(name)
        assert constructor is getattr(zoo, name)
        assert name in zoo.__all__
        parameters = inspect.signature(constructor).parameters.values()
        sizes = [one for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]
        texts = {one.name: one.default for one in parameters if one not in sizes}
        needed = inspect.Parameter.empty
        if name in zoo.list_models(CaptionModel):  # the source is an image
            assert texts == {"target": needed}
        else:
            assert texts == {"source": needed, "target": None}
        assert all(size.default is not inspect.Parameter.empty for size in sizes)
        assert all(f"{size.name}: " in constructor.__doc__ for size in sizes)


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("bahdanau_gru", 0.05),
        ("luong_dot_lstm", 0.6),
        pytest.param("dense_scorer_gru", 0.05, marks=thorough),
        pytest.param("encoder_decoder_gru", 0.05, marks=thorough),
        pytest.param("history_attention_gru", 0.05, marks=thorough),
        pytest.param("bahdanau_lstm", 0.6, marks=thorough),
        pytest.param("concat_gru", 0.6, marks=thorough),
        pytest.param("encoder_decoder_lstm", 0.6, marks=thorough),
        pytest.param("luong_general_gru", 0.6, marks=thorough),
    ],
)
def test_embeddings_begin_in_their_range(name, scale):
    model = zoo.get_model(name)(100, embedding_dim=20, units=4)
    source, target = (
        np.asarray(embedding.embeddings)
        for embedding in (model.encoder.embedding, model.decoder.embedding)
    )
    for embeddings in (source, target):
        # 2,000 uniform numbers: the largest is within 1% of the bound, the deviation within 4%.
        assert 0.99 * scale < np.abs(embeddings).max() <= scale
        assert np.std(embeddings) == pytest.approx(scale / 3**0.5, rel=0.04)
    assert np.abs(source - target).max() > scale


def test_names_by_the_class_of_the_model():
    assert zoo.list_models(MemoryNetwork) == ["memory_network"]
    assert zoo.list_models(CaptionModel) == ["show_attend_tell_lstm"]
    translating = zoo.list_models(Seq2Seq)
    others = ["memory_network", "show_attend_tell_lstm"]
    assert sorted([*translating, *others]) == zoo.list_models()
    for name in translating:
        assert zoo.get_model(name, Seq2Seq) is getattr(zoo, name)
    message = r"name of a Seq2Seq, one of bahdanau_gru, .*Received: memory_network, a MemoryNetwork"
    with pytest.raises(ValueError, match=message):
        zoo.get_model("memory_network", Seq2Seq)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(name, ["bahdanau_gru"])) for name in NAMES]
)
def test_the_class_of_a_model_that_translates(name):
    assert type(shared(name)) is Seq2Seq


def test_unknown_name():
    message = "unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'"
    with pytest.raises(ValueError, match=message):
        zoo.get_model("bahdanau_gur")


def test_golden_shapes():
    model = zoo.bahdanau_gru(11, 13, **TINY)
    shapes = {w.path.removeprefix("bahdanau_gru/"): tuple(w.shape) for w in model.weights}
    assert shapes == BAHDANAU_GRU
    assert model.count_params() == sum(int(np.prod(shape)) for shape in BAHDANAU_GRU.values())


def test_parameters_at_the_sizes_of_multi30k():
    # 2 * 8000 * 256 embeddings; encoder 2 * (256 + 256 + 2) * 768; bridge 256 * 256 + 256;
    # attention 512 * 256 + 256 + 256 * 256 + 256; cell (256 + 512 + 256) * 768 + 2 * 768;
    # readout 1024 * 512 + 512; output 257 * 8000.
    parts = (4096000, 789504, 65792, 197120, 787968, 524800, 2056000)
    assert zoo.bahdanau_gru(8000).count_params() == sum(parts) == 8517184


def test_tokenizers():
    words, characters = WordTokenizer(["a", "b"]), CharacterTokenizer("abc")
    shared = zoo.bahdanau_gru(words, **TINY)
    assert shared.source_tokenizer is shared.target_tokenizer is words
    # A shared tokenizer does not tie weights.
    assert shared.encoder.embedding is not shared.decoder.embedding
    two = zoo.bahdanau_gru(words, characters, **TINY)
    assert (two.source_tokenizer, two.target_tokenizer) == (words, characters)
    assert two.encoder.embedding.input_dim == 6
    assert two.decoder.embedding.input_dim == two.decoder.generator.vocabulary_size == 7


@pytest.mark.thorough("trains; tests/models shows the gradient of tied embeddings")
def test_tied_embeddings():
    free = zoo.bahdanau_gru(11, 13, dropout=0.0, **TINY)
    model = zoo.bahdanau_gru(11, 13, dropout=0.0, tie_embeddings=True, **TINY)
    assert free.count_params() - model.count_params() == 13 * 6
    assert not [w.path for w in model.weights if w.path.endswith("generator/kernel")]
    inputs = {"source_ids": np.array([[5, 6, 3]]), "target_ids": np.array([[2, 7, 8]])}
    before = np.array(model.decoder.embedding.embeddings)
    model.compile("sgd", run_eagerly=True)
    losses = model.fit(inputs, np.array([[7, 8, 3]]), epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    # Id 12 is in no input, so only the output changes its row.
    assert np.abs(np.array(model.decoder.embedding.embeddings) - before)[12].max() > 0


@pytest.mark.parametrize(
    ("source", "target"),
    [(4, None), (11, 3), ("en", None), (11.0, None), (None, None), (True, None), (11, "de")],
)
def test_neither_tokenizers_nor_sizes(source, target):
    with pytest.raises(ValueError, match="two tokenizers, or two vocabulary sizes of at least 5"):
        zoo.bahdanau_gru(source, target, **TINY)


def test_sizes_of_numpy():
    model = zoo.bahdanau_gru(np.int64(11), np.max(np.array([12, 13])), **TINY)
    expected = zoo.bahdanau_gru(11, 13, **TINY)
    assert json.dumps(model.get_config()) == json.dumps(expected.get_config())


def test_tokenizer_on_one_side_only():
    with pytest.raises(ValueError, match=r"Received: source=<.*WordTokenizer.*>, target=13"):
        zoo.bahdanau_gru(WordTokenizer(["a"]), 13, **TINY)


@pytest.mark.parametrize("tie_embeddings", [False, pytest.param(True, marks=thorough)])
def test_a_new_model_predicts_each_word_as_often_as_it_was_seen(tie_embeddings):
    source = WordTokenizer(["x"])
    target = WordTokenizer.train(["a b a", "a"], 6)
    options = {**TINY, "tie_embeddings": tie_embeddings}
    model = zoo.luong_dot_lstm(source, target, **{**options, "units": 4})
    np.testing.assert_array_equal(model.decoder.generator.bias, target.log_frequencies)
    # There are no frequencies here.
    assert not np.any(zoo.bahdanau_gru(target, source, **options).decoder.generator.bias)
    assert not np.any(zoo.bahdanau_gru(6, **options).decoder.generator.bias)
