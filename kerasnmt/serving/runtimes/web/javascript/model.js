/** Models that translate on ONNX Runtime, as in `kerasnmt.runtime.onnx_model`. */

import { entry, mapped, padded } from "./arrays.js";
import { Graphs } from "./graphs.js";
import { bestExtensions, IMPOSSIBLE, LEAST, search } from "./search.js";
import { joinTexts, splitText } from "./sentences.js";
import { SentenceAttention } from "./sentence_attention.js";
import { END_ID, PAD_ID, START_ID, tokenizer, UNKNOWN_ID } from "./tokenizers.js";

const MAX_CONTEXT_LENGTH = 1000;
const LEAST_PROBABILITY = Math.fround(Math.log(1e-30));

/**
 * Model of a folder of `export_onnx`, with its tokenizers and its search.
 *
 * The methods that take texts take one text, and return one answer, or a list, and return a list.
 * `contexts`, `prefixes` and `targets` are then lists of the same length. Texts are asked in
 * batches of `batchSize` texts of similar length.
 */
export class Model {
  /**
   * @param {object} parts Parts of the model:
   *   - `description`: Content of `kerasnmt.json`.
   *   - `tokenizers`: Content of `tokenizers.json`.
   *   - `encoder`, `step`: Sessions of the graphs; see `Graphs`.
   *   - `Tensor`: Class of tensors of ONNX Runtime.
   *   - `options`: Options of `kerasnmt.decoding.SearchOptions` in place of those of the export.
   */
  constructor({ description, tokenizers, encoder, step, Tensor, options = {} }) {
    this.description = { ...description, ...options };
    this.source = tokenizer(tokenizers.source);
    this.target = tokenizers.target ? tokenizer(tokenizers.target) : this.source;
    this.graphs = new Graphs({ encoder, step, Tensor }, description.graphs);
    this.dictionary = new Map(Object.entries(description.dictionary ?? {}));
    const { copies, allow_unknown: allowed } = this.description;
    this.neverIds = [PAD_ID, START_ID, ...((allowed ?? !copies) ? [] : [UNKNOWN_ID])];
  }

  /** Names of the fields of a request. */
  get fields() {
    return this.description.inputs;
  }

