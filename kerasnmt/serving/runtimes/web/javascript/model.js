/** Base classes of models on ONNX Runtime, as in `kerasnmt.runtime`. */

import { entry, mapped, padded } from "./arrays.js";
import { Graphs } from "./graphs.js";
import { IMPOSSIBLE, LEAST, searchSteps } from "./search.js";
import { searchOptions } from "./search_options.js";
import { SentenceAttention } from "./sentence_attention.js";
import { SettledWords } from "./streaming.js";
import { PAD_ID, START_ID, tokenizer, UNKNOWN_ID } from "./tokenizers.js";

const isList = Array.isArray;
const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null && !isList(value);
const isTerm = (value) => isText(value) || (isList(value) && value.every(isText));
// What a column of a request has for each row: its name, the name of several, and a check.
const KINDS = {
  stories: ["a list of sentences", "lists of sentences", (one) => isList(one) && one.every(isText)],
  images: ["an image", "images", isObject],
  terms: ["a list of terms", "lists of terms", (one) => isList(one) && one.every(isTerm)],
  forbidden: ["a list of strings", "lists of strings", (one) => isList(one) && one.every(isText)],
};
const TEXT = ["a string", "strings", isText];
// How the page asks for each field of a request.
const WIDGETS = { text: "text", context: "text", image: "image", story: "lines", question: "text" };

/** Base class of models of a folder of `export_onnx`, with their tokenizers. */
export class Model {
  /** Names of the files of the graphs. */
  static graphs = [];

  /**
   * @param {object} parts Parts of the model:
   *   - `description`: Content of `kerasnmt.json`, with the options of the search.
   *   - `tokenizers`: Content of `tokenizers.json`.
   *   - `sessions`: Sessions of the graphs, in the order of their names.
   *   - `Tensor`: Class of tensors of ONNX Runtime.
   */
  constructor({ description, tokenizers }) {
    this.description = description;
    const read = Object.values(tokenizers).map(tokenizer);
    // The first tokenizer reads, and the last one writes. It can be the same.
    [this.source, this.target] = [read[0], read.at(-1)];
  }

  /** Return the description with changed options of the search, checked. */
  static withOptions(description, changes) {
    const names = Object.keys(changes);
    if (names.length)
      throw new Error(
        `Expected no options of the search, because ${description.model} does not search. ` +
          `Received: ${names.join(", ")}`,
      );
    return description;
  }

  /** Names of the fields of a request. */
  get fields() {
    return this.description.inputs;
  }

  /** What the page needs to know about the model. */
  get page() {
    const { fields } = this;
    const widgets = Object.fromEntries(fields.map((name) => [name, WIDGETS[name]]));
    return { fields, widgets, lead: fields[0], inspects: true, terms: false, note: "" };
  }

  /**
   * Ask about one value or a list of values, in batches.
   *
   * @param {object} columns Columns by name. The first has a value, and the others have one, too;
   *   or all have lists of the same length.
   * @param {object} options `batchSize`.
   * @param {Function} answer Async function from the rows of a batch, objects of their values, and
   *   the numbers of the rows, to their answers.
   */
  async _ask(columns, options, answer) {
    const { batchSize = 64, ...others } = options;
    checkOptions(others);
    if (!Number.isInteger(batchSize) || batchSize < 1)
      throw new Error(`Expected an integer of at least 1 as batchSize. Received: ${batchSize}.`);
    const rows = asRows(columns);
    const answers = new Array(rows.length);
    const [first] = Object.keys(columns);
    const order = [...rows.keys()];
    order.sort((one, other) => rows[one][first].length - rows[other][first].length);
    while (order.length) {
      const places = order.splice(0, batchSize);
      const answered = await answer(places.map((place) => rows[place]), places);
      places.forEach((place, i) => {
        answers[place] = answered[i];
      });
    }
    return isList(columns[first]) ? answers : answers[0];
  }
}

