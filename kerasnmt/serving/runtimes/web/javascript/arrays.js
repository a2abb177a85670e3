/**
 * Arrays with shapes, `{type, data, dims}`, as the tensors of ONNX Runtime have them.
 */

/**
 * Return an entry by an index over the first axes, as if these were one axis.
 *
 * @param {object} array Array.
 * @param {number} index Index.
 * @param {number} axes Number of the first axes.
 * @returns {TypedArray} The entry, which shares its memory with the array.
 */
export function entry(array, index, axes) {
  const size = product(array.dims.slice(axes));
  return array.data.subarray(index * size, (index + 1) * size);
}

/**
 * Return an array of some of its entries.
 *
 * @param {object} array Array `[..., ...rest]`.
 * @param {number[]} indices Indices over the first axes; see `entry`.
 * @param {number[]} dims New sizes of the first axes, as many as they were before.
 * @returns {object} Array `[...dims, ...rest]`.
 */
export function take(array, indices, dims) {
  const rest = array.dims.slice(dims.length);
  const size = product(rest);
  const data = new array.data.constructor(indices.length * size);
  indices.forEach((index, place) => data.set(entry(array, index, dims.length), place * size));
  return { type: array.type, data, dims: [...dims, ...rest] };
}

/** Return an array with one more entry along an axis, which is 0. */
export function extended(array, axis) {
  const dims = array.dims.map((size, number) => size + (number === axis));
  const data = new array.data.constructor(product(dims));
  const before = product(array.dims.slice(axis));
  const after = product(dims.slice(axis));
  for (let place = 0; place * before < array.data.length; place++)
    data.set(array.data.subarray(place * before, (place + 1) * before), place * after);
  return { type: array.type, data, dims };
}

/** Return rows of ids as an array, int32 `[rows, length]`, padded with 0. */
export function padded(rows) {
  const length = Math.max(0, ...rows.map((row) => row.length));
  const data = new Int32Array(rows.length * length);
  rows.forEach((row, number) => data.set(row, number * length));
  return { type: "int32", data, dims: [rows.length, length] };
}

/** Apply a function to each array of an object. */
export function mapped(arrays, change) {
  return Object.fromEntries(Object.entries(arrays).map(([name, one]) => [name, change(one)]));
}

function product(sizes) {
  return sizes.reduce((total, size) => total * size, 1);
}
