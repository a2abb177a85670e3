"""BLEU, chrF and exact matches of translations."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

Reference = str | Sequence[str]


def translation_scores(
    translations: Sequence[str], references: Sequence[Reference]
) -> dict[str, float | str]:
    """Score translations with the defaults of sacreBLEU.

    Source: Post (2018), "A call for clarity in reporting BLEU scores", for the signatures.

    Args:
        translations: Translations, cased and detokenized.
        references: Reference of each translation, or a list of its references, in the same order.

    Returns:
        A dict of these scores:

        - `bleu` and `chrf` of the whole corpus, from 0 to 100.
        - `bleu_signature` and `chrf_signature`, which describe how the scores were computed.
        - `exact`, the percentage of translations that equal a reference, for tasks with one right
          answer, such as pronunciation.

    Raises:
        ValueError: If the numbers of translations and references differ, or there are none.
    """
    _check_lengths(translations, references)
    scores, columns = {}, _columns(references)
    for name, metric in _metrics().items():
        scores[name] = metric.corpus_score(list(translations), columns).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    scores["exact"] = _exact(translations, references)
    return scores


def compared_scores(
    translations: Sequence[str], baseline: Sequence[str], references: Sequence[Reference]
) -> dict[str, float | str]:
    """Score the translations of two systems, and test whether the scores differ by chance.

    The test is the paired bootstrap of sacreBLEU with 1,000 samples. Its seed is 12345, the default
    of sacreBLEU, or `SACREBLEU_SEED` in the environment.

    Source: Koehn (2004), "Statistical significance tests for machine translation evaluation".

    Args:
        translations: Translations of the system.
        baseline: Translations of the other system, of the same sources.
        references: Reference of each source, or a list of its references, in the same order.

    Returns:
        A dict of these scores:

        - `bleu`, `chrf` and `exact` of the system.
        - `baseline_bleu`, `baseline_chrf` and `baseline_exact`.
        - `bleu_p_value` and `chrf_p_value`, the share of samples whose absolute difference exceeds
          the mean of all samples by more than the difference of the scores, or 1 for equal scores.
          SacreBLEU computes it in the direction of the difference (one-sided). It does not say
          before the test which system is better, so double it for a two-sided test.
        - `bleu_signature` and `chrf_signature`, with the number of samples and the seed.

    Raises:
        ValueError: If the numbers of translations and references differ, or there are none.
    """
    from sacrebleu.significance import PairedTest

    for some in (translations, baseline):
        _check_lengths(some, references)
    systems = [("baseline", list(baseline)), ("system", list(translations))]
    test = PairedTest(systems, _metrics(), _columns(references), test_type="bs", n_samples=1000)
    signatures, results = test()
    scores = {}
    for name, label in (("bleu", "BLEU"), ("chrf", "chrF2")):
        other, own = results[label]
        scores[name] = own.score
        scores[f"baseline_{name}"] = other.score
        # SacreBLEU gives equal scores the smallest p-value, which is wrong.
        scores[f"{name}_p_value"] = 1.0 if own.score == other.score else own.p_value
        scores[f"{name}_signature"] = str(signatures[label])
    for name, some in (("exact", translations), ("baseline_exact", baseline)):
        scores[name] = _exact(some, references)
    return scores


def _exact(translations: Sequence[str], references: Sequence[Reference]) -> float:
    """Return the percentage of translations that equal a reference."""
    rows = zip(translations, map(_as_list, references), strict=True)
    return 100 * sum(one in known for one, known in rows) / len(references)


def _metrics() -> dict[str, Any]:
    """Return the metrics of sacreBLEU by name."""
    from sacrebleu.metrics import BLEU, CHRF

    # Without `force`, sacreBLEU warns about text that looks tokenized, such as short sentences.
    return {"bleu": BLEU(force=True), "chrf": CHRF()}


def _as_list(reference: Reference) -> list[str]:
    return [reference] if isinstance(reference, str) else list(reference)


def _columns(references: Sequence[Reference]) -> list[list[str | None]]:
    """Return lists of the first references, the second references and so on, padded with None."""
    return [list(column) for column in zip_longest(*map(_as_list, references))]


def _check_lengths(translations: Sequence[str], references: Sequence[Reference]) -> None:
    if len(translations) != len(references) or not translations:
        raise ValueError(
            "Expected a reference for each translation, and at least one of them. "
            f"Received: {len(translations)} translations and {len(references)} references"
        )
