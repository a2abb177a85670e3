/** Models that answer questions about stories, as in `kerasnmt.runtime.answering`. */

import { entry, padded } from "./arrays.js";
import { run } from "./graphs.js";
import { Model } from "./model.js";
import { bestExtensions } from "./search.js";
import { END_ID, PAD_ID } from "./tokenizers.js";
import { SPACES } from "./words.js";

const CHOICES = 10; // number of most probable answers of `inspect`

/**
 * Model that answers questions about stories.
 *
 * The methods take a story, which is a list of sentences, oldest first, and a question, and return
 * one answer; or take lists of both, and return a list.
 */
export class AnsweringModel extends Model {
  static graphs = ["answer.onnx"];

  constructor({ sessions: [session], Tensor, ...parts }) {
    super(parts);
    this.run = (inputs) => run(session, Tensor, inputs);
  }

  get page() {
    return { ...super.page, lead: "question", drawing: "hops", inspects: false };
  }

  /** Return the answer to a question about a story, or to each question; see `best`. */
  async answer(stories, questions, options = {}) {
    const best = await this.best(stories, questions, options);
    return Array.isArray(best) ? best.map(({ text }) => text) : best.text;
  }

  /**
   * Return the answer to a question about a story, or to each question, with its log-probability.
   *
   * @param {string[]|string[][]} stories Sentences of the story, or of each story.
   * @param {string|string[]} questions Question about the story, or about each story.
   * @param {object} options `batchSize`.
   * @returns {Promise<object|object[]>} `{text, score}` of each question. A question without words
   *   has an empty answer with the score 0.
   */
  async best(stories, questions, options = {}) {
    const found = await this.inspect(stories, questions, options);
    const best = ({ choices: [one] }) => ({ text: one?.text ?? "", score: one?.score ?? 0 });
    return Array.isArray(found) ? found.map(best) : best(found);
  }

  /**
   * Return where the model looked to answer a question, and its most probable answers; see `best`.
   *
   * @returns {Promise<object|object[]>} `{sentences, weights, choices}` of each question: the
   *   sentences that were read, the weights of each hop, and the answers `{id, text, score}`, best
   *   first. A question without words has no choices.
   */
  async inspect(stories, questions, options = {}) {
    return this._ask({ questions, stories }, options, async (rows) => {
      // A sentence becomes one line, even if it contains line breaks.
      const line = (sentence) => sentence.split(SPACES).join(" ");
      const stories = rows.map((row) => this.#storyIds(row.stories.map(line)));
      return this.#inspected(stories, rows.map((row) => row.questions));
    });
  }

  /** Answer the request of the page, whose story has one sentence per line. */
  async inspectRequest({ story, question }) {
    const [found] = await this.#inspected([this.#storyIds(story.split("\n"))], [question]);
    return found;
  }

  async #inspected(stories, questions) {
    const asked = questions.map((question) => this.#ids(question));
    const most = Math.max(1, ...stories.map((story) => story.length));
    const lines = stories.flatMap((story) => [...story, ...Array(most - story.length).fill([])]);
    const ids = atLeastOne(lines);
    const dims = [stories.length, most, ids.dims[1]];
    const outputs = await this.run({
      story_ids: { ...ids, dims },
      question_ids: atLeastOne(asked),
    });
    return stories.map((story, row) => {
      const hops = entry(outputs.weights, row, 1);
      const sentences = story.map((line) => this.source.tokens(line).join(" "));
      const weights = Array.from({ length: hops.length / most }, (_, hop) =>
        hops.slice(hop * most, hop * most + story.length),
      );
      const words = entry(outputs.log_probabilities, row, 1).subarray(END_ID + 1);
      const best = asked[row].length ? bestExtensions([0], [words], CHOICES) : [];
      const choices = best.map(({ id, score }) => {
        const word = id + END_ID + 1;
        return { id: word, text: this.target.decode([word]), score };
      });
      return { sentences, weights, choices };
    });
  }

  #ids(text) {
    return this.source.encode(text).slice(0, this.description.max_words);
  }

  /** Return the ids of the last sentences with words. */
  #storyIds(sentences) {
    const read = sentences.map((one) => this.#ids(one)).filter((ids) => ids.length);
    return read.slice(-this.description.max_sentences);
  }
}

/** Return padded ids of at least one token, because a graph takes no empty axis. */
function atLeastOne(rows) {
  return padded(rows.map((ids) => (ids.length ? ids : [PAD_ID])));
}
