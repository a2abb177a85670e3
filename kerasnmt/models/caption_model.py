"""The model that captions images."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasnmt.decoding import SearchOptions
from kerasnmt.models.seq2seq import Seq2Seq


@keras.saving.register_keras_serializable("kerasnmt")
class CaptionModel(Seq2Seq):
    """A `Seq2Seq` whose source is an image: its encoder looks, its decoder writes the caption.

    Inputs are

        {"images": [batch, height, width, channels], "target_ids": int32 [batch, target_length]}

    uint8 or float from 0 to 255, of the size that the encoder takes; targets are those of
    `Seq2Seq`, and so are its methods on inputs: `fit`, `search`, `attend`. The memory that is
    attended to is the regions of the image, the uppermost row first. All of this works on every
    Keras backend; with a tokenizer (and TensorFlow) `caption` and `export` give text.

    `kerasnmt.zoo.show_attend_tell_lstm` assembles it, and `kerasnmt.data.caption_batches` makes its
    inputs.

    Args:
        encoder: layer `images -> (memory, memory_mask, states)`, an `ImageEncoder`.
        bridge: as of `Seq2Seq`, for example `DenseBridge`.
        decoder: as of `Seq2Seq`, one that does not copy.
        target_tokenizer: a `kerasnmt.text` tokenizer of captions, or None where only ids are fed.

    Raises:
        ValueError: the decoder copies words of a source.
    """

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
                "Expected a decoder that does not copy, as an image has no words. Received: "
                f"{type(decoder).__name__}."
            )
        super().__init__(encoder, bridge, decoder, target_tokenizer=target_tokenizer, **kwargs)

    def _symbolic_source(self) -> dict[str, Any]:
        return {"images": keras.KerasTensor((None, *self.encoder.image_shape))}

    def caption(self, images: Sequence[Any], *, batch_size: int = 64, **options) -> list[str]:
        """Caption images, with the same graph that `export` writes.

        Args:
            images: each the bytes of a PNG or JPEG file, or an array uint8 `[height, width,
                channels]`; those of another size are stretched to the encoder's.
            batch_size: number of images captioned at once.
            **options: of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            one caption for each image, in order; an empty one for a file that cannot be read.

        Raises:
            ValueError: the model has no tokenizer, an option is out of range, an image is of
                another form, `batch_size` is below 1, or Keras does not run on TensorFlow.
        """
        self._need_tokenizer()
        SearchOptions.from_keywords(options)  # and no other options
        return self._graphs.captioner(self, **options).caption(images, batch_size=batch_size)

    def export(self, directory: str, *, weights: str = "float32", **options) -> str:
        """Write a SavedModel for TF Serving: the bytes of images in, captions out.

        It is written whole or not at all. For the signatures see `kerasnmt.serving.CaptionModule`.

        Args:
            directory: where to write, in TF Serving's shape `<name>/<version>`, the version a
                number; must not exist.
            weights: the numbers in which the weights are stored: "float32", or for a smaller
                export "float16" or "int8", see `kerasnmt.serving.StoredWeights`.
            **options: of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            the directory.

        Raises:
            ValueError: the model has no tokenizer, the directory exists, or an option is out of
                range.
        """
        self._need_tokenizer()
        from kerasnmt.serving import export_model

        return export_model(self, directory, weights=weights, **options)

    def serving_module(self, **options) -> Any:
        """Return what `export` writes, a `kerasnmt.serving.CaptionModule` with these options."""
        self._need_tokenizer()
        from kerasnmt.serving import CaptionModule

        return CaptionModule(self, **options)

    def _need_tokenizer(self) -> None:
        # Asked before anything that needs TensorFlow is imported.
        if self.target_tokenizer is None:
            raise ValueError(
                "Expected a model with a tokenizer, to write text. Received: a model made of a "
                "vocabulary's size. Make it with a tokenizer, or feed arrays to "
                'model.search({"images": images}).'
            )

    def _need_tokenizers(self) -> None:
        # Of the methods that take text.
        raise ValueError(
            f"Expected a model that reads text. Received: {self.name}, which reads images. Give "
            "them to model.caption, or with given captions to model.attend and "
            "model.token_log_probability."
        )

    def get_config(self) -> dict:
        """Return the constructor's arguments, the tokenizer with its vocabulary."""
        config = super().get_config()
        del config["source_tokenizer"], config["share_embeddings"]
        return config
