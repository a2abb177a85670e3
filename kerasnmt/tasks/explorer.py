"""Questions about one request: what a search found and dropped, and what else was probable."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.tasks.answering import AnsweringTask
from kerasnmt.tasks.search_task import SearchTask
from kerasnmt.tasks.sentence_attention import SentenceAttention, decode, rounded
from kerasnmt.tasks.served_model import ABSENT_SCORE
from kerasnmt.text.term_lines import check_contradictions
from kerasnmt.token_confidence import NUMBERS


class WordChoice(NamedTuple):
    """A token or a word that a model could choose next.

    Attributes:
        ids: Its ids; one id for a token.
        text: The token, or the word.
        log_probability: Its log-probability, given the tokens before it.
        best: The best answer that continues with it, or None if it was not searched.
    """

    ids: list[int]
    text: str
    log_probability: float
    best: str | None = None

    def document(self) -> dict[str, Any]:
        """Return values for JSON."""
        document = {**self._asdict(), "log_probability": round(self.log_probability, 4)}
        return {name: value for name, value in document.items() if value is not None}


class Inspection(NamedTuple):
    """What a model thinks of a translation or a caption, token by token.

    Attributes:
        ids: Ids of the target tokens, with the end token.
        text: The translation or caption.
        target_tokens: The target tokens.
        source_tokens: Tokens of the source, including the end token, or the names of the regions
            of the image.
        log_probability: Log-probability of each target token, float32 `[target_length]`.
        entropy: Entropy of the distribution in place of each target token, in nats, float32
            `[target_length]`.
        margin: Probability of each target token minus that of the best other token, float32
            `[target_length]`.
        choices: For each target token, the most probable tokens that a search could choose in its
            place, best first.
        attention: Attention weights, or None if the model has no attention.
        head_weights: Weights of each head of each layer, float32
            `[layers, heads, target_length, source_length]`, or None if the attention has no heads.
        kinds: Kinds of the tokens of source and target; of an image, None.
        grid: Numbers of rows and columns of the regions of an image, or None.
        calibration: Parameters of the model's `kerasnmt.tasks.Calibration`, or None.
    """

    ids: list[int]
    text: str
    target_tokens: list[str]
    source_tokens: list[str]
    log_probability: np.ndarray
    entropy: np.ndarray
    margin: np.ndarray
    choices: list[list[WordChoice]]
    attention: SentenceAttention | None
    head_weights: np.ndarray | None
    kinds: tuple[str | None, str]
    grid: tuple[int, int] | None
    calibration: dict[str, float] | None = None

    @property
    def copied(self) -> list[np.ndarray] | None:
        """Share of each token's probability that comes from copying it.

        Float32 `[target_length]` for the source and, if the model copies from it, for the context;
        None for a model that does not copy, and for one whose outputs are all copied. For an
        ensemble, it is computed from the means of the members' gates and weights.
        """
        attended = self.attention
        if attended is None or attended.generate_probability is None:
            return None
        of_context = attended.context_probability
        gates = [1 - attended.generate_probability - (0 if of_context is None else of_context)]
        pointed = attended.weights if attended.pointer_weights is None else attended.pointer_weights
        texts: list[tuple[Any, Any]] = [(attended.source_tokens, pointed)]
        if of_context is not None:
            gates.append(of_context)
            texts.append((attended.context_tokens, attended.context_weights))
        return [
            self._share(gate, tokens, weights)
            for gate, (tokens, weights) in zip(gates, texts, strict=True)
        ]

    def _share(self, gate: np.ndarray, tokens: list[str], weights: np.ndarray) -> np.ndarray:
        same = np.array(self.target_tokens)[:, None] == np.array(tokens)
        mass = gate * np.sum(weights * same, axis=1)
        probability = np.exp(self.log_probability)
        # A float32 cannot hold the smallest probabilities, which are then 0.
        share = np.divide(mass, probability, out=np.zeros_like(mass), where=probability > 0)
        return np.clip(share, 0, 1).astype("float32")

    def document(self) -> dict[str, Any]:
        """Return values for JSON; see `SentenceAttention.document`."""
        attended = self.attention or SentenceAttention(
            self.source_tokens,
            self.target_tokens,
            np.zeros((len(self.target_tokens), len(self.source_tokens)), "float32"),
            kinds=self.kinds,
        )
        document = attended.document()
        if self.grid is not None:
            document["sources"][0]["grid"] = self.grid
        if self.attention is None:
            del document["sources"][0]["weights"]
        if self.head_weights is not None:
            document["heads"] = rounded(self.head_weights)
        document["text"] = self.text
        document["target"] |= {
            "ids": self.ids,
            "log_probability": rounded(self.log_probability),
            "choices": [[one.document() for one in of_token] for of_token in self.choices],
        }
        if self.calibration is not None:
            document["target"]["calibration"] = self.calibration
        for side, share in zip(document["sources"], self.copied or [], strict=False):
            side["copied"] = rounded(share)
        return document


class TreeNode(NamedTuple):
    """A token of a sequence that a beam search kept.

    Attributes:
        step: Step of the search, counted from 0.
        id: Id of the token.
        token: The token.
        parent: Index of the node before it, or -1 for the first token.
        log_probability: Log-probability of the sequence up to the token.
        rank: Rank of the best answer that begins with this sequence, counted from 0, or None if no
            answer does.
    """

    step: int
    id: int
    token: str
    parent: int
    log_probability: float
    rank: int | None


class Exploration(NamedTuple):
    """What a search found for one request.

    Attributes:
        texts: Answers in the beam, best first, without repetitions.
        scores: Score of each answer.
        ids: Ids of each answer, with its end token.
        tokens: Tokens of each answer.
        tree: Nodes of the search tree. Parents come before their children. Samples have no tree.
    """

    texts: list[str]
    scores: list[float]
    ids: list[list[int]]
    tokens: list[list[str]]
    tree: list[TreeNode]

    def document(self) -> dict[str, Any]:
        """Return values for JSON."""
        columns = (self.texts, self.scores, self.ids, self.tokens)
        return {
            "hypotheses": [
                {"text": text, "score": round(score, 4), "ids": ids, "tokens": tokens}
                for text, score, ids, tokens in zip(*columns, strict=True)
            ],
            "tree": [
                {**node._asdict(), "log_probability": round(node.log_probability, 4)}
                for node in self.tree
            ],
        }


class Explorer:
    """Questions about one request to a model that translates, or captions images.

    ```python
    explorer = Explorer(task_of(model, beam_size=5))
    result = explorer.search({"text": "I love you."})
    inspection = explorer.inspect({"text": "I love you."}, result.ids[0])
    ```

    Args:
        task: The task of the model.
    """

    def __init__(self, task: SearchTask) -> None:
        self.task = task
        about = task.description
        self._kinds = (about.get("source_kind"), about["target_kind"])
        self._grid = about.get("grid")
        self._limit = task.options.max_length

    def search(self, request: Mapping[str, Any], prefix_ids: Sequence[int] = ()) -> Exploration:
        """Search for answers, and also return what the search dropped.

        Args:
            request: Dict of the fields of the task, such as `{"text": "I love you."}`. An image is
                the contents of a PNG or JPEG file. For a translation, it may also have `terms`, a
                line of the terms that each answer must contain, or must not; see
                `kerasnmt.text.term_lines`.
            prefix_ids: Ids with which each answer must begin, without the end token.

        Returns:
            What was found. A request with nothing to read has one empty answer, without ids.

        Raises:
            ValueError: If an id is not one of the request, the prefix is longer than an answer can
                be, or a term cannot occur without a forbidden text.
        """
        self._check_ids(request, prefix_ids)
        check_contradictions(request.get("terms", ""))
        name = "explore_with_terms" if "terms" in request else "explore"
        outputs = self._run(name, [[*prefix_ids]], request)
        exploration = _exploration({name: values[0] for name, values in outputs.items()})
        if any(ids[: len(prefix_ids)] != [*prefix_ids] for ids in exploration.ids if ids):
            raise ValueError(
                "Expected a prefix that fits into the maximum length of the answer, which depends "
                f"on the length of this text. Received: {len(prefix_ids)} tokens"
            )
        return exploration

    def inspect(self, request: Mapping[str, Any], target_ids: Sequence[int]) -> Inspection:
        """Return what the model thinks of an answer.

        Args:
            request: See `search`.
            target_ids: Ids of the answer, with the end token.

        Returns:
            The inspection, with one row for each id.

        Raises:
            ValueError: If an id is not one of the request, there are no ids, or there are more than
                the `max_length` of the search.
        """
        if not len(target_ids):
            raise ValueError("Expected at least one id. Received: target_ids=[]")
        ended = target_ids[-1] == END_ID
        self._check_ids(request, target_ids[:-1] if ended else target_ids)
        outputs = self._run("inspect", [[*target_ids]], request)
        return self._inspection([*target_ids], outputs)

    def truncated(self, request: Mapping[str, Any]) -> str | None:
        """Return a message if the search truncates the text of a request, or None."""
        if self.task.source_lengths is None:
            return None
        text = request[self.task.fields[0]]
        length, limit = int(self.task.source_lengths([text])[0]), self._limit
        if length <= limit:
            return None
        return (
            f"the text has {length} tokens and was truncated to {limit}, the max_length of this "
            "search"
        )

    def encode(self, request: Mapping[str, Any], target: str) -> list[int]:
        """Return the ids of a given answer, with the end token."""
        return self.task.target_ids(target, *(request[name] for name in self.task.fields))

    def next_words(self, request: Mapping[str, Any], prefix_ids: Sequence[int]) -> list[WordChoice]:
        """Return the most probable words after a prefix, each with the best answer it leads to.

        A word is a token. If tokens are pieces, each of the most probable pieces is completed to a
        word, the one in the best answer that begins with the prefix and this piece.

        Args:
            request: See `search`.
            prefix_ids: Ids before the word.

        Returns:
            The words, most probable first. There are none if the prefix has the maximum length of
            an answer, or the request has nothing to read.

        Raises:
            ValueError: If an id is not one of the request, or there are more ids than the
                `max_length` of the search.
        """
        self._check_ids(request, prefix_ids)
        prefix = [*prefix_ids]
        *_, tokens = self.inspect(request, [*prefix, END_ID]).choices
        rows = [[*prefix, *token.ids] for token in tokens]
        explored = self._run("explore", rows, request)
        best = explored["ids"][:, 0]
        ends = [self._end_of_word(row, len(prefix)) for row in explored["tokens"][:, 0]]
        scored = self._run("inspect", best[:, : max(ends)].tolist(), request)
        words: dict[str, WordChoice] = {}
        for row, end in enumerate(ends):
            if not best[row, len(prefix) : end].any():  # no answer is longer than the prefix
                continue
            text = "".join(map(decode, explored["tokens"][row, 0, len(prefix) : end]))
            log_probability = float(scored["log_probability"][row, len(prefix) : end].sum())
            choice = WordChoice(
                best[row, len(prefix) : end].tolist(),
                text,
                log_probability,
                decode(explored["texts"][row, 0]),
            )
            words.setdefault(text, choice)
        return sorted(words.values(), key=lambda one: -one.log_probability)

    def _check_ids(self, request: Mapping[str, Any], ids: Sequence[int]) -> None:
        """Check that an answer to a request can contain these ids."""
        if len(ids) > self._limit:
            raise ValueError(
                f"Expected at most {self._limit} tokens, the max_length of the search. Received: "
                f"{len(ids)}"
            )
        size = self.task.target_size(*(request[name] for name in self.task.fields))
        wrong = [one for one in ids if not 0 < one < size or one in (START_ID, END_ID)]
        if wrong:
            raise ValueError(
                f"Expected ids of words, from 1 to {size - 1}, but not {START_ID} (start) or "
                f"{END_ID} (end). Received: {wrong[0]}"
            )

    def _end_of_word(self, tokens: np.ndarray, start: int) -> int:
        """Return the position after the word that begins at `start`."""
        end = start + 1
        if self._kinds[1] == "sentencepiece":
            after = ("▁".encode(), b"</s>")
            while end < len(tokens) and tokens[end] and not tokens[end].startswith(after):
                end += 1
        return end

    def _run(
        self, name: str, rows: list[list[int]], request: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        """Run a function on the request, once for each row of ids."""
        first_field, *fields = self.task.local[name].fields
        inputs: dict[str, Any] = {first_field: np.array(rows, "int32")}
        inputs |= {key: [request[key]] * len(rows) for key in fields}
        outputs = self.task.signatures[name](**inputs)
        return {key: np.asarray(value) for key, value in outputs.items()}

    def _inspection(self, ids: list[int], outputs: dict[str, np.ndarray]) -> Inspection:
        length = len(ids)
        source, target = (
            [decode(token) for token in outputs[f"{side}_tokens"][0] if token]
            for side in ("source", "target")
        )
        never = self.task.options.never_ids(self.task.model.copies)
        columns = ("choice_ids", "choice_tokens", "choice_log_probabilities")
        choices = [
            [
                WordChoice([int(one)], decode(token), float(log_probability))
                for one, token, log_probability in zip(*of_token, strict=True)
                if one not in never and log_probability > ABSENT_SCORE / 2
            ]
            for of_token in zip(*(outputs[name][0, :length] for name in columns), strict=True)
        ]
        attended, heads = None, outputs.get("head_weights")
        if "weights" in outputs:
            (attended,) = SentenceAttention.of_batch(outputs, self._kinds)
        if heads is not None:
            heads = heads[0, :, :, :length, : len(source)]
        return Inspection(
            ids=ids,
            text=decode(outputs["text"][0]),
            target_tokens=target,
            source_tokens=source,
            **{name: outputs[name][0, :length] for name in NUMBERS},
            choices=choices,
            attention=attended,
            head_weights=heads,
            kinds=self._kinds,
            grid=self._grid,
            calibration=self.task.description.get("calibration"),
        )


class StoryInspection(NamedTuple):
    """Where a memory network looked to answer a question.

    Attributes:
        sentences: The sentences that the model read.
        weights: Weights of the sentences in each hop, float32 `[hops, sentences]`.
        choices: The most probable answers, best first.
    """

    sentences: list[str]
    weights: np.ndarray
    choices: list[WordChoice]

    def document(self) -> dict[str, Any]:
        """Return values for JSON."""
        return {
            "sentences": self.sentences,
            "weights": rounded(self.weights),
            "choices": [one.document() for one in self.choices],
        }


def inspect_story(task: AnsweringTask, request: Mapping[str, str]) -> StoryInspection:
    """Return where a memory network looked to answer a question.

    Args:
        task: The task of the model.
        request: Dict of the `story`, with one sentence per line, and the `question`.

    Returns:
        The inspection. A question without words has no choices.
    """
    inputs = {name: [request[name]] for name in task.fields}
    batch = task.signatures["inspect"](**inputs)
    outputs = {name: np.asarray(value)[0] for name, value in batch.items()}
    sentences = [decode(sentence) for sentence in outputs["sentences"] if sentence]
    columns = zip(
        outputs["choice_ids"].tolist(),
        map(decode, outputs["choice_tokens"]),
        outputs["choice_log_probabilities"].tolist(),
        strict=True,
    )
    choices = [WordChoice([one], token, score) for one, token, score in columns]
    answered = outputs["answer"] != b""
    return StoryInspection(
        sentences, outputs["weights"][:, : len(sentences)], choices if answered else []
    )


def _exploration(outputs: Mapping[str, np.ndarray]) -> Exploration:
    """Return what was found for one request, from the outputs of `explore` for it."""
    texts, scores, ids, tokens = [], [], [], []
    for row, text in enumerate(map(decode, outputs["texts"])):
        score = float(outputs["scores"][row])
        if text in texts or score <= ABSENT_SCORE / 2:
            continue
        length = np.count_nonzero(outputs["ids"][row])
        texts.append(text)
        scores.append(score)
        ids.append(outputs["ids"][row, :length].tolist())
        tokens.append([decode(token) for token in outputs["tokens"][row, :length]])
    return Exploration(texts, scores, ids, tokens, _tree(outputs, ids))


def _tree(outputs: Mapping[str, np.ndarray], answers: list[list[int]]) -> list[TreeNode]:
    """Return the nodes of a search tree."""
    ids, tokens = outputs["tree_ids"], outputs["tree_tokens"]
    ranks: dict[tuple[int, ...], int] = {}
    for rank, sequence in enumerate(answers):
        for length in range(1, len(sequence) + 1):
            ranks.setdefault(tuple(sequence[:length]), rank)
    nodes: list[TreeNode] = []
    before: list[tuple[int, tuple[int, ...]]] = [(-1, ())] * len(ids)
    for step in range(ids.shape[1]):
        here = []
        for slot, parent in enumerate(outputs["tree_parents"][:, step]):
            index, path = before[parent]
            one = int(ids[slot, step])
            if one != PAD_ID:
                path = (*path, one)
                log_probability = float(outputs["tree_log_probabilities"][slot, step])
                token = decode(tokens[slot, step])
                nodes.append(TreeNode(step, one, token, index, log_probability, ranks.get(path)))
                index = len(nodes) - 1
            here.append((index, path))
        before = here
    return nodes
