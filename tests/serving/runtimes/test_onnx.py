"""Exports for ONNX Runtime answer as the model does."""

import json
import shutil
import subprocess
import sys

import keras
import numpy as np
import onnx
import onnxruntime
import pytest

from kerasnmt import layers, zoo
from kerasnmt.checksum import sha256
from kerasnmt.cli.loading import SearchChanges, load_run_translator, load_translator
from kerasnmt.models import Seq2Seq
from kerasnmt.runtime import load, load_onnx
from kerasnmt.runtime.onnx_graphs import OnnxGraphs
from kerasnmt.serving import check_export, export_onnx
from kerasnmt.serving.runtimes.onnx.graphs import make_graphs
from kerasnmt.serving.runtimes.onnx.weights import with_weights
from kerasnmt.tasks import Translator, task_of
from kerasnmt.text import PunctuationTokenizer, SentencePieceTokenizer, WordTokenizer
from tests.conftest import WORDS
from tests.numerics import fill
from tests.serving.runtimes.onnx_models import OPTIONS, SIZES, TERMS, TEXTS, make

pytestmark = pytest.mark.usefixtures("eagerly")

thorough = pytest.mark.thorough("converts one model more")


@pytest.fixture(scope="module")
def exported(make_pointer_model, tmp_path_factory):
    """A model that copies, and its export."""
    model = make_pointer_model(seed=56)
    folder = tmp_path_factory.mktemp("onnx") / "parent" / "copies"
    assert export_onnx(model, folder, **OPTIONS) == str(folder)
    return model, folder


def check_streams(ours, theirs, texts=TEXTS, **request):
    """Check that streams of two translators have the same pieces, which are the translations."""
    for text in texts:
        found, expected = ([*one.progress(text, **request)] for one in (ours, theirs))
        assert [one[:2] for one in found] == [one[:2] for one in expected]
        assert found[-1].score == pytest.approx(expected[-1].score, abs=1e-4)
        if not request:
            assert "".join(one.piece for one in found) == ours.translate([text])[0]


def check_equal(found, expected, **tolerance):
    """Check that answers are equal: texts exactly, and scores to a tolerance."""
    assert [text for text, _ in found] == [text for text, _ in expected]
    np.testing.assert_allclose([s for _, s in found], [s for _, s in expected], **tolerance)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("history_attention_gru", {}),  # has a cache, like a Transformer
        ("transformer_tiny", {"decoder": "ssru"}),
        *(
            pytest.param(name, {}, marks=thorough)
            for name in zoo.list_models()
            if not name.startswith(("history", "context", "show", "memory"))
        ),
        *(
            pytest.param(name, parts, marks=thorough)
            for name, parts in [
                ("bahdanau_gru", {"attention": "location_sensitive"}),
                ("bahdanau_lstm", {"attention": "monotonic", "seed": 58}),
                ("cgru", {"attention": "gaussian", "layer_normalization": True}),
                ("cgru", {"transitions": 3}),
                ("bahdanau_lstm", {"num_layers": 3}),
                ("concat_gru", {"attention": "chunkwise"}),
                ("luong_general_lstm", {"layer_normalization": True, "num_layers": 2}),
                ("transformer_tiny", {"decoder": "average_attention"}),
            ]
        ),
    ],
)
def test_it_answers_as_the_model(name, parts, tmp_path):
    model = make(name, **parts)
    # Transformers and hard attention with these weights find empty answers best.
    options = {**OPTIONS, "min_length": 4 if name.startswith(("transformer", "hard")) else 1}
    ours = load(export_onnx(model, tmp_path / "onnx", **options))
    theirs = Translator(task_of(model, **options))
    check_equal(ours.best(TEXTS), theirs.best(TEXTS), atol=1e-4)
    assert len({*ours.translate(TEXTS)}) > 1
    targets = ["dog", "a man reads .", "", "zeb", "two", "runs zeb zeb"]
    for normalize in (False, True):
        scores = [one.score(TEXTS, targets, normalize=normalize) for one in (ours, theirs)]
        np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-4)
    check_confidence(ours, theirs)


