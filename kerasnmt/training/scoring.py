"""BLEU, chrF and exact matches of translations."""

from collections.abc import Sequence
from itertools import zip_longest
from math import comb
from typing import Any

from kerasnmt.columns import as_list, as_texts, check_same_index
from kerasnmt.nearest_name import nearest_name
from kerasnmt.scripts import has_spaces, is_unspaced_script, script_of

Reference = str | Sequence[str]

# Extras of sacreBLEU that install the packages of a tokenizer.
_EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko"}


def bleu_tokenizer(references: Sequence[Reference], tokenize: str | None = None) -> str:
    """Return the tokenizer of sacreBLEU that computes BLEU for the references.

    BLEU compares words, so it is 0 if a sentence without spaces counts as one word. By default, the
    script of the references decides; see `script_of`:

    - Japanese: `ja-mecab` if its packages are installed, otherwise `char`.
    - Han characters alone: `zh`.
    - Hangul: `ko-mecab` if its packages are installed, otherwise `13a`, because Korean has spaces.
    - Thai, Khmer, Lao, Burmese, Tibetan and any other text without spaces: `char`.
    - All others: `13a`.

    Args:
        references: References, or lists of references.
        tokenize: Name of a tokenizer of sacreBLEU, or None to choose one.

    Returns:
        The name of a tokenizer that can be used on this machine.

    Raises:
        ValueError: If sacreBLEU has no tokenizer `tokenize`, or its package or model is missing.
    """
    if tokenize is not None:
        _bleu(tokenize)
        return tokenize
    texts = [text for known in _known(references) for text in known]
    script = script_of(texts)
    if script == "han":
        return "zh"
    if script in ("japanese", "hangul"):
        name = "ja-mecab" if script == "japanese" else "ko-mecab"
        try:
            _bleu(name)
        except ValueError:
            return "char" if script == "japanese" else "13a"
        return name
    return "char" if is_unspaced_script(script) or not has_spaces(texts) else "13a"


def translation_scores(
    translations: Sequence[str],
    references: Sequence[Reference],
    *,
    tokenize: str | None = None,
) -> dict[str, float | str]:
    """Score translations with sacreBLEU, and count exact matches.

    Source: Post (2018), "A call for clarity in reporting BLEU scores", for the signatures.

    Args:
        translations: Translations, cased and detokenized.
        references: Reference of each translation, or a list of its references, in the same order.
        tokenize: Tokenizer of sacreBLEU for BLEU, such as `"zh"`, or None to choose it from the
            references; see `bleu_tokenizer`.

    Returns:
        A dict of these scores:

        - `bleu` and `chrf` of the whole corpus, from 0 to 100.
        - `bleu_signature` and `chrf_signature`, which describe how the scores were computed.
        - `exact`, the percentage of translations that equal a reference, for tasks with one right
          answer, such as pronunciation.

    Raises:
        ValueError: If the numbers of translations and references differ, there are none, they are
            not lists of texts, or the tokenizer cannot be used.
    """
    known, texts = _rows(references, translations=translations)
    scores, columns = {}, _columns(known)
    for name, metric in _metrics(known, tokenize).items():
        scores[name] = metric.corpus_score(texts, columns).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    scores["exact"] = _percentage(_matches(texts, known))
    return scores


def compared_scores(
    translations: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[Reference],
    *,
    tokenize: str | None = None,
) -> dict[str, float | str]:
    """Score the translations of two systems, and test whether the scores differ by chance.

    For BLEU and chrF, the test is the paired bootstrap of sacreBLEU with 1,000 samples. Its seed is
    12345, the default of sacreBLEU, or `SACREBLEU_SEED` in the environment. For exact matches, it
    is the exact sign test over the sources for which one system alone is right.

    Source: Koehn (2004), "Statistical significance tests for machine translation evaluation";
    McNemar (1947), "Note on the sampling error of the difference between correlated proportions or
    percentages".

    Args:
        translations: Translations of the system.
        baseline: Translations of the other system, of the same sources.
        references: Reference of each source, or a list of its references, in the same order.
        tokenize: Tokenizer of sacreBLEU for BLEU; see `translation_scores`.

    Returns:
        A dict of these scores:

        - `bleu`, `chrf` and `exact` of the system.
        - `baseline_bleu`, `baseline_chrf` and `baseline_exact`.
        - `bleu_p_value` and `chrf_p_value`, the share of samples whose absolute difference exceeds
          the mean of all samples by more than the difference of the scores, or 1 for equal scores.
          SacreBLEU computes it in the direction of the difference (one-sided). It does not say
          before the test which system is better, so double it for a two-sided test.
        - `exact_p_value`, also in the direction of the difference: the probability that the better
          system is right for at least as many of these sources, if both are equally likely to win
          each; or 1 for equal scores.
        - `bleu_signature` and `chrf_signature`, with the number of samples and the seed.

    Raises:
        ValueError: If the numbers of translations and references differ, there are none, they are
            not lists of texts, or the tokenizer cannot be used.
    """
    from sacrebleu.significance import PairedTest

    known, texts, others = _rows(references, translations=translations, baseline=baseline)
    systems = [("baseline", others), ("system", texts)]
    metrics, columns = _metrics(known, tokenize), _columns(known)
    test = PairedTest(systems, metrics, columns, test_type="bs", n_samples=1000)
    signatures, results = test()
    scores = {}
    for name, label in (("bleu", "BLEU"), ("chrf", "chrF2")):
        other, own = results[label]
        scores[name] = own.score
        scores[f"baseline_{name}"] = other.score
        # SacreBLEU gives equal scores the smallest p-value, which is wrong.
        scores[f"{name}_p_value"] = 1.0 if own.score == other.score else own.p_value
        scores[f"{name}_signature"] = str(signatures[label])
    right, other_right = (_matches(some, known) for some in (texts, others))
    scores["exact"], scores["baseline_exact"] = _percentage(right), _percentage(other_right)
    scores["exact_p_value"] = _sign_test(right, other_right)
    return scores


