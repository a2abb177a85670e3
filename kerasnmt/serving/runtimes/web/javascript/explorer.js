/**
 * Questions about one request, as in `kerasnmt.tasks.Explorer`: what a search found and dropped,
 * and what else was probable. The answers are the documents that the page of a model draws.
 */

import { distinct } from "./model.js";
import { bestExtensions, lengthPenalty } from "./search.js";
import { fourDigits, rounded } from "./sentence_attention.js";
import { parsedTerms, unmetNames } from "./terms.js";
import { END_ID, START_ID } from "./tokenizers.js";

const CHOICES = 10; // number of most probable tokens of `inspect`

export class Explorer {
  /** @param {SearchModel} model Model that translates, or captions images. */
  constructor(model) {
    this.model = model;
  }

  /**
   * Answer a question of the page.
   *
   * @param {string} question "search", "inspect" or "words".
   * @param {object} body The fields of the model and, for "search" and "words", `prefix_ids`; for
   *   "search", `terms`, see `parsedTerms`; for "inspect", `target_ids` or the text `target`.
   * @param {Function} show See `search`.
   * @returns {Promise<object>} The answer, with its `seconds`.
   */
  async ask(question, fields, show) {
    const { prefix_ids: prefixIds, target_ids: targetIds, target, terms, ...request } = fields;
    const start = performance.now();
    const source = await this.model.readRequest(request);
    const questions = {
      search: () => this.search(source, prefixIds, terms, show),
      inspect: () => this.inspect(source, targetIds ?? this.encode(source, target)),
      words: () => this.words(source, prefixIds),
    };
    const answer = await questions[question]();
    return { ...answer, seconds: (performance.now() - start) / 1000 };
  }

  /**
   * Search for translations.
   *
   * @param {object} source Source from `Model.read`.
   * @param {number[]} prefixIds Ids with which each translation must begin.
   * @param {string} line Line of terms; see `parsedTerms`.
   * @param {Function} show Function of the words of the best translation that are certain, and of
   *   those that follow them so far, after each step.
   * @returns {Promise<object>} The `hypotheses`, best first; the nodes of the `tree`, whose parents
   *   come before their children; the inspection of the best, the `sentence`; `truncated`, a
   *   message or null; and, with terms, messages about those that are `unmet`.
   */
  async search(source, prefixIds = [], line = "", show = () => {}) {
    const { model } = this;
    this.#checkIds(source, prefixIds);
    if (line) source = { ...source, capitals: false };
    const words = model.settledWords(source);
    const tell = ([row]) => {
      if (source.empty || !row.isUnfinished()) return;
      const { provisional } = words.after(row);
      show(words.done, provisional);
    };
    const terms = parsedTerms(line);
    const automata = line ? [model.readTerms(terms, source).automaton] : [];
    const [{ answers, steps }] = await this.#explored(source, [prefixIds], { terms: automata, tell });
    const found = distinct(answers);
    if (found.some(({ ids }) => ids.length && prefixIds.some((id, place) => ids[place] !== id)))
      throw new Error(
        "Expected a prefix that fits into the maximum length of the answer, which depends on the " +
          `length of this text. Received: ${prefixIds.length} tokens`,
      );
    const best = found[0]?.ids ?? [];
    return {
      hypotheses: found.map(({ text, score, ids, written }) => {
        const tokens = this.#tokens(written, source);
        return { text, score: fourDigits(score), ids, tokens };
      }),
      tree: model.description.samples ? [] : this.#tree(steps, found, source),
      sentence: best.length ? await this.inspect(source, best) : null,
      truncated: model.truncated(source),
      ...(line && { unmet: found.slice(0, 1).flatMap(({ text }) => unmetNames(terms, text)) }),
    };
  }

  /** Return what the model thinks of a translation with these ids. */
  async inspect(source, targetIds) {
    const { model } = this;
    const ended = targetIds.at(-1) === END_ID;
    this.#checkIds(source, ended ? targetIds.slice(0, -1) : targetIds);
    if (!targetIds.length) throw new Error("Expected at least one id. Received: no ids");
    const look = (gains) => ({ choices: bestExtensions([0], [gains], CHOICES) });
    const [found] = await model.forced([source], [targetIds], look);
    const records = found.map((one) => one.records);
    const logProbabilities = found.map(({ logProbability }) => logProbability);
    const written = model.replaced(targetIds, records, source);
    const attended = model.attended(source, written, records);
    const document = attended.document();
    if (model.page.grid) document.sources[0].grid = model.page.grid;
    copied(attended, logProbabilities).forEach((share, side) => {
      document.sources[side].copied = rounded(share);
    });
    Object.assign(document.target, {
      ids: targetIds,
      log_probability: rounded(logProbabilities),
      choices: found.map(({ choices }) => this.#choices(choices, source)),
      ...(model.description.calibration && { calibration: model.description.calibration }),
    });
    const text = model.textFor(source, written);
    return { ...document, text, score: this.#score(logProbabilities) };
  }

  /** Return the ids of a user's translation, with the end token. */
  encode(source, target) {
    return [...this.model.targetIds(target, source), END_ID];
  }

  /**
   * Return the most probable words after a prefix, the `choices`, each with the best translation
   * that it leads to.
   *
   * A word is a token. If tokens are pieces, each of the most probable pieces is completed to the
   * word in the best translation that begins with the prefix and this piece.
   */
  async words(source, prefixIds) {
    const start = prefixIds.length;
    const { choices } = (await this.inspect(source, [...prefixIds, END_ID])).target;
    const prefixes = choices.at(-1).map(({ ids }) => [...prefixIds, ...ids]);
    const rows = await this.#explored(source, prefixes);
    const best = rows.map(({ answers: [{ ids, text, written }] }) => {
      const tokens = this.#tokens(written, source);
      const end = this.#endOfWord(tokens, start);
      return { ids: ids.slice(0, end), word: tokens.slice(start, end).join(""), text };
    });
    const scored = await this.model.forced(best.map(() => source), best.map(({ ids }) => ids));
    const words = new Map();
    best.forEach(({ ids, word, text }, row) => {
      const own = scored[row].slice(start);
      if (!own.length || words.has(word)) return; // no translation is longer than the prefix
      const score = own.reduce((sum, one) => sum + one.logProbability, 0);
      words.set(word, { ids: ids.slice(start), text: word, score, best: text });
    });
    const ranked = [...words.values()].sort((one, other) => other.score - one.score);
    const written = ({ score, ...word }) => ({ ...word, log_probability: fourDigits(score) });
    return { choices: ranked.map(written) };
  }

  #explored(source, prefixes, more = {}) {
    const sources = prefixes.map(() => source);
    return this.model.search(sources, { nBest: this.model.hypotheses, prefixes, ...more });
  }

  #tokens(ids, source) {
    return this.model.target.tokens(ids, this.model.knownWords(source));
  }

