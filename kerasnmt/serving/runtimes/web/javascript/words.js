/** Words of tokens, as in `kerasnmt.text.word_indices`. */

const KINDS = ["sentencepiece", "words", "words_and_punctuation", "characters"];
const NO_TEXT = ["", "<s>", "</s>"];
export const JOINER = "￭";
export const SPACES = /[\t-\r\x1c-\x20\x85\p{Z}]+/u; // as `str.split` of Python has them
// A character of a script that is written without spaces between words.
const UNSPACED =
  "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u312f" +
  "\u31a0-\u4dbf\u4e00-\u9fff\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f" +
  "\u{20000}-\u{3ffff}";
export const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const LEAVE_UNSPACED = [
  [new RegExp(`[^▁${UNSPACED}]`, "gu"), " "],
  [/▁* +▁*( +▁*)*|^▁+|▁+$/gu, ""],
  [/▁+/gu, "▁"],
];
const LONGEST_MEAN_WORD = 5;

/** Return whether a text is a single tag, such as `<ja>`. */
export const isTag = (text) =>
  /^<[^<>\s\0]+>$/u.test(text) && !/^<(pad|unk|\/?s|0x[0-9A-F]{2})>$/.test(text);

/**
 * Return the index of the word to which each token of a sentence belongs.
 *
 * @param {string[]} tokens Tokens, with "▁" for a space.
 * @param {string} kind Kind of the tokens.
 * @returns {number[]} The indices, or -1 for padding, start, end and single spaces.
 */
export function wordIndices(tokens, kind) {
  if (!KINDS.includes(kind))
    throw new Error(`Expected kind to be one of ${KINDS.join(", ")}. Received: ${kind}.`);
  const bySpaces = kind.startsWith("words") || hasSpaces(tokens.join(""));
  const spaced = kind === "words_and_punctuation" ? withSpaces(tokens) : tokens;
  let word = -1;
  let atBoundary = true;
  let before = ""; // the last character of the word so far
  let afterTag = false;
  return spaced.map((token) => {
    if (NO_TEXT.includes(token)) return -1;
    atBoundary ||= kind === "words" || token.startsWith("▁");
    const text = kind === "words" ? token : token.replace(/^▁+/, "");
    const words = text.split(SPACES).filter(Boolean);
    if (!words.length) {
      atBoundary = true;
      return -1;
    }
    const [first] = text;
    if (!bySpaces && !afterTag && IS_UNSPACED.test(first + before))
      atBoundary ||= !/\p{M}/u.test(first);
    if (atBoundary) word++;
    atBoundary = false;
    before = [...text].at(-1);
    afterTag = isTag(token);
    const index = word;
    // With a dictionary, a token can have several words.
    if (kind === "words") word += words.length - 1;
    return index;
  });
}

/**
 * Return the index of the word of each token, where spaces and end tokens have words, too.
 *
 * A single space belongs to the next word or, at the end, to the previous word.
 */
export function mergedIndices(tokens, kind) {
  const indices = wordIndices(tokens, kind);
  for (let position = tokens.length - 1; position >= 0; position--) {
    if (indices[position] >= 0 || /[^▁ ]/.test(tokens[position])) continue;
    const following = indices[position + 1] ?? -1;
    indices[position] = following >= 0 ? following : Math.max(-1, ...indices.slice(0, position));
  }
  let number = -1;
  return indices.map((index, position) => {
    if (index < 0 || index !== (indices[position - 1] ?? -1)) number++;
    return number;
  });
}

/**
 * Link each target word to the source word that it attends to most.
 *
 * The weights of a target word are the mean over its tokens, and the weight of a source word is the
 * sum over its tokens.
 *
 * @param {Float32Array[]} weights Weights of the source tokens, for each target token.
 * @param {number[]} source Index of the word of each source token, or -1.
 * @param {number[]} target Index of the word of each target token, or -1.
 * @returns {number[][]} Pairs of a source word and a target word, counted from 0.
 */
export function wordAlignment(weights, source, target) {
  const links = [];
  for (const word of [...new Set(target.filter((index) => index >= 0))].sort((a, b) => a - b)) {
    const received = new Array(Math.max(0, ...source.map((index) => index + 1))).fill(0);
    weights.forEach((row, place) => {
      if (target[place] !== word) return;
      source.forEach((index, position) => {
        if (index >= 0) received[index] += row[position];
      });
    });
    const most = Math.max(...received);
    if (most > 0) links.push([received.indexOf(most), word]);
  }
  return links;
}

/** Return whether spaces separate the words of a text, where "▁" stands for a space. */
function hasSpaces(text) {
  for (const [pattern, replacement] of LEAVE_UNSPACED) text = text.replace(pattern, replacement);
  const characters = [...text];
  const spaces = characters.filter((one) => one === "▁").length;
  const letters = characters.length - spaces;
  return letters === 0 || (spaces > 0 && spaces >= letters / LONGEST_MEAN_WORD - 1);
}

/** Return tokens with a "▁" for each space instead of joiners where there is none. */
function withSpaces(tokens) {
  let joins = true;
  return tokens.map((token) => {
    if (NO_TEXT.includes(token)) return token;
    const text = token.replace(new RegExp(`^${JOINER}+|${JOINER}+$`, "g"), "");
    const spaced = joins || token.startsWith(JOINER) ? text : `▁${text}`;
    joins = token.endsWith(JOINER);
    return spaced;
  });
}
