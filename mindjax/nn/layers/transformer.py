"""The transformer's decoder, and encoder and decoder together."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.attention import (
    MultiheadAttention,
    TransformerEncoder,
    TransformerEncoderLayer,
    activation_function,
    stack,
)
from mindjax.nn.cell import Cell
from mindjax.nn.dense import Dense
from mindjax.nn.dropout import Dropout
from mindjax.nn.normalization import LayerNorm
from mindjax.tensor.initializer import initializer


class TransformerDecoderLayer(Cell):
    """Attention to itself, to an encoder's output, and two dense layers (Vaswani 2017).

    MindSpore: ``nn.TransformerDecoderLayer``.

    Args:
        d_model: size of inputs and outputs.
        nhead: number of heads.
        dim_feedforward: size between the dense layers.
        dropout: probability of an element to be dropped while training.
        activation: ``"relu"``, ``"gelu"``, a ReLU or GELU Cell, or a function.
        layer_norm_eps: added to variances.
        batch_first: inputs are (N, T, E), not (T, N, E).
        norm_first: normalize before each part, not after.
        dtype: of the Parameters.

    Raises:
        ValueError: the activation is none of these, or the sizes do not fit.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()

        def attention() -> MultiheadAttention:
            return MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype
            )

        def norm() -> LayerNorm:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        self.self_attn, self.multihead_attn = attention(), attention()
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1, self.norm2, self.norm3 = norm(), norm(), norm()
        self.dropout1 = Dropout(p=dropout)
        self.dropout2 = Dropout(p=dropout)
        self.dropout3 = Dropout(p=dropout)
        self.activation1, self.activation = activation, activation_function(activation)
        self.d_model, self.nhead, self.dim_feedforward = d_model, nhead, dim_feedforward
        self.dropout_num, self.layernorm_eps = dropout, layer_norm_eps
        self.batch_first, self.dtype = batch_first, dtype

    def construct(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:
        """Decode.

        Args:
            tgt: (T, N, E), (N, T, E) with ``batch_first``, or (T, E).
            memory: the encoder's output (S, N, E), in the same order of axes.
            tgt_mask: (T, T) or (N * heads, T, T): True where a key is hidden, or numbers to add.
            memory_mask: (T, S) or (N * heads, T, S), the same for the encoder's output.
            tgt_key_padding_mask: (N, T), the same for the keys of each sample.
            memory_key_padding_mask: (N, S), the same for the encoder's output.

        Returns:
            Tensor of the shape of ``tgt``.
        """
        own, other = (tgt_mask, tgt_key_padding_mask), (memory_mask, memory_key_padding_mask)
        if self.norm_first:
            tgt = tgt + self._self_attention(self.norm1(tgt), *own)
            tgt = tgt + self._attention(self.norm2(tgt), memory, *other)
            return tgt + self._feed_forward(self.norm3(tgt))
        tgt = self.norm1(tgt + self._self_attention(tgt, *own))
        tgt = self.norm2(tgt + self._attention(tgt, memory, *other))
        return self.norm3(tgt + self._feed_forward(tgt))

    def _self_attention(self, x: Any, mask: Any, padding: Any) -> Any:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout1(out[0])

    def _attention(self, x: Any, memory: Any, mask: Any, padding: Any) -> Any:
        out = self.multihead_attn(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False
        )
        return self.dropout2(out[0])

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout3(self.dense2(self.dropout(self.activation(self.dense1(x)))))


class TransformerDecoder(Cell):
    """Decoder layers one after another (Vaswani 2017; MindSpore: ``nn.TransformerDecoder``).

    Args:
        decoder_layer: `TransformerDecoderLayer`, whose settings are taken, or another Cell, copied.
        num_layers: number of copies.
        norm: Cell that is applied at the end, or None.
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        checks.positive_int("num_layers", num_layers, self.cls_name)
        self.layers = stack(decoder_layer, TransformerDecoderLayer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def construct(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:
        """Decode; the arguments are those of `TransformerDecoderLayer`."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """Encoder and decoder (Vaswani 2017; MindSpore: ``nn.Transformer``).

    Args:
        d_model: size of inputs and outputs.
        nhead: number of heads.
        num_encoder_layers: number of encoder layers.
        num_decoder_layers: number of decoder layers.
        dim_feedforward: size between the dense layers.
        dropout: probability of an element to be dropped while training.
        activation: as in `TransformerDecoderLayer`.
        custom_encoder: Cell in the encoder's place, or None.
        custom_decoder: Cell in the decoder's place, or None.
        layer_norm_eps: added to variances.
        batch_first: inputs are (N, T, E), not (T, N, E).
        norm_first: normalize before each part, not after.
        dtype: of the Parameters.

    Raises:
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        options = (batch_first, norm_first, dtype)

        def norm() -> LayerNorm:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*sizes, *options)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*sizes, *options)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        for p in self.get_parameters():
            if len(p.shape) > 1:
                p.set_data(initializer("xavier_uniform", p.shape, p.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:
        """Encode the source and decode the target.

        Args:
            src: (S, N, E), (N, S, E) with ``batch_first``, or (S, E).
            tgt: (T, N, E), in the same order of axes.
            src_mask: as in `TransformerEncoderLayer`.
            tgt_mask: as in `TransformerDecoderLayer`, as the following.
            memory_mask: of the encoder's output.
            src_key_padding_mask: of the source's keys.
            tgt_key_padding_mask: of the target's keys.
            memory_key_padding_mask: of the encoder's output's keys.

        Returns:
            Tensor of the shape of ``tgt``.

        Raises:
            ValueError: the sizes do not fit.
        """
        axis = 0 if self.batch_first else 1
        if len(src.shape) == 3 and src.shape[axis] != tgt.shape[axis]:
            raise located(
                ValueError,
                "The number of batch size for 'src' and 'tgt' must be equal, but got "
                f"{src.shape[axis]} and {tgt.shape[axis]}.",
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise located(
                ValueError,
                "The number of features for 'src' and 'tgt' must be equal to `d_model` "
                f"{self.d_model}, but got {src.shape[-1]} and {tgt.shape[-1]}.",
            )
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )
