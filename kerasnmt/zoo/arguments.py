"""The arguments that several models of the zoo share, documented once."""

# What the section "Args" of a model says of an argument that its own docstring leaves out.
ARGUMENTS = {
    "source": "A tokenizer, or the size of the source vocabulary where only ids are fed.",
    "target": "The same for the target; None shares the source's.",
    "cell": "Class of the recurrent cells, `kerasnmt.layers.GRUCell` or `LSTMCell`.",
    "readout": "Layer that turns word, state and context into the generator's features.",
    "embedding_scale": "The embeddings start uniform in [-embedding_scale, embedding_scale].",
    "gate": "Of a pointer-generator, the gate between generating and copying.",
    "pointer": "Of a pointer-generator, an attention to point with; None for the decoder's own.",
    "name": "Name of the model.",
    "embedding_dim": "Size of an embedded word.",
    "num_layers": "Number of layers of the encoder and of the decoder's cell, at least 1. Stacked "
    "layers use residual connections.",
    "coverage": "Weight of the coverage loss: 0 for coverage without a loss, None for an attention "
    "without coverage. Start small, for example with 0.1; See et al. (2017) add it, with weight 1, "
    "to a trained model.",
    "dropout": "Dropout rate of the embedded words, of the inputs of the encoder's layers and of "
    "the readout.",
    "state_dropout": "Dropout rate of the recurrent states, with one mask for all steps, see "
    "`kerasnmt.layers.StateDropout`.",
    "tie_embeddings": "Whether the output projection uses the target embeddings as its weights.",
    "share_embeddings": "Whether source and target use one embedding matrix, which needs one "
    "tokenizer (or size) for both.",
}