def check_confidence(ours, theirs, texts=TEXTS):
    """Check that the confidence in each word is equal."""
    for one, other in zip(ours.confidence(texts), theirs.confidence(texts), strict=True):
        assert (one.text, one.words, one.tokens) == (other.text, other.words, other.tokens)
        for name in ("probabilities", "entropies", "margins", "log_probability", "score"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)
        if (calibrated := other.calibrated_probability) is not None:
            assert one.calibrated_probability == pytest.approx(calibrated, abs=1e-4)


def test_all_answers_of_a_model_that_copies(exported):
    model, folder = exported
    ours, theirs = load(folder), Translator(task_of(model, **OPTIONS))
    found, expected = ours.best(TEXTS), theirs.best(TEXTS)
    check_equal(found, expected, atol=1e-4)
    assert any("zeb" in text for text, _ in found)
    for one, other in zip(ours.n_best(TEXTS), theirs.n_best(TEXTS), strict=True):
        check_equal(one, other, atol=1e-4)
    prefixes = ["dog", "zeb a", "", "dog", "", "man"]
    best = (one.best(TEXTS, prefixes=prefixes) for one in (ours, theirs))
    check_equal(*best, atol=1e-4)
    for further in ({}, {"prefixes": prefixes}):
        best = [one.best(TEXTS, **TERMS, **further) for one in (ours, theirs)]
        check_equal(*best, atol=1e-4)
        assert "zeb man" in best[0][1][0] and "two" in best[0][4][0]
    with pytest.warns(UserWarning, match="cannot write: 'zeb' of text 1"):
        ours.translate(["dog"], terms=[["zeb"]])
    with pytest.raises(ValueError, match="'dog' of text 1, which must occur, and 'dog', which mus"):
        ours.translate(["dog"], terms=[["dog"]], forbidden=[["dog"]])
    targets = ["dog", "zeb", "", "man dog", "x", "anna zeb"]
    scores = (one.score(TEXTS, targets) for one in (ours, theirs))
    np.testing.assert_allclose(*scores, rtol=1e-4)
    check_confidence(ours, theirs)
    found, expected = (
        [*one.attention(TEXTS), *one.forced_attention(TEXTS, targets)] for one in (ours, theirs)
    )
    for one, other in zip(found, expected, strict=True):
        assert (one.source_tokens, one.target_tokens) == (other.source_tokens, other.target_tokens)
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)
        probabilities = one.generate_probability, other.generate_probability
        np.testing.assert_allclose(*probabilities, atol=1e-5)


def test_sentences_are_translated_one_by_one(exported, tmp_path):
    model, _ = exported
    options = {**OPTIONS, "split_sentences": True}
    folder = export_onnx(model, tmp_path / "onnx", **options)
    ours, theirs = load(folder), Translator(task_of(model, **options))
    texts = ["Zeb runs! Two dogs run. Zeb", "dog", "", "犬。犬？"]
    check_equal(ours.best(texts), theirs.best(texts), atol=1e-4)
    alone = ours.best(["Zeb runs!", "Two dogs run. Zeb"])
    assert ours.translate(texts[:1]) == [" ".join(text for text, _ in alone if text)]
    check_streams(ours, theirs, texts)
    np.testing.assert_allclose(ours.best(texts)[0][1], sum(score for _, score in alone), rtol=1e-5)
    for one, other in zip(ours.n_best(texts), theirs.n_best(texts), strict=True):
        check_equal(one, other, atol=1e-4)
    empty = load_onnx(folder).function("serving_default")(text=[])
    assert empty["translation"].shape == empty["score"].shape == (0,)
    with pytest.warns(UserWarning, match=r"text 1 has 12 tokens and was truncated to 10"):
        ours.translate(["dog " * 10 + "dog. Zeb"])
    report = check_export(folder, texts, theirs.translate(texts))
    assert report.passed, str(report)


