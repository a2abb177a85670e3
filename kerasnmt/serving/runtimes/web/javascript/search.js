/**
 * Beam search, greedy search and samples, as in `kerasnmt.runtime.search`.
 *
 * Hypotheses are linked to their parents. Only the open ones are fed to the model, and a row that
 * is finished leaves the batch.
 */

import { entry, mapped, take } from "./arrays.js";
import { rowKey, uniform } from "./random_numbers.js";
import { END_ID, START_ID } from "./tokenizers.js";

/** Log-probability of an impossible token. It is finite, so that sums stay valid. */
export const IMPOSSIBLE = -1e9;
/** Log-probability above which a token is possible. */
export const LEAST = IMPOSSIBLE / 2;

// Scores are numbers of float32, so that all runtimes choose the same hypotheses.
const { fround } = Math;

/**
 * Find the best sequences of each row, and yield the rows after each step.
 *
 * @param {Function} step Async function `step(ids, states, memory)`. It returns
 *   `{logProbabilities, records, states}` of `[rows, hypotheses, ...]`.
 * @param {Object<string, object>} states First states, `[batch, 1, ...]` each.
 * @param {Object<string, object>} memory Argument of every step, `[batch, ...]` each.
 * @param {object} sourceMask Boolean `[batch, sourceLength]`, true = real token.
 * @param {object} options Options of `kerasnmt.decoding.SearchOptions`.
 * @param {object} more Further arguments:
 *   - `neverIds`: Tokens that no sequence contains.
 *   - `nBest`: Number of sequences to return for each row.
 *   - `prefixes`: Tokens with which the sequences of each row must begin.
 *   - `terms`: `TermAutomaton` of each row, or null for a row without terms.
 *   - `inputs`: Inputs of the model for each row, which determine its samples.
 * @yields {Row[]} The rows, with their `best` sequences, the `live` ones, and the `steps` so far.
 */
export async function* searchSteps(step, states, memory, sourceMask, options, more = {}) {
  const { neverIds = [], nBest = 1, prefixes, terms, inputs } = more;
  const rows = Array.from({ length: sourceMask.dims[0] }, (_, place) => {
    const mask = entry(sourceMask, place, 1);
    const key = options.samples ? rowKey(inputs[place]) : 0;
    const prefix = prefixes?.[place] ?? [];
    const automaton = terms?.[place] ?? null;
    return new Row(options, place, { mask, neverIds, nBest, prefix, automaton, key });
  });
  let left = rows;
  while (left.length) {
    // A row with fewer open sequences than others repeats its first.
    const width = Math.max(...left.map(({ open }) => open.length));
    const filled = (open) => Array.from({ length: width }, (_, i) => open[i] ?? open[0]);
    const fed = left.flatMap(({ open }) => filled(open));
    const dims = [left.length, width];
    const ids = { type: "int32", data: Int32Array.from(fed, ({ id }) => id), dims };
    const places = fed.map(({ place }) => place);
    states = mapped(states, (state) => take(state, places, dims));
    const outputs = await step(ids, states, memory);
    left.forEach((row, number) => row.extend(outputs, number * width));
    states = outputs.states;
    const unfinished = [...left.keys()].filter((number) => left[number].isUnfinished());
    if (unfinished.length < left.length)
      memory = mapped(memory, (part) => take(part, unfinished, [unfinished.length]));
    left = unfinished.map((number) => left[number]);
    yield rows;
  }
}

/**
 * Return the divisor of a log-probability, the length penalty.
 *
 * @param {number} length Number of tokens.
 * @param {object} options Options of the search.
 * @returns {number} The divisor.
 */
export function lengthPenalty(length, options) {
  const base = options.length_normalization === "wu" ? fround((5 + length) / 6) : length;
  return fround(base ** fround(options.length_penalty));
}

/**
 * Choose the best extensions of sequences.
 *
 * @param {number[]} scores Log-probability of each sequence.
 * @param {Float32Array[]} gains Log-probabilities of all tokens after each sequence.
 * @param {number} count Number of extensions.
 * @returns {object[]} The extensions, best first, as `{index, id, score}` with the index of the
 *   sequence. There are fewer if the others are impossible. Of equal ones, the first is first.
 */
export function bestExtensions(scores, gains, count) {
  const best = [];
  let least = LEAST;
  gains.forEach((of, index) => {
    const before = scores[index];
    for (let id = 0; id < of.length; id++) {
      const score = fround(before + of[id]);
      if (score <= least) continue;
      let rank = best.length;
      while (rank && best[rank - 1].score < score) rank--;
      best.splice(rank, 0, { index, id, score });
      if (best.length > count) best.pop();
      if (best.length === count) least = best[count - 1].score;
    }
  });
  return best;
}

