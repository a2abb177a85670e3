/** Confidence of a model in its translations, as in `kerasnmt.tasks.confidence`. */

import { joinTexts } from "./sentences.js";
import { JOINER, mergedIndices, wordIndices } from "./words.js";

const LEAST = 1e-6; // probabilities closer to 0 or 1 do not differ in float32
// What stands for a space, or its absence, in tokens of a kind.
const MARKS = { words: "", words_and_punctuation: JOINER };

/**
 * Return what a model thinks of a token: its `entropy`, -sum p log p, in nats; and the `margin`, the
 * probability of the token minus that of the best other one.
 *
 * @param {Float32Array} gains Log-probabilities of all tokens.
 * @param {number} id The token.
 */
export function tokenConfidence(gains, id) {
  let entropy = 0;
  let other = 0;
  for (let one = 0; one < gains.length; one++) {
    const probability = Math.exp(gains[one]);
    entropy -= probability * gains[one];
    if (one !== id && probability > other) other = probability;
  }
  return { entropy, margin: Math.exp(gains[id]) - other };
}

/**
 * A translation, and how sure a model is of it.
 *
 * It has the `text` and its `score`, the log-probability divided by the length penalty; the `words`
 * of the text, with their `probabilities`, `entropies` and `margins`; and of the whole text the
 * `logProbability`, the number of `tokens` with the end, their mean `entropy` and least `margin`.
 * If the model is calibrated, `calibratedProbabilities` has the probability that each word is
 * right, and `calibratedProbability` their mean, the expected share of right words.
 */
export class Confidence {
  constructor(parts) {
    Object.assign(this, parts);
  }

  /** Probability of the translation, the product of the probabilities of all tokens. */
  get probability() {
    return Math.exp(this.logProbability);
  }

  /**
   * Return the confidence in a translation.
   *
   * @param {object} best `text` and `score`.
   * @param {string[]} tokens Tokens of the translation, with its end token.
   * @param {string} kind Kind of the tokens.
   * @param {object[]} judged `{logProbability, entropy, margin}` of each token.
   * @param {?object} calibration Parameters of `kerasnmt.calibration.Calibration`.
   */
  static ofTokens(best, tokens, kind, judged, calibration) {
    const merged = mergedIndices(tokens, kind);
    const isWord = wordIndices(tokens, kind).map((index) => index >= 0);
    const places = new Map(); // of the tokens of each word
    merged.forEach((word, place) => places.set(word, [...(places.get(word) ?? []), place]));
    const parts = [...places.values()].filter((some) => some.some((place) => isWord[place]));
    const written = (place) => tokens[place].replaceAll(MARKS[kind] ?? "▁", "");
    const words = parts.map((some) => some.map(written).join("").replaceAll("<unk>", "⁇"));
    const ofWords = (name, choose) =>
      parts.map((some) => choose(some.map((place) => judged[place][name])));
    const probabilities = ofWords("logProbability", total).map(Math.exp);
    const [logProbabilities, entropies, margins] = ["logProbability", "entropy", "margin"].map(
      (name) => judged.map((one) => one[name]),
    );
    const logProbability = total(logProbabilities);
    return new Confidence({
      ...best,
      words,
      probabilities,
      entropies: ofWords("entropy", (some) => Math.max(...some)),
      margins: ofWords("margin", (some) => Math.min(...some)),
      logProbability,
      tokens: tokens.length,
      entropy: total(entropies) / Math.max(tokens.length, 1),
      margin: Math.min(1, ...margins),
      ...(calibration && calibrated(calibration, probabilities, logProbability, tokens.length)),
    });
  }

  /** Return the confidence in a text from those in its sentences; see the class in Python. */
  static joined(sentences) {
    const [first] = sentences;
    if (sentences.length === 1) return first;
    const of = (name) => sentences.map((one) => one[name]);
    const mean = (name, weights) =>
      total(of(name).map((one, i) => one * weights[i])) / Math.max(total(weights), 1);
    const weights = sentences.map(({ words, tokens }) => tokens && Math.max(words.length, 1));
    const columns = ["words", "probabilities", "entropies", "margins", "calibratedProbabilities"];
    const parts = columns.filter((name) => name in first).map((name) => [name, of(name).flat()]);
    const share = total(weights) ? mean("calibratedProbability", weights) : 1;
    return new Confidence({
      text: joinTexts(of("text")),
      score: total(of("score")),
      ...Object.fromEntries(parts),
      logProbability: total(of("logProbability")),
      tokens: total(of("tokens")),
      entropy: mean("entropy", of("tokens")),
      margin: Math.min(...of("margin")),
      ...("calibratedProbability" in first && { calibratedProbability: share }),
    });
  }
}

function calibrated({ word_slope, word_bias }, probabilities, logProbability, tokens) {
  const of = (all) => all.map((one) => sigmoid(word_slope * logit(one) + word_bias));
  const ofWords = of(probabilities);
  const counted = ofWords.length ? ofWords : of([Math.exp(logProbability / Math.max(tokens, 1))]);
  const share = tokens ? total(counted) / counted.length : 1;
  return { calibratedProbabilities: ofWords, calibratedProbability: share };
}

function logit(probability) {
  const clipped = Math.min(Math.max(probability, LEAST), 1 - LEAST);
  return Math.log(clipped) - Math.log1p(-clipped);
}

function sigmoid(value) {
  return 1 / (1 + Math.exp(-value));
}

function total(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0);
}
