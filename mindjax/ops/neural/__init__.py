"""Recurrent networks, sequence losses, margin losses and special dropout."""

from mindjax.ops.neural.alignment import CTCGreedyDecoder as CTCGreedyDecoder
from mindjax.ops.neural.alignment import CTCLoss as CTCLoss
from mindjax.ops.neural.alignment import CTCLossV2 as CTCLossV2
from mindjax.ops.neural.alignment import EditDistance as EditDistance
from mindjax.ops.neural.alignment import NoRepeatNGram as NoRepeatNGram
from mindjax.ops.neural.alignment import RNNTLoss as RNNTLoss
from mindjax.ops.neural.alignment import ctc_greedy_decoder as ctc_greedy_decoder
from mindjax.ops.neural.alignment import ctc_loss as ctc_loss
from mindjax.ops.neural.dropout import Dropout3D as Dropout3D
from mindjax.ops.neural.dropout import DropoutDoMask as DropoutDoMask
from mindjax.ops.neural.dropout import DropoutGenMask as DropoutGenMask
from mindjax.ops.neural.margins import MultilabelMarginLoss as MultilabelMarginLoss
from mindjax.ops.neural.margins import MultiMarginLoss as MultiMarginLoss
from mindjax.ops.neural.margins import TripletMarginLoss as TripletMarginLoss
from mindjax.ops.neural.margins import multilabel_margin_loss as multilabel_margin_loss
from mindjax.ops.neural.recurrent import LSTM as LSTM
from mindjax.ops.neural.recurrent import BasicLSTMCell as BasicLSTMCell
from mindjax.ops.neural.recurrent import DynamicGRUV2 as DynamicGRUV2
from mindjax.ops.neural.recurrent import DynamicRNN as DynamicRNN
