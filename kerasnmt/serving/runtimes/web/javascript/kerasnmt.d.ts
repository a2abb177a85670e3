/** Options of the search, as `kerasnmt.decoding.SearchOptions` describes them. */
export interface SearchOptions {
  beam_size?: number;
  length_penalty?: number;
  length_normalization?: "wu" | "length";
  coverage_penalty?: number;
  min_length?: number;
  max_length?: number;
  max_length_ratio?: number | null;
  max_length_margin?: number;
  no_repeat_ngram?: number;
  allow_unknown?: boolean | null;
  samples?: number;
  temperature?: number;
  top_k?: number;
  top_p?: number;
  seed?: number;
}

/** The module onnxruntime-web or onnxruntime-node. */
export interface OnnxRuntime {
  InferenceSession: { create(model: Uint8Array): Promise<unknown> };
  Tensor: new (...parts: any[]) => unknown;
}

/**
 * Load the model in a folder of `kerasnmt export --runtime onnx`, such as `./model` of a site.
 *
 * `load<CaptionModel>(…)` is the type of a model that captions images, and `load<AnsweringModel>(…)`
 * of one that answers questions, which takes no options of the search.
 */
export function load<Loaded extends Model = TranslationModel>(
  address: string | URL,
  options?: SearchOptions & { ort?: OnnxRuntime },
): Promise<Loaded>;

/** A text, or a list of texts. */
type Texts = string | string[];
/** An answer to a text, or a list of an answer to each text. */
type Answers<T extends Texts, Answer> = Promise<T extends string ? Answer : Answer[]>;

/** Options of questions; `contexts` belong to models that read contexts. */
interface Asking<T extends Texts> {
  contexts?: T;
  batchSize?: number;
}

export interface Translation {
  text: string;
  /** Log-probability divided by the length penalty. */
  score: number;
}

/** A translation, and how sure the model is of it. */
export interface Confidence extends Translation {
  /** Words of the text, and of each its probability, the entropy in its place, and its margin. */
  words: string[];
  probabilities: number[];
  entropies: number[];
  margins: number[];
  /** Log-probability with the end token, and its exponential. */
  logProbability: number;
  readonly probability: number;
  /** Number of tokens with the end token, their mean entropy and least margin. */
  tokens: number;
  entropy: number;
  margin: number;
  /** Probability that each word is right, and expected share of right words, if calibrated. */
  calibratedProbabilities?: number[];
  calibratedProbability?: number;
}

/** What a step of a search adds to a translation. */
export interface Progress {
  /** Text that follows the earlier pieces, and never changes. It may be empty. */
  piece: string;
  /** Text that follows it in the best translation so far. */
  provisional: string;
  /** Score of the translation after the last step. */
  score: number | null;
}

export interface SentenceAttention {
  /** Tokens with the end token. */
  sourceTokens: string[];
  targetTokens: string[];
  contextTokens?: string[];
  /** Weights of the source tokens for each target token. */
  weights: ArrayLike<number>[];
  contextWeights?: ArrayLike<number>[];
  /** Weights with which the model copies from the source, if they are not `weights`. */
  pointerWeights?: ArrayLike<number>[];
  /** Probability with which each target token is generated, not copied. */
  generateProbability?: number[];
  /** Probability with which each target token is copied from the context. */
  contextProbability?: number[];
  /** Links between words: pairs of a source word and a target word, from 0. */
  alignment(): [number, number][];
}

export interface Model {
  /** Content of `kerasnmt.json`, with the options of the search. */
  readonly description: Record<string, any>;
}

