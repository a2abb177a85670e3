"""Batches of ids from questions about stories."""

from collections.abc import Sequence

import tensorflow as tf

from kerasnmt.columns import as_list, as_texts
from kerasnmt.data.babi import StoryQuestion
from kerasnmt.data.rows import batches_of_rows
from kerasnmt.sizes import check_size
from kerasnmt.text import Tokenizer
from kerasnmt.text.stories import story_ids
from kerasnmt.text.targets import padded


def story_batches(
    questions: Sequence[StoryQuestion],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    batch_size: int = 32,
    max_sentences: int | None = 50,
    shuffle: bool = True,
    seed: int | None = None,
) -> tf.data.Dataset:
    """Tokenize questions about stories, and batch them for `fit`.

    All ids are kept in memory, without padding.

    ```python
    questions = read_babi("qa1_single-supporting-fact_train.txt")
    tokenizer = PlainWordTokenizer.train(text for one in questions for text in one.texts)
    model = memory_network(tokenizer)
    model.compile("adam")
    model.fit(story_batches(questions, tokenizer, max_sentences=model.max_sentences), epochs=20)
    ```

    Args:
        questions: Result of `read_babi`, or tuples that start with the sentences of a story, a
            question and its answer.
        source_tokenizer: Tokenizer of sentences and questions.
        target_tokenizer: Tokenizer that turns an answer into one id, or None for
            `source_tokenizer`.
        batch_size: Number of questions in a batch.
        max_sentences: Maximum number of sentences of a story, 50 in the paper, or None for no
            limit. A longer story is truncated to its last sentences.
        shuffle: Whether to shuffle in each epoch.
        seed: Seed of the whole sequence of epochs.

    Returns:
        A dataset of `(inputs, targets, sample_weight)` with known cardinality.

        - `inputs` is a dict of `story_ids`, int32 `[batch, sentences, words]`, and `question_ids`,
          int32 `[batch, words]`, right-padded with 0 to the longest text of the batch.
        - `targets`, int32 `[batch]`, are the ids of the answers. Answers outside the vocabulary
          have the unknown id.
        - `sample_weight`, float32 `[batch]`, is 1. `split_evenly` adds rows with weight 0.

    Raises:
        ValueError: If there are no questions, a question has another form, an answer is not one
            word of the tokenizer, or a size is out of range.
    """
    for name, value in (("batch_size", batch_size), ("max_sentences", max_sentences)):
        if value is not None:
            check_size(name, value)
    stories, question_texts, answers = _columns(questions)
    targets = (target_tokenizer or source_tokenizer).tokenize(answers)
    for answer, length in zip(answers, targets.row_lengths().numpy(), strict=True):
        if length != 1:
            raise ValueError(
                "Expected answers that are one word for the tokenizer, or several words joined by "
                f"commas. Received: answer={answer!r}, which is {length} words."
            )
    targets = targets.flat_values
    sentences = tf.RaggedTensor.from_row_lengths(
        tf.constant([sentence for story in stories for sentence in story], tf.string),
        [len(story) for story in stories],
    )
    stories_ids = story_ids(source_tokenizer, sentences, max_sentences)
    questions_ids = source_tokenizer.tokenize(source_tokenizer.normalize_source(question_texts))

    def batch(rows: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
        inputs = {
            "story_ids": padded(tf.gather(stories_ids, rows)),
            "question_ids": padded(tf.gather(questions_ids, rows)),
        }
        return inputs, tf.gather(targets, rows), tf.ones_like(rows, tf.float32)

    return batches_of_rows(len(question_texts), batch, batch_size, shuffle, seed)


def _columns(questions: Sequence[StoryQuestion]) -> list[list]:
    """Return the stories, the questions and the answers."""
    rows = []
    for number, question in enumerate(as_list("questions", questions, "questions"), start=1):
        parts = question[:3] if isinstance(question, tuple | list) else ()
        if len(parts) != 3 or not all(isinstance(text, str) for text in parts[1:]):
            raise ValueError(
                "Expected tuples of a story (a list of sentences), a question and an answer, as "
                f"read_babi returns them. Received: {question!r:.200}."
            )
        rows.append((as_texts(f"the story of question {number}", parts[0]), *parts[1:]))
    if not rows:
        raise ValueError("Expected at least one question. Received: no questions.")
    return [*map(list, zip(*rows, strict=True))]
