/** Texts in capitals, or without any, as in `kerasnmt.text.sentence_case`. */

import { ANY_SPACE, tagsAtStart } from "./sentences.js";

const OTHERS = String.raw`\p{Lo}\p{Lm}\u10d0-\u10ff\0`;
const UPPER = String.raw`[^\p{Ll}${OTHERS}]*`;
const IN_CAPITALS = new RegExp(String.raw`^${UPPER}\p{Lu}${UPPER}\p{Lu}${UPPER}$`, "u");
const STAYS = new RegExp(String.raw`[\p{Lu}\p{Lt}${OTHERS}]`, "u");
const FIRST_LETTER = /^([^\p{L}\p{N}]*)(\p{Ll})/u;
const FIRST_OF_WORD = new RegExp(
  String.raw`^([^\p{L}\p{N}]*)(\p{Ll})` +
    String.raw`(?=[\p{L}\p{M}'’\-]*[^\p{L}\p{N}${ANY_SPACE}]*(?:[${ANY_SPACE}]|$))`,
  "u",
);

/**
 * Return a text in capitals in lowercase, with a capital letter at the start.
 *
 * @param {string} text Text.
 * @param {string[]} tags Tags of the tokenizer. Those at the start of the text stay as they are.
 */
export function inSentenceCase(text, tags = []) {
  const start = tagsAtStart(text, tags);
  const isUpper = inCapitals(text, tags);
  const rest = isUpper ? text.slice(start.length).toLowerCase() : text.slice(start.length);
  if (STAYS.test(rest)) return start + rest;
  const first = isUpper ? FIRST_LETTER : FIRST_OF_WORD;
  return start + rest.replace(first, (_, before, letter) => before + letter.toUpperCase());
}

/** Whether a text has several capital letters, no lowercase ones, and none without case. */
export function inCapitals(text, tags = []) {
  return IN_CAPITALS.test(text.slice(tagsAtStart(text, tags).length));
}

/** Whether a text has lowercase letters. */
export function hasLowercase(text) {
  return /\p{Ll}/u.test(text);
}
