"""Search for the best outputs of a step function, independent of layers and models."""

from kerasnmt.lazy_names import lazy_names

# Importing the options of a search does not import Keras.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "constraints": ["IMPOSSIBLE"],
        "hypotheses": ["Hypotheses", "SearchTree"],
        "penalties": ["length_penalty"],
        "search_options": ["SearchOptions"],
        "searching": ["search"],
    },
)
