"""Model that captions images."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.decoding import SearchOptions
from kerasnmt.models.checks import check_vocabulary
from kerasnmt.models.encoder_decoder import EncoderDecoder
from kerasnmt.models.text_model import TextModel


@keras.saving.register_keras_serializable("kerasnmt")
class CaptionModel(EncoderDecoder, TextModel):
    """Encoder, bridge and decoder that caption an image.

    The inputs are a dict:

        {"images": [batch, height, width, channels], "target_ids": int32 [batch, target_length]}

    The images are uint8 or float from 0 to 255, and have the size that the encoder takes. See
    `EncoderDecoder` for `target_ids`, targets and `alignments`. The decoder attends to the regions
    of the image, row by row from the top.

    The model works with every Keras backend. `caption` needs a tokenizer, and Keras on TensorFlow
    or JAX. `export` needs TensorFlow. `kerasnmt.zoo.show_attend_tell_lstm` creates such a model,
    and `kerasnmt.data.caption_batches` creates its inputs.

    Args:
        encoder: An `ImageEncoder`.
        bridge: Layer that computes the first states of the decoder from the states of the encoder,
            such as `DenseBridge`.
        decoder: A decoder that does not copy.
        target_tokenizer: A `kerasnmt.text` tokenizer of captions, or None if the model takes only
            ids.

    Raises:
        ValueError: If the decoder copies words of a source, or the tokenizer has more ids than
            there are embeddings.
    """

    pipeline_tag = "image-to-text"
    request_fields = ("image",)
    takes_requests = "model.caption"
    makes_batches = "caption_batches"
    options_class = SearchOptions

    def __init__(
        self,
        encoder: keras.layers.Layer,
        bridge: keras.layers.Layer | None,
        decoder: keras.layers.Layer,
        target_tokenizer: Any = None,
        **kwargs,
    ) -> None:
        if decoder.copies:
            raise ValueError(
                "Expected a decoder that does not copy, because an image has no words. Received: "
                f"{type(decoder).__name__}."
            )
        super().__init__(encoder, bridge, decoder, **kwargs)
        self.target_tokenizer = target_tokenizer
        check_vocabulary("target", target_tokenizer, decoder.embedding.input_dim)
        self.make_weights()

    def caption(self, images: Sequence[Any], *, batch_size: int = 64, **options) -> list[str]:
        """Caption images. An export gives the same captions.

        Args:
            images: Contents of PNG or JPEG files as bytes, or uint8 arrays
                `[height, width, channels]`. Images of another size are stretched to the size that
                the encoder takes.
            batch_size: Number of images in a batch.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`. The
                model's `search_options` hold for those that are left out.

        Returns:
            The captions, in the order of the images. A file that cannot be read has an empty
            caption.

        Raises:
            ValueError: If the model has no tokenizer, an option is out of range, an image has
                another type, `batch_size` is below 1, or the Keras backend is not TensorFlow or
                JAX.
        """
        return self._searcher(options).caption(images, batch_size=batch_size)
