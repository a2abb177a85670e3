/** Models that caption images on ONNX Runtime, as in `kerasnmt.runtime.captioning`. */

import { decodedImage, fitted } from "./images.js";
import { SearchModel } from "./model.js";

/**
 * Model that captions images.
 *
 * The methods take one image, and return one answer, or a list, and return a list. An image is
 * `{data, width, height}` with 1, 3 or 4 bytes for each pixel, such as `ImageData`; in a browser,
 * it can also be a file as a `Blob`, or what a canvas can draw.
 */
export class CaptionModel extends SearchModel {
  get page() {
    return { ...super.page, drawing: "regions", grid: this.description.grid };
  }

  /** Return the caption of an image, or of each image; see `best`. */
  async caption(images, options = {}) {
    const best = await this.best(images, options);
    return Array.isArray(best) ? best.map(({ text }) => text) : best.text;
  }

  /**
   * Return the best caption of an image, or of each image, with its score.
   *
   * @param {object|object[]} images Images. A file that cannot be read has an empty caption.
   * @param {object} options `batchSize`.
   * @returns {Promise<object|object[]>} `{text, score}` of each image. The score is the
   *   log-probability divided by the length penalty.
   */
  async best(images, options = {}) {
    return this.#ask(images, options, (sources) => this._best(sources));
  }

  /** Return all captions of an image in the beam, best first, as `{text, score}`; see `best`. */
  async nBest(images, options = {}) {
    return this.#ask(images, options, (sources) => this._ranked(sources));
  }

  /** Return the `SentenceAttention` of an image and its best caption; see `best`. */
  async attention(images, options = {}) {
    return this.#ask(images, options, (sources) => this._attention(sources));
  }

  /** Turn a request of the page, with a file in base64, into a source. */
  readRequest({ image }) {
    return this.read(new Blob([Uint8Array.from(atob(image), (one) => one.charCodeAt(0))]));
  }

  /** Turn an image into the `inputs` of the model; it is `empty` if it cannot be read. */
  async read(image) {
    const [height, width, channels] = this.description.image_shape;
    const pixels = await decodedImage(image);
    const images = pixels
      ? fitted(pixels, height, width, channels)
      : new Float32Array(height * width * channels);
    return { inputs: { images }, empty: !pixels };
  }

  _inputs(rows) {
    const shape = this.description.image_shape;
    const data = new Float32Array(rows.length * rows[0].images.length);
    rows.forEach(({ images }, row) => data.set(images, row * images.length));
    return { images: { type: "float32", data, dims: [rows.length, ...shape] } };
  }

  _sourceTokens() {
    const [rows, columns] = this.description.grid;
    const region = (_, place) => `${1 + Math.floor(place / columns)},${1 + (place % columns)}`;
    return { sourceTokens: Array.from({ length: rows * columns }, region) };
  }

  async #ask(images, options, answer) {
    return this._ask({ images }, options, async (rows) =>
      answer(await Promise.all(rows.map((row) => this.read(row.images)))),
    );
  }
}