def nearest_translations(
    translations: Sequence[Sequence[str]],
    references: Sequence[Reference],
    *,
    tokenize: str | None = None,
) -> list[str]:
    """Return the translation of each source that is most like the reference.

    The measure is the sentence BLEU of sacreBLEU, without the n-grams that are longer than the
    sentence. Of equally good translations, it returns the first one. A student that learns these
    translations learns from the teacher and from the reference.

    Source: Kim and Rush (2016), "Sequence-level knowledge distillation", section 3.3.

    Args:
        translations: Translations of each source, best first, such as an n-best list.
        references: Reference of each source, or a list of its references, in the same order.
        tokenize: Tokenizer of sacreBLEU; see `translation_scores`.

    Returns:
        One translation for each source. It is empty if a source has none.

    Raises:
        ValueError: If the numbers of sources and references differ, there are none, they are not
            lists of texts, or the tokenizer cannot be used.
    """
    check_same_index(translations=translations, references=references)
    lists = as_list("translations", translations, "lists of texts")
    beams, every = [as_texts("translations", beam) for beam in lists], _known(references)
    _check_lengths(beams, every)
    bleu = _bleu(bleu_tokenizer(every, tokenize), effective_order=True)
    nearest = []
    for texts, known in zip(beams, every, strict=True):
        scores = [bleu.sentence_score(text, known).score for text in texts]
        nearest.append(texts[scores.index(max(scores))] if texts else "")
    return nearest


def _matches(translations: list[str], references: list[list[str]]) -> list[bool]:
    """Return whether each translation equals a reference."""
    return [one in known for one, known in zip(translations, references, strict=True)]


def _percentage(matches: list[bool]) -> float:
    return 100 * sum(matches) / len(matches)


def _sign_test(right: list[bool], other_right: list[bool]) -> float:
    """Return the one-sided p-value of the exact sign test; see `compared_scores`."""
    differences = [own - other for own, other in zip(right, other_right, strict=True)]
    count, wins = sum(map(abs, differences)), max(map(differences.count, (1, -1)))
    if 2 * wins == count:
        return 1.0
    ways = all_ways = comb(count, wins)
    for number in range(wins, count):
        ways = ways * (count - number) // (number + 1)
        all_ways += ways
    return all_ways / 2**count


def _metrics(references: list[list[str]], tokenize: str | None) -> dict[str, Any]:
    """Return the metrics of sacreBLEU by name."""
    from sacrebleu.metrics import CHRF

    return {"bleu": _bleu(bleu_tokenizer(references, tokenize)), "chrf": CHRF()}


def _bleu(tokenize: str, **options: Any) -> Any:
    """Return the metric with a tokenizer, which may load a package or download a model."""
    from sacrebleu.metrics import BLEU

    if tokenize not in BLEU.TOKENIZERS:
        near = nearest_name(tokenize, BLEU.TOKENIZERS)
        raise ValueError(
            f"Expected a tokenizer of sacreBLEU, one of {', '.join(BLEU.TOKENIZERS)}. Received: "
            f"{tokenize}.{f' Did you mean {near}?' if near else ''}"
        )
    try:
        # Without `force`, sacreBLEU warns about text that looks tokenized, such as short sentences.
        return BLEU(force=True, tokenize=tokenize, **options)
    except (Exception, SystemExit) as error:  # sacreBLEU exits if a download fails
        if extra := _EXTRAS.get(tokenize):
            problem, remedy = "is not installed", f'Run `pip install "sacrebleu[{extra}]"`'
        else:
            problem = f"cannot be loaded ({' '.join(str(error).split())})"
            remedy = "Connect to the internet, because sacreBLEU downloads its model once"
        raise ValueError(
            f"Expected a tokenizer of sacreBLEU that works on this machine. Received: {tokenize}, "
            f"which {problem}. {remedy}, or choose another one, such as char."
        ) from error


def _rows(references: Sequence[Reference], **systems: Sequence[str]) -> list[list[Any]]:
    """Return the list of references of each source, and the translations of each system."""
    check_same_index(**systems, references=references)
    known = _known(references)
    columns = [as_texts(name, texts) for name, texts in systems.items()]
    for column in columns:
        _check_lengths(column, known)
    return [known, *columns]


def _known(references: Sequence[Reference]) -> list[list[str]]:
    """Return the list of references of each source."""
    rows = as_list("references", references, "texts")
    return [as_texts("references", [row] if isinstance(row, str) else row) for row in rows]


def _columns(references: list[list[str]]) -> list[list[str | None]]:
    """Return lists of the first references, the second references and so on, padded with None."""
    return [list(column) for column in zip_longest(*references)]


def _check_lengths(translations: list[Any], references: list[list[str]]) -> None:
    if len(translations) != len(references) or not translations:
        raise ValueError(
            "Expected a reference for each translation, and at least one of them. "
            f"Received: {len(translations)} translations and {len(references)} references"
        )
