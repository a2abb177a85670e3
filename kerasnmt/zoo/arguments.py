"""Arguments that several models of the zoo share, documented once."""

# Description of each argument in the "Args" of models whose own docstring does not describe it.
ARGUMENTS = {
    "source": "Tokenizer of the source, or the size of its vocabulary for a model that takes only "
    "ids.",
    "target": "Tokenizer of the target, or the size of its vocabulary. None for the same "
    "as the source.",
    "cell": "Class of the recurrent cells, `kerasnmt.layers.GRUCell` or `LSTMCell`.",
    "readout": "Layer that turns word, state and context into the generator's features.",
    "embedding_scale": "Bound of the first embeddings, which are uniform in [-embedding_scale, "
    "embedding_scale].",
    "gate": "Gate of a pointer-generator, which chooses between generating and copying.",
    "pointer": "Pointer of a pointer-generator, an attention layer, or None for the decoder's "
    "attention.",
    "name": "Name of the model.",
    "embedding_dim": "Size of an embedded word.",
    "num_layers": "Number of layers of the encoder and of the decoder, at least 1. Stacked layers "
    "use residual connections.",
    "normalizer": 'Normalizer of the attention: "softmax", "sparsemax" or "entmax15", or a '
    "`kerasnmt.layers.Normalizer`, such as `Entmax(1.3)`. The latter two of these names give most "
    "positions a weight of exactly 0.",
    "attention": 'Kind of attention, or an attention layer. "global" is the usual one. '
    '"location_sensitive" also reads the earlier weights (`kerasnmt.layers.LocationFeatures`). '
    '"monotonic" never goes back, and "chunkwise" is a softmax over the 3 positions up to a '
    'monotonic one (`MonotonicAttention`). "gaussian" is a mixture of Gaussians that moves through '
    "the source (`GaussianAttention`).",
    "coverage": "Weight of the coverage loss, or None for attention without coverage. 0 gives "
    "coverage without a loss. Start with a small weight, such as 0.1. See, Liu and Manning (2017) "
    "use 1, but for a trained model.",
    "dropout": "Dropout rate of the embedded words, of the inputs of the encoder's layers and the "
    "decoder's upper layers, and of the readout.",
    "context_dropout": "Dropout rate of the annotations, which the attention sums up.",
    "output_dropout": "Dropout rate of the readout, or None for the rate `dropout`.",
    "layer_normalization": "Whether the recurrent cells normalize their inputs and states; see "
    "`kerasnmt.layers.NormalizedGRUCell`. The gradients are steadier, and a step takes longer.",
    "state_dropout": "Dropout rate of the recurrent states, with one mask for all steps; see "
    "`kerasnmt.layers.StateDropout`.",
    "tags": 'How the encoder reads the tags of a source, such as `<V>`: "tokens" like all other '
    'tokens, "concat" or "sum" as features of the others, in any order; see '
    "`kerasnmt.layers.TagFeatures`. The latter two need a source tokenizer with tags.",
    "tie_embeddings": "Whether the output projection uses the target embeddings as its weights.",
    "share_embeddings": "Whether source and target use one embedding matrix. Both must have the "
    "same tokenizer or size.",
}
