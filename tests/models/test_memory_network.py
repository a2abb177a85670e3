import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import layers, zoo
from kerasnmt.data import story_batches
from kerasnmt.models import MemoryNetwork
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from kerasnmt.training import LinearStart
from tests.layers.memory.test_memories import RULES, encode, hop_by_hand, memory_by_hand
from tests.models.memory_networks import INPUTS, OPTIONS, STORIES, TARGETS, make
from tests.numerics import dtype_policy, log_softmax

# The encoding of the zoo: twice the position encoding of the paper.
TWICE = RULES["twice"][1]
every = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("tying", ["adjacent", "layerwise"])
def test_equations_of_the_paper(tying, linear):
    model = make(tying=tying, linear=linear)
    memories = model.memories
    if tying == "adjacent":
        of_words = memories.embeddings
        pairs = [(of_words[k], of_words[k + 1]) for k in range(3)]
        question, mapped = of_words[0], np.eye(6)
        answer = np.array(of_words[3].words.embeddings).T  # W^T = C^K
    else:
        pairs = [(memories.input_embedding, memories.output_embedding)] * 3
        question = memories.question_embedding
        mapped = np.array(memories.state_projection.kernel)
        answer = np.array(model.generator.kernel)
    words = np.array(question.words.embeddings)
    state = np.stack([encode(words, ids, TWICE) for ids in INPUTS["question_ids"]])
    looked = []
    for pair in pairs:
        keys, values = (memory_by_hand(embedding, TWICE) for embedding in pair)
        read, weights = hop_by_hand(state, keys, values, STORIES.any(axis=2), linear, places=7)
        state = state @ mapped + read
        looked.append(weights)
    logits = state @ answer + np.array(model.generator.bias)
    np.testing.assert_allclose(model(INPUTS), logits, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.attend(INPUTS), np.stack(looked, axis=1), rtol=1e-4, atol=1e-4)
    log_probability = log_softmax(logits)
    ids, scores = model.answer_ids(INPUTS)
    np.testing.assert_array_equal(ids, log_probability[:, 4:].argmax(axis=1) + 4)
    np.testing.assert_allclose(scores, log_probability[:, 4:].max(axis=1), rtol=1e-3, atol=1e-4)


@every
def test_padding_and_neighbours_change_nothing(options):
    model = make(**options)
    logits, weights = np.array(model(INPUTS)), np.array(model.attend(INPUTS))
    assert weights.shape == (3, options.get("hops", 3), 4)
    wider = {
        "story_ids": np.pad(STORIES, ((0, 0), (0, 3), (0, 2))),
        "question_ids": np.pad(INPUTS["question_ids"], ((0, 0), (0, 4))),
    }
    np.testing.assert_allclose(model(wider), logits, atol=1e-5)
    more = np.array(model.attend(wider))
    np.testing.assert_allclose(more[:, :, :4], weights, atol=1e-6)
    assert not np.any(more[:, :, 4:])
    for row, (sentences, words) in enumerate([(3, 2), (1, 1), (4, 3)]):
        alone = {
            "story_ids": STORIES[row : row + 1, :sentences],
            "question_ids": INPUTS["question_ids"][row : row + 1, :words],
        }
        np.testing.assert_allclose(model(alone)[0], logits[row], atol=1e-5)
    # A story without sentences is answered from the question alone.
    nothing = {**INPUTS, "story_ids": np.zeros_like(STORIES)}
    assert not np.any(model.attend(nothing)) and np.isfinite(model(nothing)).all()


def test_shapes_of_weights():
    def shapes(model):
        return [tuple(weight.shape) for weight in model.trainable_weights]

    adjacent = [(10, 6), (7, 6)] * 4
    assert shapes(make()) == [*adjacent, (10,)]
    assert shapes(make(target=8)) == [*adjacent, (6, 8), (8,)]  # not tied: another vocabulary
    layerwise = [(10, 6), (7, 6)] * 2 + [(10, 6), (6, 6)]
    assert shapes(make(tying="layerwise")) == [*layerwise, (6, 10), (10,)]
    assert [weight.name for weight in make().non_trainable_weights] == ["linear"]


