import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.ids import END_ID
from kerasnmt.models import Ensemble
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.tasks import Calibration, Explorer, Translator, task_of
from kerasnmt.tasks.explorer import inspect_story
from kerasnmt.text import PlainWordTokenizer, SentencePieceTokenizer, WordTokenizer
from tests.numerics import fill
from tests.zoo.tiny_models import TINY, TINY_TRANSFORMER

pytestmark = pytest.mark.usefixtures("eagerly")

OPTIONS = {"beam_size": 3, "max_length": 12}
REQUEST = {"text": "two"}
COPYING = {"text": "Zoë reads two Bücher"}


@pytest.fixture(scope="module")
def explorer(word_model):
    return Explorer(task_of(word_model, **OPTIONS))


@pytest.fixture(scope="module")
def copying(make_pointer_model):
    return Explorer(task_of(make_pointer_model(seed=56), **OPTIONS))


def test_answers_match_the_search(explorer):
    found = explorer.search(REQUEST)
    (ranked,) = Translator(explorer.task).n_best([REQUEST["text"]])
    assert found.texts == [text for text, _ in ranked]
    assert found.scores == pytest.approx([score for _, score in ranked], abs=1e-5)
    assert found.ids[0] == explorer.encode(REQUEST, found.texts[0])
    assert len(found.ids[0]) == len(found.tokens[0]) > 1
    assert explorer.search({"text": " "}) == ([""], [0.0], [[]], [[]], [])


def test_a_path_of_the_tree_is_an_answer(explorer):
    found = explorer.search(REQUEST)
    (leaf,) = (node for node in found.tree if node.rank == 0 and node.token == "</s>")
    score = explorer.task.model.score([REQUEST["text"]], found.texts[:1])[0]
    assert leaf.log_probability == pytest.approx(score, abs=1e-4)
    path = []
    while leaf is not None:
        path.append(leaf.token)
        assert leaf.rank == 0
        leaf = found.tree[leaf.parent] if leaf.parent >= 0 else None
    assert path[::-1] == found.tokens[0]
    # The first step keeps as many tokens as the beam has places, and some are dropped later.
    assert sum(node.step == 0 for node in found.tree) == OPTIONS["beam_size"]
    assert any(node.rank is None for node in found.tree)
    assert all(node.parent < place for place, node in enumerate(found.tree))


def test_inspection_has_the_numbers_of_the_model(explorer):
    target = "abc"
    seen = explorer.inspect(REQUEST, explorer.encode(REQUEST, target))
    model = explorer.task.model
    assert (seen.text, seen.target_tokens) == (target, ["a", "b", "c", "</s>"])
    assert "calibration" not in seen.document()["target"]
    total = model.score([REQUEST["text"]], [target])[0]
    assert seen.log_probability.sum() == pytest.approx(total, abs=1e-4)
    (attended,) = Translator(explorer.task).forced_attention([REQUEST["text"]], [target])
    np.testing.assert_allclose(seen.attention.weights, attended.weights, atol=1e-5)
    for place, choices in enumerate(seen.choices):
        probabilities = np.exp([choice.log_probability for choice in choices])
        assert np.all(np.diff(probabilities) <= 0)
        # The vocabulary has ten ids, and padding and the start token are not choices.
        assert {choice.ids[0] for choice in choices} == {1, *range(3, 10)}
        assert 0 < probabilities.sum() <= 1 + 1e-5
        own = {choice.text: choice.log_probability for choice in choices}
        token = seen.target_tokens[place]
        assert own[token] == pytest.approx(seen.log_probability[place], abs=1e-5)
    # Of ten ids, only padding and the start token are not among the choices.
    every = np.array([[choice.log_probability for choice in one] for one in seen.choices])
    hidden = 1 - np.exp(every).sum(axis=1)
    least = -(np.exp(every) * every).sum(axis=1)
    assert np.all(least - 1e-4 < seen.entropy)
    assert np.all(seen.entropy < least + hidden * (np.log(2) - np.log(hidden)) + 1e-4)
    own = np.exp(seen.log_probability)
    others = np.where(np.isclose(every, seen.log_probability[:, None]), 0, np.exp(every))
    assert np.all(np.abs(own - others.max(axis=1) - seen.margin) < hidden + 1e-5)
    assert seen.copied is None and seen.head_weights is None


def test_an_inspection_has_the_calibration(make_translator_model):
    model = make_translator_model()
    model.calibration = Calibration(0.5, 0.1, 9)
    explorer = Explorer(task_of(model, **OPTIONS))
    seen = explorer.inspect(REQUEST, explorer.encode(REQUEST, "ab"))
    assert seen.document()["target"]["calibration"] == model.calibration.document()


