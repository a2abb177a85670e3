"""Options of batches."""

from dataclasses import dataclass

from kerasnmt.sizes import check_size


@dataclass(frozen=True)
class BatchOptions:
    """Options of `batches` that do not depend on the pairs; see its arguments.

    Raises:
        ValueError: If a size is out of range, or `subword_sampling` is used with an option that it
            excludes.
    """

    tokens_per_batch: int = 4096
    batch_size: int | None = None
    max_length: int = 100
    shuffle: bool = True
    shuffle_buffer: int = 100_000
    seed: int | None = None
    cache: bool = False
    few_shapes: bool = True
    fill: bool = False
    extended_vocabulary: bool = False
    subword_sampling: float | None = None
    first_epoch: int | None = None

    def __post_init__(self) -> None:
        check_size("tokens_per_batch", self.tokens_per_batch)
        check_size("batch_size", 1 if self.batch_size is None else self.batch_size)
        check_size("max_length", self.max_length, 2)
        check_size("shuffle_buffer", self.shuffle_buffer, most=10**12)
        check_size("first_epoch", 0 if self.first_epoch is None else self.first_epoch, 0, 10**12)
        if self.subword_sampling is not None and (self.cache or self.extended_vocabulary):
            raise ValueError(
                "Expected cache=False and extended_vocabulary=False with subword_sampling, which "
                "splits a sentence into other pieces each time. Received: "
                f"cache={self.cache}, extended_vocabulary={self.extended_vocabulary}."
            )
