/** Sentences of a text, as in `kerasnmt.text.sentence_ends`. */

const END = "\x1e";
const NO_END = "\x1f";
const SPACE = "\t\n\f\r ";
const CLOSING = String.raw`(?:["'”’)\]]|[${SPACE}\xa0\u202f]?»)*`;
const CAPITAL = String.raw`(["'“‘«„¿¡(\[]*[${SPACE}\xa0\u202f]?[\p{Lu}\p{Lt}\p{Lo}])`;
const ABBREVIATIONS =
  "Mr|Mrs|Ms|MM|Mme|Mlle|Dr|Prof|St|Ste|Mt|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Hon|Rev|Gov|Sen|Rep|Herr|Hr|" +
  "Fr|Sra|Srta|Dra|Ing|No|Nr|vs|cf|etc|al|[Ff]ig|[Vv]ol|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|" +
  "Jul|Aug|Sept?|Oct|Nov|Dec|bzw|usw|ca|[Aa]rt|pp|Ph";
const BEFORE_PERIOD = String.raw`([\p{L}\p{N}][\p{L}\p{M}\p{N}]|["”’»)\]%])`;
const PERIOD = [
  String.raw`${BEFORE_PERIOD}((?:\.+|…)${CLOSING})[${SPACE}]+${CAPITAL}`,
  `$1$2${END}$3`,
];
const REPLACEMENTS = [
  [`[${END}${NO_END}]`, " "],
  [String.raw`\b(${ABBREVIATIONS})\.[${SPACE}]+`, `$1.${NO_END}`],
  PERIOD,
  PERIOD, // again, because a match takes the first letter of the next sentence
  [String.raw`([!?؟।]+${CLOSING})[${SPACE}]+${CAPITAL}`, `$1${END}$2`],
  [`([。！？｡]+[」』”’）]*)[${SPACE}]*`, `$1${END}`],
  [NO_END, " "],
  [`${END}+$`, ""],
].map(([pattern, replacement]) => [new RegExp(pattern, "gu"), replacement]);

/** Split a text into its sentences, at least one. */
export function splitText(text) {
  for (const [pattern, replacement] of REPLACEMENTS) text = text.replace(pattern, replacement);
  return text.split(END);
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