/** Sequence that ends with a token, or the empty sequence. */
class Hypothesis {
  /**
   * @param {?Hypothesis} parent The sequence without its last token.
   * @param {number} id Last token.
   * @param {number} score Log-probability.
   * @param {number} place Place of its states in the outputs of the model.
   */
  constructor(parent, id, score, place) {
    Object.assign(this, { parent, id, score, place, length: parent ? parent.length + 1 : 0 });
    /** State of the automaton of terms. */
    this.state = 0;
    /** Whether the sequence has ended. */
    this.ended = false;
    /** Records of the token, by name. */
    this.records = {};
    /** Sums of the attention weights, for a coverage penalty. */
    this.attended = null;
  }

  /** The sequences that begin as this one does, from one token to all of them. */
  get path() {
    const path = [];
    for (let one = this; one.parent; one = one.parent) path.push(one);
    return path.reverse();
  }

  /** The tokens. */
  get ids() {
    return this.path.map(({ id }) => id);
  }
}

/** Search of a row. */
class Row {
  constructor(options, place, { mask, neverIds, nBest, prefix, automaton, key }) {
    Object.assign(this, { options, mask, neverIds, nBest, prefix, automaton, key });
    this.maxLength = maxLength(mask, options);
    /** The sequences, in slots. A slot is null if there are fewer. */
    this.slots = [new Hypothesis(null, START_ID, 0, place)];
    /** The slots after each step. */
    this.steps = [];
  }

  /** Sequences that have not ended. */
  get open() {
    return this.slots.filter((one) => one && !one.ended);
  }

  /** Sequences that the best one can be or begin with; see `kerasnmt.decoding.StepOutputs`. */
  get live() {
    const ended = this.slots.filter((one) => one?.ended);
    const ranks = ended.map((one) => this.rank(one));
    const most = Math.max(IMPOSSIBLE, ...ranks);
    const best = ended[ranks.indexOf(most)];
    const lives = (one) => (one.ended ? one === best : this.#reachable(one) >= most);
    return this.slots.filter((one) => one && lives(one));
  }

  /** The best sequences, best first, as `{ids, score, path}`. */
  get best() {
    const different = new Map();
    for (const one of this.slots.filter(Boolean)) {
      const { ids, path } = one;
      const found = { ids, score: this.rank(one), path };
      if (!different.has(`${ids}`)) different.set(`${ids}`, found); // samples can be equal
    }
    const ranked = [...different.values()].sort((one, other) => other.score - one.score);
    return ranked.slice(0, this.nBest);
  }

  /** Extend the open sequences by a token, from outputs of the model that begin at a place. */
  extend({ logProbabilities, records }, start) {
    const { open, options, slots } = this;
    const gains = open.map((one, index) => {
      const of = entry(logProbabilities, start + index, 2);
      this.#forbid(of, one);
      return of;
    });
    const next = options.samples ? this.#draws(open, gains) : this.#extensions(open, gains);
    this.slots = Array.from({ length: options.samples || options.beam_size }, (_, slot) => {
      if (slots[slot]?.ended) return slots[slot];
      const found = next(slot);
      if (!found) return null;
      const { index, id, score } = found;
      const one = new Hypothesis(open[index], id, score, start + index);
      if (this.automaton) one.state = this.automaton.choice(one.parent.state, id).state;
      one.ended = id === END_ID || one.length >= this.maxLength;
      one.records = mapped(records, (record) => entry(record, one.place, 2));
      if (options.coverage_penalty) {
        const { attended } = one.parent;
        one.attended = one.records.weights.map((weight, i) => weight + (attended?.[i] ?? 0));
      }
      return one;
    });
    this.steps.push(this.slots);
  }

  /** Return whether another step can change the best sequences. */
  isUnfinished() {
    const { open, options } = this;
    const reachable = Math.max(...open.map((one) => this.#reachable(one)));
    const certain = this.slots.filter((one) => one?.ended && this.rank(one) >= reachable);
    return open.length > 0 && certain.length < (options.samples || this.nBest);
  }

  /**
   * Return the highest rank that an open sequence can reach.
   *
   * Log-probabilities only fall. So it ranks at most as high as with its present log-probability,
   * the maximum length and a coverage penalty of 0.
   */
  #reachable({ score }) {
    return fround(score / lengthPenalty(this.maxLength, this.options));
  }

  /** Make some tokens after a sequence impossible. */
  #forbid(gains, sequence) {
    const { options, prefix } = this;
    const forced = prefix[sequence.length];
    if (forced) {
      const kept = gains[forced];
      gains.fill(IMPOSSIBLE);
      gains[forced] = kept;
      return;
    }
    const size = options.no_repeat_ngram;
    // The rule against repetition does not forbid the tokens of terms.
    const free = this.automaton && size ? gains.slice() : gains;
    for (const id of this.neverIds) gains[id] = IMPOSSIBLE;
    if (sequence.length + 1 < options.min_length) gains[END_ID] = IMPOSSIBLE;
    if (size) this.#forbidRepetition(gains, sequence, size);
    const room = this.maxLength - sequence.length;
    this.automaton?.mask(gains, free, sequence.state, room);
  }

  /** Make the tokens impossible that would repeat an n-gram. */
  #forbidRepetition(gains, sequence, size) {
    const fed = [START_ID, ...sequence.ids];
    const begun = fed.length - size + 1;
    for (let start = 0; start < begun; start++) {
      const again = fed.slice(start, start + size - 1).every((id, i) => id === fed[begun + i]);
      const last = fed[start + size - 1];
      if (again && last < gains.length) gains[last] = IMPOSSIBLE;
    }
  }

