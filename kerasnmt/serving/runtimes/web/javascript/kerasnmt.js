/**
 * Models of `kerasnmt export MODEL SITE --runtime web`, in browsers and in Node.
 *
 *     import { load } from "./kerasnmt.js";
 *     const model = await load("./model");
 *     console.log(await model.translate("two dogs run ."));
 */

import { AnsweringModel } from "./answering.js";
import { CaptionModel } from "./captioning.js";
import onnxruntime from "./ort.js";
import { TranslationModel } from "./translation.js";

const FORMAT = 1;
const TOKENIZERS = "tokenizers.json";
// Class of the models that read these fields of a request.
const MODELS = {
  text: TranslationModel,
  "text,context": TranslationModel,
  image: CaptionModel,
  "story,question": AnsweringModel,
};
const IN_NODE = Boolean(globalThis.process?.versions?.node);

/**
 * Load a model.
 *
 * @param {string | URL} address Address of a folder of `kerasnmt export --runtime onnx`, such as
 *   the `model` of a site; or its path, in Node.
 * @param {object} options Options of `kerasnmt.decoding.SearchOptions` in place of those of the
 *   export, such as `beam_size`; and `ort`, the module onnxruntime-web or onnxruntime-node. By
 *   default, a browser loads the files that `ort.js` names, and Node the package onnxruntime-web.
 * @returns {Promise<Model>} A `TranslationModel`, `CaptionModel` or `AnsweringModel`.
 * @throws {Error} If there is no such folder, a file is damaged, or an option is unknown, out of
 *   range or not for this model.
 */
export async function load(address, { ort, ...changes } = {}) {
  if (ort !== undefined && !ort?.InferenceSession)
    throw new Error(`Expected the module onnxruntime-web or -node as ort. Received: ${ort}`);
  const folder = String(address).replace(/\/*$/, "/");
  const fail = (error) => {
    throw new Error(`${address}: the model cannot be loaded: ${error.message}`);
  };
  const description = await described(`${folder}kerasnmt.json`).catch(fail);
  const model = MODELS[description.inputs];
  const changed = model.withOptions(description, changes);
  const names = [...model.graphs, TOKENIZERS];
  const files = names.map((name) => read(folder + name, description.files[name]));
  const parts = [Promise.all(files).catch(fail), ort ?? loadedRuntime()];
  const [contents, { InferenceSession, Tensor }] = await Promise.all(parts);
  const tokenizers = contents.pop();
  const created = async () => {
    const sessions = [];
    for (const graph of contents) sessions.push(await InferenceSession.create(graph));
    return new model({ description: changed, tokenizers: parsed(tokenizers), sessions, Tensor });
  };
  return created().catch(fail);
}

async function described(file) {
  const description = parsed(await read(file));
  if (description.format > FORMAT)
    throw new Error(`its format ${description.format} is newer than ${FORMAT}. Update kerasnmt.js`);
  const model = MODELS[description.inputs];
  const names = [...(model?.graphs ?? []), TOKENIZERS];
  if (description.format !== FORMAT || !model || !names.every((name) => description.files?.[name]))
    throw new Error("kerasnmt.json is damaged. Copy or export it again");
  return description;
}

let runtime; // promise of ONNX Runtime

/** Return ONNX Runtime, which is loaded once. */
function loadedRuntime() {
  const used = (ort) => {
    ort.env.wasm.numThreads = 1; // more threads wait for each other for longer
    return ort;
  };
  runtime ??= (IN_NODE ? fromPackage() : fromFiles()).then(used, (error) => {
    runtime = undefined;
    throw error;
  });
  return runtime;
}

async function fromPackage() {
  try {
    return await import("onnxruntime-web");
  } catch {
    throw new Error(
      "Expected the package onnxruntime-web, which is not installed. " +
        `Install it: npm install onnxruntime-web@${onnxruntime.version}`,
    );
  }
}

/** Load ONNX Runtime, whose script and program are checked before they run. */
async function fromFiles() {
  const address = new URL(onnxruntime.address, import.meta.url);
  const files = Object.entries(onnxruntime.files).map(([name, hash]) =>
    read(new URL(name, address).href, hash),
  );
  const [script, program] = await Promise.all(files);
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const ort = await import(url);
  ort.env.wasm.wasmBinary = program;
  return ort;
}

/**
 * Read a file.
 *
 * @param {string} file Its address, or its path in Node.
 * @param {string} hash SHA-256 in hexadecimal digits, or the hash of an `integrity` attribute.
 */
async function read(file, hash) {
  if (IN_NODE && !/^https?:/.test(file)) return readFromDisk(file, hash);
  const integrity = /^[0-9a-f]{64}$/.test(hash) ? `sha256-${base64(hash)}` : hash;
  // Without "no-cache", a browser may mix kept files of an old model with files of a new one.
  const response = await fetch(file, { integrity, cache: "no-cache" }).catch(() => {
    throw new Error(`${file} cannot be fetched, or is damaged. Copy or export it again`);
  });
  if (!response.ok) throw new Error(`${file} cannot be fetched: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function readFromDisk(file, hash) {
  const [{ readFile }, { createHash }] = [
    await import("node:fs/promises"),
    await import("node:crypto"),
  ];
  const bytes = await readFile(file.startsWith("file:") ? new URL(file) : file);
  if (hash && createHash("sha256").update(bytes).digest("hex") !== hash)
    throw new Error(`${file} is damaged. Copy or export it again`);
  return bytes;
}

function base64(hexadecimal) {
  return btoa(hexadecimal.replace(/../g, (byte) => String.fromCharCode(parseInt(byte, 16))));
}

function parsed(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}
