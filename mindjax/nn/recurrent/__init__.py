"""Recurrent layers, an explicit list."""

from mindjax.nn.recurrent.cells import GRUCell as GRUCell
from mindjax.nn.recurrent.cells import LSTMCell as LSTMCell
from mindjax.nn.recurrent.cells import RNNCell as RNNCell
from mindjax.nn.recurrent.sequences import GRU as GRU
from mindjax.nn.recurrent.sequences import LSTM as LSTM
from mindjax.nn.recurrent.sequences import RNN as RNN