def test_words_are_translated_one_by_one_or_looked_up(exported, tmp_path):
    model, _ = exported
    lexicon = {"Zeb": "zeb!", "two dogs": "never", "犬": "dog"}
    options = {**OPTIONS, "split_words": True, "lexicon": lexicon}
    folder = export_onnx(model, tmp_path / "onnx", **options)
    ours, theirs = load(folder), Translator(task_of(model, **options))
    texts = ["«Two» dogs, Zeb!", "zeb", "", "... ?", "犬。 dog"]
    check_equal(ours.best(texts), theirs.best(texts), atol=1e-4)
    check_streams(ours, theirs, texts)
    two, dogs, dog = Translator(task_of(model, **OPTIONS)).translate(["Two", "dogs", "dog"])
    joined = [" ".join(filter(None, parts)) for parts in ([two, dogs, "zeb!"], ["dog", dog])]
    assert theirs.translate(texts[:1] + texts[4:]) == joined
    assert theirs.translate(texts[2:4]) == ["", ""]
    texts.append("Zeb")
    report = check_export(folder, texts, theirs.translate(texts))
    assert report.passed, str(report)


def test_texts_in_capitals_or_without_any_are_read_as_sentences(exported, tmp_path):
    model, _ = exported
    options = {**OPTIONS, "sentence_case": True, "split_sentences": True, "min_length": 3}
    folder = export_onnx(model, tmp_path / "onnx", **options)
    ours, theirs = load(folder), Translator(task_of(model, **options))
    texts = ["TWO DOGS RUN", "Two dogs run", "DOG", "ZEB IS ANNA. Zeb runs", "DOG \ufffd", "A", ""]
    check_equal(ours.best(texts), theirs.best(texts), atol=1e-4)
    upper, normal = ours.translate(texts[:2])
    assert upper == normal.upper() != normal
    check_streams(ours, theirs, texts[:4])
    for prefix in ("dog", "ANNA A", ""):
        prefixes = [prefix] * 3
        found, expected = (one.best(texts[:3], prefixes=prefixes) for one in (ours, theirs))
        check_equal(found, expected, atol=1e-4)
        if prefix:
            check_streams(ours, theirs, texts[:2], prefix=prefix)
    found, expected = (one.best(texts[:2], terms=[["dog"], []]) for one in (ours, theirs))
    check_equal(found, expected, atol=1e-4)
    for one, other in zip(ours.n_best(texts), theirs.n_best(texts), strict=True):
        check_equal(one, other, atol=1e-4)
    check_confidence(ours, theirs, texts)
    found, expected = (
        [*one.attention(texts), *one.forced_attention(texts[:2], ["ANNA DOG", "anna"])]
        for one in (ours, theirs)
    )
    for one, other in zip(found, expected, strict=True):
        assert (one.source_tokens, one.target_tokens) == (other.source_tokens, other.target_tokens)
    scores = (one.score(texts[:2], ["ANNA DOG", "ANNA"]) for one in (ours, theirs))
    np.testing.assert_allclose(*scores, rtol=1e-4)
    odd = [
        load_onnx(folder).function("serving_default"),
        task_of(model, **options).function("serving_default"),
    ]
    raw = [np.asarray(one(text=[b"DOG \xff", b"DOG"])["translation"]).tolist() for one in odd]
    assert raw[0] == raw[1]
    with pytest.warns(UserWarning, match=r"text 1 has 12 tokens and was truncated to 10"):
        ours.translate(["DOG " * 11])
    assert check_export(folder).passed


def test_streams(exported):
    model, folder = exported
    options = {"length_penalty": 0.0, "no_repeat_ngram": 2, "min_length": 4}
    searches = [{}, {**options, "coverage_penalty": 0.2}, {"beam_size": 1, "max_length": 5}]
    searches.append({"samples": 1, "temperature": 3.0, "seed": 4, "max_length": 8})
    for search in searches:
        ours = load(folder, **{**OPTIONS, **search})
        theirs = Translator(task_of(model, **{**OPTIONS, **search}))
        check_streams(ours, theirs)
    check_streams(ours, theirs, TEXTS[:2], prefix="zeb a")
    with pytest.raises(ValueError, match=r"Expected samples=1 or a search"):
        load(folder, samples=2).stream("dog")


def test_an_empty_batch(exported):
    model = load_onnx(exported[1])
    assert model.function("serving_default")(text=[])["translation"].shape == (0,)
    assert model.function("n_best")(text=[])["scores"].shape == (0, 3)
    assert model.function("attention")(text=[])["weights"].shape[0] == 0