  /** Return a function that gives the next best extension. */
  #extensions(open, gains) {
    const { automaton, options, slots } = this;
    const count = options.beam_size - slots.filter((one) => one?.ended).length;
    const scores = open.map(({ score }) => score);
    const states = open.map(({ state }) => state);
    const best = automaton?.wants
      ? automaton.best(scores, gains, states, options.beam_size, this.maxLength - this.steps.length)
      : bestExtensions(scores, gains, count);
    return () => best.shift();
  }

  /** Return a function that draws an extension for a slot. */
  #draws(open, gains) {
    const { key, options, slots } = this;
    const time = this.steps.length;
    return (slot) => {
      const index = open.indexOf(slots[time ? slot : 0]);
      if (index < 0) return null;
      const number = uniform(key, options.seed, slot * options.max_length + time);
      const id = drawn(gains[index], number, options);
      const score = fround(open[index].score + gains[index][id]);
      return score > LEAST ? { index, id, score } : null;
    };
  }

  /** Return the score by which a sequence is ranked. */
  rank({ score, length, attended }) {
    const { options, mask } = this;
    const ranked = fround(score / lengthPenalty(length, options));
    if (!options.coverage_penalty) return ranked;
    let covered = 0;
    mask.forEach((real, i) => {
      if (real) covered += Math.log(Math.min(Math.max(attended[i], 1e-10), 1));
    });
    return fround(ranked + options.coverage_penalty * covered);
  }
}

/** Return the maximum number of tokens of a row. */
function maxLength(mask, options) {
  if (options.max_length_ratio === null) return options.max_length;
  const sourceLength = mask.reduce((total, real) => total + real, 0);
  const length = Math.ceil(fround(fround(options.max_length_ratio) * sourceLength));
  const most = Math.min(length + options.max_length_margin, options.max_length);
  return Math.max(most, options.min_length);
}

/** Return the token that a number in [0, 1) draws from log-probabilities. */
function drawn(gains, number, options) {
  const order = Uint32Array.from(gains.keys());
  order.sort((one, other) => gains[other] - gains[one] || one - other);
  const kept = order.subarray(0, options.top_k || order.length);
  const temperature = fround(options.temperature);
  const tempered = (id) => (gains[id] > LEAST ? fround(gains[id] / temperature) : IMPOSSIBLE);
  const most = tempered(kept[0]);
  const shares = Float32Array.from(kept, (id) => Math.exp(fround(tempered(id) - most)));
  const total = fround(shares.reduce((sum, share) => sum + share, 0));
  // Tokens are left until those before them have the probability `top_p`.
  const sums = [];
  let before = 0;
  let left = 0;
  for (const share of shares) {
    const probability = fround(share / total);
    before = fround(before + probability);
    if (fround(before - probability) >= fround(options.top_p)) break;
    left = fround(left + probability);
    if (!probability) break;
    sums.push(left);
  }
  const place = sums.findIndex((sum) => sum > fround(number * left));
  // If rounding made the number as large as the sum, take the last token that is left.
  return kept[place < 0 ? sums.length - 1 : place];
}