/** Base class of models that search, for translations or captions. */
export class SearchModel extends Model {
  // A subclass turns a request of the page into a source (`readRequest`), and names the tokens of a
  // source (`_sourceTokens`).
  static graphs = ["encoder.onnx", "step.onnx"];

  constructor({ sessions: [encoder, step], Tensor, ...parts }) {
    super(parts);
    this.graphs = new Graphs({ encoder, step, Tensor }, this.description.graphs);
    const { copies, allow_unknown: allowed } = this.description;
    this.neverIds = [PAD_ID, START_ID, ...((allowed ?? !copies) ? [] : [UNKNOWN_ID])];
  }

  static withOptions(description, changes) {
    return { ...description, ...searchOptions(description, changes) };
  }

  /** Maximum number of answers to a request. */
  get hypotheses() {
    return this.description.samples || this.description.beam_size;
  }

  /** Turn a given answer to a source into ids, without the end token. */
  targetIds(target) {
    return this.target.split(target).ids;
  }

  /** Return ids as they are written for a source, from the records of each token. */
  replaced(ids) {
    return ids;
  }

  /** Return the words of ids outside the vocabulary. */
  knownWords() {
    return [];
  }

  /** Return the text of ids that answer a source. */
  textFor(source, ids) {
    const text = this.target.decode(ids, this.knownWords(source));
    return source.capitals ? text.toUpperCase() : text;
  }

  /**
   * Search for the best answers to sources.
   *
   * @param {object[]} sources Sources of the model: their `inputs`, and whether they are `empty`.
   * @param {object} options `nBest`, the number of answers; `prefixes`, ids with which the answers
   *   to each source must begin; `terms`, a `TermAutomaton` of each source, or null; and `tell`, a
   *   function of the rows of the search after each step.
   * @returns {Promise<object[]>} `{answers, steps}` of each source: the answers, best first, as
   *   `{text, score, ids, written, records, path}`, and the hypotheses after each step of the
   *   search. In `written`, unknown ids are replaced, and `path` are the hypotheses that end with
   *   each token. If no answer is possible, one is empty.
   */
  async search(sources, { tell = () => {}, ...options } = {}) {
    let rows = [];
    for await (rows of this.#steps(sources, options)) tell(rows);
    const nothing = { text: "", score: IMPOSSIBLE, ids: [], written: [], records: [], path: [] };
    return rows.map(({ best, steps }, row) => {
      const source = sources[row];
      if (source.empty) return { answers: [{ ...nothing, score: 0 }], steps: [] };
      const answers = best.map((one) => ({ ...one, ...this.#written(one, source) }));
      return { answers: answers.length ? answers : [nothing], steps };
    });
  }

  /** Return the words of the answer to a source, to which each step of its search adds. */
  settledWords(source) {
    return new SettledWords((one) => this.#written(one, source).text, this.target.kind);
  }

  /**
   * Run the model on given answers.
   *
   * @param {object[]} sources See `search`.
   * @param {number[][]} targets Ids of the answers, with the end token.
   * @param {Function} look Function from the log-probabilities of all tokens, and the given one, to
   *   more about it.
   * @returns {Promise<object[][]>} `{logProbability, records}` of each token, and what `look`
   *   returns.
   */
  async forced(sources, targets, look = () => ({})) {
    let { states, memory } = await this._encoded(sources);
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
          ...look(gains, ids[time]),
        });
      });
    }
    return found;
  }

  /** Return the attention between a source and ids, from the records of each token. */
  attended(source, ids, records) {
    const targetTokens = this.target.tokens(ids, this.knownWords(source));
    const tokens = { ...this._sourceTokens(source), targetTokens };
    return new SentenceAttention(tokens, records, this.description);
  }

  /** Return a message if the search truncates the text of a source, or null. */
  truncated({ length }) {
    const { max_length: limit } = this.description;
    return length > limit
      ? `the text has ${length} tokens and was truncated to ${limit}, the max_length of this search`
      : null;
  }

