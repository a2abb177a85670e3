/** Models that translate on ONNX Runtime, as in `kerasnmt.runtime.translation`. */

import { SearchModel } from "./model.js";
import { LEAST } from "./search.js";
import { joinTexts, splitText } from "./sentences.js";
import { checkedTerms, encodedTerms, TermAutomaton, tokenKinds, unmetTerms } from "./terms.js";
import { END_ID, UNKNOWN_ID } from "./tokenizers.js";

const MAX_CONTEXT_LENGTH = 1000;
const LEAST_PROBABILITY = Math.fround(Math.log(1e-30));

/**
 * Model that translates.
 *
 * The methods that take texts take one text, and return one answer, or a list, and return a list.
 * `contexts`, `prefixes`, `terms`, `forbidden` and `targets` are then lists of the same length.
 * Texts are asked in batches of `batchSize` texts of similar length.
 */
export class TranslationModel extends SearchModel {
  constructor(parts) {
    super(parts);
    this.dictionary = new Map(Object.entries(this.description.dictionary ?? {}));
  }

  get page() {
    return { ...super.page, drawing: "alignment", terms: !this.description.samples };
  }

  /** Return the best translation of a text, or of each text; see `best`. */
  async translate(texts, options = {}) {
    const best = await this.best(texts, options);
    return Array.isArray(best) ? best.map(({ text }) => text) : best.text;
  }

  /**
   * Return the best translation of a text, or of each text, with its score.
   *
   * @param {string|string[]} texts Texts.
   * @param {object} options Optional values for each text:
   *   - `contexts`, if the model reads contexts.
   *   - `prefixes`: Words with which the translations must begin.
   *   - `terms`: List of terms that the translation must contain as whole words: texts, or lists of
   *     alternatives, of which one must occur. The console warns of a term that it lacks.
   *   - `forbidden`: List of texts that must not occur in the translation as whole words.
   * @returns {Promise<object|object[]>} `{text, score}` of each text. The score is the
   *   log-probability divided by the length penalty.
   */
  async best(texts, { contexts, prefixes, terms, forbidden, ...options } = {}) {
    const given = Object.entries({ prefixes, terms, forbidden });
    const columns = Object.fromEntries(given.filter(([, column]) => column !== undefined));
    const split = this.description.split_sentences && prefixes === undefined;
    const answer = (sources, rows, places) => {
      const read = ({ prefixes: prefix }, row) => this.targetIds(prefix, sources[row]);
      const search = { prefixes: prefixes === undefined ? [] : rows.map(read) };
      if (terms === undefined && forbidden === undefined) return this._best(sources, search);
      return this.#withTerms(sources, rows, places, search);
    };
    return this.#ask({ texts, contexts, ...columns }, options, answer, split);
  }

  /** Return all translations of a text in the beam, best first, as `{text, score}`; see `best`. */
  async nBest(texts, { contexts, ...options } = {}) {
    return this.#ask({ texts, contexts }, options, (sources) => this._ranked(sources));
  }

  /** Return the `SentenceAttention` of a text and its best translation; see `best`. */
  async attention(texts, { contexts, ...options } = {}) {
    this.#needAttention();
    return this.#ask({ texts, contexts }, options, (sources) => this._attention(sources));
  }

