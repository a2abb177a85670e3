/**
 * The encoder and the step of a model on ONNX Runtime.
 */

import { extended } from "./arrays.js";

let last = Promise.resolve(); // the run that begins last

export class Graphs {
  /**
   * @param {object} sessions `encoder` and `step`, each an `InferenceSession` of ONNX Runtime, and
   *   its class `Tensor`.
   * @param {object} names Names of the states with their axes of time (`states`), of the parts of
   *   the memory (`memory`) and of the records (`records`).
   */
  constructor({ encoder, step, Tensor }, names) {
    Object.assign(this, { encoder, stepper: step, Tensor, names });
  }

  /**
   * Read the source.
   *
   * @param {Object<string, object>} inputs Inputs of the model, int32 `[batch, length]` each.
   * @returns {Promise<object>} The first `states`, `[batch, 1, ...]`, the `memory`, `[batch, ...]`,
   *   and the `mask` of the source, `[batch, sourceLength]`.
   */
  async encode(inputs) {
    const outputs = await this.#run(this.encoder, inputs);
    return {
      states: named(outputs, Object.keys(this.names.states)),
      memory: named(outputs, this.names.memory),
      mask: outputs.source_mask,
    };
  }

  /** Predict the next tokens; see `search`. */
  async step(ids, states, memory) {
    const { states: axes, records } = this.names;
    const inputs = { ids, ...memory };
    for (const [name, axis] of Object.entries(axes))
      inputs[name] = axis === null ? states[name] : extended(states[name], axis);
    const outputs = await this.#run(this.stepper, inputs);
    return {
      logProbabilities: outputs.log_probabilities,
      records: named(outputs, records),
      states: named(outputs, Object.keys(axes), "new_"),
    };
  }

  /**
   * Run a graph, which may not read all of the inputs.
   *
   * The runs of all models wait for each other: in onnxruntime-web they share a stack, and would
   * read each other's outputs.
   */
  #run(session, inputs) {
    const feeds = {};
    for (const name of session.inputNames) {
      const { type, data, dims } = inputs[name];
      feeds[name] = new this.Tensor(type, data, dims);
    }
    const run = last.then(() => session.run(feeds));
    last = run.catch(() => {});
    return run;
  }
}

/** Return some outputs by name, without the prefix of their names. */
function named(outputs, names, prefix = "") {
  return Object.fromEntries(names.map((name) => [name, outputs[prefix + name]]));
}