def test_a_choice_is_one_that_the_search_could_make(word_model, copying):
    explorer = Explorer(task_of(word_model, allow_unknown=False, **OPTIONS))
    for one, request in ((explorer, REQUEST), (copying, COPYING)):
        for choices in one.inspect(request, [4, END_ID]).choices:
            assert choices and not {choice.ids[0] for choice in choices} & {0, 1, 2}


def test_a_choice_is_scored_as_if_it_were_written(explorer):
    prefix = explorer.encode(REQUEST, "ab")[:-1]
    seen = explorer.inspect(REQUEST, [*prefix, END_ID])
    for choice in seen.choices[-1][:3]:
        again = explorer.inspect(REQUEST, [*prefix, *choice.ids])
        assert again.log_probability[-1] == pytest.approx(choice.log_probability, abs=1e-4)


def test_prefix_is_kept(explorer):
    prefix = explorer.encode(REQUEST, "ed")[:-1]
    found = explorer.search(REQUEST, prefix)
    assert all(text.startswith("ed") for text in found.texts)
    assert (
        found.texts[0]
        == explorer.task.model.translate([REQUEST["text"]], prefixes=["ed"], **OPTIONS)[0]
    )


def test_prefix_beyond_the_length_of_an_answer(word_model):
    explorer = Explorer(task_of(word_model, **OPTIONS, max_length_ratio=1.0, max_length_margin=1))
    prefix = explorer.encode(REQUEST, "abcde")[:-1]
    with pytest.raises(ValueError, match=r"fits into the maximum length .* Received: 5 tokens"):
        explorer.search(REQUEST, prefix)


@pytest.mark.thorough("the next test joins pieces")
def test_next_words_of_single_tokens(explorer):
    prefix = explorer.encode(REQUEST, "a")[:-1]
    words = explorer.next_words(REQUEST, prefix)
    seen = explorer.inspect(REQUEST, [*prefix, END_ID])
    expected = {choice.text: choice.log_probability for choice in seen.choices[-1]}
    assert {word.text: pytest.approx(word.log_probability, abs=1e-4) for word in words} == expected
    for word in words:
        if word.ids != [END_ID]:
            best = explorer.search(REQUEST, [*prefix, *word.ids]).texts[0]
            assert word.best == best


def test_next_words_join_their_pieces():
    texts = ["internationalization", "international", "nation", "a nation in nations"] * 30
    pieces = SentencePieceTokenizer.train(texts, vocabulary_size=18)
    model = zoo.bahdanau_gru(pieces, embedding_dim=6, units=5)
    fill(model, seed=3, scale=1.5)
    explorer = Explorer(task_of(model, beam_size=3, max_length=9))
    request = {"text": "nation"}
    words = explorer.next_words(request, [])
    assert any(len(word.ids) > 1 for word in words)
    assert words == sorted(words, key=lambda word: -word.log_probability)
    for word in words:
        tokens = explorer.inspect(request, word.ids)
        assert "".join(tokens.target_tokens) == word.text
        assert not any(token.startswith(("▁", "</s>")) for token in tokens.target_tokens[1:])
        assert tokens.log_probability.sum() == pytest.approx(word.log_probability, abs=1e-4)


@pytest.mark.thorough("lists the words after eleven others")
def test_no_word_follows_an_answer_of_maximum_length(word_model, explorer):
    prefix = explorer.encode(REQUEST, "abcdefabcde")[:-1]
    assert len(prefix) == OPTIONS["max_length"] - 1
    assert all(len(word.ids) == 1 and word.text for word in explorer.next_words(REQUEST, prefix))
    assert explorer.next_words(REQUEST, [*prefix, 4]) == []
    assert explorer.next_words({"text": " "}, []) == []
    short = Explorer(task_of(word_model, max_length_ratio=1.0, max_length_margin=0, **OPTIONS))
    assert short.next_words(REQUEST, prefix) == []


@pytest.mark.thorough("searches show it")
def test_samples_have_no_tree(word_model):
    task = task_of(word_model, samples=3, max_length=12)
    found = Explorer(task).search(REQUEST)
    (ranked,) = Translator(task).n_best([REQUEST["text"]])
    assert found.texts == [text for text, _ in ranked] and found.tree == []
    assert Explorer(task).search(REQUEST, found.ids[0][:2]).ids[0][:2] == found.ids[0][:2]
    assert Explorer(task).next_words(REQUEST, found.ids[0][:1])


def test_unknown_words_are_replaced():
    model = zoo.bahdanau_gru(WordTokenizer(["a", "dog"]), embedding_dim=4, units=4)
    explorer = Explorer(task_of(model, replace_unknown=True, **OPTIONS))
    request = {"text": "Zoë"}  # the only word that a translation can look at
    found = explorer.search(request, [1, 4])
    assert found.tokens[0][:2] == ["Zoë", "a"] and found.ids[0][:2] == [1, 4]
    assert found.texts[0].startswith("Zoë a")
    seen = explorer.inspect(request, [1, 4, END_ID])
    assert (seen.text, seen.target_tokens) == ("Zoë a", ["Zoë", "a", "</s>"])
    assert seen.ids == [1, 4, END_ID]
    assert "Zoë" in [word.text for word in explorer.next_words(request, [4])]


