/** Tokenizers of `kerasnmt.text`: they give the same ids and texts as the library in Python. */

import { readModel, SentencePiece } from "./sentencepiece.js";
import { OUTER_SPACES } from "./sentences.js";
import { isTag, JOINER } from "./words.js";

export const [PAD_ID, UNKNOWN_ID, START_ID, END_ID] = [0, 1, 2, 3];
const NO_LETTER = "\ue000"; // private, so that no piece contains it
// A punctuation mark or symbol, with its combining marks and skin tones. Symbols that are joined by
// a zero-width joiner are one.
const MARK = "[\\p{P}\\p{S}][\\p{M}\u{1f3fb}-\u{1f3ff}]*";
const SIGN = `${MARK}(?:\u200d${MARK})*`;
const SIGNS = new RegExp(SIGN, "gu");
const PARTS = new RegExp(`^((?:${SIGN})*)(.*?)((?:${SIGN})*)$`, "su");
// Punctuation marks and symbols around a word.
const AROUND = /^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu;
// What SentencePiece's rule "nmt_nfkc" adds to NFKC for a single character: some controls
// disappear, and others are spaces.
const REMOVED = /^[\x01-\x08\v\x0e-\x1f\x7f\x8f\x9f]$/;
const SPACE = /^[\t\n\f\r\u061c\u1680\u200b\u200c\u200e\u200f\u2028\u2029\ufeff]$/;

/**
 * Return a tokenizer of `tokenizers.json`.
 *
 * @param {{registered_name: string, config: object}} config Serialized tokenizer.
 * @returns {Tokenizer}
 */
export function tokenizer(config) {
  const name = config.registered_name.replace("kerasnmt>", "");
  if (!Object.hasOwn(TOKENIZERS, name)) {
    throw new Error(
      `Expected one of the tokenizers ${Object.keys(TOKENIZERS).join(", ")}. Received: ${name}. ` +
        "Use the runtime in Python for other tokenizers.",
    );
  }
  return new TOKENIZERS[name](config.config);
}

/** Base class of tokenizers. In texts, halves of UTF-16 pairs count as U+FFFD. */
class Tokenizer {
  /** Whether a token may be a part of a word. */
  splitsWords = false;

  /**
   * @param {string[]} entries Text of each id from 4.
   * @param {string} defaultTags Tags in front of each source that has none.
   */
  constructor(entries, defaultTags = "") {
    this.entries = ["", "<unk>", "<s>", "</s>", ...entries];
    this.defaultTags = defaultTags;
    this.starts = entries.filter(isTag);
  }

  /** Turn a source into ids, without the end token. */
  encode(text) {
    return this.split(this.normalizeSource(text)).ids;
  }

  /** Return a source in a form that the vocabulary knows. */
  normalizeSource(text) {
    return text;
  }

  /** Put the default tags in front of a source without a tag. */
  _withTags(text) {
    const bare = text.replace(OUTER_SPACES, "");
    const asItIs = !this.defaultTags || !bare || this.starts.some((tag) => bare.startsWith(tag));
    return asItIs ? text : this.defaultTags + bare;
  }

  /** Turn a text into ids, and the word of each id, or "" for a piece of a word. */
  split(text) {
    return this._split(text.replace(/\p{Cs}/gu, "\ufffd"));
  }

  /** Turn a phrase into what `split` gives within targets; see `Tokenizer.phrase_ids`. */
  phrases(text) {
    return [this.split(text)];
  }

