/**
 * Unigram and BPE models of SentencePiece.
 *
 * Source: Kudo (2018), "Subword regularization"; Kudo and Richardson (2018), "SentencePiece";
 * `sentencepiece_model.proto` for the format of a model.
 */

const [NORMAL, UNKNOWN, CONTROL, OWN, BYTE] = [1, 2, 3, 4, 6]; // types of pieces
const [UNIGRAM, BPE] = [1, 2]; // types of models
const SPACE = "▁";
const UNKNOWN_PENALTY = 10;
const encoder = new TextEncoder();

/**
 * Read a model.
 *
 * @param {Uint8Array} bytes A `ModelProto`.
 */
export function readModel(bytes) {
  const model = fields(bytes);
  const pieces = (model[1] ?? []).map((bytes) => {
    const piece = fields(bytes);
    return { text: utf8(piece[1][0]), score: piece[2]?.[0] ?? 0, type: piece[3]?.[0] ?? NORMAL };
  });
  const part = (number) => fields(model[number]?.[0] ?? new Uint8Array());
  const [trainer, normalizer, denormalizer] = [2, 3, 5].map(part);
  const flag = (message, number, usual) => Boolean(message[number]?.[0] ?? usual);
  const kind = trainer[3]?.[0] ?? UNIGRAM;
  const decodes = Boolean(denormalizer[2]?.[0].length);
  if (![UNIGRAM, BPE].includes(kind) || decodes) {
    throw new Error(
      "Expected a unigram or BPE model of SentencePiece, without rules for decoded text. " +
        `Received: a model of type ${kind}${decodes ? " with such rules" : ""}. Use Python.`,
    );
  }
  return {
    kind,
    pieces,
    charsmap: normalizer[2]?.[0] ?? new Uint8Array(),
    prefix: flag(normalizer, 3, true),
    single: flag(normalizer, 4, true),
    escaped: flag(normalizer, 5, true),
    suffix: flag(trainer, 24, false),
    byteFallback: flag(trainer, 35, false),
    unknownText: trainer[44] ? utf8(trainer[44][0]) : " ⁇ ",
  };
}

/** Encoder and decoder of a model, from `readModel`. */
export class SentencePiece {
  constructor(model) {
    Object.assign(this, model);
    const { pieces } = model;
    this.rules = new Rules(model.charsmap);
    this.ids = new Map();
    this.bytes = new Map();
    this.longest = 0; // of all pieces
    let lowest = Infinity;
    pieces.forEach(({ text, type, score }, id) => {
      if (type === BYTE) this.bytes.set(byteOf(text), id);
      if (type !== NORMAL && type !== OWN) return;
      this.ids.set(text, id);
      this.longest = Math.max(this.longest, text.length);
      if (type === NORMAL) lowest = Math.min(lowest, score);
    });
    this.unknownId = pieces.findIndex(({ type }) => type === UNKNOWN);
    this.unknownScore = Math.fround(lowest - UNKNOWN_PENALTY);
    this.own = pieces.filter(({ type }) => type === OWN).map(({ text }) => text);
    this.own.sort((one, other) => other.length - one.length);
    this.ownBytes = this.own.map((one) => encoder.encode(one));
  }

  /** Turn a text into ids. */
  encode(text) {
    const ids = [];
    const normalized = this.normalize(text);
    const found = this.kind === BPE ? this.#merged(normalized) : this.#best(normalized);
    for (const [id, surface] of found) {
      const unknown = id === this.unknownId;
      if (unknown && this.byteFallback) {
        ids.push(...Array.from(encoder.encode(surface), (byte) => this.bytes.get(byte)));
      } else if (!(unknown && ids.at(-1) === id)) {
        ids.push(id); // one id for a run of unknown characters
      }
    }
    return ids;
  }

  /** Turn ids into a text. */
  decode(ids) {
    let decoded = "";
    let bytes = [];
    let begins = true; // spaces at the start are removed, or only the first
    const flush = () => {
      decoded += textOfBytes(bytes);
      bytes = [];
    };
    for (const id of ids) {
      const piece = this.pieces[id];
      if (piece.type === BYTE) {
        bytes.push(byteOf(piece.text));
        continue;
      }
      flush();
      begins &&= decoded === "";
      if (piece.type === UNKNOWN) decoded += this.unknownText;
      else if (piece.type !== CONTROL) {
        let { text } = piece;
        if (begins && (this.prefix || this.single) && text.startsWith(SPACE)) {
          text = text.slice(1);
          begins = this.single;
        }
        decoded += text.replaceAll(SPACE, " ");
      }
    }
    flush();
    return decoded;
  }

  /** Return a text as the model reads it. */
  normalize(text) {
    const bytes = encoder.encode(text);
    const read = [];
    let afterSpace = this.single;
    let blank = this.single; // only spaces so far
    for (let at = 0; at < bytes.length; ) {
      const own = this.ownBytes.find((one) => one.every((byte, rank) => byte === bytes[at + rank]));
      const [form, length] = own ? [own, own.length] : this.rules.longest(bytes, at);
      blank &&= form.length === 1 && form[0] === 0x20;
      let first = 0;
      if (afterSpace) while (form[first] === 0x20) first += 1;
      for (const byte of form.subarray(first)) read.push(byte);
      if (this.single && first < form.length) afterSpace = form.at(-1) === 0x20;
      at += length;
    }
    if (!bytes.length || blank) return "";
    const space = this.escaped ? SPACE : " ";
    const prefix = this.prefix && !this.suffix ? space : "";
    let normalized = prefix + utf8(new Uint8Array(read)).replaceAll(" ", space);
    if (this.single) while (normalized.endsWith(space)) normalized = normalized.slice(0, -1);
    return this.prefix && this.suffix ? normalized + space : normalized;
  }