  /** Search, and yield the rows after each step; see `search`. */
  async *#steps(sources, { nBest = 1, prefixes, terms } = {}) {
    const { states, memory, mask } = await this._encoded(sources);
    const step = (...values) => this.graphs.step(...values);
    const inputs = sources.map((source) => source.inputs);
    const more = { neverIds: this.neverIds, nBest, prefixes, terms, inputs };
    yield* searchSteps(step, states, memory, mask, this.description, more);
  }

  /** Return the `text` of a sequence, its ids as they are `written`, and its `records`. */
  #written({ ids, path }, source) {
    const records = path.map((one) => one.records);
    const written = this.replaced(ids, records, source);
    return { text: this.textFor(source, written), written, records };
  }

  /** Run the encoder. */
  _encoded(sources) {
    return this.graphs.encode(this._inputs(sources.map((source) => source.inputs)));
  }

  /** Return the inputs of a batch from those of each source. */
  _inputs(rows) {
    return Object.fromEntries(
      Object.keys(rows[0]).map((name) => [name, padded(rows.map((row) => row[name]))]),
    );
  }

  /** Search for the answer to a source, and yield its progress; see `SettledWords`. */
  async *_progress(source, options) {
    const known = options.prefixes?.[0]?.length ? "" : (source.known ?? "");
    if (source.empty || known) {
      yield { piece: known, provisional: "", score: 0 };
      return;
    }
    const words = this.settledWords(source);
    for await (const [row] of this.#steps([source], options)) yield words.after(row);
  }

  /** Search, and return the best answers as `{text, score}`. */
  async _best(sources, options) {
    const rows = await this.search(sources, options);
    return rows.map(({ answers: [{ text, score }] }, row) => {
      const known = !options?.prefixes?.[row]?.length && sources[row].known;
      return known ? { text: known, score: 0 } : { text, score };
    });
  }

  /** Search, and return all answers in the beam, best first, as `{text, score}`. */
  async _ranked(sources) {
    const rows = await this.search(sources, { nBest: this.hypotheses });
    const ranked = rows.map(({ answers }) => distinct(answers));
    return ranked.map((answers) => answers.map(({ text, score }) => ({ text, score })));
  }

  /** Search, and return the `SentenceAttention` of the best answers. */
  async _attention(sources) {
    const rows = await this.search(sources);
    return rows.map(({ answers: [{ written, records }] }, row) =>
      this.attended(sources[row], written, records),
    );
  }
}

/** Check that no options are left. */
export function checkOptions(others) {
  for (const name of Object.keys(others))
    throw new Error(
      `Expected an option of this method. Received: ${name}. Pass options of the search to load.`,
    );
}

/** Check columns of values, and return their rows. */
export function asRows(columns) {
  const [first] = Object.keys(columns);
  const many = isList(columns[first]);
  const lists = Object.entries(columns).map(([name, column]) => {
    const [one, several, fits] = KINDS[name] ?? TEXT;
    const values = many ? column : [column];
    if (!isList(values) || ![...values].every(fits)) {
      const expected = many ? `a list of ${several}` : `${one}, or a list of ${several}`;
      throw new Error(`Expected ${expected} as ${name}. Received: ${shown(column)}.`);
    }
    return [name, values];
  });
  const count = lists[0][1].length;
  for (const [name, values] of lists)
    if (values.length !== count)
      throw new Error(
        `Expected as many ${name} as ${first}. Received: ${count} ${first}, ` +
          `${values.length} ${name}.`,
      );
  const row = (place) => Object.fromEntries(lists.map(([name, values]) => [name, values[place]]));
  return Array.from({ length: count }, (_, place) => row(place));
}

/** Return the first of the answers with the same text. */
export function distinct(answers) {
  const texts = new Map();
  for (const one of answers)
    if (one.score > LEAST && !texts.has(one.text)) texts.set(one.text, one);
  return [...texts.values()];
}

function shown(value) {
  return (JSON.stringify(value) ?? String(value)).slice(0, 60);
}