/** A model. Each method takes a text and returns an answer, or takes a list and returns a list. */
export interface TranslationModel extends Model {
  /** The best translation. `prefixes` are words with which the translations begin. */
  translate<T extends Texts>(
    texts: T,
    options?: Asking<T> & { prefixes?: T },
  ): Answers<T, string>;
  /** The best translation with its score. */
  best<T extends Texts>(
    texts: T,
    options?: Asking<T> & { prefixes?: T },
  ): Answers<T, Translation>;
  /** Pieces of a translation as they are made. Together, they are the translation. */
  stream(
    text: string,
    options?: { contexts?: string; prefixes?: string },
  ): AsyncGenerator<string, void>;
  /** The same with the words that may still change, and the score. */
  progress(
    text: string,
    options?: { contexts?: string; prefixes?: string },
  ): AsyncGenerator<Progress, void>;
  /** The best translation, and how sure the model is of its words. */
  confidence<T extends Texts>(texts: T, options?: Asking<T>): Answers<T, Confidence>;
  /** All translations in the beam, best first. A text is one word, if the model splits words. */
  nBest<T extends Texts>(texts: T, options?: Asking<T>): Answers<T, Translation[]>;
  /** Log-probability of a given translation, with the end token. */
  score<T extends Texts>(texts: T, targets: T, options?: Asking<T>): Answers<T, number>;
  /** Attention between a text and its best translation. A text is one word, as for `nBest`. */
  attention<T extends Texts>(texts: T, options?: Asking<T>): Answers<T, SentenceAttention>;
  /** Attention between a text and a given translation. */
  forcedAttention<T extends Texts>(
    texts: T,
    targets: T,
    options?: Asking<T>,
  ): Answers<T, SentenceAttention>;
  /** Links between the words of a text and a given translation. */
  align<T extends Texts>(
    texts: T,
    targets: T,
    options?: Asking<T>,
  ): Answers<T, [number, number][]>;
}

/** An image: pixels of 1, 3 or 4 bytes; in a browser, also a `Blob`, or what a canvas can draw. */
type Picture =
  | { data?: ArrayLike<number>; readonly width: number; readonly height: number }
  | { readonly size: number; readonly type: string };
type OfPictures<T extends Picture | Picture[], Answer> = Promise<
  T extends any[] ? Answer[] : Answer
>;

/** A model. Each method takes an image and returns an answer, or takes a list and returns a list. */
export interface CaptionModel extends Model {
  /** The best caption. That of a file that cannot be read is empty. */
  caption<T extends Picture | Picture[]>(images: T, options?: Batches): OfPictures<T, string>;
  /** The best caption with its score. */
  best<T extends Picture | Picture[]>(images: T, options?: Batches): OfPictures<T, Translation>;
  /** All captions in the beam, best first. */
  nBest<T extends Picture | Picture[]>(images: T, options?: Batches): OfPictures<T, Translation[]>;
  /** Attention between the regions of an image, named by row and column, and its best caption. */
  attention<T extends Picture | Picture[]>(
    images: T,
    options?: Batches,
  ): OfPictures<T, SentenceAttention>;
}

interface Batches {
  batchSize?: number;
}

/** What a memory network read to answer a question. */
export interface StoryInspection {
  /** The sentences that were read. */
  sentences: string[];
  /** Weights of the sentences in each hop. */
  weights: ArrayLike<number>[];
  /** The most probable answers, best first, with their log-probabilities. */
  choices: { id: number; text: string; score: number }[];
}

/** Sentences of a story, or of each story. */
type Stories<T extends Texts> = T extends string ? string[] : string[][];

/** A model. Each method takes a story and a question, or lists of both, and returns a list. */
export interface AnsweringModel extends Model {
  /** The answer to the question. */
  answer<T extends Texts>(
    stories: Stories<T>,
    questions: T,
    options?: Batches,
  ): Answers<T, string>;
  /** The answer with its log-probability. */
  best<T extends Texts>(
    stories: Stories<T>,
    questions: T,
    options?: Batches,
  ): Answers<T, Translation>;
  /** Where the model looked, and the most probable answers. */
  inspect<T extends Texts>(
    stories: Stories<T>,
    questions: T,
    options?: Batches,
  ): Answers<T, StoryInspection>;
}
