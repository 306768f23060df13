"""THOR: a second-order optimizer, and the layers that keep its statistics."""

from mindjax.nn.second_order.layers import Conv2dThor as Conv2dThor
from mindjax.nn.second_order.layers import DenseThor as DenseThor
from mindjax.nn.second_order.layers import EmbeddingLookupThor as EmbeddingLookupThor
from mindjax.nn.second_order.layers import EmbeddingThor as EmbeddingThor
from mindjax.nn.second_order.thor import thor as thor
