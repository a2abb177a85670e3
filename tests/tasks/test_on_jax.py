"""Every kind of task gives the same answers on JAX and on TensorFlow."""

from importlib.util import find_spec

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.tasks import Explorer, Shortlist, Translator, task_of
from kerasnmt.tasks.shortlists import vocabulary_digest
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from tests.numerics import fill
from tests.other_backend import other_backend
from tests.zoo.tiny_models import TINY

TEXTS = ["where is ann", "zeb went zeb", "", "is bob home or out or home"]
OTHERS = ["ann went home", "", "bob zeb", "or"]
IMAGES = [encode_png(9, 7, (200, 10, 0)), b"no image", encode_png(20, 30, (0, 0, 90))]
WORDS = ["where", "is", "ann", "bob", "went", "home", "out", "or"]
SEARCH = {"beam_size": 2, "max_length": 6, "min_length": 2}


def streamed(progress):
    """Return the pieces of a stream, and its score."""
    *steps, last = progress
    return "|".join(one.piece for one in [*steps, last]), last.score


def answers(folder):
    """Return the answers of the models in a folder."""
    from kerasnmt.models import load_model

    def translator(name, **options):
        return Translator(task_of(load_model(f"{folder}/{name}.keras"), **options))

    copying = translator("copying", **SEARCH)
    context = translator("context", **SEARCH)
    explorer = Explorer(task_of(load_model(f"{folder}/copying.keras"), **SEARCH))
    request = {"text": TEXTS[1]}
    found = explorer.search(request)
    seen = explorer.inspect(request, found.ids[0])
    replacing = translator("replacing", **SEARCH, replace_unknown=True)
    listed = translator("replacing", **SEARCH, shortlist=True)
    story = {"story": ["ann went home\nbob went out", "", "zeb"], "question": TEXTS[:3]}
    return {
        "copying": copying.best(TEXTS),
        "explored": [*zip(found.texts, found.scores, strict=True)],
        "tree": [(f"{node.token} {node.rank}", node.log_probability) for node in found.tree],
        "inspected": [*zip(seen.target_tokens, seen.log_probability.tolist(), strict=True)],
        "choices": [(one.text, one.log_probability) for one in seen.choices[0]],
        "next words": [(one.best, one.log_probability) for one in explorer.next_words(request, [])],
        "n_best": [row for ranked in copying.n_best(TEXTS) for row in ranked],
        "prefixes": copying.best(TEXTS, prefixes=["out", "zeb", "", "home"]),
        "terms": copying.best(
            TEXTS,
            terms=[["home"], [["zeb", "out"]], [], ["ann out"]],
            forbidden=[["is"], [], [], ["home"]],
        ),
        "context": context.best(TEXTS, contexts=OTHERS),
        "streams": [
            *(streamed(replacing.progress(text)) for text in TEXTS),
            streamed(copying.progress(TEXTS[1], prefix="zeb")),
        ],
        "replacing": replacing.best(TEXTS),
        "listed": listed.best(TEXTS, batch_size=1),
        "listed prefixes and terms": listed.best(
            TEXTS, prefixes=["is", "", "", ""], terms=[["bob"], [], [], ["ann"]]
        ),
        "captions": translator("captions", **SEARCH).ask({"image": IMAGES}),
        "stories": translator("stories").ask(story),
        "scores": [["", one] for one in context.score(TEXTS, OTHERS, contexts=TEXTS)],
        "confidence": [
            (word, float(number))
            for one in [
                *copying.confidence(TEXTS),
                *context.confidence(TEXTS, contexts=OTHERS),
                *replacing.confidence(TEXTS),
            ]
            for numbers in (one.probabilities, one.entropies, one.margins)
            for word, number in zip(one.words, numbers, strict=True)
        ],
        "attention": [
            [" ".join(one.source_tokens + one.target_tokens), float(one.weights.max(initial=0.0))]
            for one in copying.attention(TEXTS)
        ],
    }


def served(folder):
    """Return the answers of the first model to a server, which knows the outputs on JAX, too."""
    from kerasnmt.models import load_model
    from kerasnmt.serving.server.task_session import TaskSession

    session = TaskSession(task_of(load_model(f"{folder}/copying.keras"), **SEARCH))
    assert {
        name: (info.dtype, info.shape)
        for name, info in session.signatures["serving_default"].outputs.items()
    } == {"score": ("float32", [-1]), "translation": ("string", [-1])}
    outputs = session.run("serving_default", {"text": TEXTS})
    translations = [translation.decode() for translation in outputs["translation"]]
    return [*zip(translations, outputs["score"].tolist(), strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with tiny models with large random weights."""
    words = WordTokenizer(WORDS)
    models = {
        "copying": zoo.pointer_generator_gru(words, **TINY),
        "context": zoo.context_attention_gru(words, **TINY),
        "replacing": zoo.bahdanau_gru(words, WordTokenizer(WORDS[:4]), **TINY),
        "captions": zoo.show_attend_tell_lstm(words, image_size=8, filters=(2,), units=3),
        "stories": zoo.memory_network(PlainWordTokenizer(WORDS), embedding_dim=4),
    }
    folder = tmp_path_factory.mktemp("tasks")
    for seed, (name, model) in enumerate(models.items()):
        fill(model, seed, scale=1.3)
        if name == "replacing":
            table = [[4 + number % 4] for number in range(12)]
            model.shortlist = Shortlist(table, [], 8, vocabulary_digest(model))
        if name == "context":
            model.decoder.gate.projection.bias.assign([-9.0, 3.0, 3.0])  # it copies often
        model.save(folder / f"{name}.keras")
    return folder


@pytest.mark.thorough("starts JAX; system/test_backends.py always does so with one model")
@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.usefixtures("eagerly")
def test_every_task_answers_as_on_tensorflow(folder):
    with other_backend("jax", blocked=()) as on_jax:
        found = {**on_jax(answers, folder), "served": on_jax(served, folder)}
    expected = answers(folder)
    expected["served"] = expected["copying"]
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        assert [text for text, _ in found[name]] == [text for text, _ in rows], name
        scores = [[score for _, score in one] for one in (found[name], rows)]
        np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5, err_msg=name)
    assert any("zeb" in text for text, _ in expected["context"])
    assert len({text for text, _ in expected["n_best"]}) > 4
