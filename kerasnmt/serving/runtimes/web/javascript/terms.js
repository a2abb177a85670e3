/**
 * Terms that a translation must contain, or must not contain, as in `kerasnmt.runtime.terms`,
 * `kerasnmt.text.term_lines` and `kerasnmt.text.whole_words`.
 */

import { bestExtensions, IMPOSSIBLE } from "./search.js";
import { END_ID, UNKNOWN_ID } from "./tokenizers.js";

const [MOST_TERMS, MOST_TERM_TOKENS] = [64, 512];
// More tokens than any sequence has.
const MANY = 1e6;
const SPECIAL_IDS = 4;
// Marks that a space follows, unless they are within a word.
const BEFORE_SPACES = /[.,;:!?…)\]}»]$/u;
// Scripts without spaces between words, and signs that belong to several of them.
const UNSPACED = new RegExp(
  `^(?=\\p{L})[ーｰ〆${[
    ...["Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"],
    ...["Tai_Le", "Tai_Tham", "Tai_Viet", "New_Tai_Lue", "Javanese", "Balinese"],
  ]
    .map((script) => `\\p{Script=${script}}`)
    .join("")}]`,
  "u",
);

// Characters without a width inside words, such as those of Persian and of emoji.
const JOINERS = "\u00ad\u200c\u200d\u2060";
const ENDS_WITH_JOINER = new RegExp(`[${JOINERS}]$`, "u");
const GOES_ON = new RegExp(`^[\\p{M}${JOINERS}]`, "u");
const PART_OF_WORD = new RegExp(`[\\p{L}\\p{M}\\p{N}${JOINERS}]`, "u");

/** Return whether a character is no part of a word with the characters beside it. */
const isApart = (character) => UNSPACED.test(character) || !PART_OF_WORD.test(character);

/** Return the last character of a text that is not a mark, or an empty string. */
const lastLetter = (text) => [...text].findLast((one) => !/\p{M}/u.test(one)) ?? "";

/** Return whether a word can begin with a text, after any other text. */
export function opens(text) {
  return text !== "" && isApart([...text][0]);
}

/** Return whether a word can begin after a text, whatever follows. */
export function closes(text) {
  const last = lastLetter(text);
  return last !== "" && isApart(last);
}

/** Return whether a text contains a phrase as whole words. */
export function occurs(phrase, text) {
  const isBoundary = (place) => {
    const [before, after] = [text.slice(0, place), text.slice(place)];
    if (!before || !after) return true;
    if (GOES_ON.test(after) || ENDS_WITH_JOINER.test(before)) return false;
    return closes(before) || opens(after);
  };
  for (let place = text.indexOf(phrase); place >= 0; place = text.indexOf(phrase, place + 1))
    if (isBoundary(place) && isBoundary(place + phrase.length)) return true;
  return false;
}

/**
 * Return the kinds of the tokens of a vocabulary: 2 if a word can begin with the token, plus 1 if
 * one can begin after it.
 *
 * @param {object} tokenizer Tokenizer of targets.
 */
export function tokenKinds({ entries, splitsWords }) {
  const hasMarks = entries.some((entry) => GOES_ON.test(entry));
  const mayGoOn = (entry) => hasMarks && UNSPACED.test(lastLetter(entry));
  return Uint8Array.from(entries, (entry, id) => {
    if (!splitsWords) return 3;
    if (id < SPECIAL_IDS) return 0;
    const ends = closes(entry) && !mayGoOn(entry) && !BEFORE_SPACES.test(entry);
    return 2 * opens(entry) + ends;
  });
}

/**
 * Check the terms of a text.
 *
 * @param {Array<string|string[]>} terms Terms that must occur: texts, or lists of alternatives.
 * @param {string[]} forbidden Texts that must not occur.
 * @param {string} ofText What the terms belong to, for messages, such as " of text 3".
 * @returns {object[]} The terms, as `{alternatives, wanted}`.
 */
export function checkedTerms(terms = [], forbidden = [], ofText = "") {
  const wanted = terms.map((one) => ({ alternatives: [one].flat(), wanted: true }));
  const all = [...wanted, ...forbidden.map((one) => ({ alternatives: [one], wanted: false }))];
  const most = Math.max(all.length, ...all.map(({ alternatives }) => alternatives.length));
  if (most > MOST_TERMS)
    throw new Error(
      `Expected at most ${MOST_TERMS} terms for a text, with at most ${MOST_TERMS} alternatives ` +
        `each. Received: ${most}.`,
    );
  const checked = all.map(({ alternatives, wanted: isWanted }) => {
    const trimmed = alternatives.map((one) => one.trim());
    if (!trimmed.length || !trimmed.every(Boolean))
      throw new Error(`Expected terms that are not empty. Received: ${JSON.stringify(alternatives)}.`);
    return { alternatives: trimmed, wanted: isWanted };
  });
  checkContradictions(checked, ofText);
  return checked;
}

