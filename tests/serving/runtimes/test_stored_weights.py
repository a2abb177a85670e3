from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.serving import ExportModule, StoredWeights, Translator
from kerasnmt.serving.runtimes.saved_model.c_api import op_support
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
from kerasnmt.serving.runtimes.version_folder import read_description
from kerasnmt.small_weights import as_int8
from tests.conftest import SERVED_OPTIONS as OPTIONS
from tests.serving.conftest import only_signatures


def rounded(values, kind):
    """Return the values of a stored weight, by another algorithm than the library's."""
    if not is_matrix(values):
        return values
    if kind == "float16":
        return values.astype("float16").astype("float32")
    found = []
    for matrix in (values, values.T):
        scaled = [127 * row / max(abs(row).max(), 1e-30) for row in matrix]
        steps = [max(abs(row).max(), 1e-30) / 127 for row in matrix]
        found.append(np.array([np.rint(r) * s for r, s in zip(scaled, steps, strict=True)]))
    found[1] = found[1].T
    return min(found, key=lambda one: np.square(one - values).sum()).astype("float32")


def is_matrix(values):
    return sum(size > 1 for size in values.shape) > 1


thorough = pytest.mark.thorough("the same with fewer roundings than int8")


@pytest.fixture(scope="module", params=[pytest.param("float16", marks=thorough), "int8"])
def small(request, word_model):
    return ExportModule(word_model, weights=request.param, **OPTIONS)


@pytest.fixture(scope="module")
def exported(word_model, tmp_path_factory):
    """An export with only `serving_default`."""
    folder, options = tmp_path_factory.mktemp("int8") / "1", {**OPTIONS, "beam_size": 1}
    with only_signatures("serving_default"):
        return Path(word_model.export(folder, weights="int8", **options))


@pytest.mark.usefixtures("eagerly")
def test_it_translates_as_the_model_with_rounded_weights(
    small, make_translator_model, word_model, sentences, word_module
):
    kind = small.description["weights"]
    copy = make_translator_model()
    copy.set_weights([rounded(values, kind) for values in word_model.get_weights()])
    expected = Translator(ExportModule(copy, **OPTIONS)).best(sentences)
    found = Translator(small).best(sentences)
    assert [text for text, _ in found] == [text for text, _ in expected]
    scores = [score for _, score in found]
    np.testing.assert_allclose(scores, [score for _, score in expected], atol=1e-4)
    # The rounding changes the scores, but not the model.
    exact = [score for _, score in Translator(word_module).best(sentences)]
    assert max(abs(one - other) for one, other in zip(scores, exact, strict=True)) > 2e-4


def test_matrices_are_stored_small_and_vectors_as_they_are(small, word_model):
    kind = small.description["weights"]
    arrays = [variable.numpy() for variable in small.saved.weights.variables]
    matrices = [weight for weight in word_model.get_weights() if is_matrix(weight)]
    vectors = [weight for weight in word_model.get_weights() if not is_matrix(weight)]
    assert len(matrices) > 8
    stored = [array for array in arrays if array.dtype == kind]
    assert sorted(array.shape for array in stored) == sorted(matrix.shape for matrix in matrices)
    scales = len(matrices) if kind == "int8" else 0
    assert len(arrays) == len(stored) + len(vectors) + scales
    assert {array.dtype.name for array in arrays} == {kind, "float32"}


def test_weights_are_made_float32_outside_the_loops(small):
    definition = small.signatures["serving_default"].get_concrete_function().graph.as_graph_def()
    kind = tf.as_dtype(small.description["weights"]).as_datatype_enum

    def casts(nodes):
        return sum(node.op == "Cast" and node.attr["SrcT"].type == kind for node in nodes)

    loops = [f for f in definition.library.function if "while" in f.signature.name]
    assert len(loops) >= 4  # condition and body: of the encoder, of the search
    assert not any(casts(loop.node_def) for loop in loops)
    assert casts(definition.node) > 8


@pytest.mark.thorough("exports what the module computes")
def test_an_export_holds_the_small_weights_and_a_server_can_run_it(exported, word_model):
    path = str(exported / "variables" / "variables")
    names = [name for name, _ in tf.train.list_variables(path) if "CHECKPOINTABLE" not in name]
    arrays = [tf.train.load_variable(path, name) for name in names]
    small = sum(array.nbytes for array in arrays if array.dtype == "int8")
    assert small == sum(weight.size for weight in word_model.get_weights() if is_matrix(weight))
    assert not any(op_support(exported).values())
    examples = read_description(exported)["examples"]
    with SavedModelSession(exported) as session:
        found = session.run("serving_default", {"text": examples["text"]})["translation"]
    assert [text.decode() for text in found] == examples["translation"]
    assert len(set(examples["translation"])) > 2


class FakeModel:
    """Model with given weights, whose search returns one of them."""

    def __init__(self, **values):
        self.weights = [keras.Variable(value, name=name) for name, value in values.items()]

    def search(self, index):
        return tf.convert_to_tensor(self.weights[index])


def test_int8_by_hand():
    rows = np.float32([[127, -64.1, 127], [1.27, 0.64, -0.01]])
    columns = np.float32([[1270, 0.2], [-30, -0.127]])
    model = FakeModel(rows=rows, columns=columns, zeros=np.zeros((2, 2)), bias=np.float32([0.1, 9]))
    search = StoredWeights(model, "int8").applied(model.search)
    np.testing.assert_allclose(search(0), [[127, -64, 127], [1.27, 0.64, -0.01]], rtol=1e-6)
    np.testing.assert_allclose(search(1), [[1270, 0.2], [-30, -0.2 * 81 / 127]], rtol=1e-6)
    np.testing.assert_array_equal(search(2), np.zeros((2, 2)))
    np.testing.assert_array_equal(search(3), np.float32([0.1, 9]))


@pytest.mark.parametrize("scales", [(4, 1), (1, 5), (2, 4, 1), (2, 1, 5), (1, 1, 5), (1, 1, 1, 5)])
def test_weights_that_are_int8_already_stay_as_they_are(scales):
    """Directions of a recurrent layer are two matrices, each with its own scales."""
    rng = np.random.default_rng(3)
    shape = {2: (4, 5), 3: (2, 4, 5), 4: (3, 3, 4, 5)}[len(scales)]
    integers = rng.integers(-126, 127, shape)
    integers[..., 0, :] = integers[..., :, 0] = 127
    values = np.float32(integers * rng.uniform(0.01, 1, scales))
    quantized, found = as_int8(values, "weights")
    assert found.shape == scales
    np.testing.assert_array_equal(quantized, integers)
    np.testing.assert_allclose(quantized * found, values, rtol=1e-6)


def test_stored_values_stay_where_the_model_changes():
    model = FakeModel(matrix=np.eye(2))
    kinds = {
        kind: StoredWeights(model, kind).applied(model.search)
        for kind in ("float32", "float16", "int8")
    }
    model.weights[0].assign(3 * np.eye(2))
    found = {kind: float(search(0)[0, 0]) for kind, search in kinds.items()}
    assert found == {"float32": 3.0, "float16": 1.0, "int8": 1.0}


def test_bad_weights(word_model, tmp_path):
    with pytest.raises(
        ValueError, match=r"one of float32, float16, int8\. Received: weights='int4'"
    ):
        word_model.export(tmp_path / "1", weights="int4")
    with pytest.raises(ValueError, match=r"at most 65,504 for float16\. Received: .* with 70,000"):
        StoredWeights(FakeModel(big=np.float32([[1, 2], [3, -70000]])), "float16")
    assert not (tmp_path / "1").exists()