def test_defaults_match_the_paper_and_its_code():
    model = zoo.memory_network(20)
    memories = model.memories
    assert type(memories) is layers.AdjacentMemories
    assert type(memories.encoding) is layers.PositionEncoding
    assert memories.encoding.scale == 2.0
    assert (memories.hops, memories.embedding_dim, model.max_sentences) == (3, 50, 50)
    assert memories.ages.random_noise == 0.1
    assert type(model.generator) is layers.TiedVocabularyProjection
    assert zoo.memory_network(20, temporal_encoding=False).max_sentences is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tying": "adjacnt"}, r"^unknown tying 'adjacnt'; did you mean 'adjacent'\?"),
        ({"encoding": "words"}, r"^unknown encoding 'words'; did you mean 'bag_of_words'|known:"),
        ({"hops": 0}, r"Expected hops >= 1"),
        ({"max_sentences": 0}, r"Expected max_sentences >= 1"),
        ({"random_noise": 1.0}, r"Expected 0 <= random_noise < 1"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        zoo.memory_network(10, **options)


@every
@pytest.mark.parametrize(
    "linear", [False, pytest.param(True, marks=pytest.mark.thorough("it leaves out a softmax"))]
)
def test_every_weight_learns(options, linear):
    model = make(linear=linear, **options)
    model.compile()
    targets = np.minimum(TARGETS, 7)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(INPUTS, targets, model(INPUTS, training=True))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        gradient = tf.convert_to_tensor(gradient).numpy()
        assert np.isfinite(gradient).all(), weight.path
        assert np.abs(gradient).max() > 1e-8, weight.path


def test_loss_and_accuracy_by_hand():
    model = make()
    model.compile(run_eagerly=True)
    logits = np.array(model(INPUTS), "float64")
    log_probability = log_softmax(logits)
    best = logits.argmax(axis=1)
    targets = np.array([best[0], best[1], (best[2] + 1) % 10])
    weight = np.array([1.0, 0.0, 1.0], "float32")
    rows = -log_probability[np.arange(3), targets]
    data = tf.data.Dataset.from_tensors((INPUTS, targets, weight))
    scores = model.evaluate(data, verbose=0, return_dict=True)
    # One right and one wrong. The third row has the weight 0.
    assert scores["accuracy"] == pytest.approx(0.5)
    assert scores["loss"] == pytest.approx((rows[0] + rows[2]) / 2, rel=1e-4)
    assert model.evaluate(INPUTS, targets, verbose=0)[1] == pytest.approx(2 / 3)


def test_noise_in_training_only():
    model = make(random_noise=0.5)
    expected = np.array(model(INPUTS))
    np.testing.assert_array_equal(model(INPUTS), expected)
    noisy = [np.array(model(INPUTS, training=True)) for _ in range(4)]
    assert max(np.abs(one - expected).max() for one in noisy) > 1e-3
    quiet = make(random_noise=0.0)
    np.testing.assert_array_equal(quiet(INPUTS, training=True), quiet(INPUTS))


@pytest.mark.thorough("another model shows it")
def test_half_precision():
    expected = make().attend(INPUTS)
    with dtype_policy("mixed_bfloat16"):
        model = make()
    assert model(INPUTS).dtype == tf.bfloat16
    weights = model.attend(INPUTS)
    assert weights.dtype == tf.float32
    np.testing.assert_allclose(weights, expected, atol=0.1)
    model.compile(keras.optimizers.Adam(0.02), run_eagerly=True)
    data = tf.data.Dataset.from_tensors((INPUTS, TARGETS))
    losses = model.fit(data, epochs=5, verbose=0).history["loss"]
    assert np.isfinite(losses).all() and losses[-1] < losses[0]


WORDS = ["mary", "john", "went", "home", "away", "where", "is", "home,away"]
TEXTS = (
    [["Mary went home.", "John went away."], ["John went away."], [], ["...", "Mary  is\taway"]],
    ["Where is Mary?", "Where is John?", "Is unheard home?", "?!"],
)


def make_text_model(**options):
    tokenizer = PlainWordTokenizer(WORDS)
    return make(tokenizer, **{"max_sentences": 3, **options})


@pytest.fixture(scope="module")
def text_model():
    """A model that tests must not change."""
    return make_text_model()


@pytest.mark.usefixtures("eagerly")
def test_answers_match_the_ids(text_model):
    model = text_model
    stories, questions = TEXTS
    rows = [(story, question, "home") for story, question in zip(stories, questions, strict=True)]
    (batch,) = story_batches(rows, model.source_tokenizer, max_sentences=3, shuffle=False)
    ids, _ = model.answer_ids(batch[0])
    none = model.answer_ids({name: values[:0] for name, values in batch[0].items()})
    assert none[0].shape == none[1].shape == (0,)
    expected = [WORDS[index - 4] for index in np.array(ids)]
    answers = model.answer(stories, questions)
    assert answers[:3] == expected[:3] and answers[3] == ""  # a question without words
    assert model.answer(stories, questions, batch_size=1) == answers
    assert model.answer([], []) == []
    # Only the last three sentences are read.
    long = [["Mary is home.", "John went home.", *stories[0], "Mary is away."]]
    assert model.answer(long, questions[:1]) == model.answer([long[0][2:]], questions[:1])


@pytest.mark.usefixtures("eagerly")
def test_no_answer_is_a_reserved_id():
    model = make_text_model()
    bias = np.zeros(12)
    bias[:4] = 1e3
    model.generator.bias.assign(bias)
    assert set(model.answer(*TEXTS)[:3]) <= set(WORDS)


@pytest.mark.parametrize(
    ("stories", "questions", "options", "message"),
    [
        (["Mary went."], ["Where?"], {}, "story of question 1='Mary went.', one string"),
        ([["Mary went."]], "Where?", {}, "of texts. Received: questions='Where[?]', one str"),
        ("Mary went.", ["Where?"], {}, "list of stories. Received: stories='Mary went.', one str"),
        (None, ["Where?"], {}, "Received: stories=None, of type NoneType"),
        ([None], ["Where?"], {}, "Received: the story of question 1=None, of type NoneType"),
        ([["Mary went.", 7]], ["Where?"], {}, "question 1 whose item 2 is 7, of type int"),
        ([["Mary went."]], [], {}, "0 questions, 1 stories"),
        ([["Mary went."]], ["Where?"], {"batch_size": 0}, "Expected batch_size to be at least 1"),
        ([["Mary went."]], ["Where?"], {"batch_size": 2.0}, "Expected an integer as batch_size"),
    ],
)
def test_bad_texts(text_model, stories, questions, options, message):
    with pytest.raises(ValueError, match=message):
        text_model.answer(stories, questions, **options)


@pytest.mark.usefixtures("eagerly")
def test_stories_and_questions_may_be_in_whatever_holds_them(text_model, forms):
    stories, questions = TEXTS
    expected = text_model.answer(stories, questions)
    for form in forms.values():
        assert text_model.answer(map(form, stories), form(questions)) == expected


def test_without_tokenizers():
    with pytest.raises(ValueError, match=r"Expected a model with tokenizers.*model.answer_ids"):
        make().answer(*TEXTS)
    with pytest.raises(ValueError, match=r"Expected a model with tokenizers"):
        make().export("nowhere/1")


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="adjacent"),
        pytest.param(
            {"tying": "layerwise"},
            id="layerwise",
            marks=pytest.mark.thorough("configs of the layers are tested by themselves"),
        ),
    ],
)
def test_save_and_load(tmp_path, options, monkeypatch):
    registered = []
    monkeypatch.setattr("kerasnmt.hooks.register_optimizers", lambda: registered.append(True))
    model = make_text_model(linear=True, target=WordTokenizer(["home", "away"]), **options)
    model.compile(keras.optimizers.SGD(0.1))
    answers = model.answer(*TEXTS)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert type(copy) is MemoryNetwork and registered  # those of `kerasnmt.training`
    assert type(copy.memories) is type(model.memories) and copy.memories.hops == 3
    assert copy.memories.ages.get_config() == model.memories.ages.get_config()
    assert copy.memories.encoding.get_config() == model.memories.encoding.get_config()
    assert float(copy.hop.linear) == 1.0  # a linear start goes on where it stood
    assert copy.hop.places == model.hop.places == model.max_sentences
    inputs = {"story_ids": STORIES, "question_ids": INPUTS["question_ids"]}
    np.testing.assert_array_equal(copy(inputs), model(inputs))
    assert copy.answer(*TEXTS) == answers
    assert type(copy.source_tokenizer) is PlainWordTokenizer
    assert type(copy.target_tokenizer) is WordTokenizer
    targets = np.array([4, 5, 4])
    assert copy.evaluate(inputs, targets, verbose=0) == model.evaluate(inputs, targets, verbose=0)
    shared = make_text_model(**options)
    again = MemoryNetwork.from_config(shared.get_config())
    assert again.target_tokenizer is again.source_tokenizer
    # Models that were saved before `places` existed have no empty places.
    earlier = {name: value for name, value in shared.get_config().items() if name != "places"}
    assert MemoryNetwork.from_config(earlier).hop.places is None