/** Check that each term can occur without the texts that must not. */
function checkContradictions(terms, ofText) {
  const unwanted = terms.filter(({ wanted }) => !wanted).flatMap(({ alternatives }) => alternatives);
  const isInside = (one, text) => occurs(one.normalize("NFC"), text.normalize("NFC"));
  for (const { alternatives, wanted } of terms) {
    const found = alternatives.map((text) => unwanted.find((one) => isInside(one, text)));
    if (wanted && found.every(Boolean))
      throw new Error(
        `Expected terms that can occur without what is forbidden. Received: the term ` +
          `${orList(alternatives)}${ofText}, which must occur, and ${orList([...new Set(found)])}, ` +
          "which must not. Omit one of them, or add an alternative to the term.",
      );
  }
}

/** Return texts in quotation marks, with "or" between them. */
const orList = (texts) => texts.map((one) => JSON.stringify(one)).join(" or ");

/** Return the terms of a line: separated by tabs, alternatives by "|", "!" before a forbidden one. */
export function parsedTerms(line) {
  const written = line.split("\t").map((one) => one.trim());
  const terms = written.map((one) => {
    const alternatives = one.replace(/^!/, "").split("|").map((text) => text.trim());
    return { alternatives: alternatives.filter(Boolean), wanted: !one.startsWith("!") };
  });
  const real = terms.filter(({ alternatives }) => alternatives.length);
  const [wanted, forbidden] = [true, false].map((is) => real.filter((one) => one.wanted === is));
  checkedTerms(
    wanted.map(({ alternatives }) => alternatives),
    forbidden.flatMap(({ alternatives }) => alternatives),
  );
  return real;
}

/**
 * Turn terms into ids.
 *
 * @param {object[]} terms From `checkedTerms`.
 * @param {Function} phrases Function from a text to the ids of its forms within a target.
 * @param {number} maxLength Maximum number of tokens of a target, with the end token.
 * @returns {object} `alternatives`, as `{number, ids}` with the number of the term, or 0 for one
 *   that must not occur; and whether the model can write each of all alternatives, `known`.
 */
export function encodedTerms(terms, phrases, maxLength) {
  const forms = [];
  const known = [];
  let total = 0;
  terms.forEach(({ alternatives, wanted }, rank) => {
    for (const text of alternatives) {
      const cut = phrases(text).map((ids) => ids.slice(0, maxLength + 1));
      const canWrite = !cut[0].includes(UNKNOWN_ID);
      known.push(canWrite);
      total += cut.reduce((sum, ids) => sum + ids.length, 0);
      const longest = wanted ? maxLength - 1 : maxLength; // room for the end token
      cut.forEach((ids, form) => {
        const fits = ids.length && ids.length <= longest && total <= MOST_TERM_TOKENS;
        if (fits && canWrite && !ids.includes(UNKNOWN_ID))
          (forms[form] ??= []).push({ number: wanted ? rank + 1 : 0, ids });
      });
    }
  });
  return { alternatives: forms.flat(), known };
}

/** Return messages of the page about the terms that an answer does not fulfil. */
export function unmetNames(terms, text) {
  const written = text.normalize("NFC");
  return terms
    .filter(
      ({ alternatives, wanted }) =>
        alternatives.some((one) => occurs(one.normalize("NFC"), written)) !== wanted,
    )
    .map(
      ({ alternatives, wanted }) =>
        `The answer ${wanted ? "lacks" : "has"} ${alternatives.join(" or ")}.`,
    );
}

/**
 * Return messages about the terms that a translation lacks, or has though they must not occur.
 *
 * @param {object[]} terms From `checkedTerms`.
 * @param {boolean[]} known From `encodedTerms`.
 * @param {string} text Translation.
 * @returns {string[]} The messages.
 */
