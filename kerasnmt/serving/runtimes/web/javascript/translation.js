/** Models that translate on ONNX Runtime, as in `kerasnmt.runtime.translation`. */

import { Confidence, tokenConfidence } from "./confidence.js";
import { asRows, checkOptions, SearchModel } from "./model.js";
import { LEAST } from "./search.js";
import { hasLowercase, inCapitals, inSentenceCase } from "./sentence_case.js";
import { joinTexts, lookedUp, splitter, tagsAtStart } from "./sentences.js";
import { joined } from "./streaming.js";
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
    this.lexicon = new Map(Object.entries(this.description.lexicon ?? {}));
    this.split = splitter(this.description);
  }

  get page() {
    const unit = this.description.split_words ? "word" : "sentence";
    const note = this.split ? `Type one ${unit}: this page reads the whole text as one.` : "";
    return { ...super.page, drawing: "alignment", terms: !this.description.samples, note };
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
    const answer = (sources, rows, places) => {
      const search = { prefixes: this.#prefixIds(rows, sources) };
      if (terms === undefined && forbidden === undefined) return this._best(sources, search);
      return this.#withTerms(sources, rows, places, search);
    };
    return this.#ask({ texts, contexts, prefixes, terms, forbidden }, options, answer, joinedBest);
  }

  /**
   * Translate one text, and yield pieces of the translation as they are made.
   *
   * The pieces are not empty, and together they are the translation of `translate`. Greedy search
   * and a sample give each word when it is complete. Beam search gives the words that all
   * hypotheses share which can still be the best one. Nothing is taken back.
   *
   * @param {string} text Text.
   * @param {object} options `contexts`, if the model reads a context, and `prefixes`, words with
   *   which the translation must begin: a string each.
   * @yields {string} Pieces.
   */
  async *stream(text, options = {}) {
    for await (const { piece } of this.progress(text, options)) if (piece) yield piece;
  }

  /** Translate one text, and yield the progress of each step; see `stream` and `SettledWords`. */
  async *progress(text, { contexts, prefixes, ...others } = {}) {
    checkOptions(others);
    if (typeof text !== "string")
      throw new Error(`Expected one text, a string. Received: ${JSON.stringify(text)}.`);
    const { samples } = this.description;
    if (samples > 1)
      throw new Error(
        "Expected samples=1 or a search, to stream the one answer. Received: " +
          `samples=${samples}.`,
      );
    const rows = asRows(this.#columns({ texts: text, contexts, prefixes }));
    const [sources] = this.#sources(rows, [0], this.split);
    this.#checkOnePart(rows[0], sources);
    sources.forEach((source) => restrictCapitals(source, prefixes));
    const options = { prefixes: this.#prefixIds(rows, sources) };
    const sentences = sources.map((source) => this._progress(source, options));
    yield* this.split ? joined(sentences) : sentences[0];
  }

  /** Return all translations of a text in the beam, best first, as `{text, score}`; see `best`. */
  async nBest(texts, { contexts, ...options } = {}) {
    return this.#ask({ texts, contexts }, options, (sources) => this._ranked(sources));
  }

  /** Return the best translation of a text, with the `Confidence` in its words; see `best`. */
  async confidence(texts, { contexts, ...options } = {}) {
    const { target_kind: kind, calibration } = this.description;
    const answer = async (sources) => {
      const found = await this.search(sources);
      const best = found.map(({ answers }) => answers[0]);
      const judged = await this.forced(sources, best.map(({ ids }) => ids), tokenConfidence);
      return best.map(({ text, score, written }, row) => {
        const tokens = this.target.tokens(written, this.knownWords(sources[row]));
        return Confidence.ofTokens({ text, score }, tokens, kind, judged[row], calibration);
      });
    };
    return this.#ask({ texts, contexts }, options, answer, Confidence.joined);
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

  /** Turn a request of the page into a source, whose text has a tag if the model needs one. */
  readRequest({ text, context }) {
    const { source_tags: tags, needs_language: needed } = this.description;
    if (needed && text.trim() && !tagsAtStart(text, tags))
      throw new Error(
        `Expected the tag of a language in front of the text: ${[...tags].sort().join(", ")}. ` +
          `Received: ${JSON.stringify(text)}.`,
      );
    return this.read(text, context);
  }

  /**
   * Turn a request into ids.
   *
   * @param {string} text Text.
   * @param {string} context Context, if the model reads contexts.
   * @param {boolean} cut Whether to truncate the ids to the lengths of the search.
   * @returns {object} The `inputs` of the model with the end token; the `unknownWords` of extended
   *   ids; the `words` that replace unknown words; the `length` of the whole text in tokens;
   *   whether it is `empty`; its translation in the lexicon, `known`, or an empty string; and
   *   whether its translation is in `capitals`.
   */
  read(text, context, cut = true) {
    const { max_length: limit, sentence_case: cased, source_tags: tags } = this.description;
    const given = cased ? inSentenceCase(text, tags) : text;
    const columns = { source_ids: [given, limit], context_ids: [context, MAX_CONTEXT_LENGTH] };
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
    const known = lookedUp(text, this.lexicon, tags);
    const empty = source.inputs.source_ids[0] === END_ID;
    return { ...source, empty, known, capitals: cased && inCapitals(text, tags) };
  }

  /** Turn a given translation of a source into ids, without the end token. */
  targetIds(target, source) {
    const isUpper = source.capitals && inCapitals(target);
    const { ids, words } = this.target.split(isUpper ? inSentenceCase(target) : target);
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

  /** Return the ids with which the translations must begin; without prefixes, none. */
  #prefixIds(rows, sources) {
    return rows.map(({ prefixes = "" }, row) => this.targetIds(prefixes, sources[row]));
  }

  /** Search for translations with the terms of their rows, and warn of missing ones. */
  async #withTerms(sources, rows, places, options) {
    const { samples } = this.description;
    if (samples)
      throw new Error(
        "Expected samples=0 with terms, because samples are drawn, not searched. Received: " +
          `samples=${samples}.`,
      );
    const checked = rows.map(({ terms, forbidden }, row) =>
      checkedTerms(terms, forbidden, ` of text ${places[row] + 1}`),
    );
    const read = checked.map((terms, row) => this.readTerms(terms, sources[row]));
    sources.forEach((source, row) => {
      source.capitals &&= !checked[row].length;
    });
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
   * @param {?Function} join Function that joins the answers to the sentences of a text, if the
   *   model splits texts. Without it, each text is a source: for a model of words, a word without
   *   the signs around it.
   */
  async #ask(columns, options, answer, join) {
    const cut = !("targets" in columns); // a given translation is scored with the whole text
    const whole = this.split && !join && cut;
    const splits = this.split && cut && (join || this.description.split_words);
    return this._ask(this.#columns(columns), options, async (rows, places) => {
      const sources = this.#sources(rows, places, splits, cut);
      rows.forEach((one, row) => {
        this.#checkOnePart(one, sources[row], whole);
        if (whole && this.split(one.texts).length > 1)
          console.warn(`Text ${places[row] + 1} has several sentences, which are read as one.`);
        sources[row].forEach((source) => restrictCapitals(source, one.prefixes));
      });
      const repeated = (values) => sources.flatMap((parts, row) => parts.map(() => values[row]));
      const answered = await answer(sources.flat(), repeated(rows), repeated(places));
      return sources.map(({ length }) => {
        const parts = answered.splice(0, length);
        return join ? join(parts) : parts[0];
      });
    });
  }

  /** Check that a text with terms or a prefix, or one that is read as a whole, is one part. */
  #checkOnePart({ texts: text, terms = [], prefixes: prefix }, parts, whole = false) {
    if (parts.length === 1 || !(whole || terms.length || prefix)) return;
    const unit = this.description.split_words ? "word" : "sentence";
    const which = whole
      ? "that is read as a whole"
      : "with terms or a prefix, because nothing says to which one they belong";
    throw new Error(
      `Expected one ${unit} in each text ${which}. Received: ${parts.length} ${unit}s in ` +
        `${JSON.stringify(text)}.`,
    );
  }

  /** Return the columns that are there, and check that contexts are there if the model reads them. */
  #columns({ contexts, ...columns }) {
    const reads = this.fields.includes("context");
    if (reads !== (contexts !== undefined))
      throw new Error(
        reads
          ? "Expected contexts, because this model reads contexts. Pass an empty context for a " +
              "text without one. Received: no contexts."
          : "Expected no contexts, because this model reads only texts. Received: contexts.",
      );
    if (reads) columns.contexts = contexts;
    return Object.fromEntries(Object.entries(columns).filter(([, one]) => one !== undefined));
  }

  /** Return the sources of each row, its sentences or the whole text, and warn of long ones. */
  #sources(rows, places, splits, cut = true) {
    return rows.map(({ texts: text, contexts: context }, row) => {
      const parts = splits ? this.split(text) : [text];
      const sources = parts.map((one) => this.read(one, context, cut));
      const message = cut && this.truncated({ length: Math.max(...sources.map((one) => one.length)) });
      if (message) console.warn(`Text ${places[row] + 1}: ${message}.`);
      return sources;
    });
  }
}

/** Write a translation that begins with lowercase letters as the model writes it. */
function restrictCapitals(source, prefix = "") {
  source.capitals &&= !hasLowercase(prefix);
}

/** Join the translations of the sentences of a text. */
function joinedBest(sentences) {
  const score = sentences.reduce((sum, one) => sum + one.score, 0);
  return { text: joinTexts(sentences.map(({ text }) => text)), score };
}