  /**
   * Turn ids into a text.
   *
   * @param {Iterable<number>} ids
   * @param {string[]} unknownWords Words of the extended ids.
   */
  decode(ids, unknownWords = []) {
    const written = [...ids].filter((id) => id === UNKNOWN_ID || id < PAD_ID || id > END_ID);
    const word = (id) => this.#unknownWord(id, unknownWords);
    return this._written(written.map((id) => [this.#known(id), word(id)]));
  }

  /** Return each id as a readable token. */
  tokens(ids, unknownWords = []) {
    return Array.from(ids, (id) => {
      const word = this.#unknownWord(id, unknownWords);
      const token = ["", "<s>", "</s>"].includes(word) ? this.entries[this.#known(id)] : word;
      return token === " " ? "▁" : token;
    });
  }

  #known(id) {
    return id >= 0 && id < this.entries.length ? id : UNKNOWN_ID;
  }

  #unknownWord(id, words) {
    return words[id - this.entries.length] ?? "";
  }
}

class Words extends Tokenizer {
  kind = "words";

  constructor({ words }) {
    super(words);
    this.ids = new Map(words.map((word, rank) => [word, rank + 4]));
  }

  _split(text) {
    const words = this._words(text);
    return { ids: words.map((word) => this.ids.get(word) ?? UNKNOWN_ID), words };
  }

  _words(text) {
    return text.match(/[^ \t\n\v\f\r]+/g) ?? [];
  }

  _written(tokens) {
    const written = ([id, word]) => word || (id === UNKNOWN_ID ? "⁇" : this.entries[id]);
    return tokens.map(written).join(" ");
  }
}

class PlainWords extends Words {
  _words(text) {
    const words = super._words(text.replace(/[\0-\x1f]/g, " ").toLowerCase());
    return words.map((word) => word.replace(AROUND, "")).filter(Boolean);
  }
}

class WordsAndPunctuation extends Words {
  kind = "words_and_punctuation";

  _words(text) {
    return super._words(text.replaceAll(JOINER, "■")).flatMap((word) => {
      const [, before, inside, after] = PARTS.exec(word);
      if (!inside) return [word];
      const signs = (part) => part.match(SIGNS) ?? [];
      return [
        ...signs(before).map((sign) => sign + JOINER),
        ...inside.replace(/(.)(['’]s)$/su, `$1 ${JOINER}$2`).split(" "),
        ...signs(after).map((sign) => JOINER + sign),
      ];
    });
  }

  _written(tokens) {
    return super._written(tokens).replace(new RegExp(` ?${JOINER} ?`, "g"), "");
  }
}

class Characters extends Tokenizer {
  kind = "characters";
  splitsWords = true;

  constructor({ characters, fold_case: foldCase, normalization, default_tags: defaultTags }) {
    super(
      characters.map((one) => (one === " " ? "▁" : one)),
      defaultTags,
    );
    this.characters = ["⁇", "⁇", "⁇", "⁇", ...characters];
    const ids = characters.map((one, rank) => [one, rank + 4]);
    const known = new Map(ids);
    const folded = foldCase ? capitals(characters) : [];
    this.ids = new Map([...folded.map(([upper, lower]) => [upper, known.get(lower)]), ...ids]);
    const tags = characters.filter((one) => [...one].length > 1);
    const escaped = tags.map((tag) => tag.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    this.tags = tags.length > 0;
    this.form = normalization?.toUpperCase();
    this.units = new RegExp([...escaped, "."].join("|"), "gsu");
  }

  phrases(text) {
    return [this.split(text), this.split(` ${text}`)];
  }

  normalizeSource(text) {
    return this._withTags(text.replace(OUTER_SPACES, ""));
  }

  _split(text) {
    if (this.form) text = text.normalize(this.form);
    if (this.tags) text = text.replace(/[\u{f0000}-\u{fffff}]/gu, "\ufffd");
    const words = text.match(this.units) ?? [];
    return { ids: words.map((one) => this.ids.get(one) ?? UNKNOWN_ID), words };
  }

  _written(tokens) {
    const text = tokens.map(([id, word]) => word || this.characters[id]).join("");
    return this.form ? text.normalize("NFC") : text;
  }
}

class Pieces extends Tokenizer {
  kind = "sentencepiece";
  splitsWords = true;

  constructor({ model, normalization, default_tags: defaultTags }) {
    const read = readModel(Uint8Array.from(atob(model), (one) => one.charCodeAt(0)));
    super(
      read.pieces.slice(4).map(({ text }) => text),
      defaultTags,
    );
    this.pieces = new SentencePiece(read);
    this.composed = Boolean(normalization);
    this.letters = new Set(this.entries.slice(4).join(""));
  }

  normalizeSource(text) {
    text = this._withTags(text);
    if (!this.composed) return text;
    const other = (one) => one.normalize("NFKC").replace(REMOVED, "").replace(SPACE, " ");
    const read = (one) => (this.letters.has(one) ? one : other(one));
    return Array.from(text.normalize("NFC"), read).join("").normalize("NFC");
  }

  _split(text) {
    const ids = this.pieces.encode(this.composed ? text.normalize("NFC") : text);
    return { ids, words: ids.map(() => "") };
  }

  phrases(text) {
    const { length } = this.split(NO_LETTER).ids;
    const inside = this.split(NO_LETTER + text);
    return [this.split(text), { ids: inside.ids.slice(length), words: inside.words.slice(length) }];
  }

  decode(ids) {
    return this.pieces.decode([...ids]);
  }
}

const TOKENIZERS = {
  WordTokenizer: Words,
  PlainWordTokenizer: PlainWords,
  PunctuationTokenizer: WordsAndPunctuation,
  CharacterTokenizer: Characters,
  SentencePieceTokenizer: Pieces,
};

/** Return the uppercase letter, and the lowercase letter, of each letter that has both. */
function capitals(characters) {
  const turkish = characters.includes("ı") ? [["ı", "I"], ["i", "İ"]] : [];
  const special = new Map([["ß", "ẞ"], ...turkish]);
  const pairs = characters.map((lower) => [special.get(lower) ?? lower.toUpperCase(), lower]);
  const isPair = ([upper, lower]) =>
    special.has(lower) ||
    ([...upper].length === 1 && upper !== lower && upper.toLowerCase() === lower);
  return pairs.filter(isPair);
}
