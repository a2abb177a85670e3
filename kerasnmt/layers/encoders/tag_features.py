"""Features of words from the tags in a text."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerasnmt.ids import END_ID, PAD_ID
from kerasnmt.layers.composite import Composite

_MERGES = ("concat", "sum")


@keras.saving.register_keras_serializable("kerasnmt")
class TagFeatures(Composite, keras.layers.Layer):
    """Turns the tags in a text, such as `<V>`, into features of its other tokens.

        f_p = sum_{q: q in front, or q in the group of p} E x_q
        concat: [w_p; f_p],    sum: w_p + f_p,    with w_p = E x_p, or 0 if x_p is a tag

    Tags in front of all other tokens are features of the whole text, as in `<V><PST>walk`. Tags
    that follow other tokens are a group, which belongs to the tokens since the group before, as in
    `Das <ART> Haus <NN>`. A tag itself has the features of its group. So the order of the tags in a
    group does not matter.

    ```python
    tags = TagFeatures(tag_ids=[4, 5], merge="concat")
    source_ids = np.array([[4, 5, 8, 9, 3]])  # <V> <PST> a b </s>
    words = keras.layers.Embedding(10, 6)(source_ids)
    features = tags(words, source_ids)  # [1, 5, 12]: all five have the features <V> + <PST>
    ```

    Source: Sennrich and Haddow (2016), "Linguistic input features improve neural machine
    translation", section 2.2, which concatenates embeddings; here, the features of a token are
    summed, and have the embeddings of words. Wu, Cotterell and Hulden (2021), "Applying the
    transformer to character-level transduction", for tags whose order and positions do not matter.

    Args:
        tag_ids: Ids of the tags, above 3.
        merge: "concat" or "sum".
        space_ids: Ids of tokens that are a space alone, such as "▁", which do not separate tags.

    Raises:
        ValueError: If there are no ids of tags, an id is a special id or occurs twice, or `merge`
            is unknown.
    """

    def __init__(
        self, tag_ids: Sequence[int], merge: str = "concat", space_ids: Sequence[int] = (), **kwargs
    ) -> None:
        super().__init__(**kwargs)
        ids = [*tag_ids, *space_ids]
        known = all(isinstance(one, int | np.integer) and one > END_ID for one in ids)
        if not tag_ids or not known or len({*ids}) < len(ids):
            raise ValueError(
                f"Expected different ids above {END_ID}, and at least one tag. Received: "
                f"tag_ids={tag_ids!r:.80}, space_ids={space_ids!r:.80}"
            )
        if merge not in _MERGES:
            raise ValueError(f"Expected merge to be one of {_MERGES}. Received: merge={merge!r}")
        self.supports_masking = True
        self.tag_ids = [int(one) for one in tag_ids]
        self.merge = merge
        self.space_ids = [int(one) for one in space_ids]

    def compute_output_shape(self, words_shape: tuple, source_ids_shape: tuple) -> tuple:
        """Return the shape of the output."""
        return (*words_shape[:-1], (2 if self.merge == "concat" else 1) * words_shape[-1])

    def call(self, words: Any, source_ids: Any) -> Any:
        """Give each token its features.

        Args:
            words: Embedded tokens, `[batch, length, units]`.
            source_ids: Int32 `[batch, length]`, right-padded with 0.

        Returns:
            `[batch, length, 2 * units]` for "concat", or `[batch, length, units]` for "sum".
        """
        tag = _among(source_ids, self.tag_ids)
        other = ops.logical_not(_among(source_ids, [*self.tag_ids, *self.space_ids]))
        count = ops.cast(tag, "int32")
        before = ops.cumsum(count, axis=1) - count  # the number of tags
        others = ops.cumsum(ops.cast(other, "int32"), axis=1)
        # The tag itself, or the next one. The tags of a group follow the same number of others.
        following = ops.equal(before[:, :, None], before[:, None]) & tag[:, None]
        group = ops.sum(ops.cast(following, "int32") * others[:, None], axis=-1)
        member = ops.equal(others[:, None], 0) | ops.equal(others[:, None], group[..., None])
        features = ops.matmul(ops.cast(member & tag[:, None], words.dtype), words)
        words = words * ops.cast(ops.logical_not(tag), words.dtype)[..., None]
        if self.merge == "concat":
            return ops.concatenate([words, features], axis=-1)
        return words + features

    def positions(self, source_ids: Any) -> Any:
        """Return the position of each token: 0 for tags and padding, and others count from 1.

        Args:
            source_ids: Int32 `[batch, length]`, right-padded with 0.

        Returns:
            Int32 `[batch, length]`.
        """
        counted = ops.logical_not(_among(source_ids, [PAD_ID, *self.tag_ids]))
        counted = ops.cast(counted, "int32")
        return counted * ops.cumsum(counted, axis=1)


def _among(ids: Any, known: Sequence[int]) -> Any:
    """Return whether each id is one of the known ids."""
    return ops.any(ops.equal(ids[..., None], np.array(known, "int32")), axis=-1)
