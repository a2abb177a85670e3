"""Confidence of a model in each token, from the log-probabilities of all tokens."""

from typing import Any

# Numbers of each token: see `token_confidence`.
NUMBERS = ("log_probability", "entropy", "margin")


def token_confidence(xp: Any, log_probabilities: Any, ids: Any) -> dict[str, Any]:
    """Return the log-probability, the entropy and the margin of given tokens.

        entropy = -sum_y p(y) log p(y)
        margin = p(token) - max_{y != token} p(y)

    Args:
        xp: `keras.ops` or `numpy`, for arrays of that kind.
        log_probabilities: Float32 `[..., vocabulary]`. They are finite; -1e9 stands for a
            probability of 0.
        ids: The tokens, int32 `[...]`.

    Returns:
        A dict of `log_probability`, `entropy` in nats and `margin`, float32 `[...]`. The margin is
        negative if another token is more probable.
    """
    own = xp.take_along_axis(log_probabilities, ids[..., None], axis=-1)[..., 0]
    probabilities = xp.exp(log_probabilities)
    vocabulary = xp.arange(xp.shape(log_probabilities)[-1], dtype="int32")
    others = xp.where(vocabulary == ids[..., None], xp.zeros_like(probabilities), probabilities)
    return {
        "log_probability": own,
        "entropy": -xp.sum(probabilities * log_probabilities, axis=-1),
        "margin": xp.exp(own) - xp.max(others, axis=-1),
    }