def test_copied_share_by_hand(copying):
    # "Bücher" and "Zoë" are outside the vocabulary, so copying is the only way to write them.
    seen = copying.inspect(COPYING, copying.encode(COPYING, "Bücher two man Zoë"))
    (share,) = seen.copied
    assert share[[0, 3]] == pytest.approx([1, 1], abs=1e-4)
    assert share[2] == 0  # "man" is not in the source
    gate = 1 - seen.attention.generate_probability[1]
    place = seen.source_tokens.index("two")
    mass = gate * seen.attention.weights[1, place]
    assert share[1] == pytest.approx(mass / np.exp(seen.log_probability[1]), rel=1e-4)
    assert 0.2 < share[1] < 0.4
    document = seen.document()
    assert document["sources"][0]["copied"] == pytest.approx(share.tolist(), abs=1e-4)


def test_copied_share_of_a_separate_pointer():
    tokenizer = WordTokenizer(["a", "dog", "man", "two", "."])
    model = zoo.pointer_generator_gru(tokenizer, own_pointer=True, **TINY)
    fill(model, seed=3, scale=1.5)
    explorer = Explorer(task_of(model, **OPTIONS))
    request = {"text": "two Ann dog"}
    seen = explorer.inspect(request, explorer.encode(request, "Ann dog"))
    attended = seen.attention
    assert attended.pointer_weights.shape == attended.weights.shape == (3, 4)
    assert np.abs(attended.pointer_weights - attended.weights).max() > 0.05
    (share,) = seen.copied
    gate = 1 - attended.generate_probability
    assert share[0] == pytest.approx(1, abs=1e-4)  # "Ann" can only be copied
    mass = gate[0] * attended.pointer_weights[0, 1]
    assert mass == pytest.approx(np.exp(seen.log_probability[0]), rel=1e-4)
    mass = gate[1] * attended.pointer_weights[1, 2]
    assert share[1] == pytest.approx(mass / np.exp(seen.log_probability[1]), rel=1e-4)
    # The search records the same weights, and merging of words keeps them.
    (again,) = Translator(explorer.task).attention([request["text"]])
    assert again.pointer_weights.shape == again.weights.shape
    words = attended.by_words("words", "words")
    np.testing.assert_allclose(words.pointer_weights, attended.pointer_weights, atol=1e-6)


@pytest.mark.thorough("each pointer alone shows it")
def test_an_ensemble_of_a_separate_and_a_shared_pointer():
    tokenizer = WordTokenizer(["a", "dog"])
    members = [
        zoo.pointer_generator_gru(tokenizer, own_pointer=own, **TINY) for own in (False, True)
    ]
    inputs = {"source_ids": [[4, 1, 3]], "extended_source_ids": [[4, 6, 3]], "target_ids": [[2, 4]]}
    inputs = {name: np.array(ids, "int32") for name, ids in inputs.items()}
    shared, own = (member.attend(inputs) for member in members)
    found = Ensemble(members).attend(inputs)
    pointed = (np.asarray(shared["weights"]) + np.asarray(own["pointer_weights"])) / 2
    np.testing.assert_allclose(found["pointer_weights"], pointed, atol=1e-6)
    attended = (np.asarray(shared["weights"]) + np.asarray(own["weights"])) / 2
    np.testing.assert_allclose(found["weights"], attended, atol=1e-6)


def test_copied_share_of_an_impossible_word(copying):
    seen = copying.inspect(COPYING, copying.encode(COPYING, "Bücher two"))
    seen = seen._replace(log_probability=np.array([-1e5, -1e5, 0.0], "float32"))
    (share,) = seen.copied
    np.testing.assert_array_equal(share[:2], 0)


def test_unknown_words_of_the_source_can_be_chosen(copying):
    seen = copying.inspect(COPYING, copying.encode(COPYING, "two"))
    names = {choice.text: choice.ids for choice in seen.choices[0]}
    assert names["Zoë"] == copying.encode(COPYING, "Zoë")[:-1]
    assert copying.search(COPYING, names["Zoë"]).texts[0].startswith("Zoë")


