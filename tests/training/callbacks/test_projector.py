import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.plugins.projector import ProjectorConfig

from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer, WordTokenizer
from kerasnmt.training import write_projector
from kerasnmt.zoo import bahdanau_gru, pointer_generator_gru

PAIRS = [
    ("dogs run", "Hunde laufen"),
    ("dogs dogs sleep fast", "Hunde schlafen gut"),
    ("run", "laufen"),
]


def rows(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def vectors(path):
    return np.array(rows(path), "float32")


@pytest.mark.parametrize(
    "constructor",
    [
        bahdanau_gru,
        pytest.param(pointer_generator_gru, marks=pytest.mark.thorough("another model")),
    ],
)
def test_most_frequent_tokens_with_their_vectors(tmp_path, constructor):
    tokenizer = WordTokenizer(["dogs", "run", "cats"], counts=[9, 2, 0, 5, 3, 7, 1])
    model = constructor(tokenizer, units=4, embedding_dim=3)
    write_projector(tmp_path, model, tokens=4)
    assert rows(tmp_path / "source_tokens.tsv") == [
        ["token", "id", "count"],
        ["run", "5", "7"],
        ["</s>", "3", "5"],
        ["dogs", "4", "3"],
        ["<unk>", "1", "2"],
    ]
    decoder = getattr(model.decoder, "decoder", model.decoder)
    for side, layer in (("source", model.encoder.embedding), ("target", decoder.embedding)):
        expected = np.array(layer.embeddings)[[5, 3, 4, 1]]
        np.testing.assert_allclose(vectors(tmp_path / f"{side}.tsv"), expected, rtol=1e-5)
    assert not np.allclose(vectors(tmp_path / "source.tsv"), vectors(tmp_path / "target.tsv"))


def test_what_tensorboard_reads(tmp_path):
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.plugins.base_plugin import TBContext
    from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
    from werkzeug.test import Client

    model = bahdanau_gru(WordTokenizer(["dogs", "run"]), units=4, embedding_dim=3)
    write_projector(tmp_path, model)
    provider = MultiplexerDataProvider(EventMultiplexer(), str(tmp_path))
    apps = ProjectorPlugin(
        TBContext(data_provider=provider, logdir=str(tmp_path))
    ).get_plugin_apps()
    assert Client(apps["/runs"]).get("/").json == ["."]
    config = Client(apps["/info"]).get("/?run=.").json
    assert [(one["tensorName"], one["tensorShape"]) for one in config["embeddings"]] == [
        ("source", [5, 3]),
        ("target", [5, 3]),
    ]
    labels = Client(apps["/metadata"]).get("/?run=.&name=source").text
    assert labels.splitlines() == [
        "token\tid",
        "<unk>\t1",
        "<s>\t2",
        "</s>\t3",
        "dogs\t4",
        "run\t5",
    ]
    values = np.frombuffer(Client(apps["/tensor"]).get("/?run=.&name=source").data, "float32")
    expected = np.array(model.encoder.embedding.embeddings)[1:]
    np.testing.assert_allclose(values.reshape(5, 3), expected, rtol=1e-5)


@pytest.mark.parametrize(
    "kind",
    [
        WordTokenizer,
        pytest.param(CharacterTokenizer, marks=pytest.mark.thorough("another tokenizer")),
        SentencePieceTokenizer,
    ],
)
def test_a_label_for_each_vector(tmp_path, kind):
    size = {WordTokenizer: 7, CharacterTokenizer: 15, SentencePieceTokenizer: 18}[kind]
    source, target = (kind.train(texts, size) for texts in zip(*PAIRS, strict=True))
    model = bahdanau_gru(source, target, units=4, embedding_dim=3)
    write_projector(tmp_path, model)
    for side, tokenizer in (("source", source), ("target", target)):
        labels = rows(tmp_path / f"{side}_tokens.tsv")[1:]
        assert (
            len(labels) == len(vectors(tmp_path / f"{side}.tsv")) == tokenizer.vocabulary_size - 1
        )
        for label, number, count in labels:
            assert label == tokenizer.tokens([int(number)]).numpy()[0].decode("utf-8")
            assert int(count) == tokenizer.counts[int(number)]
        counts = [int(count) for _, _, count in labels]
        assert counts == sorted(counts, reverse=True)


def test_labels_that_would_break_the_table(tmp_path):
    tokenizer = CharacterTokenizer(["a", "\t", "\n", "\u2028", "\u00a0", "ß", "🙂"])
    model = bahdanau_gru(tokenizer, units=4, embedding_dim=3)
    write_projector(tmp_path, model)
    labels = [row[0] for row in rows(tmp_path / "source_tokens.tsv")]
    assert labels[4:] == ["a", "\\t", "\\n", "\\u2028", "\\xa0", "ß", "🙂"]


def test_written_again(tmp_path):
    model = bahdanau_gru(WordTokenizer(["dogs"]), units=4, embedding_dim=3)
    write_projector(tmp_path, model)
    model.encoder.embedding.embeddings.assign(np.full((5, 3), 0.25))
    write_projector(tmp_path, model, tokens=2)
    np.testing.assert_array_equal(vectors(tmp_path / "source.tsv"), np.full((2, 3), 0.25))
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    assert [one.metadata_path for one in config.embeddings] == [
        "source_tokens.tsv",
        "target_tokens.tsv",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "projector_config.pbtxt",
        "source.tsv",
        "source_tokens.tsv",
        "target.tsv",
        "target_tokens.tsv",
    ]


def test_a_model_without_tokenizers(tmp_path):
    model = bahdanau_gru(9, units=4, embedding_dim=3)
    with pytest.raises(ValueError, match="Expected a model with tokenizers"):
        write_projector(tmp_path, model)
    assert not list(tmp_path.iterdir())