  /** Maximum number of answers to a text. */
  get hypotheses() {
    return this.description.samples || this.description.beam_size;
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
   * @param {object} options `contexts`, if the model reads contexts, and `prefixes`, words with
   *   which the translations must begin.
   * @returns {Promise<object|object[]>} `{text, score}` of each text. The score is the
   *   log-probability divided by the length penalty.
   */
  async best(texts, { contexts, prefixes, ...options } = {}) {
    const columns = { texts, contexts, ...(prefixes === undefined ? {} : { prefixes }) };
    const split = this.description.split_sentences && prefixes === undefined;
    const answer = async (sources, { prefixes }) => {
      const read = (prefix, row) => this.targetIds(prefix, sources[row]);
      const rows = await this.search(sources, { prefixes: prefixes?.map(read) });
      return rows.map(({ answers: [{ text, score }] }) => ({ text, score }));
    };
    return this.#ask(columns, options, answer, split);
  }

  /** Return all translations of a text in the beam, best first, as `{text, score}`; see `best`. */
  async nBest(texts, { contexts, ...options } = {}) {
    return this.#ask({ texts, contexts }, options, async (sources) => {
      const rows = await this.search(sources, { nBest: this.hypotheses });
      const ranked = rows.map(({ answers }) => distinct(answers));
      return ranked.map((answers) => answers.map(({ text, score }) => ({ text, score })));
    });
  }

  /** Return the `SentenceAttention` of a text and its best translation; see `best`. */
  async attention(texts, { contexts, ...options } = {}) {
    this.#needAttention();
    return this.#ask({ texts, contexts }, options, async (sources) => {
      const rows = await this.search(sources);
      return rows.map(({ answers: [{ written, records }] }, row) =>
        this.attended(sources[row], written, records),
      );
    });
  }

  /**
   * Return the log-probability of a given translation, with the end token, or of each.
   *
   * @param {string|string[]} texts Texts.
   * @param {string|string[]} targets Translation of each text.
   * @param {object} options `contexts`, if the model reads contexts.
   */
  async score(texts, targets, { contexts, ...options } = {}) {
    return this.#ask({ texts, contexts, targets }, options, async (sources, { targets }) => {
      const { copies } = this.description;
      const least = (one) => (copies && one <= LEAST ? LEAST_PROBABILITY : one);
      const rows = await this.forced(sources, this.#targets(targets, sources));
      return rows.map((row) => row.reduce((sum, one) => sum + least(one.logProbability), 0));
    });
  }

  /** Return the `SentenceAttention` of a text and a given translation, or of each; see `score`. */
  async forcedAttention(texts, targets, { contexts, ...options } = {}) {
    this.#needAttention();
    return this.#ask({ texts, contexts, targets }, options, async (sources, { targets }) => {
      const ids = this.#targets(targets, sources);
      const rows = await this.forced(sources, ids);
      return rows.map((row, number) =>
        this.attended(sources[number], ids[number], row.map(({ records }) => records)),
      );
    });
  }

  /** Return the links between the words of a text and a given translation; see `score`. */
  async align(texts, targets, options = {}) {
    const attended = await this.forcedAttention(texts, targets, options);
    return Array.isArray(attended) ? attended.map((one) => one.alignment()) : attended.alignment();
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
   * Search for the best translations of sources.
   *
   * @param {object[]} sources Sources from `read`.
   * @param {object} options `nBest`, the number of translations, and `prefixes`, ids with which the
   *   translations of each source must begin.
   * @returns {Promise<object[]>} `{answers, steps}` of each source: the translations, best first,
   *   as `{text, score, ids, written, records, path}`, and the hypotheses after each step of the
   *   search. In `written`, unknown ids are replaced, and `path` are the hypotheses that end with
   *   each token. If no translation is possible, one is empty.
   */
  async search(sources, { nBest = 1, prefixes } = {}) {
    const { states, memory, mask } = await this.#encoded(sources);
    const step = (...values) => this.graphs.step(...values);
    const inputs = sources.map((source) => source.inputs);
    const more = { neverIds: this.neverIds, nBest, prefixes, inputs };
    const rows = await search(step, states, memory, mask, this.description, more);
    const nothing = { text: "", score: IMPOSSIBLE, ids: [], written: [], records: [], path: [] };
    return rows.map(({ best, steps }, row) => {
      const source = sources[row];
      if (source.empty) return { answers: [{ ...nothing, score: 0 }], steps: [] };
      const answers = best.map(({ ids, score, path }) => {
        const records = path.map((one) => one.records);
        const written = this.replaced(ids, records, source);
        const text = this.target.decode(written, this.knownWords(source));
        return { text, score, ids, written, records, path };
      });
      return { answers: answers.length ? answers : [nothing], steps };
    });
  }

  /**
   * Run the model on given translations.
   *
   * @param {object[]} sources Sources from `read`.
   * @param {number[][]} targets Ids of the translations, with the end token.
   * @param {number} choices Number of the most probable tokens to return in place of each token.
   * @returns {Promise<object[][]>} `{logProbability, records, choices}` of each token.
   */
  async forced(sources, targets, choices = 0) {
    let { states, memory } = await this.#encoded(sources);
    const found = targets.map(() => []);
    const length = Math.max(...targets.map((ids) => ids.length));
    for (let time = 0; time < length; time++) {
      const fed = targets.map((ids) => [time ? (ids[time - 1] ?? PAD_ID) : START_ID]);
      const outputs = await this.graphs.step(padded(fed), states, memory);
      states = outputs.states;
      targets.forEach((ids, row) => {
        if (time >= ids.length) return;
        const gains = entry(outputs.logProbabilities, row, 2);
        found[row].push({
          logProbability: gains[ids[time]],
          records: mapped(outputs.records, (record) => entry(record, row, 2)),
          choices: choices ? bestExtensions([0], [gains], choices) : [],
        });
      });
    }
    return found;
  }

  /** Return the attention between a source and ids, from the records of each token. */
  attended(source, ids, records) {
    const words = this.knownWords(source);
    const { inputs } = source;
    const read = (name) => this.source.tokens(inputs[`extended_${name}`] ?? inputs[name], words);
    const tokens = {
      sourceTokens: read("source_ids"),
      targetTokens: this.target.tokens(ids, words),
      ...(inputs.context_ids ? { contextTokens: read("context_ids") } : {}),
    };
    return new SentenceAttention(tokens, records, this.description);
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

  /** Return a message if the search truncates the text of a source, or null. */
  truncated({ length }) {
    const { max_length: limit } = this.description;
    return length > limit
      ? `the text has ${length} tokens and was truncated to ${limit}, the max_length of this search`
      : null;
  }

  /** Run the encoder. */
  #encoded(sources) {
    const inputs = Object.keys(sources[0].inputs).map((name) => [
      name,
      padded(sources.map((source) => source.inputs[name])),
    ]);
    return this.graphs.encode(Object.fromEntries(inputs));
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

  #targets(targets, sources) {
    return targets.map((target, row) => [...this.targetIds(target, sources[row]), END_ID]);
  }

  #needAttention() {
    if (!this.description.graphs.records.includes("weights"))
      throw new Error(
        `Expected a model with attention. Received: ${this.description.model}, which has none.`,
      );
  }

  /**
   * Ask about one text or a list of texts, in batches.
   *
   * @param {object} columns `texts`, and other columns of the same length.
   * @param {object} options `batchSize`.
   * @param {Function} answer Async function from sources, and the columns of a batch, to answers.
   * @param {boolean} split Whether each sentence of a text is a source, whose answers are joined.
   */
  async #ask(columns, options, answer, split = false) {
    const { batchSize = 64, ...others } = options;
    for (const name of Object.keys(others))
      throw new Error(
        `Expected an option of this method. Received: ${name}. Pass options of the search to load.`,
      );
    if (!Number.isInteger(batchSize) || batchSize < 1)
      throw new Error(`Expected an integer of at least 1 as batchSize. Received: ${batchSize}.`);
    const rows = this.#rows(columns);
    const answers = new Array(rows.texts.length);
    const cut = !rows.targets; // a given translation is scored with the whole text
    const order = [...rows.texts.keys()];
    order.sort((one, other) => rows.texts[one].length - rows.texts[other].length);
    while (order.length) {
      const places = order.splice(0, batchSize);
      const of = (values) => places.map((place) => values[place]);
      const batch = Object.fromEntries(Object.entries(rows).map(([name, all]) => [name, of(all)]));
      const sources = batch.texts.map((text, i) =>
        (split ? splitText(text) : [text]).map((one) => this.read(one, batch.contexts?.[i], cut)),
      );
      sources.forEach((parts, i) => {
        const message = cut && this.truncated({ length: Math.max(...parts.map((one) => one.length)) });
        if (message) console.warn(`Text ${places[i] + 1}: ${message}.`);
      });
      const answered = await answer(sources.flat(), batch);
      places.forEach((place, i) => {
        const parts = answered.splice(0, sources[i].length);
        answers[place] = split ? joined(parts) : parts[0];
      });
    }
    return Array.isArray(columns.texts) ? answers : answers[0];
  }

  /** Check columns of texts, and return them as lists. */
  #rows({ contexts, ...columns }) {
    const reads = this.fields.includes("context");
    if (reads !== (contexts !== undefined))
      throw new Error(
        reads
          ? "Expected contexts, because this model reads contexts. Pass an empty context for a " +
              "text without one. Received: no contexts."
          : "Expected no contexts, because this model reads only texts. Received: contexts.",
      );
    if (reads) columns.contexts = contexts;
    const many = Array.isArray(columns.texts);
    const expected = many ? "a list of strings" : "a string, or a list of strings";
    const count = many ? columns.texts.length : 1;
    return Object.fromEntries(
      Object.entries(columns).map(([name, column]) => {
        const rows = many ? column : [column];
        if (!Array.isArray(rows) || [...rows].some((one) => typeof one !== "string"))
          throw new Error(`Expected ${expected} as ${name}. Received: ${shown(column)}.`);
        if (rows.length !== count)
          throw new Error(
            `Expected as many ${name} as texts. Received: ${count} texts, ${rows.length} ${name}.`,
          );
        return [name, rows];
      }),
    );
  }
}

/** Return the first of the translations with the same text. */
export function distinct(translations) {
  const texts = new Map();
  for (const one of translations)
    if (one.score > LEAST && !texts.has(one.text)) texts.set(one.text, one);
  return [...texts.values()];
}

/** Join the translations of the sentences of a text. */
function joined(sentences) {
  const score = sentences.reduce((sum, one) => sum + one.score, 0);
  return { text: joinTexts(sentences.map(({ text }) => text)), score };
}

function shown(value) {
  return (JSON.stringify(value) ?? String(value)).slice(0, 60);
}
