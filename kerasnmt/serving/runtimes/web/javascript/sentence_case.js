/** Texts in capitals, or without any, as in `kerasnmt.text.sentence_case`. */

import { ANY_SPACE, tagsAtStart } from "./sentences.js";

const FIRST_LETTER = new RegExp(
  String.raw`^([^\p{L}\p{N}]*)((?![\u10d0-\u10ff])\p{Ll})` +
    String.raw`(?=[\p{L}\p{M}'’\-]*[^\p{L}\p{N}${ANY_SPACE}]*(?:[${ANY_SPACE}]|$))`,
  "u",
);

/**
 * Return a text in capitals in lowercase, and a text without capitals with one at the start.
 *
 * @param {string} text Text.
 * @param {string[]} tags Tags of the tokenizer. Those at the start of the text stay as they are.
 */
export function inSentenceCase(text, tags = []) {
  const start = tagsAtStart(text, tags);
  let rest = text.slice(start.length);
  if (inCapitals(text, tags)) rest = rest.toLowerCase();
  if (!/[\p{Lu}\p{Lt}]/u.test(rest))
    rest = rest.replace(FIRST_LETTER, (_, before, letter) => before + letter.toUpperCase());
  return start + rest;
}

/** Whether a text has several capital letters after its tags, and no lowercase ones. */
export function inCapitals(text, tags = []) {
  const rest = text.slice(tagsAtStart(text, tags).length);
  return /\p{Lu}\P{Lu}*\p{Lu}/u.test(rest) && !/[\p{Ll}\0]/u.test(rest);
}

/** Whether a text has lowercase letters. */
export function hasLowercase(text) {
  return /\p{Ll}/u.test(text);
}