export function unmetTerms(terms, known, text) {
  const written = text.normalize("NFC");
  let start = 0;
  return terms.flatMap(({ alternatives, wanted }) => {
    const canWrite = known.slice(start, start + alternatives.length).includes(true);
    start += alternatives.length;
    if (alternatives.some((one) => occurs(one.normalize("NFC"), written)) === wanted) return [];
    const name = orList(alternatives);
    if (!wanted) return [`the translation has ${name}, which must not occur`];
    const reason = canWrite
      ? "because its terms are too many, do not fit into its maximum length or contradict each other"
      : "which has words or characters that the model cannot write";
    return [`the translation lacks ${name}, ${reason}`];
  });
}

/** Automaton that reads the sequences of a row. States have numbers. The first is 0. */
export class TermAutomaton {
  #alternatives;
  #kinds;
  #sizes = new Map(); // number of tokens of the shortest alternative of each term
  #states = [];
  #numbers = new Map();
  #choices = new Map();

  /**
   * @param {object[]} alternatives From `encodedTerms`.
   * @param {Uint8Array} kinds From `tokenKinds`.
   */
  constructor(alternatives, kinds) {
    this.#alternatives = alternatives;
    this.#kinds = kinds;
    this.tokens = new Set(alternatives.flatMap(({ ids }) => ids));
    for (const { number, ids } of alternatives) {
      // If a word cannot begin with its first token, an alternative needs a space before it.
      const size = ids.length + (this.#kind(ids[0]) < 2);
      if (number) this.#sizes.set(number, Math.min(size, this.#sizes.get(number) ?? MANY));
    }
    this.#numberOf({ read: [], met: [], closed: true });
  }

  /** Whether a term must occur. */
  get wants() {
    return this.#sizes.size > 0;
  }

  /**
   * Return what a token leads to from a state.
   *
   * @param {number} number State.
   * @param {number} token Token.
   * @returns {object} The `state` after it; the number of tokens that are `needed` then, and that
   *   must be less than the room, `least`; whether a forbidden phrase occurs (`violates`), or
   *   occurs if the sequence ends then (`mayViolate`); and whether the token belongs to a term that
   *   is not yet met (`progress`).
   */
  choice(number, token) {
    const own = token === END_ID || this.tokens.has(token);
    return this.#choice(number, this.#kind(token), own ? token : -1);
  }

  /**
   * Make the tokens impossible after which the terms could not be met.
   *
   * @param {Float32Array} gains Log-probabilities with other constraints, which change.
   * @param {Float32Array} free Log-probabilities of the tokens of terms.
   * @param {number} number State.
   * @param {number} room Number of tokens that fit into the sequence.
   */
  mask(gains, free, number, room) {
    const fits = this.#fits(number, room);
    const isPossible = ({ least, violates, mayViolate }) =>
      (least < room || !fits) && !violates && !(mayViolate && room <= 1);
    const own = [...this.tokens, END_ID].filter((id) => id < gains.length);
    const kept = own.map((id) => {
      const choice = this.choice(number, id);
      return isPossible(choice) ? (choice.progress && fits ? free : gains)[id] : IMPOSSIBLE;
    });
    const refused = [0, 1, 2, 3].map((kind) => !isPossible(this.#choice(number, kind, -1)));
    if (refused.includes(true))
      for (let id = 0; id < gains.length; id++) if (refused[this.#kind(id)]) gains[id] = IMPOSSIBLE;
    own.forEach((id, rank) => {
      gains[id] = kept[rank];
    });
  }

  /**
   * Return the best extensions by dynamic beam allocation; see `bestExtensions`.
   *
   * @param {number[]} scores Log-probability of each sequence.
   * @param {Float32Array[]} gains Log-probabilities of all tokens after each sequence.
   * @param {number[]} numbers State of each sequence.
   * @param {number} count Number of extensions.
   * @param {number} room Number of tokens that fit into the sequences.
   */
  best(scores, gains, numbers, count, room) {
    const candidates = bestExtensions(scores, gains, count);
    const known = new Set(candidates.map(({ index, id }) => `${index} ${id}`));
    numbers.forEach((number, index) => {
      const fits = this.#fits(number, room);
      const own = [...this.tokens].filter((id) => fits && this.choice(number, id).progress);
      const [best] = bestExtensions([scores[index]], [gains[index]], 1);
      for (const id of new Set([...(best ? [best.id] : []), ...own])) {
        const score = Math.fround(scores[index] + gains[index][id]);
        if (score > IMPOSSIBLE / 2 && !known.has(`${index} ${id}`))
          candidates.push({ index, id, score });
      }
    });
    candidates.sort((one, other) => other.score - one.score);
    const ranks = new Map();
    const ordered = candidates.map((one) => {
      const number = numbers[one.index];
      const bank = this.#fits(number, room) ? this.choice(number, one.id).needed : 0;
      const rank = ranks.get(bank) ?? 0;
      ranks.set(bank, rank + 1);
      return { rank, bank, one };
    });
    ordered.sort((one, other) => one.rank - other.rank || one.bank - other.bank);
    return ordered.slice(0, count).map(({ one }) => one);
  }

  /** Return whether the terms of a sequence fit, which otherwise goes on as without them. */
  #fits(number, room) {
    return this.#states[number].needed <= room;
  }

  #kind(id) {
    return this.#kinds[id] ?? this.#kinds[UNKNOWN_ID];
  }

  /** Return what a token of a term or the end token leads to or, for -1, others of a kind. */
  #choice(number, kind, token) {
    const key = `${number} ${kind} ${token}`;
    if (!this.#choices.has(key)) this.#choices.set(key, this.#chosen(number, kind, token));
    return this.#choices.get(key);
  }

  #chosen(number, kind, token) {
    const alternatives = this.#alternatives;
    const now = this.#states[number];
    const ends = token === END_ID;
    const closed = !ends && kind % 2 === 1;
    const boundary = now.closed || ends || kind >= 2;
    const confirmed = boundary ? this.#found(now.read) : [];
    const begun = [...now.read, ...(boundary ? alternatives.map((_, one) => [one, 0]) : [])];
    const read = begun
      .filter(([one, count]) => token >= 0 && alternatives[one].ids[count] === token)
      .map(([one, count]) => [one, count + 1]);
    const met = [...new Set([...now.met, ...confirmed.filter(Boolean)])];
    const state = this.#numberOf({ read, met, closed });
    const forbidden = this.#found(read).includes(0);
    const lacking = this.#lacking(met);
    const { needed } = this.#states[state];
    return {
      state,
      needed: ends ? now.needed : needed,
      least: ends ? (lacking.length ? MANY : 0) : needed,
      // After a closing token, the phrase was already found. Then a prefix has forced it.
      violates: (confirmed.includes(0) && !now.closed) || (forbidden && closed),
      mayViolate: forbidden,
      progress: read.some(([one]) => lacking.includes(alternatives[one].number)),
    };
  }

  /** Return the number of a state, which is new or known. */
  #numberOf({ read, met, closed }) {
    const sorted = (list) => [...new Set(list.map(String))].sort().join(" ");
    const key = `${sorted(read)}|${sorted(met)}|${closed}`;
    if (!this.#numbers.has(key)) {
      this.#numbers.set(key, this.#states.length);
      this.#states.push({ read, met, closed, needed: this.#needed(read, met, closed) });
    }
    return this.#numbers.get(key);
  }

  /** Return the terms of the alternatives with which a sequence ends. */
  #found(read) {
    const ended = read.filter(([one, count]) => count === this.#alternatives[one].ids.length);
    return ended.map(([one]) => this.#alternatives[one].number);
  }

  #lacking(met) {
    return [...this.#sizes.keys()].filter((number) => !met.includes(number));
  }

  /** Return the number of tokens that a sequence needs, with the end token. */
  #needed(read, met, closed) {
    if (!this.wants) return 0;
    const found = this.#found(read);
    const mustGoOn = found.includes(0) && !closed;
    const lacking = this.#lacking(met);
    const kept = lacking.filter((number) => !found.includes(number));
    const total = (numbers) => numbers.reduce((sum, one) => sum + this.#sizes.get(one), 0);
    const [ofKept, ofAll] = [total(kept), total(lacking)];
    // If a word begins next, the terms that are found are met; otherwise they are not.
    let least = mustGoOn ? ofAll + 2 : ofKept + 1;
    const begun = [...read, ...(closed ? this.#alternatives.map((_, one) => [one, 0]) : [])];
    for (const [one, count] of begun) {
      const { number, ids } = this.#alternatives[one];
      if (count === ids.length) continue;
      const word = closed || this.#kind(ids[count]) >= 2;
      const allowed = word ? !mustGoOn && kept.includes(number) : lacking.includes(number);
      const others = word ? ofKept : ofAll;
      if (allowed)
        least = Math.min(least, others + ids.length - count + 1 - this.#sizes.get(number));
    }
    return least;
  }
}
