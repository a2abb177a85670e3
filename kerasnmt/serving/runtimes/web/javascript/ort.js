/**
 * The version of onnxruntime-web, the address of its files, and their hashes. The hashes are made
 * from the npm package of this version; tests/serving/runtimes/test_web.py compares them.
 */
export default {
  "version": "1.30.0",
  "address": "https://cdn.jsdelivr.net/npm/onnxruntime-web@1.30.0/dist/",
  "files": {
    "ort.wasm.bundle.min.mjs": "sha384-PLWz+nHEVHpjwBsO0YVdvQj6n5814Iv8E3b8FG0Rp/uIAtjFMCKOpP66iPzedrIG",
    "ort-wasm-simd-threaded.wasm": "sha384-vjBJ1z7qrhkTyYsNqKeF6c7N+nOJSU94czEo+tvZcu8G75JparGq9kB+kTnEUNVM"
  }
};