def test_confidence_in_empty_texts(exported):
    model, folder = exported
    ours, theirs = load(folder), Translator(task_of(model, **OPTIONS))
    check_confidence(ours, theirs, ["", " "])
    assert ours.confidence(["", "dog"], batch_size=1)[0].text == ""
    answers = [one.n_best_confidence([" "]) for one in (ours, theirs)]
    assert [[(one.text, one.score, one.words) for one in row] for row in answers[0]] == [
        [(one.text, one.score, one.words) for one in row] for row in answers[1]
    ]


def test_a_term_that_begins_with_an_unknown_character_is_not_forced(exported, tmp_path):
    """SentencePiece makes one piece of it and the character before the term."""
    folder = shutil.copytree(exported[1], tmp_path / "onnx")
    pieces = SentencePieceTokenizer.train(["a b"], 7)
    names = json.loads((folder / "tokenizers.json").read_text())
    config = keras.saving.serialize_keras_object(pieces)
    (folder / "tokenizers.json").write_text(json.dumps(dict.fromkeys(names, config)))
    description = json.loads((folder / "kerasnmt.json").read_text())
    description["files"]["tokenizers.json"] = sha256(folder / "tokenizers.json")
    (folder / "kerasnmt.json").write_text(json.dumps(description))
    ours = load(folder)
    with pytest.warns(UserWarning, match="cannot write: '龘a' of text 1"):
        found = ours.best(["b"], terms=[["龘a"]])
    check_equal(found, ours.best(["b"]))


def test_other_options_than_those_of_the_export(exported):
    model, folder = exported
    options = {"samples": 4, "top_k": 5, "seed": 2, "max_length": 8, "no_repeat_ngram": 2}
    ours, theirs = load(folder, **options), Translator(task_of(model, **options))
    for one, other in zip(ours.n_best(TEXTS), theirs.n_best(TEXTS), strict=True):
        check_equal(one, other, atol=1e-4)
    for wrong, message in (
        ({"beam_size": 0}, r"from 1 to 1000\. Received: beam_size=0"),
        ({"beam_sise": 8}, r"'beam_sise'; did you mean 'beam_size'"),
        ({"copies": True}, r"unknown search option 'copies'"),
        ({"max_length": 1}, r"max_length of at least 2"),
        ({"min_length": 11}, r"min_length from 1 to max_length, 10"),
    ):
        with pytest.raises(ValueError, match=message):
            load(folder, **wrong)


def test_the_program_changes_the_search_and_scores(exported):
    model, folder = exported
    options = {**OPTIONS, "beam_size": 1, "max_length": 4}
    ours = load_translator(folder, SearchChanges(beam_size=1, search=["max_length=4"]))
    theirs = Translator(task_of(model, **options))
    check_equal(ours.best(TEXTS), theirs.best(TEXTS), atol=1e-4)
    scores = (one.score(TEXTS, TEXTS[::-1]) for one in (load_run_translator(folder), theirs))
    np.testing.assert_allclose(*scores, rtol=1e-4)
    with pytest.raises(ValueError, match=r"'beam_sze'; did you mean 'beam_size'"):
        load_translator(folder, SearchChanges(search=["beam_sze=4"]))
    with pytest.raises(ValueError, match=r"Expected a run or a preset, with --with"):
        load_run_translator(folder, [folder])
    with pytest.raises(ValueError, match=r"an export for ONNX Runtime\. .* shortlist="):
        load_translator(folder, SearchChanges(search=["shortlist=true"]))


@thorough
def test_a_context(tmp_path):
    model, options = make("context_attention_gru"), {**OPTIONS, "min_length": 5}
    model.decoder.gate.projection.bias.assign([-9.0, 0.0, 9.0])  # copies from the context
    contexts = ["mary went home .", "zeb and Zoë run .", "dog", "", "a b c d e f", "zeb"]
    ours = load(export_onnx(model, tmp_path / "onnx", **options))
    theirs = Translator(task_of(model, **options))
    found = ours.best(TEXTS, contexts=contexts)
    check_equal(found, theirs.best(TEXTS, contexts=contexts), atol=1e-4)
    assert {"home", "d"} <= {word for text, _ in found for word in text.split()}
    attended = (one.attention(TEXTS, contexts=contexts) for one in (ours, theirs))
    for one, other in zip(*attended, strict=True):
        np.testing.assert_allclose(one.context_weights, other.context_weights, atol=1e-5)


