"""Tiny random models, which tests of ONNX Runtime in Python and JavaScript share."""

import numpy as np

from kerasnmt import zoo
from kerasnmt.png import png_of
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from tests.conftest import WORDS
from tests.numerics import fill

OPTIONS = {"beam_size": 3, "length_penalty": 0.6, "max_length": 10}
# Some words are outside the vocabulary. One text has such a word twice.
TEXTS = ["two dogs run .", "zeb runs . zeb and anna run .", "", "   ", "dog", "anna zeb a zeb"]
# Terms of these texts.
TERMS = {
    "terms": [["man"], ["zeb man", ["cat", "anna"]], [], [], ["two", ["x", "a dog"]], []],
    "forbidden": [["reads", "two dogs"], [], [], [], [], ["zeb", "a"]],
}
SIZES = {"embedding_dim": 6, "units": 6, "dropout": 0.0}
TRANSFORMER = {"units": 8, "num_heads": 2, "hidden_units": 8, "dropout": 0.0}
TRANSFORMER |= {"encoder_layers": 2, "decoder_layers": 2}
# Images of the size of `make_captions`, of other sizes, in gray, and with alpha.
CAPTION_OPTIONS = {"beam_size": 3, "min_length": 3, "max_length": 6}
SHAPES = [(8, 8, 3), (31, 17, 3), (5, 90, 1), (8, 8, 4), (40, 40, 3)]
IMAGES = [np.random.default_rng(3).integers(0, 256, shape, "uint8") for shape in SHAPES]
FILES = [png_of(image) for image in IMAGES]


def make(name, seed=56, **options):
    """Create a tiny model with large random weights."""
    tokenizer = WordTokenizer(WORDS)
    sizes = TRANSFORMER if name.startswith("transformer") else SIZES
    model = fill(zoo.get_model(name)(tokenizer, **{**sizes, **options}), seed, scale=1.3)
    if name.startswith("transformer"):
        for weight in model.weights:  # random norms would make all words alike
            if "norm" in weight.path:
                weight.assign(np.full(weight.shape, weight.path.endswith("gamma")))
    return model


def make_captions():
    """Create a tiny model that captions images."""
    tokenizer, sizes = WordTokenizer(list("abcdefghi")), {"filters": (3, 4), "embedding_dim": 6}
    model = zoo.show_attend_tell_lstm(tokenizer, image_size=8, units=5, **sizes)
    return fill(model, scale=0.7)


def make_answers():
    """Create a tiny memory network."""
    words = ["mary", "john", "went", "home", "away", "where", "is", "home,away"]
    model = zoo.memory_network(PlainWordTokenizer(words), embedding_dim=6, max_sentences=3)
    fill(model, scale=0.4)
    model.hop.linear.assign(0.0)
    return model


def odd_stories():
    """Return a request with long and empty stories, unknown words, and odd characters."""
    contract = StoryContract()
    rows = [*contract.example_rows, *contract.odd_rows.values()]
    rows += [("mary went\n" * 2 + "john home\n" * 9, "where is mary"), ("john home", "is " * 150)]
    rows += [("home " * 120 + "mary\nWhere,", "Home,away? is"), ("\r\n...\n", "?!"), ("", "is")]
    return contract.columns(rows)
