"""Multi-head attention and the transformer's encoder."""

from __future__ import annotations

import copy
from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import bool_, float32, uint8
from mindjax.core.errors import located
from mindjax.nn.activation import GELU, ReLU
from mindjax.nn.cell import Cell
from mindjax.nn.containers import CellList
from mindjax.nn.dense import Dense
from mindjax.nn.dropout import Dropout
from mindjax.nn.normalization import LayerNorm
from mindjax.ops.activation import gelu, relu
from mindjax.ops.attention import attend, attention_weights, mean_of_heads
from mindjax.ops.creation import zeros
from mindjax.ops.dense import dense
from mindjax.ops.dropout import dropout as drop
from mindjax.ops.sequence import concat, split, tile
from mindjax.ops.shape import expand_dims, squeeze, swapaxes
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter


class MultiheadAttention(Cell):
    """Attention of several heads (Vaswani 2017; MindSpore: ``nn.MultiheadAttention``).

    Args:
        embed_dim: size of queries and outputs.
        num_heads: number of heads, a divisor of ``embed_dim``.
        dropout: probability of a weight to be dropped while training.
        has_bias: whether the projections have a bias.
        add_bias_kv: whether a learned key and value are appended.
        add_zero_attn: whether a key and a value of zeros are appended.
        kdim: size of keys; None for ``embed_dim``.
        vdim: size of values; None for ``embed_dim``.
        batch_first: inputs are (N, L, E), not (L, N, E).
        dtype: of the Parameters.

    Raises:
        ValueError: ``embed_dim`` is not divisible by ``num_heads``.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        dtype = float32 if dtype is None else dtype
        checks.positive_int("embed_dim", embed_dim, owner)
        checks.positive_int("num_heads", num_heads, owner)
        if embed_dim % num_heads:
            raise located(
                ValueError,
                f"For '{owner}', the init argument 'embed_dim' must be divisible by 'num_heads', "
                f"but got {embed_dim} and {num_heads}.",
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first = dropout, batch_first
        self.head_dim = embed_dim // num_heads
        self.in_proj_weight = self.in_proj_bias = None
        self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None

        def weight(rows: int, columns: int, name: str) -> Parameter:
            return Parameter(initializer("xavier_uniform", (rows, columns), dtype), name=name)

        if self.kdim == embed_dim and self.vdim == embed_dim:
            self.in_proj_weight = weight(3 * embed_dim, embed_dim, "in_proj_weight")
        else:
            self.q_proj_weight = weight(embed_dim, embed_dim, "q_proj_weight")
            self.k_proj_weight = weight(embed_dim, self.kdim, "k_proj_weight")
            self.v_proj_weight = weight(embed_dim, self.vdim, "v_proj_weight")
        if has_bias:
            zeros = initializer("zeros", (3 * embed_dim,), dtype)
            self.in_proj_bias = Parameter(zeros, name="in_proj_bias")
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, dtype=dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            shape = (1, 1, embed_dim)
            self.bias_k = Parameter(initializer("xavier_normal", shape, dtype), name="bias_k")
            self.bias_v = Parameter(initializer("xavier_normal", shape, dtype), name="bias_v")
        self.add_zero_attn, self.dtype = add_zero_attn, dtype

    def construct(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> Any:
        """Attend.

        Args:
            query: (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            key: (S, N, kdim), in the same order of axes.
            value: (S, N, vdim), in the same order of axes.
            key_padding_mask: (N, S): True where a key is hidden, or numbers to add.
            need_weights: give the weights too.
            attn_mask: (L, S) or (N * heads, L, S), the same.
            average_attn_weights: give the mean of the weights over the heads.

        Returns:
            The output in the shape of ``query`` and, if asked for, the weights (N, L, S) or
            (N, heads, L, S).

        Raises:
            ValueError: a shape does not fit.
        """
        single = len(query.shape) == 2
        key_padding_mask = self._mask("key_padding_mask", key_padding_mask, 1 if single else 2)
        attn_mask = self._mask("attn_mask", attn_mask, 2, 3)
        self._check(query, key, value)
        self_attention = query is key and key is value
        inputs = [query] if self_attention else [query, key, value]
        if single:
            inputs = [expand_dims(x, 1) for x in inputs]
            if key_padding_mask is not None:
                key_padding_mask = expand_dims(key_padding_mask, 0)
        elif self.batch_first:
            inputs = [swapaxes(x, 0, 1) for x in inputs]
        q, k, v = self._project(inputs)
        batch = k.shape[1]
        appended = []
        if self.bias_k is not None and self.bias_v is not None:
            appended.append((tile(self.bias_k, (1, batch, 1)), tile(self.bias_v, (1, batch, 1))))
        if self.add_zero_attn:
            appended.append((zeros((1, batch, self.embed_dim), k.dtype),) * 2)
        for more_k, more_v in appended:
            k, v = concat([k, more_k], 0), concat([v, more_v], 0)
            attn_mask, key_padding_mask = _shown(attn_mask), _shown(key_padding_mask)
        weights = attention_weights(q, k, self.num_heads, attn_mask, key_padding_mask)
        if self.training and self.dropout > 0:
            weights = drop(weights, self.dropout)
        out = self.out_proj(attend(weights, v))
        if single:
            out = squeeze(out, 1)
        elif self.batch_first:
            out = swapaxes(out, 0, 1)
        if not need_weights:
            return (out,)
        shown = mean_of_heads(weights) if average_attn_weights else weights
        return out, squeeze(shown, 0) if single else shown

    def _mask(self, name: str, mask: Any, *ranks: int) -> Any:
        """Check a mask's dtype and rank; UInt8 counts as truth values."""
        if mask is None:
            return None
        if mask.dtype is uint8 and name == "attn_mask":
            mask = mask.astype(bool_)
        if mask.dtype is not bool_ and mask.dtype.kind != "float":
            raise located(
                ValueError,
                f"For '{self.cls_name}', `{name}` only supports bool and floating types, but got "
                f"{mask.dtype}.",
            )
        if len(mask.shape) not in ranks:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the `{name}` must be `None` or "
                f"{' or '.join(f'{r}D' for r in ranks)}, but got `{name}` with {len(mask.shape)}D.",
            )
        return mask

    def _check(self, query: Any, key: Any, value: Any) -> None:
        ranks = [len(x.shape) for x in (query, key, value)]
        if ranks[0] not in (2, 3) or len(set(ranks)) != 1:
            raise located(
                ValueError,
                "The `query` should be unbatched 2D or batched 3D tensor, and `key` and `value` of "
                f"the same rank, but got `query` with {ranks[0]}D, `key` with {ranks[1]}D and "
                f"`value` with {ranks[2]}D.",
            )
        if query.shape[-1] != self.embed_dim:
            raise located(
                ValueError,
                f"The `embed_dim` should be {self.embed_dim}, but got {query.shape[-1]}.",
            )
        if key.shape[:-1] != value.shape[:-1]:
            raise located(
                ValueError,
                f"The sequence length and batch dims of `key`: {key.shape[:-1]} do not match "
                f"`value`: {value.shape[:-1]}.",
            )

    def _project(self, inputs: list[Any]) -> list[Any]:
        size, bias = self.embed_dim, self.in_proj_bias
        if len(inputs) == 1 and self.in_proj_weight is not None:
            return list(split(dense(inputs[0], self.in_proj_weight, bias), size, -1))
        inputs = inputs * 3 if len(inputs) == 1 else inputs
        if self.in_proj_weight is not None:
            weights = split(self.in_proj_weight, size, 0)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if bias is None else split(bias, size, 0)
        return [dense(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]


def _shown(mask: Any) -> Any:
    """Extend a mask by a key that is never hidden."""
    if mask is None:
        return None
    return concat([mask, zeros((*mask.shape[:-1], 1), mask.dtype)], -1)


def activation_function(activation: Any) -> Any:
    """Give the function between the dense layers of a transformer.

    Args:
        activation: ``"relu"``, ``"gelu"``, a ReLU or GELU Cell, or a function.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(activation, str):
        if activation not in ("relu", "gelu"):
            raise located(ValueError, f"The activation must be relu/gelu, but get {activation}")
        return relu if activation == "relu" else gelu
    if isinstance(activation, Cell) and not isinstance(activation, ReLU | GELU):
        raise located(
            ValueError,
            f"The argument 'activation' must be nn.ReLU or nn.GELU instance, but get {activation}.",
        )
    if not callable(activation):
        raise located(
            ValueError,
            "The argument 'activation' must be str, callable or Cell instance, but get "
            f"{activation}.",
        )
    return activation


class TransformerEncoderLayer(Cell):
    """Attention and two dense layers, each with residual and normalization (Vaswani 2017).

    MindSpore: ``nn.TransformerEncoderLayer``.

    Args:
        d_model: size of inputs and outputs.
        nhead: number of heads.
        dim_feedforward: size between the dense layers.
        dropout: probability of an element to be dropped while training.
        activation: ``"relu"``, ``"gelu"``, a ReLU or GELU Cell, or a function.
        layer_norm_eps: added to variances.
        batch_first: inputs are (N, L, E), not (L, N, E).
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
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype
        )
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout1 = Dropout(p=dropout)
        self.dropout2 = Dropout(p=dropout)
        self.activation1, self.activation = activation, activation_function(activation)
        self.d_model, self.nhead, self.dim_feedforward = d_model, nhead, dim_feedforward
        self.dropout_num, self.layernorm_eps = dropout, layer_norm_eps
        self.batch_first, self.dtype = batch_first, dtype

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        """Encode.

        Args:
            src: (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            src_mask: (L, L) or (N * heads, L, L): True where a key is hidden, or numbers to add.
            src_key_padding_mask: (N, L), the same for the keys of each sample.

        Returns:
            Tensor of the shape of ``src``.
        """
        masks = (src_mask, src_key_padding_mask)
        if self.norm_first:
            src = src + self._attention(self.norm1(src), *masks)
            return src + self._feed_forward(self.norm2(src))
        src = self.norm1(src + self._attention(src, *masks))
        return self.norm2(src + self._feed_forward(src))

    def _attention(self, x: Any, mask: Any, padding: Any) -> Any:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout1(out[0])

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout2(self.dense2(self.dropout(self.activation(self.dense1(x)))))