@thorough
def test_unknown_words_are_replaced(tmp_path):
    source, target = PunctuationTokenizer(WORDS), WordTokenizer(["le", "chien"])
    model = fill(zoo.bahdanau_gru(source, target, **SIZES), 50, scale=1.3)
    model.decoder.generator.bias.assign([0.0, 6.0, 0.0, 0.0, 0.0, 0.0])
    options = {**OPTIONS, "min_length": 5, "replace_unknown": True, "dictionary": {"dog": "chat"}}
    ours = load(export_onnx(model, tmp_path / "onnx", **options))
    theirs = Translator(task_of(model, **options))
    found = ours.best(TEXTS)
    check_equal(found, theirs.best(TEXTS), atol=1e-4)
    assert {"anna", "chat"} <= {word for text, _ in found for word in text.split()}
    check_streams(ours, theirs)
    for one, other in zip(ours.n_best(TEXTS), theirs.n_best(TEXTS), strict=True):
        check_equal(one, other, atol=1e-4)
    assert check_export(tmp_path / "onnx").passed


@pytest.fixture(scope="module")
def graphs():
    """Graphs of a model with matrices of 128 rows or columns."""
    model = zoo.encoder_decoder_lstm(WordTokenizer(WORDS), embedding_dim=128, units=128)
    return make_graphs(model, {"source_ids": keras.KerasTensor((None, None), dtype="int32")}, 10)


class Doubled(layers.BackwardLayer):
    """Layer whose states are doubled."""

    def call(self, *inputs, **options):
        outputs, states = super().call(*inputs, **options)
        return outputs, keras.tree.map_structure(lambda one: 2 * one, states)


@keras.saving.register_keras_serializable("tests")
class BackwardLayer(Doubled):
    """Layer with the name of a layer of the library."""


@keras.saving.register_keras_serializable("tests")
class SkippingEncoder(layers.RecurrentEncoder):
    """Encoder that skips the words with the id 8."""

    def call(self, source_ids, embedded=None, training=False):
        mask = keras.ops.logical_and(source_ids != 0, source_ids != 8)
        annotations, states = self.layers[0](self.embedding(source_ids), mask)
        return annotations, mask, [states]


ORDINARY = layers.RecurrentEncoder
OTHER_LAYERS = {
    "of another cell": (ORDINARY, layers.BackwardLayer, layers.SimpleRNNCell),
    "of an unknown class": (ORDINARY, Doubled, layers.GRUCell),
    "of a class with the same name": (ORDINARY, BackwardLayer, layers.GRUCell),
    "of another encoder": (SkippingEncoder, layers.BackwardLayer, layers.GRUCell),
}


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("encoder_decoder_lstm", {"LSTM"}),  # backward
        pytest.param("bahdanau_gru", {"GRU"}, marks=thorough),  # in both directions
        pytest.param("luong_dot_lstm", {"LSTM"}, marks=thorough),  # two layers forward
        pytest.param("of another cell", {"Loop"}, marks=thorough),
        pytest.param("of an unknown class", {"Loop"}, marks=thorough),
        pytest.param("of a class with the same name", {"Loop"}, marks=thorough),
        pytest.param("of another encoder", {"Loop"}, marks=thorough),
    ],
)
def test_recurrent_layers_are_operators(name, operators, tmp_path):
    if name in OTHER_LAYERS:
        other = zoo.encoder_decoder_gru(WordTokenizer(WORDS), num_layers=1, **SIZES)
        encoder, layer, cell = OTHER_LAYERS[name]
        encoder = encoder(keras.layers.Embedding(len(WORDS) + 4, 6), [layer(cell(6))])
        model = Seq2Seq(encoder, other.bridge, other.decoder)
    else:
        model = zoo.get_model(name)(WordTokenizer(WORDS), **SIZES)
    fill(model, 50, scale=1.3)
    graphs = make_graphs(model, {"source_ids": keras.KerasTensor((None, None), dtype="int32")}, 10)
    nodes = {node.op_type for node in onnx.load_from_string(graphs.encoder).graph.node}
    assert nodes & {"GRU", "LSTM", "Loop"} == operators
    (tmp_path / "encoder.onnx").write_bytes(graphs.encoder)
    (tmp_path / "step.onnx").write_bytes(graphs.step)
    ids = np.array([[4, 8, 5, 3], [7, 3, 0, 0], [0, 0, 0, 0]], "int32")
    states, memory, mask = OnnxGraphs(tmp_path, graphs._asdict()).encode({"source_ids": ids})
    expected, expected_memory = model.encode({"source_ids": ids}, steps=1)
    np.testing.assert_array_equal(mask, model.memory_mask(expected_memory))
    for one, other in zip(states.values(), keras.tree.flatten(expected), strict=True):
        np.testing.assert_allclose(one[:, 0], other, rtol=1e-5, atol=1e-5)
    for one, other in zip(memory.values(), keras.tree.flatten(expected_memory), strict=True):
        real = mask if other.shape[1:2] == mask.shape[1:] else ...
        np.testing.assert_allclose(one[real], np.asarray(other)[real], rtol=1e-5, atol=1e-5)


