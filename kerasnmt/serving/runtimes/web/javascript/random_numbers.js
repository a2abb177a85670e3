/**
 * The random numbers of `kerasnmt.decoding`: they depend on the content of a row.
 */

/**
 * Hash the inputs of a row to a number.
 *
 * @param {Object<string, number[]|Float32Array>} inputs Ids or numbers of the row, by the names of
 *   the inputs.
 * @returns {number} Unsigned integer of 32 bits.
 */
export function rowKey(inputs) {
  let key = 0;
  for (const name of Object.keys(inputs).sort())
    key = bits(inputs[name]).reduce(
      (sum, id, position) => sum + (id ? mix(mix(id) + mix(position + 1)) : 0),
      mix(key)
    );
  return key >>> 0;
}

/**
 * Draw a uniform random number.
 *
 * @param {number} key Key of a row.
 * @param {number} seed Seed.
 * @param {number} counter Which number of this key and seed.
 * @returns {number} Number in [0, 1), of 24 bits.
 */
export function uniform(key, seed, counter) {
  return (mix(mix(key + mix(seed + 1)) + mix(counter + 1)) >>> 8) * 2 ** -24;
}

/** Make every bit of a number of 32 bits depend on every other bit, as MurmurHash3 does. */
function mix(number) {
  number = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  number = Math.imul(number ^ (number >>> 13), 0xc2b2ae35);
  return (number ^ (number >>> 16)) >>> 0;
}

/** Return ids, or the bits of each number. */
function bits(numbers) {
  return numbers instanceof Float32Array ? new Int32Array(numbers.buffer) : numbers;
}
