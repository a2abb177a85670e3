/** Words of an answer while the search makes them, as in `kerasnmt.tasks.streaming`. */

import { IMPOSSIBLE } from "./search.js";
import { joinTexts, separator } from "./sentences.js";
import { IS_UNSPACED, SPACES } from "./words.js";

// Kinds of tokens that a further token cannot make longer.
const WHOLE = ["words", "words_and_punctuation"];
const CONTINUES = /^[\p{M}\u200c\u200d]/u; // a mark of the character before, or a joiner

/**
 * The words that no further step of a search can change.
 *
 * These are the words that all live hypotheses share. So nothing is taken back, and the pieces
 * together are the answer. A word is complete when the next one begins, or at once if tokens are
 * words. In scripts without spaces between words, each character is complete at once. All lengths
 * count characters, not the units of UTF-16, so no character is cut.
 */
export class SettledWords {
  /** The pieces so far. */
  done = "";
  #write;
  #isWhole;

  /**
   * @param {Function} write Function from a hypothesis to its text. A further token must only
   *   append to the text.
   * @param {string} kind Kind of the tokens.
   */
  constructor(write, kind) {
    this.#write = write;
    this.#isWhole = ({ ended }) => ended || WHOLE.includes(kind);
  }

  /**
   * Return what a step adds.
   *
   * @param {Row} row Search after the step.
   * @returns {object} The `piece`, text that follows the earlier pieces and may be empty;
   *   `provisional`, text that follows it in the best hypothesis so far; and the `score` after the
   *   last step, else null.
   * @throws {Error} If the answer does not begin with the pieces: the constraints of the search
   *   make everything impossible at its end.
   */
  after(row) {
    if (!row.isUnfinished()) {
      const [best] = row.best;
      const text = best ? this.#write(best) : "";
      return { piece: this.#settled(text, text), provisional: "", score: best?.score ?? IMPOSSIBLE };
    }
    const { live } = row;
    if (!live.length) return { piece: "", provisional: "", score: null };
    const whole = live.map(this.#isWhole);
    // U+FFFD at the end also stands for the first bytes of a character whose others are missing.
    const texts = live.map((one, i) => {
      const text = this.#write(one);
      return whole[i] ? text : text.replace(/\ufffd+$/, "");
    });
    const ranks = live.map((one) => row.rank(one));
    const best = texts[ranks.indexOf(Math.max(...ranks))];
    const piece = this.#settled(texts[0], shared(texts.map(characters), whole));
    return { piece, provisional: best.slice(this.done.length), score: null };
  }

  /** Return the piece up to a place in a text, which must begin with the pieces before. */
  #settled(text, upTo) {
    const { done } = this;
    if (!text.startsWith(done))
      throw new Error(
        `Expected a translation that begins with the words so far, ${JSON.stringify(done)}. ` +
          `Received: ${JSON.stringify(text)}. Translate the text as a whole: here, its end ` +
          "changes its beginning.",
      );
    if (upTo.length <= done.length) return "";
    this.done = upTo;
    return upTo.slice(done.length);
  }
}

/**
 * Join the progress of the sentences of a text; see `joinTexts`.
 *
 * @param {Iterable<AsyncIterable<object>>} sentences Progress of each sentence.
 * @yields {object} Progress of the text, whose score is the sum of the scores.
 */
export async function* joined(sentences) {
  const texts = [];
  let [sent, sum] = ["", 0];
  for (const sentence of sentences) {
    const before = texts.findLast(Boolean);
    let [text, next] = ["", before ? separator(before) : ""];
    for await (const { piece, provisional, score } of sentence) {
      const addition = piece && next + piece;
      if (piece) next = "";
      text += piece;
      sent += addition;
      sum += score ?? 0;
      yield { piece: addition, provisional: provisional && next + provisional, score: null };
    }
    texts.push(text);
  }
  if (sent !== joinTexts(texts))
    throw new Error(
      "Expected sentences without the control character U+001E. Received: " +
        `${JSON.stringify(sent)}. Translate the text as a whole.`,
    );
  yield { piece: "", provisional: "", score: sum };
}

function characters(text) {
  return [...text];
}

/** Return the text up to the last place where the same words end in all texts. */
function shared(texts, whole) {
  const [first, ...others] = texts;
  const differs = (one, place) => others.some((other) => other[place] !== one);
  const found = first.findIndex(differs);
  const ends = (place) => texts.every((text, i) => wordEnds(text, place, whole[i]));
  let place = found < 0 ? first.length : found;
  while (place > 0 && !ends(place)) place--;
  return first.slice(0, place).join("");
}

/** Return whether a word ends before a place, where `whole` says so for the end of the text. */
function wordEnds(text, place, whole) {
  if (place === text.length) return whole;
  const [last, following] = text.slice(place - 1, place + 1);
  if (SPACES.test(last) || CONTINUES.test(following)) return false;
  return SPACES.test(following) || IS_UNSPACED.test(last) || IS_UNSPACED.test(following);
}