EVERY_OPTION = {
    "beam_size": 4,
    "length_penalty": 1.0,
    "length_normalization": "wu",
    "coverage_penalty": 0.2,
    "min_length": 4,
    "max_length": 12,
    "max_length_ratio": 1.2,
    "max_length_margin": 1,
    "no_repeat_ngram": 2,
    "allow_unknown": True,
}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pointer_generator_gru", EVERY_OPTION),
        *(
            pytest.param(name, {"beam_size": size, "max_length": 9}, marks=thorough)
            for name, size in [
                ("encoder_decoder_gru", 3),
                ("hard_monotonic_lstm", 2),
                ("luong_local_p_lstm", 1),
                ("history_attention_gru", 3),
                ("transformer_tiny", 3),
                ("context_attention_gru", 2),
            ]
        ),
    ],
)
def test_the_search_in_one_graph(name, options, tmp_path):
    model = make(name)
    folder = export_onnx(model, tmp_path / "onnx", whole=True, **options)
    session = onnxruntime.InferenceSession(f"{folder}/search.onnx")
    ids = np.array([[4, 5, 5, 7, 3], [6, 3, 0, 0, 0], [4, 9, 8, 6, 3], [3, 0, 0, 0, 0]], "int32")
    other = np.where(ids == 9, len(WORDS) + 4, ids)  # an unknown word
    inputs = {
        one.name: other if one.name.startswith("extended") else np.where(ids == 9, 1, ids)
        for one in session.get_inputs()
    }
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(None, inputs), strict=True))
    expected = model.search(inputs, n_best=options["beam_size"], with_records=True, **options)
    length = found["ids"].shape[2]
    np.testing.assert_array_equal(found["ids"], expected.ids[:, :, :length])
    assert not np.any(expected.ids[:, :, length:])
    np.testing.assert_allclose(found["scores"], expected.scores, rtol=1e-5, atol=1e-4)
    assert ("weights" in found) == model.has_attention
    if model.has_attention:
        weights = expected.records["weights"][:, :, :length]
        np.testing.assert_allclose(found["weights"], weights, atol=1e-4)
    alone = session.run(["ids"], {name: ids[1:2, :2] for name, ids in inputs.items()})[0]
    np.testing.assert_array_equal(alone, found["ids"][1:2, :, : alone.shape[2]])


@pytest.mark.parametrize(("kind", "ratio"), [("float16", 0.5), ("int8", 0.25)])
def test_smaller_weights(graphs, kind, ratio, tmp_path):
    found, sizes = [], []
    for folder, kind_ in ((tmp_path / "float32", "float32"), (tmp_path / kind, kind)):
        folder.mkdir()
        for name, graph in (("encoder.onnx", graphs.encoder), ("step.onnx", graphs.step)):
            (folder / name).write_bytes(with_weights(graph, kind_))
        model = OnnxGraphs(folder, graphs._asdict())
        states, memory, _ = model.encode({"source_ids": np.array([[4, 5, 6, 3]], "int32")})
        found.append(model.step(np.array([[2]], "int32"), states, memory)[0])
        sizes.append(sum(path.stat().st_size for path in folder.iterdir()))
    assert ratio < sizes[1] / sizes[0] < ratio + 0.1
    np.testing.assert_allclose(*found, atol=0.01)
    assert not np.array_equal(*found)


