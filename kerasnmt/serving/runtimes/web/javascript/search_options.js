/** Options of the search: those of `kerasnmt.decoding.SearchOptions`, with its names and ranges. */

const integer = (least, most) => ({
  expected: `an integer from ${least} to ${most}`,
  fits: (value) => Number.isInteger(value) && value >= least && value <= most,
});
const number = (expected, fits) => ({
  expected: `a finite number ${expected}`,
  fits: (value) => Number.isFinite(value) && fits(value),
});
const oneOf = (...values) => ({
  expected: `one of ${values.map(String).join(", ")}`,
  fits: (value) => values.includes(value),
});
const orNull = ({ expected, fits }) => ({
  expected: `${expected}, or null`,
  fits: (value) => value === null || fits(value),
});
const notNegative = number(">= 0", (value) => value >= 0);
const positive = number("> 0", (value) => value > 0);

const OPTIONS = {
  beam_size: integer(1, 1000),
  length_penalty: notNegative,
  length_normalization: oneOf("wu", "length"),
  coverage_penalty: notNegative,
  min_length: integer(1, 1e5),
  max_length: integer(2, 1e5), // a token and the end
  max_length_ratio: orNull(positive),
  max_length_margin: integer(0, 1e5),
  no_repeat_ngram: integer(0, 1e5),
  allow_unknown: oneOf(true, false, null),
  samples: integer(0, 1000),
  temperature: positive,
  top_k: integer(0, 2 ** 31 - 1),
  top_p: number("above 0 and at most 1", (value) => value > 0 && value <= 1),
  seed: integer(0, 2 ** 31 - 1),
};
const OF_SAMPLES = { temperature: 1, top_k: 0, top_p: 1, seed: 0 };

/**
 * Return the options of a description with changes, checked.
 *
 * @param {object} description Content of `kerasnmt.json`.
 * @param {object} changes Options by name, such as `{beam_size: 8}`.
 * @throws {Error} If an option is unknown, out of range, contradicts another one, or is not for
 *   this model.
 */
export function searchOptions(description, changes) {
  const names = Object.keys(OPTIONS);
  for (const name of Object.keys(changes))
    if (!names.includes(name))
      throw new Error(`Expected the search options ${names.join(", ")}. Received: ${name}`);
  const options = Object.fromEntries(names.map((name) => [name, description[name]]));
  Object.assign(options, changes);
  const check = (fits, expected, ...received) => {
    if (fits) return;
    const values = received.map((name) => `${name}=${JSON.stringify(options[name])}`);
    throw new Error(`Expected ${expected}. Received: ${values.join(", ")}`);
  };
  for (const [name, { expected, fits }] of Object.entries(OPTIONS))
    check(fits(options[name]), `${expected} as ${name}`, name);
  const { min_length, max_length, samples, coverage_penalty } = options;
  check(min_length <= max_length, "min_length from 1 to max_length", "min_length", "max_length");
  const positions = description.positions ?? max_length;
  const room = `max_length of at most ${positions}, the number of learned positions`;
  check(max_length <= positions, room, "max_length");
  const samplesFit = !(samples && coverage_penalty);
  check(samplesFit, "coverage_penalty=0 with samples", "coverage_penalty", "samples");
  for (const [name, usual] of Object.entries(OF_SAMPLES))
    check(samples || options[name] === usual, `samples=1 or more with ${name}`, name, "samples");
  const attends = description.graphs.records.includes("weights");
  const expected = "a model with attention, for a coverage penalty";
  check(!coverage_penalty || attends, expected, "coverage_penalty");
  return options;
}
