/** Attention weights of one sentence, as in `kerasnmt.tasks.sentence_attention`. */

import { mergedIndices, wordAlignment, wordIndices } from "./words.js";

/**
 * Tokens of a sentence and its translation, and the attention weights between them.
 *
 * `sourceTokens` and `targetTokens` include the end token. `weights`,
 * `[targetLength][sourceLength]`, and the other records of the model, such as `generateProbability`
 * and `contextWeights`, are there if the model has them. `contextTokens` are those of the context.
 */
export class SentenceAttention {
  #kinds;

  /**
   * @param {object} tokens `sourceTokens`, `targetTokens` and, with a context, `contextTokens`.
   * @param {object[]} records Records of each target token, by name.
   * @param {object} description Description of the model, with its records and kinds of tokens.
   */
  constructor(tokens, records, { graphs, source_kind: sourceKind, target_kind: targetKind }) {
    Object.assign(this, tokens);
    for (const name of graphs.records) {
      const { length } = name === "context_weights" ? tokens.contextTokens : tokens.sourceTokens;
      const of = (record) => (name.endsWith("weights") ? record.slice(0, length) : record[0]);
      this[camelCase(name)] = records.map((one) => of(one[name]));
    }
    this.#kinds = [sourceKind, targetKind];
  }

  /** Return the links between words, as pairs of a source word and a target word, from 0. */
  alignment() {
    const [source, target] = this.#kinds;
    return wordAlignment(
      this.weights,
      wordIndices(this.sourceTokens, source),
      wordIndices(this.targetTokens, target),
    );
  }

  /** Return what the page draws; see `document` of the class in Python. */
  document() {
    const [sourceKind, targetKind] = this.#kinds;
    const sources = [side("source", this.sourceTokens, sourceKind, this.weights)];
    if (this.contextTokens)
      sources.push(side("context", this.contextTokens, sourceKind, this.contextWeights));
    const target = side("target", this.targetTokens, targetKind);
    if (this.generateProbability) target.generate_probability = rounded(this.generateProbability);
    if (this.contextProbability) target.context_probability = rounded(this.contextProbability);
    return { sources, target };
  }
}

/** Return a number with four digits after the point. */
export function fourDigits(number) {
  return Math.round(1e4 * number) / 1e4;
}

/** Return numbers with four digits after the point. */
export function rounded(numbers) {
  return Array.from(numbers, fourDigits);
}

function side(name, tokens, kind, weights) {
  const one = { name, tokens };
  if (kind) Object.assign(one, { kind, words: mergedIndices(tokens, kind) }); // not of an image
  return weights ? { ...one, weights: weights.map(rounded) } : one;
}

function camelCase(name) {
  return name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}