NAMES, PLACES = ["mary", "john", "sandra", "daniel"], ["home", "garden", "office", "kitchen"]


def stories_and_questions(count, seed):
    """Return stories of walks, with a question about the last walk of a person."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        walks = [
            (NAMES[rng.integers(4)], PLACES[rng.integers(4)]) for _ in range(rng.integers(1, 7))
        ]
        asked = walks[rng.integers(len(walks))][0]
        answer = dict(walks)[asked]
        story = [f"{name.title()} went to the {place}." for name, place in walks]
        made.append((story, f"Where is {asked.title()}?", answer))
    return made


@pytest.mark.graph
@pytest.mark.thorough("equations, gradients and LinearStart are tested by themselves")
def test_learns_who_is_where():
    train, test = stories_and_questions(600, 0), stories_and_questions(200, 1)
    tokenizer = PlainWordTokenizer.train(text for one in train for text in (*one[0], *one[1:]))
    model = zoo.memory_network(tokenizer, embedding_dim=16, hops=2, max_sentences=10)
    model.compile(keras.optimizers.Adam(0.01))
    start = LinearStart(max_epochs=5)
    model.fit(
        story_batches(train, tokenizer, seed=1),
        validation_data=story_batches(test, tokenizer, shuffle=False),
        epochs=16,
        callbacks=[start],
        verbose=0,
    )
    assert 1 <= start.ended <= 5
    answers = model.answer([story for story, _, _ in test], [one for _, one, _ in test])
    right = [answer == wanted for answer, (_, _, wanted) in zip(answers, test, strict=True)]
    assert np.mean(right) > 0.9  # by chance 0.25; the last sentence's place is right in 0.5
    # Its largest weight is on the last walk of the asked person.
    (batch,) = story_batches(test, tokenizer, batch_size=200, shuffle=False)
    looked = np.array(model.attend(batch[0]))
    assert np.all(looked.sum(axis=2) <= 1.0 + 1e-5) and looked.sum(axis=2).mean() > 0.95
    walks = [
        max(place for place, walk in enumerate(story) if walk.split()[0] in question)
        for story, question, _ in test
    ]
    assert np.mean(looked.max(axis=1)[np.arange(200), walks] > 0.5) > 0.8


@pytest.mark.parametrize("name", ["story_ids", "question_ids"])
@pytest.mark.parametrize("wrong", [-1, 10])
def test_ids_outside_the_vocabulary(name, wrong):
    ids = INPUTS[name].copy()
    ids.flat[0] = wrong
    with pytest.raises(ValueError, match=rf"ids from 0 to 9 as {name}\. Received: the id {wrong}"):
        make()({**INPUTS, name: ids})


@pytest.mark.parametrize(
    ("changes", "targets", "message"),
    [
        ({"story_ids": STORIES + 0.7}, TARGETS, "Expected integers as story_ids"),
        ({"question_ids": None}, TARGETS, r"Expected a dict with story_ids, question_ids.*Rec"),
        ({}, TARGETS + 0.6, "Expected integers as targets"),
        ({}, TARGETS + 1, r"from 0 to 9 as targets\. Received: the id 10"),
    ],
)
def test_arrays_that_do_not_fit(changes, targets, message):
    model = make()
    model.compile("sgd")
    inputs = {name: ids for name, ids in {**INPUTS, **changes}.items() if ids is not None}
    for call in (
        lambda: model.fit(inputs, targets, verbose=0),
        lambda: model.fit(INPUTS, TARGETS, validation_data=(inputs, targets), verbose=0),
        lambda: model.evaluate(inputs, targets, verbose=0),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_tokenizer_larger_than_the_vocabulary():
    words = [WordTokenizer([f"w{number}" for number in range(size)]) for size in (6, 7)]
    parts = make().memories, make().generator
    for tokenizers, side in ((words[::-1], "source"), (words, "target")):
        with pytest.raises(ValueError, match=f"a {side}_tokenizer with at most 10 ids"):
            MemoryNetwork(*parts, *tokenizers)


def test_a_loss_of_probabilities_is_refused():
    with pytest.raises(ValueError, match="Expected a loss that takes logits"):
        make().compile("adam", loss="sparse_categorical_crossentropy")
