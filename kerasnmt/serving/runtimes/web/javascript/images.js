/** Pixels of images, as in `kerasnmt.runtime.images`. */

// A browser gives the numbers in a file as they are.
const AS_IT_IS = { colorSpaceConversion: "none", premultiplyAlpha: "none" };
// Shares of red, green and blue in gray, times 2^15.
const SHARES = [9797, 19234, 3737];

/**
 * Return the pixels of an image.
 *
 * @param {object} image `{data, width, height}`; or, in a browser, a `Blob` of a file, or what a
 *   canvas can draw.
 * @returns {Promise<?object>} `{data, width, height}`, or null for a file that cannot be read.
 * @throws {Error} If it is none of them.
 */
export async function decodedImage(image) {
  if (image.data) return checked(image);
  if (!globalThis.createImageBitmap)
    throw new Error(
      "Expected an image as {data, width, height}, because there is no browser to decode it. " +
        `Received: ${image.constructor?.name}.`,
    );
  const isFile = image instanceof Blob;
  const bitmap = await createImageBitmap(image, AS_IT_IS).catch((error) => {
    if (isFile) return null;
    throw new Error(`Expected an image that a canvas can draw. Received: ${error.message}`);
  });
  if (!bitmap) return null;
  const { width, height } = bitmap;
  const pen = new OffscreenCanvas(width, height).getContext("2d");
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
  return pen.getImageData(0, 0, width, height);
}

function checked({ data, width, height }) {
  const channels = data.length / (width * height);
  if (![1, 3, 4].includes(channels))
    throw new Error(
      "Expected an image as {data, width, height} with 1, 3 or 4 bytes for each pixel. Received: " +
        `${data.length} bytes, width=${width}, height=${height}.`,
    );
  return { data, width, height };
}

/**
 * Resize an image by bilinear interpolation with antialiasing, and convert it to gray or color.
 *
 * @param {object} image `{data, width, height}`.
 * @param {number} height New height.
 * @param {number} width New width.
 * @param {number} channels 1 for gray, 3 for red, green and blue.
 * @returns {Float32Array} Numbers of `[height, width, channels]`.
 */
export function fitted(image, height, width, channels) {
  const rows = withChannels(image, channels);
  const columns = transposed(withRows(rows, image.height, height), height, image.width, channels);
  return transposed(withRows(columns, image.width, width), width, height, channels);
}

function withChannels({ data, width, height }, channels) {
  const count = width * height;
  const before = data.length / count;
  const pixels = new Float32Array(count * channels);
  for (let place = 0; place < count; place++) {
    const own = (channel) => data[place * before + (before < 3 ? 0 : channel)];
    if (channels === 1)
      pixels[place] = SHARES.reduce((sum, share, channel) => sum + share * own(channel), 0) >> 15;
    else for (let channel = 0; channel < 3; channel++) pixels[place * 3 + channel] = own(channel);
  }
  return pixels;
}

/** Return an image with another number of rows, which are weighted means of the old rows. */
function withRows(pixels, before, count) {
  const size = pixels.length / before;
  const step = before / count;
  const reach = Math.max(step, 1); // distance at which a row has no weight
  const rows = new Float32Array(count * size);
  for (let row = 0; row < count; row++) {
    const center = (row + 0.5) * step - 0.5;
    const first = Math.max(Math.ceil(center - reach), 0);
    const last = Math.min(Math.floor(center + reach), before - 1);
    const length = last - first + 1;
    const weights = Array.from({ length }, (_, i) => 1 - Math.abs(first + i - center) / reach);
    const total = weights.reduce((sum, one) => sum + one, 0);
    for (let i = 0; i < size; i++) {
      let sum = 0;
      for (let other = 0; other < length; other++)
        sum += weights[other] * pixels[(first + other) * size + i];
      rows[row * size + i] = sum / total;
    }
  }
  return rows;
}

/** Exchange the rows and the columns of `[rows, columns, channels]`. */
function transposed(pixels, rows, columns, channels) {
  const exchanged = new Float32Array(pixels.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      for (let channel = 0; channel < channels; channel++)
        exchanged[(column * rows + row) * channels + channel] =
          pixels[(row * columns + column) * channels + channel];
  return exchanged;
}
