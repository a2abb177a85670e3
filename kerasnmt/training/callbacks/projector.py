"""Embeddings in the projector of TensorBoard."""

import os
from pathlib import Path

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector import ProjectorConfig

from kerasnmt.atomic_write import atomic_write
from kerasnmt.ids import PAD_ID
from kerasnmt.models import Seq2Seq
from kerasnmt.text import Tokenizer


def write_projector(log_dir: str | os.PathLike, model: Seq2Seq, *, tokens: int = 5000) -> None:
    """Write the embeddings of a model for the projector of TensorBoard, with tokens as labels.

    The embeddings of each side go to `<side>.tsv` and `<side>_tokens.tsv`, where the sides are
    `source` and `target`, or `target` alone if the embeddings are shared. TensorBoard reads
    `projector_config.pbtxt`. Each file is replaced in one operation, so the function can be called
    after each epoch:

    ```python
    keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: write_projector("run/logs", model))
    ```

    Args:
        log_dir: Log folder of TensorBoard.
        model: A model with tokenizers.
        tokens: Maximum number of tokens of each side: the most frequent tokens, or the first ids if
            the tokenizer has no counts. Padding is omitted.

    Raises:
        ValueError: If the model has no tokenizers.
    """
    if model.source_tokenizer is None:
        raise ValueError(
            "Expected a model with tokenizers, because tokens are the labels. Received: a model "
            "that was created with vocabulary sizes."
        )
    sides = {
        "source": (model.source_tokenizer, model.encoder.embedding),
        "target": (model.target_tokenizer, model.decoder.embedding),
    }
    if model.share_embeddings:
        del sides["source"]
    config = ProjectorConfig()
    for side, (tokenizer, layer) in sides.items():
        ids = _most_frequent(tokenizer, tokens)
        vectors = np.array(layer.embeddings)[ids]
        with atomic_write(Path(log_dir, f"{side}.tsv")) as path:
            np.savetxt(path, vectors, fmt="%.6g", delimiter="\t")
        with atomic_write(Path(log_dir, f"{side}_tokens.tsv")) as path:
            path.write_text(_labels(tokenizer, ids), encoding="utf-8", newline="\n")
        config.embeddings.add(
            tensor_name=side, tensor_path=f"{side}.tsv", metadata_path=f"{side}_tokens.tsv"
        )
    with atomic_write(Path(log_dir, "projector_config.pbtxt")) as path:
        path.write_text(text_format.MessageToString(config), encoding="utf-8")


def _most_frequent(tokenizer: Tokenizer, tokens: int) -> list[int]:
    """Return the ids of the most frequent tokens, the most frequent first."""
    counts = tokenizer.counts or [0] * tokenizer.vocabulary_size
    ids = (i for i in range(tokenizer.vocabulary_size) if i != PAD_ID)
    return sorted(ids, key=lambda i: -counts[i])[:tokens]


def _labels(tokenizer: Tokenizer, ids: list[int]) -> str:
    """Return a line for each id, with its token, the id, and its count if the count is known."""
    written = [token.decode("utf-8") for token in tokenizer.tokens(ids).numpy()]
    columns = {"token": map(_visible, written), "id": ids}
    if tokenizer.counts is not None:
        columns["count"] = [tokenizer.counts[i] for i in ids]
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _visible(token: str) -> str:
    """Return a token, with escapes for characters that are invisible or would break the table."""
    return token if token.isprintable() and token.strip() else ascii(token)[1:-1]