  /** Return the id and the text of each piece of the most probable segmentation. */
  #best(text) {
    const best = [{ score: 0 }]; // by end
    for (let start = 0; start < text.length; ) {
      const character = String.fromCodePoint(text.codePointAt(start));
      const before = best[start].score;
      let known = false;
      const add = (end, id, gain) => {
        const total = Math.fround(gain + before); // as SentencePiece 0.2.3 breaks ties
        if (!(best[end]?.score >= total)) best[end] = { start, id, score: total };
      };
      const furthest = Math.min(text.length, start + this.longest);
      for (let end = start + 1; end <= furthest; end++) {
        const id = this.ids.get(text.slice(start, end));
        if (id === undefined) continue;
        known ||= end - start === character.length;
        const { type, score } = this.pieces[id];
        add(end, id, type === OWN ? -0.1 : score); // symbols of the user win
      }
      if (!known) add(start + character.length, this.unknownId, this.unknownScore);
      start += character.length;
    }
    const path = [];
    for (let end = text.length; end > 0; end = best[end].start) {
      path.push([best[end].id, text.slice(best[end].start, end)]);
    }
    return path.reverse();
  }

  /** Return the id and the text of each piece after all merges, those with the best score first. */
  #merged(text) {
    const { own } = this;
    const symbols = [];
    for (let at = 0; at < text.length; at += symbols.at(-1).length) {
      const character = String.fromCodePoint(text.codePointAt(at));
      symbols.push(own.find((one) => text.startsWith(one, at)) ?? character);
    }
    for (;;) {
      let [best, place] = [-Infinity, -1];
      for (let at = 0; at + 1 < symbols.length; at++) {
        if (own.includes(symbols[at]) || own.includes(symbols[at + 1])) continue;
        const score = this.pieces[this.ids.get(symbols[at] + symbols[at + 1])]?.score;
        if (score > best) [best, place] = [score, at];
      }
      if (place < 0) return symbols.map((one) => [this.ids.get(one) ?? this.unknownId, one]);
      symbols.splice(place, 2, symbols[place] + symbols[place + 1]);
    }
  }
}

/**
 * Rules of a normalization: a double array of the sequences to replace, as darts-clone writes it,
 * and what replaces them.
 */
class Rules {
  constructor(charsmap) {
    const data = new DataView(charsmap.buffer, charsmap.byteOffset, charsmap.byteLength);
    const size = charsmap.length ? data.getUint32(0, true) : 0;
    this.units = Uint32Array.from({ length: size / 4 }, (_, rank) =>
      data.getUint32(4 + 4 * rank, true),
    );
    this.forms = charsmap.subarray(4 + size);
  }

  /** Return what replaces the longest sequence, or else the character, and its length. */
  longest(bytes, at) {
    const { units, forms } = this;
    const following = (unit) => (unit >>> 10) << ((unit & 0x200) >>> 6);
    let [form, length] = [null, lengthOfCharacter(bytes[at])];
    let place = units.length ? following(units[0]) : 0;
    for (let end = at; units.length && end < bytes.length; ) {
      place ^= bytes[end];
      const unit = units[place];
      if ((unit & 0x800000ff) !== bytes[end++]) break;
      place ^= following(unit);
      if (unit & 0x100) [form, length] = [units[place] & 0x7fffffff, end - at]; // a sequence ends
    }
    if (form === null) return [bytes.subarray(at, at + length), length];
    return [forms.subarray(form, forms.indexOf(0, form)), length];
  }
}

/** Return the values of each field of a protobuf message, by number. */
function fields(bytes) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const values = {};
  let at = 0;
  const integer = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = integer();
    const type = key & 7;
    let value;
    if (type === 0) value = integer();
    else if (type === 5) [value, at] = [data.getFloat32(at, true), at + 4];
    else {
      const length = type === 1 ? 8 : integer();
      [value, at] = [bytes.subarray(at, at + length), at + length];
    }
    (values[key >> 3] ??= []).push(value);
  }
  return values;
}

/** Return the number of bytes of the character that begins with a byte. */
function lengthOfCharacter(byte) {
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** Return the byte that a piece such as "<0x0A>" stands for. */
function byteOf(text) {
  return parseInt(text.slice(3, 5), 16);
}

function utf8(bytes) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Return the text of bytes, with U+FFFD for each byte that is not UTF-8. */
function textOfBytes(bytes) {
  let decoded = "";
  const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
  for (let at = 0; at < bytes.length; ) {
    let length = lengthOfCharacter(bytes[at]);
    try {
      decoded += strict.decode(new Uint8Array(bytes.slice(at, at + length)));
    } catch {
      [decoded, length] = [decoded + "\ufffd", 1];
    }
    at += length;
  }
  return decoded;
}