def test_biases_of_two_directions_stay_as_they_are():
    weights = {"W": np.ones((2, 12, 3)), "R": np.ones((2, 12, 4)), "B": np.ones((2, 24))}
    stored = [
        onnx.numpy_helper.from_array(one.astype("float32"), name) for name, one in weights.items()
    ]
    layer = onnx.helper.make_node("GRU", ["X", *weights], ["Y"], hidden_size=4)
    graph = onnx.helper.make_graph([layer], "layer", [], [], stored)
    model = onnx.helper.make_model(graph).SerializeToString()
    found = onnx.load_from_string(with_weights(model, "int8")).graph.initializer
    assert {one.name for one in found} == {"B", "W_0", "W_1", "R_0", "R_1"}


def test_more_words_than_learned_positions(tmp_path):
    model = make("transformer_tiny", encoder_layers=1, decoder_layers=1, max_positions=8)
    with pytest.raises(ValueError, match="Expected at most 8 words, the number of learned pos"):
        export_onnx(model, tmp_path / "onnx", **OPTIONS)
    assert not any(tmp_path.iterdir())
    folder = export_onnx(model, tmp_path / "onnx", **{**OPTIONS, "max_length": 7})
    assert load(folder, max_length=8).translate(["dog " * 7])
    with pytest.raises(ValueError, match=r"of at most 8, .* positions .*Received: max_length=9"):
        load(folder, max_length=9)


def test_an_unknown_number_format(word_model, tmp_path):
    with pytest.raises(ValueError, match=r"one of float32, float16, int8\. Received: .*'int4'"):
        export_onnx(word_model, tmp_path / "other", weights="int4")
    assert not (tmp_path / "other").exists()


def test_the_check_passes(exported):
    report = check_export(exported[1])
    assert report.passed, str(report)
    assert {row.name for row in report.rows} >= {"n_best", "attention", "expected"}


def test_damaged_and_newer_folders(exported, tmp_path):
    folder = shutil.copytree(exported[1], tmp_path / "copy")
    description = folder / "kerasnmt.json"
    document = json.loads(description.read_text(encoding="utf-8"))
    description.write_text(json.dumps({**document, "format": 9}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"its format 9 is newer than 1\. Update kerasnmt"):
        load(folder)
    other = {name: value for name, value in document.items() if name != "format"}
    description.write_text(json.dumps(other), encoding="utf-8")  # as that of an export for LiteRT
    with pytest.raises(ValueError, match=r"it is for another runtime\. kerasnmt translate runs it"):
        load(folder)
    description.write_text(json.dumps({**document, "files": {}}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"copy: the model cannot be loaded: 'encoder\.onnx'"):
        load(folder)
    description.write_text(json.dumps(document), encoding="utf-8")
    with (folder / "step.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match=r"copy: .*step\.onnx is damaged"):
        load(folder)
    with pytest.raises(ValueError, match=r"Received: .*nowhere, without kerasnmt\.json"):
        load(tmp_path / "nowhere")


def test_neither_tensorflow_nor_keras_is_imported(exported):
    program = (
        "import sys; from kerasnmt.runtime import load; "
        f"print(load({str(exported[1])!r}).translate(['two dogs run .', 'zeb runs .'])); "
        "assert not {'tensorflow', 'keras', 'h5py', 'typer'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    expected = Translator(task_of(exported[0], **OPTIONS)).translate([*TEXTS[:1], "zeb runs ."])
    assert (done.returncode, done.stdout) == (0, f"{expected}\n"), done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 2, "whole": True}, r"samples=0 with whole=True\. Received: samples=2"),
        ({"beam_size": 0}, r"from 1 to 1000\. Received: beam_size=0"),
    ],
)
def test_what_it_does_not_do(make_translator_model, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        export_onnx(make_translator_model(), tmp_path / "onnx", **options)
    assert not (tmp_path / "onnx").exists()
