"""BLEU and chrF of translations."""

from collections.abc import Sequence


def translation_scores(
    translations: Sequence[str], references: Sequence[str]
) -> dict[str, float | str]:
    """Score translations against one reference each, with sacreBLEU's defaults.

    Args:
        translations: Translations as a reader sees them, cased and detokenized.
        references: Their references, in the same order.

    Returns:
        `bleu` and `chrf` of the whole corpus, from 0 to 100, and `bleu_signature` and
        `chrf_signature`, which describe how each was computed (Post, 2018, "A call for clarity in
        reporting BLEU scores").

    Raises:
        ValueError: The numbers of translations and references differ, or there are none.
    """
    from sacrebleu.metrics import BLEU, CHRF

    if len(translations) != len(references) or not translations:
        raise ValueError(
            "Expected a reference for each translation, and at least one of them. "
            f"Received: {len(translations)} translations and {len(references)} references"
        )
    # Without force, sacreBLEU warns of text that looks tokenized, as short sentences may.
    metrics = {"bleu": BLEU(force=True), "chrf": CHRF()}
    scores = {}
    for name, metric in metrics.items():
        scores[name] = metric.corpus_score(list(translations), [list(references)]).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores
