/**
 * Graphs on ONNX Runtime.
 */

import { extended } from "./arrays.js";

const LONGEST_WAIT = 10; // milliseconds
let last = Promise.resolve(); // the run that begins last

/** The encoder and the step of a model. */
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
   * @param {Object<string, object>} inputs Inputs of the model, `[batch, ...]` each.
   * @returns {Promise<object>} The first `states`, `[batch, 1, ...]`, the `memory`, `[batch, ...]`,
   *   and the `mask` of the source, `[batch, sourceLength]`.
   */
  async encode(inputs) {
    const outputs = await run(this.encoder, this.Tensor, inputs);
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
    const outputs = await run(this.stepper, this.Tensor, inputs);
    return {
      logProbabilities: outputs.log_probabilities,
      records: named(outputs, records),
      states: named(outputs, Object.keys(axes), "new_"),
    };
  }
}

/**
 * Run a graph, which may not read all of the inputs.
 *
 * The runs of all models wait for each other: in onnxruntime-web they share a stack, and would read
 * each other's outputs. Between them, a page draws and reacts.
 */
export function run(session, Tensor, inputs) {
  const feeds = {};
  for (const name of session.inputNames) {
    const { type, data, dims } = inputs[name];
    feeds[name] = new Tensor(type, data, dims);
  }
  const running = last.then(otherTasks).then(() => session.run(feeds));
  last = running.catch(() => {});
  return running;
}

let rested = performance.now(); // when other tasks ran last

/** Let other tasks run, if they have waited. Timers would take longer in a tab in the background. */
async function otherTasks() {
  if (performance.now() - rested < LONGEST_WAIT) return;
  await new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(port1.close());
    port2.postMessage(null);
  });
  rested = performance.now();
}

/** Return some outputs by name, without the prefix of their names. */
function named(outputs, names, prefix = "") {
  return Object.fromEntries(names.map((name) => [name, outputs[prefix + name]]));
}