  /**
   * Return the log-probability of a given translation, with the end token, or of each.
   *
   * @param {string|string[]} texts Texts.
   * @param {string|string[]} targets Translation of each text.
   * @param {object} options `contexts`, if the model reads contexts.
   */
  async score(texts, targets, { contexts, ...options } = {}) {
    return this.#ask({ texts, contexts, targets }, options, async (sources, rows) => {
      const { copies } = this.description;
      const least = (one) => (copies && one <= LEAST ? LEAST_PROBABILITY : one);
      const found = await this.forced(sources, this.#targets(rows, sources));
      return found.map((row) => row.reduce((sum, one) => sum + least(one.logProbability), 0));
    });
  }

  /** Return the `SentenceAttention` of a text and a given translation, or of each; see `score`. */
  async forcedAttention(texts, targets, { contexts, ...options } = {}) {
    this.#needAttention();
    return this.#ask({ texts, contexts, targets }, options, async (sources, rows) => {
      const ids = this.#targets(rows, sources);
      const found = await this.forced(sources, ids);
      return found.map((row, number) =>
        this.attended(sources[number], ids[number], row.map(({ records }) => records)),
      );
    });
  }

  /** Return the links between the words of a text and a given translation; see `score`. */
  async align(texts, targets, options = {}) {
    const attended = await this.forcedAttention(texts, targets, options);
    return Array.isArray(attended) ? attended.map((one) => one.alignment()) : attended.alignment();
  }

  /** Turn a request of the page into a source. */
  readRequest({ text, context }) {
    return this.read(text, context);
  }

  /**
   * Turn a request into ids.
   *
   * @param {string} text Text.
   * @param {string} context Context, if the model reads contexts.
   * @param {boolean} cut Whether to truncate the ids to the lengths of the search.
   * @returns {object} The `inputs` of the model with the end token; the `unknownWords` of extended
   *   ids; the `words` that replace unknown words; the `length` of the whole text in tokens; and
   *   whether it is `empty`.
   */
  read(text, context, cut = true) {
    const { max_length: limit } = this.description;
    const columns = { source_ids: [text, limit], context_ids: [context, MAX_CONTEXT_LENGTH] };
    const source = { inputs: {}, unknownWords: [], words: [], length: 0 };
    for (const [name, [column, most]] of Object.entries(columns)) {
      if (column === undefined) continue;
      const read = this.source.split(this.source.normalizeSource(column));
      const length = cut ? most - 1 : read.ids.length;
      const [ids, words] = [read.ids, read.words].map((all) => all.slice(0, length));
      if (name === "source_ids") {
        source.length = read.ids.length + 1;
        source.words = words.map((one) => this.dictionary.get(one) || one);
      }
      const unknown = words.filter((word, place) => word && ids[place] === UNKNOWN_ID);
      source.unknownWords = [...new Set([...source.unknownWords, ...unknown])];
      source.inputs[name] = [...ids, END_ID];
      if (this.description.copies)
        source.inputs[`extended_${name}`] = [...this.#extended(ids, words, source), END_ID];
    }
    return { ...source, empty: source.inputs.source_ids[0] === END_ID };
  }

  /** Turn a given translation of a source into ids, without the end token. */
  targetIds(target, source) {
    const { ids, words } = this.target.split(target);
    return this.#extended(ids, words, source);
  }

  /**
   * Turn the terms of a translation of a source into an automaton.
   *
   * @param {object[]} terms From `checkedTerms` or `parsedTerms`.
   * @param {object} source From `read`.
   * @returns {object} The `automaton`, or null without terms; and `known`, see `encodedTerms`.
   */
  readTerms(terms, source) {
    this.kinds ??= tokenKinds(this.target);
    const phrases = (text) =>
      this.target.phrases(text).map(({ ids, words }) => this.#extended(ids, words, source));
    const { max_length: maxLength } = this.description;
    const { alternatives, known } = encodedTerms(terms, phrases, maxLength);
    const automaton = alternatives.length ? new TermAutomaton(alternatives, this.kinds) : null;
    return { automaton, known };
  }

  /** Return ids where unknown ids become those of the source words that they attend to. */
  replaced(ids, records, source) {
    if (!this.description.replace_unknown) return ids;
    const size = this.target.entries.length;
    const attended = ({ weights }) => {
      const ofWords = Array.from(source.words, (_, place) => weights[place]);
      return size + Math.max(0, ofWords.indexOf(Math.max(...ofWords)));
    };
    return ids.map((id, place) => (id === UNKNOWN_ID ? attended(records[place]) : id));
  }

  /** Return the words of ids outside the vocabulary. */
  knownWords(source) {
    return this.description.replace_unknown ? source.words : source.unknownWords;
  }

  _sourceTokens(source) {
    const words = this.knownWords(source);
    const { inputs } = source;
    const read = (name) => this.source.tokens(inputs[`extended_${name}`] ?? inputs[name], words);
    return {
      sourceTokens: read("source_ids"),
      ...(inputs.context_ids ? { contextTokens: read("context_ids") } : {}),
    };
  }

  /** Replace unknown ids by the extended ids of their words, if the model copies. */
  #extended(ids, words, { unknownWords }) {
    if (!this.description.copies) return ids;
    const size = this.target.entries.length;
    return ids.map((id, place) => {
      const rank = id === UNKNOWN_ID ? unknownWords.indexOf(words[place]) : -1;
      return rank < 0 ? id : size + rank;
    });
  }

  /** Search for translations with the terms of their rows, and warn of missing ones. */
  async #withTerms(sources, rows, places, options) {
    const { samples } = this.description;
    if (samples)
      throw new Error(
        "Expected samples=0 with terms, because samples are drawn, not searched. Received: " +
          `samples=${samples}.`,
      );
    const checked = rows.map(({ terms, forbidden }) => checkedTerms(terms, forbidden));
    const read = checked.map((terms, row) => this.readTerms(terms, sources[row]));
    const terms = read.map(({ automaton }) => automaton);
    const best = await this._best(sources, { ...options, terms });
    best.forEach(({ text }, row) => {
      for (const message of unmetTerms(checked[row], read[row].known, text))
        console.warn(`Text ${places[row] + 1}: ${message}.`);
    });
    return best;
  }

  #targets(rows, sources) {
    return rows.map(({ targets }, row) => [...this.targetIds(targets, sources[row]), END_ID]);
  }

  #needAttention() {
    if (!this.description.graphs.records.includes("weights"))
      throw new Error(
        `Expected a model with attention. Received: ${this.description.model}, which has none.`,
      );
  }

  /**
   * Ask about one text or a list of texts; see `Model`.
   *
   * @param {object} columns `texts`, and other columns of the same length.
   * @param {object} options `batchSize`.
   * @param {Function} answer Async function from sources, and the rows of a batch, to answers.
   * @param {boolean} split Whether each sentence of a text is a source, whose answers are joined.
   */
  async #ask({ contexts, ...columns }, options, answer, split = false) {
    const reads = this.fields.includes("context");
    if (reads !== (contexts !== undefined))
      throw new Error(
        reads
          ? "Expected contexts, because this model reads contexts. Pass an empty context for a " +
              "text without one. Received: no contexts."
          : "Expected no contexts, because this model reads only texts. Received: contexts.",
      );
    if (reads) columns.contexts = contexts;
    const cut = !("targets" in columns); // a given translation is scored with the whole text
    return this._ask(columns, options, async (rows, places) => {
      const sources = rows.map(({ texts: text, contexts: context }) =>
        (split ? splitText(text) : [text]).map((one) => this.read(one, context, cut)),
      );
      sources.forEach((parts, i) => {
        const length = Math.max(...parts.map((one) => one.length));
        const message = cut && this.truncated({ length });
        if (message) console.warn(`Text ${places[i] + 1}: ${message}.`);
      });
      const repeated = (values) => sources.flatMap((parts, i) => parts.map(() => values[i]));
      rows.forEach(({ terms = [] }, i) => {
        if (terms.length && sources[i].length > 1)
          throw new Error(
            "Expected one sentence in each text with terms, because nothing says in which " +
              `sentence a term belongs. Received: ${sources[i].length} sentences in ` +
              `${JSON.stringify(rows[i].texts)}.`,
          );
      });
      const answered = await answer(sources.flat(), repeated(rows), repeated(places));
      return sources.map(({ length }) => {
        const parts = answered.splice(0, length);
        return split ? joined(parts) : parts[0];
      });
    });
  }
}

/** Join the translations of the sentences of a text. */
function joined(sentences) {
  const score = sentences.reduce((sum, one) => sum + one.score, 0);
  return { text: joinTexts(sentences.map(({ text }) => text)), score };
}