def stack(template: Cell, kind: type, count: int) -> CellList:
    """Make the layers of an encoder or decoder, equal at first, as the original does.

    Args:
        template: a layer. Of ``kind`` itself only the settings are taken and the weights are drawn
            anew; any other class is copied with its weights.
        kind: `TransformerEncoderLayer` or `TransformerDecoderLayer`.
        count: number of layers.

    Returns:
        The layers.
    """
    if type(template) is kind:
        of: Any = template
        template = kind(
            of.d_model,
            of.nhead,
            of.dim_feedforward,
            of.dropout_num,
            of.activation1,
            of.layernorm_eps,
            of.batch_first,
            of.norm_first,
            dtype=of.dtype,
        )
    return CellList([copy.deepcopy(template) for _ in range(count)])


class TransformerEncoder(Cell):
    """Encoder layers one after another (Vaswani 2017; MindSpore: ``nn.TransformerEncoder``).

    Args:
        encoder_layer: `TransformerEncoderLayer`, whose settings are taken, or another Cell, copied.
        num_layers: number of copies.
        norm: Cell that is applied at the end, or None.
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        checks.positive_int("num_layers", num_layers, self.cls_name)
        self.layers = stack(encoder_layer, TransformerEncoderLayer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        """Encode; the arguments are those of `TransformerEncoderLayer`."""
        for layer in self.layers:
            src = layer(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)
