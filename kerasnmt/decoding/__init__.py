"""Search for the best output of a step function; knows no layer and no model."""

from kerasnmt.lazy_names import lazy_names

# The options of a search are read without Keras.
__all__, __getattr__ = lazy_names(
    __name__,
    {
        "constraints": ["IMPOSSIBLE"],
        "hypotheses": ["Hypotheses"],
        "penalties": ["length_penalty"],
        "search_options": ["SearchOptions"],
        "searching": ["search"],
    },
)