@pytest.mark.thorough("one text shows it")
def test_shares_of_two_texts():
    tokenizer = WordTokenizer(["a", "dog", "man", "two", "."])
    model = zoo.context_attention_gru(tokenizer, **TINY)
    fill(model, seed=7, scale=1.3)
    explorer = Explorer(task_of(model, **OPTIONS))
    request = {"text": "two dog Ann", "context": "a man Bob ."}
    seen = explorer.inspect(request, explorer.encode(request, "Bob Ann dog"))
    of_source, of_context = seen.copied
    assert of_context[0] == pytest.approx(1, abs=1e-4) and of_source[0] == 0
    assert of_source[1] == pytest.approx(1, abs=1e-4) and of_context[1] == 0
    assert [side["name"] for side in seen.document()["sources"]] == ["source", "context"]


@pytest.mark.thorough("tests/models shows the heads")
def test_heads_match_the_model():
    tokenizer = WordTokenizer(["a", "dog", "man"])
    model = zoo.transformer_tiny(tokenizer, **TINY_TRANSFORMER)
    explorer = Explorer(task_of(model, **OPTIONS))
    ids = explorer.encode({"text": "a dog"}, "man")
    seen = explorer.inspect({"text": "a dog"}, ids)
    inputs = {"source_ids": np.array([[4, 5, 3]]), "target_ids": np.array([[2, ids[0]]])}
    expected = np.asarray(model.attend_by_head(inputs))[0]
    np.testing.assert_allclose(seen.head_weights, expected, atol=1e-5)
    assert np.shape(seen.document()["heads"]) == expected.shape


def test_model_without_attention():
    model = zoo.encoder_decoder_gru(WordTokenizer(["a", "dog"]), embedding_dim=4, units=4)
    explorer = Explorer(task_of(model, **OPTIONS))
    seen = explorer.inspect({"text": "a dog"}, explorer.encode({"text": "a dog"}, "dog"))
    assert seen.attention is None
    (source,) = seen.document()["sources"]
    assert source["tokens"] == ["a", "dog", "</s>"] and "weights" not in source


@pytest.mark.thorough("texts show it")
def test_captions():
    tokenizer = WordTokenizer(["a", "red", "circle"])
    model = zoo.show_attend_tell_lstm(tokenizer, **TINY)
    explorer = Explorer(task_of(model, **OPTIONS))
    request = {"image": encode_png(9, 7, (200, 10, 0))}
    found = explorer.search(request)
    assert found.texts[0] == model.caption([request["image"]], **OPTIONS)[0]
    seen = explorer.inspect(request, found.ids[0])
    rows, columns = model.encoder.grid
    assert seen.attention.weights.shape == (len(found.ids[0]), rows * columns)
    assert seen.source_tokens[:2] == ["1,1", "1,2"] and len(seen.source_tokens) == rows * columns
    assert seen.document()["sources"][0]["grid"] == [rows, columns]
    own = explorer.inspect(request, explorer.encode(request, "a red circle"))
    assert own.text == "a red circle" and own.ids == [4, 5, 6, END_ID]
    assert explorer.search({"image": b"no image"}) == ([""], [0.0], [[]], [[]], [])


def test_stories():
    words = PlainWordTokenizer(["ann", "went", "home", "where", "is", "bob", "out"])
    model = zoo.memory_network(words, embedding_dim=6)
    task = task_of(model)
    request = {"story": "ann went home\n\nbob went out", "question": "where is bob"}
    seen = inspect_story(task, request)
    assert seen.sentences == ["ann went home", "bob went out"]
    inputs = {
        "story_ids": words.tokenize(["ann went home", "bob went out"]).to_tensor()[None],
        "question_ids": words.tokenize(["where is bob"]).to_tensor(),
    }
    np.testing.assert_allclose(seen.weights, model.attend(inputs)[0], atol=1e-5)
    ((answer, score),) = Translator(task).ask({name: [value] for name, value in request.items()})
    assert seen.choices[0].text == answer
    assert seen.choices[0].log_probability == pytest.approx(score, abs=1e-5)
    assert inspect_story(task, {**request, "question": ""}).choices == []


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda one: one.search(REQUEST, [4, 10]), "from 1 to 9, but .* Received: 10"),
        (lambda one: one.search(REQUEST, [-1]), "Received: -1"),
        (lambda one: one.search(REQUEST, [4, END_ID]), r"or 3 \(end\). Received: 3"),
        (lambda one: one.next_words(REQUEST, [2]), r"not 2 \(start\)"),
        (lambda one: one.inspect(REQUEST, []), "at least one id"),
        (lambda one: one.inspect(REQUEST, [3, 4]), "Received: 3"),
        (lambda one: one.inspect(REQUEST, [4] * 13), "at most 12 tokens, .* Received: 13"),
        (lambda one: one.inspect(REQUEST, [0, 3]), "Received: 0"),
    ],
)
def test_ids_that_cannot_be(explorer, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(explorer)


def test_ids_of_another_request(copying):
    with pytest.raises(ValueError, match="Received: 13"):
        copying.search({"text": "two dogs"}, copying.encode(COPYING, "Zoë")[:-1])
