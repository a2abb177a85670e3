/** Sentences of a text, as in `kerasnmt.text.sentence_ends`. */

const END = "\x1e";
const NO_END = "\x1f";
const SPACE = "\t\n\f\r ";
const CLOSING = String.raw`(?:["'“”’)\]]|[${SPACE}\xa0\u202f]?»)*`;
const CAPITAL = String.raw`((?:[—–\-] ?)?["'“‘«„¿¡(\[]*[${SPACE}\xa0\u202f]?[\p{Lu}\p{Lt}\p{Lo}])`;
const ABBREVIATIONS =
  "Mr|Mrs|Ms|MM|Mme|Mlle|Dr|Prof|St|Ste|Mt|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Hon|Rev|Gov|Sen|Rep|Herr|Hr|" +
  "Fr|Sra|Srta|Dra|Ing|Nr|vs|cf|etc|al|[Ff]ig|[Vv]ol|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|" +
  "Jul|Aug|Sept?|Oct|Nov|Dec|bzw|usw|ca|[Aa]rt|pp|Ph|Mio|Mrd|Abb|Bd|Str|Tel|Frl|[Gg]eb|evtl|ggf|" +
  "inkl|zzgl|[Vv]gl|sog|bspw|[Mm]ax|approx|Av|apr|env|Mgr|EE|Uds?|Sn|Doç|TP|GS|[Уу]л|[Пп]роф|[Сс]м|" +
  "Δρ|डॉ";
const WORDS = "mm|ste|gen|col|hon|sen|rep|al|co|mar|jun|jul|sept?|nov|prof|tel|av|ee|sn|gs";
const RARE = ABBREVIATIONS.split("|")
  .filter((one) => !WORDS.split("|").includes(one.toLowerCase()))
  .join("|");
const NUMBERS = String.raw`[12]?\d|3[01]|[IVX]+`;
const BEFORE_WORD = String.raw`(^|[^\p{L}\p{M}\p{N}:.,$€£\-])`;
const noEnd = (words) => [`${BEFORE_WORD}(${words})\\.[\t ]+`, `$1$2.${NO_END}`];
const BEFORE_PERIOD = String.raw`([\p{L}\p{N}][\p{L}\p{M}\p{N}]|["“”’»)\]%€$£])`;
const PERIOD = [
  String.raw`${BEFORE_PERIOD}((?:\.+|…)${CLOSING})[${SPACE}]+${CAPITAL}`,
  `$1$2${END}$3`,
];
const QUESTION = String.raw`[\u0370-\u03ff\u1f00-\u1fff][\p{M}]*[;\u037e]`; // of Greek
const LOWERCASE = [
  String.raw`([\p{L}\p{N}][\p{L}\p{M}\p{N}]\.|[!?؟]|${QUESTION})[${SPACE}]+([¿¡]?[\p{Ll}])`,
  `$1${END}$2`,
];
const ABBREVIATED = noEnd(`${ABBREVIATIONS}|${RARE.toUpperCase()}|${NUMBERS}`);
const IN_LOWERCASE = noEnd(RARE.toLowerCase());
// Some stand twice, because a match takes a character of the next one.
const BEGINNING = [[`[${END}${NO_END}]`, " "], ABBREVIATED, ABBREVIATED];
const WITHOUT_CAPITALS = [IN_LOWERCASE, IN_LOWERCASE, LOWERCASE, LOWERCASE];
const REST = [
  PERIOD,
  PERIOD,
  [String.raw`((?:[!?؟।]|${QUESTION})${CLOSING})[${SPACE}]+${CAPITAL}`, `$1${END}$2`],
  [`([。！？｡]+[」』”’）]*)[${SPACE}]*`, `$1${END}`],
  [NO_END, " "],
  [`${END}+$`, ""],
];
const CAPITALS = /[\p{Lu}\p{Lt}]/u;

export const ANY_SPACE = "\\t\\n\\v\\f\\r\\x1e\\x1f \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACES = new RegExp(`[${ANY_SPACE}]+`, "u");
/** White space at the start or the end. */
export const OUTER_SPACES = new RegExp(`^[${ANY_SPACE}]+|[${ANY_SPACE}]+$`, "gu");
// What does not belong to a word, before it and after it; and quotation marks.
const OUTSIDE = /^[^\p{L}\p{N}'’]+|[^\p{L}\p{N}\p{M}'’]+$/gu;
const QUOTED = /^['’](.*)['’]$/su;

/** Split a text into its sentences, at least one. */
export function splitText(text) {
  text = replaced(text, BEGINNING);
  if (!CAPITALS.test(text)) text = replaced(text, WITHOUT_CAPITALS);
  return replaced(text, REST).split(END);
}

function replaced(text, replacements) {
  for (const [pattern, by] of replacements) text = text.replace(new RegExp(pattern, "gu"), by);
  return text;
}

/** Split a text into words without the signs around them, at least one, which may be empty. */
function splitWords(text) {
  const bare = (word) => word.replace(OUTSIDE, "").replace(QUOTED, "$1").replace(/^['’]+$/, "");
  const words = text.split(SPACES).map(bare).filter(Boolean);
  return words.length ? words : [""];
}

/**
 * Return the function that splits texts into the parts that a model translates one by one, or null.
 *
 * Tags at the start of a text stand in front of each part. Source: `kerasnmt.text.parts`.
 */
export function splitter({ split_words: words, split_sentences: sentences, source_tags: tags = [] }) {
  if (!words && !sentences) return null;
  return (text) => {
    const start = tagsAtStart(text, tags);
    const parts = (words ? splitWords : splitText)(text.slice(start.length));
    return parts.map((part) => part && start + part);
  };
}

/** Return the translation of a text in a lexicon, a `Map`, or an empty string. */
export function lookedUp(text, lexicon, tags = []) {
  if (!lexicon.size) return "";
  const bare = text.slice(tagsAtStart(text, tags).length).replace(OUTER_SPACES, "");
  return lexicon.get(bare) || lexicon.get(bare.toLowerCase()) || "";
}

/** Return the tags with which a text begins, with the white space before each. */
export function tagsAtStart(text, tags) {
  if (!tags.length) return "";
  const known = tags.map((tag) => tag.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
  return new RegExp(`^(?:[${ANY_SPACE}]*(?:${known}))*`, "u").exec(text)[0];
}

/** Join sentences with a space, or without one after `。`, `！` or `？`. */
export function joinTexts(sentences) {
  const text = sentences.filter(Boolean).join(END);
  return text.replaceAll(/([。！？｡][」』”’）]*)\x1e/g, "$1").replaceAll(END, " ");
}

/** Return what stands between a sentence that is not empty and the next one. */
export function separator(sentence) {
  return /[。！？｡][」』”’）]*$/.test(sentence) ? "" : " ";
}