  #choices(extensions, source) {
    return extensions
      .filter(({ id }) => !this.model.neverIds.includes(id))
      .map(({ id, score }) => {
        const [text] = this.#tokens([id], source);
        return { ids: [id], text, log_probability: fourDigits(score) };
      });
  }

  /** Return the nodes of the search tree. */
  #tree(steps, answers, source) {
    const ranks = new Map();
    answers.forEach(({ path }, rank) => {
      for (const one of path) if (!ranks.has(one)) ranks.set(one, rank);
    });
    const nodes = [];
    const places = new Map();
    steps.forEach((slots, step) => {
      for (const one of slots) {
        if (!one || one.length <= step) continue; // it has ended before
        places.set(one, nodes.length);
        nodes.push({
          step,
          id: one.id,
          token: this.#tokens([one.id], source)[0],
          parent: places.get(one.parent) ?? -1,
          log_probability: fourDigits(one.score),
          rank: ranks.get(one) ?? null,
        });
      }
    });
    return nodes;
  }

  /** Return the score by which a search would rank a translation, or null if it needs more. */
  #score(logProbabilities) {
    const { description } = this.model;
    if (description.coverage_penalty || description.samples) return null;
    const sum = logProbabilities.reduce((total, one) => total + one, 0);
    return fourDigits(sum / lengthPenalty(logProbabilities.length, description));
  }

  /** Check that a translation of a source can contain these ids. */
  #checkIds(source, ids) {
    const { max_length: limit } = this.model.description;
    if (ids.length > limit)
      throw new Error(
        `Expected at most ${limit} tokens, the max_length of the search. Received: ${ids.length}`,
      );
    const copies = this.model.description.copies ? source.unknownWords.length : 0;
    const size = this.model.target.entries.length + copies;
    const isWord = (id) => id > 0 && id < size && id !== START_ID && id !== END_ID;
    const wrong = ids.find((id) => !isWord(id));
    if (wrong !== undefined)
      throw new Error(
        `Expected ids of words, from 1 to ${size - 1}, but not ${START_ID} (start) or ${END_ID} ` +
          `(end). Received: ${wrong}`,
      );
  }

  /** Return the position after the word that begins at a position. */
  #endOfWord(tokens, start) {
    let end = start + 1;
    if (this.model.description.target_kind === "sentencepiece")
      while (end < tokens.length && !/^(▁|<\/s>)/.test(tokens[end])) end++;
    return end;
  }
}

/** The same for a model that answers questions about stories. */
export class StoryExplorer {
  /** @param {AnsweringModel} model Model that answers questions. */
  constructor(model) {
    this.model = model;
  }

  /** Answer the only question of the page, "search"; see `Explorer`. */
  async ask(_, request) {
    const start = performance.now();
    const { sentences, weights, choices } = await this.model.inspectRequest(request);
    const document = {
      sentences,
      weights: weights.map(rounded),
      choices: choices.map(({ id, text, score }) => {
        return { ids: [id], text, log_probability: fourDigits(score) };
      }),
    };
    const hypotheses = choices.slice(0, 1).map(({ text, score }) => ({ text, score }));
    const seconds = (performance.now() - start) / 1000;
    return { hypotheses, sentence: choices.length ? document : null, seconds };
  }
}

/** Return an explorer of a model. */
export function explorerOf(model) {
  return model.page.drawing === "hops" ? new StoryExplorer(model) : new Explorer(model);
}

/**
 * Return the shares of each token's probability that come from copying it: of the source and, if
 * the model copies from it, of the context. A model that does not copy has none.
 */
function copied(attended, logProbabilities) {
  const { generateProbability, contextProbability } = attended;
  if (!generateProbability) return [];
  const sides = [
    {
      gates: generateProbability.map((one, t) => 1 - one - (contextProbability?.[t] ?? 0)),
      tokens: attended.sourceTokens,
      weights: attended.pointerWeights ?? attended.weights,
    },
  ];
  if (contextProbability)
    sides.push({
      gates: contextProbability,
      tokens: attended.contextTokens,
      weights: attended.contextWeights,
    });
  return sides.map(({ gates, tokens, weights }) =>
    attended.targetTokens.map((token, t) => {
      const same = weights[t].filter((_, place) => tokens[place] === token);
      const mass = same.reduce((sum, weight) => sum + weight, 0);
      const probability = Math.exp(logProbabilities[t]);
      const share = probability > 0 ? (gates[t] * mass) / probability : 0;
      return Math.min(Math.max(share, 0), 1);
    }),
  );
}
