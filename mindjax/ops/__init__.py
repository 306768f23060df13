"""MindSpore's ops: functions and Primitive classes, an explicit list."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mindjax.core.families import Families
from mindjax.old_paths import parts

if TYPE_CHECKING:
    # The families that `families.index` finds.
    from mindjax.autodiff import GradOperation as GradOperation
    from mindjax.autodiff import HookBackward as HookBackward
    from mindjax.autodiff import derivative as derivative
    from mindjax.autodiff import get_grad as get_grad
    from mindjax.autodiff import grad as grad
    from mindjax.autodiff import jacfwd as jacfwd
    from mindjax.autodiff import jacrev as jacrev
    from mindjax.autodiff import jet as jet
    from mindjax.autodiff import jvp as jvp
    from mindjax.autodiff import linearize as linearize
    from mindjax.autodiff import value_and_grad as value_and_grad
    from mindjax.autodiff import vjp as vjp
    from mindjax.autodiff import vmap as vmap
    from mindjax.graph.flow import ForiLoop as ForiLoop
    from mindjax.graph.flow import Scan as Scan
    from mindjax.graph.flow import WhileLoop as WhileLoop
    from mindjax.ops.collective import *  # noqa: F403
    from mindjax.ops.custom import *  # noqa: F403
    from mindjax.ops.fused import *  # noqa: F403
    from mindjax.ops.indexed import *  # noqa: F403
    from mindjax.ops.linear import *  # noqa: F403
    from mindjax.ops.neural import *  # noqa: F403
    from mindjax.ops.numeric import *  # noqa: F403
    from mindjax.ops.scalars import *  # noqa: F403
    from mindjax.ops.sparse import *  # noqa: F403
    from mindjax.ops.spectral import *  # noqa: F403
    from mindjax.ops.stochastic import *  # noqa: F403
    from mindjax.ops.updates import *  # noqa: F403
    from mindjax.ops.vision import *  # noqa: F403

# arithmetic, reduction, comparison, linear algebra
from mindjax.ops.arithmetic import Abs as Abs
from mindjax.ops.arithmetic import Add as Add
from mindjax.ops.arithmetic import Div as Div
from mindjax.ops.arithmetic import DivNoNan as DivNoNan
from mindjax.ops.arithmetic import FloorDiv as FloorDiv
from mindjax.ops.arithmetic import FloorMod as FloorMod
from mindjax.ops.arithmetic import Inv as Inv
from mindjax.ops.arithmetic import Maximum as Maximum
from mindjax.ops.arithmetic import Minimum as Minimum
from mindjax.ops.arithmetic import Mod as Mod
from mindjax.ops.arithmetic import Mul as Mul
from mindjax.ops.arithmetic import MulNoNan as MulNoNan
from mindjax.ops.arithmetic import Neg as Neg
from mindjax.ops.arithmetic import Pow as Pow
from mindjax.ops.arithmetic import RealDiv as RealDiv
from mindjax.ops.arithmetic import Sign as Sign
from mindjax.ops.arithmetic import Sub as Sub
from mindjax.ops.arithmetic import TruncateDiv as TruncateDiv
from mindjax.ops.arithmetic import TruncateMod as TruncateMod
from mindjax.ops.arithmetic import abs as abs
from mindjax.ops.arithmetic import absolute as absolute
from mindjax.ops.arithmetic import add as add
from mindjax.ops.arithmetic import div as div
from mindjax.ops.arithmetic import divide as divide
from mindjax.ops.arithmetic import floor_div as floor_div
from mindjax.ops.arithmetic import floor_divide as floor_divide
from mindjax.ops.arithmetic import floor_mod as floor_mod
from mindjax.ops.arithmetic import fmod as fmod
from mindjax.ops.arithmetic import inv as inv
from mindjax.ops.arithmetic import maximum as maximum
from mindjax.ops.arithmetic import minimum as minimum
from mindjax.ops.arithmetic import mul as mul
from mindjax.ops.arithmetic import multiply as multiply
from mindjax.ops.arithmetic import neg as neg
from mindjax.ops.arithmetic import negative as negative
from mindjax.ops.arithmetic import pow as pow
from mindjax.ops.arithmetic import pows as pows
from mindjax.ops.arithmetic import remainder as remainder
from mindjax.ops.arithmetic import sign as sign
from mindjax.ops.arithmetic import sub as sub
from mindjax.ops.arithmetic import subtract as subtract
from mindjax.ops.arithmetic import tensor_add as tensor_add
from mindjax.ops.arithmetic import tensor_div as tensor_div
from mindjax.ops.arithmetic import tensor_floordiv as tensor_floordiv
from mindjax.ops.arithmetic import tensor_mod as tensor_mod
from mindjax.ops.arithmetic import tensor_mul as tensor_mul
from mindjax.ops.arithmetic import tensor_pow as tensor_pow
from mindjax.ops.arithmetic import tensor_sub as tensor_sub
from mindjax.ops.arithmetic import true_divide as true_divide
from mindjax.ops.blending import AccumulateNV2 as AccumulateNV2
from mindjax.ops.blending import Addcdiv as Addcdiv
from mindjax.ops.blending import Addcmul as Addcmul
from mindjax.ops.blending import AddN as AddN
from mindjax.ops.blending import Lerp as Lerp
from mindjax.ops.blending import accumulate_n as accumulate_n
from mindjax.ops.blending import addcdiv as addcdiv
from mindjax.ops.blending import addcmul as addcmul
from mindjax.ops.blending import addn as addn
from mindjax.ops.blending import lerp as lerp
from mindjax.ops.cast import Cast as Cast
from mindjax.ops.cast import DType as DType
from mindjax.ops.cast import cast as cast
from mindjax.ops.cast import dtype as dtype
from mindjax.ops.cast import is_complex as is_complex
from mindjax.ops.cast import is_floating_point as is_floating_point
from mindjax.ops.cast import is_nonzero as is_nonzero
from mindjax.ops.cast import is_tensor as is_tensor
from mindjax.ops.clipping import clamp as clamp
from mindjax.ops.clipping import clip as clip
from mindjax.ops.clipping import clip_by_global_norm as clip_by_global_norm
from mindjax.ops.clipping import clip_by_norm as clip_by_norm
from mindjax.ops.clipping import clip_by_value as clip_by_value
from mindjax.ops.comparison import ApproximateEqual as ApproximateEqual
from mindjax.ops.comparison import Equal as Equal
from mindjax.ops.comparison import Greater as Greater
from mindjax.ops.comparison import GreaterEqual as GreaterEqual
from mindjax.ops.comparison import IsClose as IsClose
from mindjax.ops.comparison import Less as Less
from mindjax.ops.comparison import LessEqual as LessEqual
from mindjax.ops.comparison import NotEqual as NotEqual
from mindjax.ops.comparison import eq as eq
from mindjax.ops.comparison import equal as equal
from mindjax.ops.comparison import ge as ge
from mindjax.ops.comparison import greater as greater
from mindjax.ops.comparison import greater_equal as greater_equal
from mindjax.ops.comparison import gt as gt
from mindjax.ops.comparison import isclose as isclose
from mindjax.ops.comparison import le as le
from mindjax.ops.comparison import less as less
from mindjax.ops.comparison import less_equal as less_equal
from mindjax.ops.comparison import lt as lt
from mindjax.ops.comparison import ne as ne
from mindjax.ops.comparison import not_equal as not_equal
from mindjax.ops.comparison import tensor_ge as tensor_ge
from mindjax.ops.comparison import tensor_gt as tensor_gt
from mindjax.ops.comparison import tensor_le as tensor_le
from mindjax.ops.comparison import tensor_lt as tensor_lt
from mindjax.ops.exponential import Erf as Erf
from mindjax.ops.exponential import Erfc as Erfc
from mindjax.ops.exponential import Erfinv as Erfinv
from mindjax.ops.exponential import Exp as Exp
from mindjax.ops.exponential import Expm1 as Expm1
from mindjax.ops.exponential import Log as Log
from mindjax.ops.exponential import Log1p as Log1p
from mindjax.ops.exponential import Reciprocal as Reciprocal
from mindjax.ops.exponential import Rsqrt as Rsqrt
from mindjax.ops.exponential import Sqrt as Sqrt
from mindjax.ops.exponential import Square as Square
from mindjax.ops.exponential import erf as erf
from mindjax.ops.exponential import erfc as erfc
from mindjax.ops.exponential import erfinv as erfinv
from mindjax.ops.exponential import exp as exp
from mindjax.ops.exponential import exp2 as exp2
from mindjax.ops.exponential import expm1 as expm1
from mindjax.ops.exponential import log as log
from mindjax.ops.exponential import log1p as log1p
from mindjax.ops.exponential import log2 as log2
from mindjax.ops.exponential import log10 as log10
from mindjax.ops.exponential import reciprocal as reciprocal
from mindjax.ops.exponential import rsqrt as rsqrt
from mindjax.ops.exponential import sqrt as sqrt
from mindjax.ops.exponential import square as square
from mindjax.ops.exponential import tensor_exp as tensor_exp
from mindjax.ops.extremes import Argmax as Argmax
from mindjax.ops.extremes import ArgMaxWithValue as ArgMaxWithValue
from mindjax.ops.extremes import Argmin as Argmin
from mindjax.ops.extremes import ArgMinWithValue as ArgMinWithValue
from mindjax.ops.extremes import argmax as argmax
from mindjax.ops.extremes import argmin as argmin
from mindjax.ops.extremes import max as max
from mindjax.ops.extremes import min as min
from mindjax.ops.linalg import L2Normalize as L2Normalize
from mindjax.ops.linalg import LpNorm as LpNorm
from mindjax.ops.linalg import MatrixInverse as MatrixInverse
from mindjax.ops.linalg import inverse as inverse
from mindjax.ops.linalg import matrix_norm as matrix_norm
from mindjax.ops.linalg import norm as norm
from mindjax.ops.linalg import vector_norm as vector_norm
from mindjax.ops.logic import BitwiseAnd as BitwiseAnd
from mindjax.ops.logic import BitwiseOr as BitwiseOr
from mindjax.ops.logic import BitwiseXor as BitwiseXor
from mindjax.ops.logic import IsFinite as IsFinite
from mindjax.ops.logic import IsInf as IsInf
from mindjax.ops.logic import IsNan as IsNan
from mindjax.ops.logic import LeftShift as LeftShift
from mindjax.ops.logic import LogicalAnd as LogicalAnd
from mindjax.ops.logic import LogicalNot as LogicalNot
from mindjax.ops.logic import LogicalOr as LogicalOr
from mindjax.ops.logic import LogicalXor as LogicalXor
from mindjax.ops.logic import RightShift as RightShift
from mindjax.ops.logic import Select as Select
from mindjax.ops.logic import bitwise_and as bitwise_and
from mindjax.ops.logic import bitwise_left_shift as bitwise_left_shift
from mindjax.ops.logic import bitwise_or as bitwise_or
from mindjax.ops.logic import bitwise_right_shift as bitwise_right_shift
from mindjax.ops.logic import bitwise_xor as bitwise_xor
from mindjax.ops.logic import isfinite as isfinite
from mindjax.ops.logic import isinf as isinf
from mindjax.ops.logic import isnan as isnan
from mindjax.ops.logic import logical_and as logical_and
from mindjax.ops.logic import logical_not as logical_not
from mindjax.ops.logic import logical_or as logical_or
from mindjax.ops.logic import logical_xor as logical_xor
from mindjax.ops.logic import select as select
from mindjax.ops.logic import where as where
from mindjax.ops.products import BatchMatMul as BatchMatMul
from mindjax.ops.products import Einsum as Einsum
from mindjax.ops.products import Ger as Ger
from mindjax.ops.products import MatMul as MatMul
from mindjax.ops.products import addbmm as addbmm
from mindjax.ops.products import addmm as addmm
from mindjax.ops.products import addmv as addmv
from mindjax.ops.products import baddbmm as baddbmm
from mindjax.ops.products import bmm as bmm
from mindjax.ops.products import dot as dot
from mindjax.ops.products import einsum as einsum
from mindjax.ops.products import ger as ger
from mindjax.ops.products import inner as inner
from mindjax.ops.products import matmul as matmul
from mindjax.ops.products import mm as mm
from mindjax.ops.products import mv as mv
from mindjax.ops.products import outer as outer
from mindjax.ops.products import tensor_dot as tensor_dot
from mindjax.ops.reduction import CountNonZero as CountNonZero
from mindjax.ops.reduction import ReduceAll as ReduceAll
from mindjax.ops.reduction import ReduceAny as ReduceAny
from mindjax.ops.reduction import ReduceMax as ReduceMax
from mindjax.ops.reduction import ReduceMean as ReduceMean
from mindjax.ops.reduction import ReduceMin as ReduceMin
from mindjax.ops.reduction import ReduceProd as ReduceProd
from mindjax.ops.reduction import ReduceSum as ReduceSum
from mindjax.ops.reduction import all as all
from mindjax.ops.reduction import amax as amax
from mindjax.ops.reduction import amin as amin
from mindjax.ops.reduction import aminmax as aminmax
from mindjax.ops.reduction import any as any
from mindjax.ops.reduction import count_nonzero as count_nonzero
from mindjax.ops.reduction import logsumexp as logsumexp
from mindjax.ops.reduction import mean as mean
from mindjax.ops.reduction import nanmean as nanmean
from mindjax.ops.reduction import nansum as nansum
from mindjax.ops.reduction import prod as prod
from mindjax.ops.reduction import reduce_mean as reduce_mean
from mindjax.ops.reduction import reduce_sum as reduce_sum
from mindjax.ops.reduction import sum as sum
from mindjax.ops.rounding import Ceil as Ceil
from mindjax.ops.rounding import Floor as Floor
from mindjax.ops.rounding import Rint as Rint
from mindjax.ops.rounding import Round as Round
from mindjax.ops.rounding import Trunc as Trunc
from mindjax.ops.rounding import ceil as ceil
from mindjax.ops.rounding import floor as floor
from mindjax.ops.rounding import frac as frac
from mindjax.ops.rounding import round as round
from mindjax.ops.rounding import trunc as trunc
from mindjax.ops.sorting import Cummax as Cummax
from mindjax.ops.sorting import Cummin as Cummin
from mindjax.ops.sorting import CumProd as CumProd
from mindjax.ops.sorting import CumSum as CumSum
from mindjax.ops.sorting import Sort as Sort
from mindjax.ops.sorting import TopK as TopK
from mindjax.ops.sorting import argsort as argsort
from mindjax.ops.sorting import cummax as cummax
from mindjax.ops.sorting import cummin as cummin
from mindjax.ops.sorting import cumprod as cumprod
from mindjax.ops.sorting import cumsum as cumsum
from mindjax.ops.sorting import sort as sort
from mindjax.ops.sorting import topk as topk
from mindjax.ops.special import Conj as Conj
from mindjax.ops.special import Fmax as Fmax
from mindjax.ops.special import Fmin as Fmin
from mindjax.ops.special import Heaviside as Heaviside
from mindjax.ops.special import Hypot as Hypot
from mindjax.ops.special import Imag as Imag
from mindjax.ops.special import NanToNum as NanToNum
from mindjax.ops.special import Real as Real
from mindjax.ops.special import Sinc as Sinc
from mindjax.ops.special import SquaredDifference as SquaredDifference
from mindjax.ops.special import SquareSumAll as SquareSumAll
from mindjax.ops.special import Xdivy as Xdivy
from mindjax.ops.special import Xlogy as Xlogy
from mindjax.ops.special import conj as conj
from mindjax.ops.special import deg2rad as deg2rad
from mindjax.ops.special import diff as diff
from mindjax.ops.special import float_power as float_power
from mindjax.ops.special import fmax as fmax
from mindjax.ops.special import fmin as fmin
from mindjax.ops.special import heaviside as heaviside
from mindjax.ops.special import hypot as hypot
from mindjax.ops.special import imag as imag
from mindjax.ops.special import isneginf as isneginf
from mindjax.ops.special import isposinf as isposinf
from mindjax.ops.special import logaddexp as logaddexp
from mindjax.ops.special import logaddexp2 as logaddexp2
from mindjax.ops.special import nan_to_num as nan_to_num
from mindjax.ops.special import rad2deg as rad2deg
from mindjax.ops.special import real as real
from mindjax.ops.special import signbit as signbit
from mindjax.ops.special import sinc as sinc
from mindjax.ops.special import xdivy as xdivy
from mindjax.ops.special import xlogy as xlogy
from mindjax.ops.statistics import Median as Median
from mindjax.ops.statistics import ReduceStd as ReduceStd
from mindjax.ops.statistics import median as median
from mindjax.ops.statistics import nanmedian as nanmedian
from mindjax.ops.statistics import std as std
from mindjax.ops.statistics import std_mean as std_mean
from mindjax.ops.statistics import var as var
from mindjax.ops.statistics import var_mean as var_mean
from mindjax.ops.trigonometry import ACos as ACos
from mindjax.ops.trigonometry import Acosh as Acosh
from mindjax.ops.trigonometry import Asin as Asin
from mindjax.ops.trigonometry import Asinh as Asinh
from mindjax.ops.trigonometry import Atan as Atan
from mindjax.ops.trigonometry import Atan2 as Atan2
from mindjax.ops.trigonometry import Atanh as Atanh
from mindjax.ops.trigonometry import Cos as Cos
from mindjax.ops.trigonometry import Cosh as Cosh
from mindjax.ops.trigonometry import Sin as Sin
from mindjax.ops.trigonometry import Sinh as Sinh
from mindjax.ops.trigonometry import Tan as Tan
from mindjax.ops.trigonometry import Tanh as Tanh
from mindjax.ops.trigonometry import acos as acos
from mindjax.ops.trigonometry import acosh as acosh
from mindjax.ops.trigonometry import arccos as arccos
from mindjax.ops.trigonometry import arccosh as arccosh
from mindjax.ops.trigonometry import arcsin as arcsin
from mindjax.ops.trigonometry import arcsinh as arcsinh
from mindjax.ops.trigonometry import arctan as arctan
from mindjax.ops.trigonometry import arctan2 as arctan2
from mindjax.ops.trigonometry import arctanh as arctanh
from mindjax.ops.trigonometry import asin as asin
from mindjax.ops.trigonometry import asinh as asinh
from mindjax.ops.trigonometry import atan as atan
from mindjax.ops.trigonometry import atan2 as atan2
from mindjax.ops.trigonometry import atanh as atanh
from mindjax.ops.trigonometry import cos as cos
from mindjax.ops.trigonometry import cosh as cosh
from mindjax.ops.trigonometry import sin as sin
from mindjax.ops.trigonometry import sinh as sinh
from mindjax.ops.trigonometry import tan as tan
from mindjax.ops.trigonometry import tanh as tanh

# isort: split
# shape, indexing, creation, sampling, state
from mindjax.ops.composite import HyperMap as HyperMap
from mindjax.ops.composite import Map as Map
from mindjax.ops.composite import MultitypeFuncGraph as MultitypeFuncGraph
from mindjax.ops.composite import tail as tail
from mindjax.ops.creation import Eye as Eye
from mindjax.ops.creation import Fill as Fill
from mindjax.ops.creation import FillV2 as FillV2
from mindjax.ops.creation import OneHot as OneHot
from mindjax.ops.creation import Ones as Ones
from mindjax.ops.creation import OnesLike as OnesLike
from mindjax.ops.creation import ScalarToTensor as ScalarToTensor
from mindjax.ops.creation import TupleToArray as TupleToArray
from mindjax.ops.creation import Zeros as Zeros
from mindjax.ops.creation import ZerosLike as ZerosLike
from mindjax.ops.creation import eye as eye
from mindjax.ops.creation import fill as fill
from mindjax.ops.creation import full as full
from mindjax.ops.creation import full_like as full_like
from mindjax.ops.creation import one_hot as one_hot
from mindjax.ops.creation import ones as ones
from mindjax.ops.creation import ones_like as ones_like
from mindjax.ops.creation import scalar_to_tensor as scalar_to_tensor
from mindjax.ops.creation import tuple_to_array as tuple_to_array
from mindjax.ops.creation import zeros as zeros
from mindjax.ops.creation import zeros_like as zeros_like
from mindjax.ops.distributions import Multinomial as Multinomial
from mindjax.ops.distributions import RandomShuffle as RandomShuffle
from mindjax.ops.distributions import Randperm as Randperm
from mindjax.ops.distributions import StandardLaplace as StandardLaplace
from mindjax.ops.distributions import StandardNormal as StandardNormal
from mindjax.ops.distributions import TruncatedNormal as TruncatedNormal
from mindjax.ops.distributions import UniformInt as UniformInt
from mindjax.ops.distributions import UniformReal as UniformReal
from mindjax.ops.distributions import gamma as gamma
from mindjax.ops.distributions import laplace as laplace
from mindjax.ops.distributions import random_categorical as random_categorical
from mindjax.ops.distributions import standard_laplace as standard_laplace
from mindjax.ops.gather import EmbeddingLookup as EmbeddingLookup
from mindjax.ops.gather import Gather as Gather
from mindjax.ops.gather import GatherD as GatherD
from mindjax.ops.gather import GatherNd as GatherNd
from mindjax.ops.gather import gather as gather
from mindjax.ops.gather import gather_d as gather_d
from mindjax.ops.gather import gather_elements as gather_elements
from mindjax.ops.gather import gather_nd as gather_nd
from mindjax.ops.gather import index_select as index_select
from mindjax.ops.gather import take as take
from mindjax.ops.masking import MaskedFill as MaskedFill
from mindjax.ops.masking import MaskedSelect as MaskedSelect
from mindjax.ops.masking import NonZero as NonZero
from mindjax.ops.masking import Unique as Unique
from mindjax.ops.masking import argwhere as argwhere
from mindjax.ops.masking import masked_fill as masked_fill
from mindjax.ops.masking import masked_select as masked_select
from mindjax.ops.masking import nonzero as nonzero
from mindjax.ops.masking import unique as unique
from mindjax.ops.primitive import Partial as Partial
from mindjax.ops.primitive import constexpr as constexpr
from mindjax.ops.primitive import partial as partial
from mindjax.ops.ranges import LinSpace as LinSpace
from mindjax.ops.ranges import Range as Range
from mindjax.ops.ranges import arange as arange
from mindjax.ops.ranges import linspace as linspace
from mindjax.ops.ranges import logspace as logspace
from mindjax.ops.ranges import range as range
from mindjax.ops.rearrange import Diag as Diag
from mindjax.ops.rearrange import Pad as Pad
from mindjax.ops.rearrange import PadV3 as PadV3
from mindjax.ops.rearrange import ReverseSequence as ReverseSequence
from mindjax.ops.rearrange import ReverseV2 as ReverseV2
from mindjax.ops.rearrange import Roll as Roll
from mindjax.ops.rearrange import Tril as Tril
from mindjax.ops.rearrange import Triu as Triu
from mindjax.ops.rearrange import diag as diag
from mindjax.ops.rearrange import diag_embed as diag_embed
from mindjax.ops.rearrange import diagonal as diagonal
from mindjax.ops.rearrange import flip as flip
from mindjax.ops.rearrange import fliplr as fliplr
from mindjax.ops.rearrange import flipud as flipud
from mindjax.ops.rearrange import pad as pad
from mindjax.ops.rearrange import reverse as reverse
from mindjax.ops.rearrange import reverse_sequence as reverse_sequence
from mindjax.ops.rearrange import roll as roll
from mindjax.ops.rearrange import rot90 as rot90
from mindjax.ops.rearrange import tril as tril
from mindjax.ops.rearrange import tril_indices as tril_indices
from mindjax.ops.rearrange import triu as triu
from mindjax.ops.rearrange import triu_indices as triu_indices
from mindjax.ops.rearrange import vander as vander
from mindjax.ops.sampling import bernoulli as bernoulli
from mindjax.ops.sampling import multinomial as multinomial
from mindjax.ops.sampling import normal as normal
from mindjax.ops.sampling import rand as rand
from mindjax.ops.sampling import rand_like as rand_like
from mindjax.ops.sampling import randint as randint
from mindjax.ops.sampling import randint_like as randint_like
from mindjax.ops.sampling import randn as randn
from mindjax.ops.sampling import randn_like as randn_like
from mindjax.ops.sampling import randperm as randperm
from mindjax.ops.sampling import shuffle as shuffle
from mindjax.ops.sampling import standard_normal as standard_normal
from mindjax.ops.sampling import uniform as uniform
from mindjax.ops.scatter import MaskedScatter as MaskedScatter
from mindjax.ops.scatter import ScatterNd as ScatterNd
from mindjax.ops.scatter import TensorScatterAdd as TensorScatterAdd
from mindjax.ops.scatter import TensorScatterDiv as TensorScatterDiv
from mindjax.ops.scatter import TensorScatterElements as TensorScatterElements
from mindjax.ops.scatter import TensorScatterMax as TensorScatterMax
from mindjax.ops.scatter import TensorScatterMin as TensorScatterMin
from mindjax.ops.scatter import TensorScatterMul as TensorScatterMul
from mindjax.ops.scatter import TensorScatterSub as TensorScatterSub
from mindjax.ops.scatter import TensorScatterUpdate as TensorScatterUpdate
from mindjax.ops.scatter import UnsortedSegmentSum as UnsortedSegmentSum
from mindjax.ops.scatter import index_fill as index_fill
from mindjax.ops.scatter import scatter as scatter
from mindjax.ops.scatter import scatter_nd as scatter_nd
from mindjax.ops.scatter import tensor_scatter_add as tensor_scatter_add
from mindjax.ops.scatter import tensor_scatter_div as tensor_scatter_div
from mindjax.ops.scatter import tensor_scatter_elements as tensor_scatter_elements
from mindjax.ops.scatter import tensor_scatter_max as tensor_scatter_max
from mindjax.ops.scatter import tensor_scatter_min as tensor_scatter_min
from mindjax.ops.scatter import tensor_scatter_mul as tensor_scatter_mul
from mindjax.ops.scatter import tensor_scatter_sub as tensor_scatter_sub
from mindjax.ops.scatter import tensor_scatter_update as tensor_scatter_update
from mindjax.ops.scatter import unsorted_segment_sum as unsorted_segment_sum
from mindjax.ops.sequence import Concat as Concat
from mindjax.ops.sequence import Meshgrid as Meshgrid
from mindjax.ops.sequence import Split as Split
from mindjax.ops.sequence import Stack as Stack
from mindjax.ops.sequence import Tile as Tile
from mindjax.ops.sequence import Unstack as Unstack
from mindjax.ops.sequence import block_diag as block_diag
from mindjax.ops.sequence import cat as cat
from mindjax.ops.sequence import chunk as chunk
from mindjax.ops.sequence import column_stack as column_stack
from mindjax.ops.sequence import concat as concat
from mindjax.ops.sequence import dsplit as dsplit
from mindjax.ops.sequence import dstack as dstack
from mindjax.ops.sequence import hsplit as hsplit
from mindjax.ops.sequence import hstack as hstack
from mindjax.ops.sequence import meshgrid as meshgrid
from mindjax.ops.sequence import repeat_elements as repeat_elements
from mindjax.ops.sequence import repeat_interleave as repeat_interleave
from mindjax.ops.sequence import split as split
from mindjax.ops.sequence import stack as stack
from mindjax.ops.sequence import tensor_split as tensor_split
from mindjax.ops.sequence import tile as tile
from mindjax.ops.sequence import unbind as unbind
from mindjax.ops.sequence import unstack as unstack
from mindjax.ops.sequence import vsplit as vsplit
from mindjax.ops.sequence import vstack as vstack
from mindjax.ops.shape import BroadcastTo as BroadcastTo
from mindjax.ops.shape import ExpandDims as ExpandDims
from mindjax.ops.shape import Flatten as Flatten
from mindjax.ops.shape import Rank as Rank
from mindjax.ops.shape import Reshape as Reshape
from mindjax.ops.shape import Shape as Shape
from mindjax.ops.shape import Size as Size
from mindjax.ops.shape import Squeeze as Squeeze
from mindjax.ops.shape import TensorShape as TensorShape
from mindjax.ops.shape import Transpose as Transpose
from mindjax.ops.shape import atleast_1d as atleast_1d
from mindjax.ops.shape import atleast_2d as atleast_2d
from mindjax.ops.shape import atleast_3d as atleast_3d
from mindjax.ops.shape import broadcast_to as broadcast_to
from mindjax.ops.shape import dyn_shape as dyn_shape
from mindjax.ops.shape import expand as expand
from mindjax.ops.shape import expand_as as expand_as
from mindjax.ops.shape import expand_dims as expand_dims
from mindjax.ops.shape import flatten as flatten
from mindjax.ops.shape import moveaxis as moveaxis
from mindjax.ops.shape import movedim as movedim
from mindjax.ops.shape import numel as numel
from mindjax.ops.shape import permute as permute
from mindjax.ops.shape import rank as rank
from mindjax.ops.shape import ravel as ravel
from mindjax.ops.shape import reshape as reshape
from mindjax.ops.shape import shape as shape
from mindjax.ops.shape import size as size
from mindjax.ops.shape import squeeze as squeeze
from mindjax.ops.shape import swapaxes as swapaxes
from mindjax.ops.shape import swapdims as swapdims
from mindjax.ops.shape import t as t
from mindjax.ops.shape import transpose as transpose
from mindjax.ops.shape import unsqueeze as unsqueeze
from mindjax.ops.shape import view_as as view_as
from mindjax.ops.slicing import Slice as Slice
from mindjax.ops.slicing import StridedSlice as StridedSlice
from mindjax.ops.slicing import diagonal_scatter as diagonal_scatter
from mindjax.ops.slicing import narrow as narrow
from mindjax.ops.slicing import select_scatter as select_scatter
from mindjax.ops.slicing import slice as slice
from mindjax.ops.slicing import slice_scatter as slice_scatter
from mindjax.ops.slicing import strided_slice as strided_slice
from mindjax.ops.state import Assign as Assign
from mindjax.ops.state import AssignAdd as AssignAdd
from mindjax.ops.state import AssignSub as AssignSub
from mindjax.ops.state import Depend as Depend
from mindjax.ops.state import Identity as Identity
from mindjax.ops.state import IndexAdd as IndexAdd
from mindjax.ops.state import Print as Print
from mindjax.ops.state import ScatterAdd as ScatterAdd
from mindjax.ops.state import ScatterSub as ScatterSub
from mindjax.ops.state import ScatterUpdate as ScatterUpdate
from mindjax.ops.state import StopGradient as StopGradient
from mindjax.ops.state import assign as assign
from mindjax.ops.state import assign_add as assign_add
from mindjax.ops.state import assign_sub as assign_sub
from mindjax.ops.state import depend as depend
from mindjax.ops.state import identity as identity
from mindjax.ops.state import index_add as index_add
from mindjax.ops.state import print_ as print_
from mindjax.ops.state import scatter_add as scatter_add
from mindjax.ops.state import scatter_update as scatter_update
from mindjax.ops.state import stop_gradient as stop_gradient

# isort: split
# networks
from mindjax.ops.activation import GLU as GLU
from mindjax.ops.activation import CeLU as CeLU
from mindjax.ops.activation import Elu as Elu
from mindjax.ops.activation import FastGeLU as FastGeLU
from mindjax.ops.activation import GeLU as GeLU
from mindjax.ops.activation import HShrink as HShrink
from mindjax.ops.activation import HSigmoid as HSigmoid
from mindjax.ops.activation import HSwish as HSwish
from mindjax.ops.activation import Logit as Logit
from mindjax.ops.activation import Mish as Mish
from mindjax.ops.activation import PReLU as PReLU
from mindjax.ops.activation import ReLU as ReLU
from mindjax.ops.activation import ReLU6 as ReLU6
from mindjax.ops.activation import SeLU as SeLU
from mindjax.ops.activation import Sigmoid as Sigmoid
from mindjax.ops.activation import Softplus as Softplus
from mindjax.ops.activation import SoftShrink as SoftShrink
from mindjax.ops.activation import Softsign as Softsign
from mindjax.ops.activation import celu as celu
from mindjax.ops.activation import elu as elu
from mindjax.ops.activation import fast_gelu as fast_gelu
from mindjax.ops.activation import gelu as gelu
from mindjax.ops.activation import glu as glu
from mindjax.ops.activation import hardshrink as hardshrink
from mindjax.ops.activation import hardsigmoid as hardsigmoid
from mindjax.ops.activation import hardswish as hardswish
from mindjax.ops.activation import hardtanh as hardtanh
from mindjax.ops.activation import leaky_relu as leaky_relu
from mindjax.ops.activation import logit as logit
from mindjax.ops.activation import logsigmoid as logsigmoid
from mindjax.ops.activation import mish as mish
from mindjax.ops.activation import prelu as prelu
from mindjax.ops.activation import relu as relu
from mindjax.ops.activation import relu6 as relu6
from mindjax.ops.activation import rrelu as rrelu
from mindjax.ops.activation import selu as selu
from mindjax.ops.activation import sigmoid as sigmoid
from mindjax.ops.activation import silu as silu
from mindjax.ops.activation import softplus as softplus
from mindjax.ops.activation import softshrink as softshrink
from mindjax.ops.activation import softsign as softsign
from mindjax.ops.activation import tanhshrink as tanhshrink
from mindjax.ops.activation import threshold as threshold
from mindjax.ops.conv import BiasAdd as BiasAdd
from mindjax.ops.conv import Conv2D as Conv2D
from mindjax.ops.conv import Conv2DBackpropInput as Conv2DBackpropInput
from mindjax.ops.conv import Conv2DTranspose as Conv2DTranspose
from mindjax.ops.conv import Conv3D as Conv3D
from mindjax.ops.conv import bias_add as bias_add
from mindjax.ops.conv import conv1d as conv1d
from mindjax.ops.conv import conv2d as conv2d
from mindjax.ops.conv import conv3d as conv3d
from mindjax.ops.conv import conv_transpose2d as conv_transpose2d
from mindjax.ops.dense import Dense as Dense
from mindjax.ops.dense import dense as dense
from mindjax.ops.dropout import Dropout as Dropout
from mindjax.ops.dropout import Dropout2D as Dropout2D
from mindjax.ops.dropout import dropout as dropout
from mindjax.ops.dropout import dropout1d as dropout1d
from mindjax.ops.dropout import dropout2d as dropout2d
from mindjax.ops.dropout import dropout3d as dropout3d
from mindjax.ops.embedding import embedding as embedding
from mindjax.ops.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from mindjax.ops.loss import BinaryCrossEntropy as BinaryCrossEntropy
from mindjax.ops.loss import KLDivLoss as KLDivLoss
from mindjax.ops.loss import L2Loss as L2Loss
from mindjax.ops.loss import NLLLoss as NLLLoss
from mindjax.ops.loss import SigmoidCrossEntropyWithLogits as SigmoidCrossEntropyWithLogits
from mindjax.ops.loss import SmoothL1Loss as SmoothL1Loss
from mindjax.ops.loss import SoftmaxCrossEntropyWithLogits as SoftmaxCrossEntropyWithLogits
from mindjax.ops.loss import (
    SparseSoftmaxCrossEntropyWithLogits as SparseSoftmaxCrossEntropyWithLogits,
)
from mindjax.ops.loss import binary_cross_entropy as binary_cross_entropy
from mindjax.ops.loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from mindjax.ops.loss import cross_entropy as cross_entropy
from mindjax.ops.loss import huber_loss as huber_loss
from mindjax.ops.loss import kl_div as kl_div
from mindjax.ops.loss import l1_loss as l1_loss
from mindjax.ops.loss import mse_loss as mse_loss
from mindjax.ops.loss import nll_loss as nll_loss
from mindjax.ops.loss import smooth_l1_loss as smooth_l1_loss
from mindjax.ops.margin import SoftMarginLoss as SoftMarginLoss
from mindjax.ops.margin import cosine_embedding_loss as cosine_embedding_loss
from mindjax.ops.margin import gaussian_nll_loss as gaussian_nll_loss
from mindjax.ops.margin import hinge_embedding_loss as hinge_embedding_loss
from mindjax.ops.margin import margin_ranking_loss as margin_ranking_loss
from mindjax.ops.margin import multi_margin_loss as multi_margin_loss
from mindjax.ops.margin import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from mindjax.ops.margin import soft_margin_loss as soft_margin_loss
from mindjax.ops.margin import triplet_margin_loss as triplet_margin_loss
from mindjax.ops.normalization import LRN as LRN
from mindjax.ops.normalization import BatchNorm as BatchNorm
from mindjax.ops.normalization import LayerNorm as LayerNorm
from mindjax.ops.normalization import RmsNorm as RmsNorm
from mindjax.ops.normalization import batch_norm as batch_norm
from mindjax.ops.normalization import cosine_similarity as cosine_similarity
from mindjax.ops.normalization import group_norm as group_norm
from mindjax.ops.normalization import layer_norm as layer_norm
from mindjax.ops.normalization import lrn as lrn
from mindjax.ops.normalization import rms_norm as rms_norm
from mindjax.ops.pooling import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from mindjax.ops.pooling import AdaptiveMaxPool2D as AdaptiveMaxPool2D
from mindjax.ops.pooling import AvgPool as AvgPool
from mindjax.ops.pooling import MaxPool as MaxPool
from mindjax.ops.pooling import MaxPoolWithArgmaxV2 as MaxPoolWithArgmaxV2
from mindjax.ops.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from mindjax.ops.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from mindjax.ops.pooling import adaptive_max_pool1d as adaptive_max_pool1d
from mindjax.ops.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from mindjax.ops.pooling import avg_pool1d as avg_pool1d
from mindjax.ops.pooling import avg_pool2d as avg_pool2d
from mindjax.ops.pooling import max_pool2d as max_pool2d
from mindjax.ops.resize import ResizeBilinearV2 as ResizeBilinearV2
from mindjax.ops.resize import ResizeNearestNeighbor as ResizeNearestNeighbor
from mindjax.ops.resize import interpolate as interpolate
from mindjax.ops.softmax import LogSoftmax as LogSoftmax
from mindjax.ops.softmax import Softmax as Softmax
from mindjax.ops.softmax import gumbel_softmax as gumbel_softmax
from mindjax.ops.softmax import log_softmax as log_softmax
from mindjax.ops.softmax import softmax as softmax
from mindjax.ops.softmax import softmin as softmin

# isort: split
# update
from mindjax.ops.update import SGD as SGD
from mindjax.ops.update import Adam as Adam
from mindjax.ops.update import AdamWeightDecay as AdamWeightDecay
from mindjax.ops.update import ApplyAdagrad as ApplyAdagrad
from mindjax.ops.update import ApplyAdamWithAmsgradV2 as ApplyAdamWithAmsgradV2
from mindjax.ops.update import ApplyCenteredRMSProp as ApplyCenteredRMSProp
from mindjax.ops.update import ApplyMomentum as ApplyMomentum
from mindjax.ops.update import ApplyRMSProp as ApplyRMSProp

# Names of higher layers, and old import paths; they are loaded when first asked for.
_LATER = {
    "ForiLoop": "mindjax.graph.flow",
    "Scan": "mindjax.graph.flow",
    "WhileLoop": "mindjax.graph.flow",
    "derivative": "mindjax.autodiff",
    "jacfwd": "mindjax.autodiff",
    "jacrev": "mindjax.autodiff",
    "jet": "mindjax.autodiff",
    "jvp": "mindjax.autodiff",
    "linearize": "mindjax.autodiff",
    "vjp": "mindjax.autodiff",
    "vmap": "mindjax.autodiff",
    "GradOperation": "mindjax.autodiff",
    "HookBackward": "mindjax.autodiff",
    "get_grad": "mindjax.autodiff",
    "grad": "mindjax.autodiff",
    "value_and_grad": "mindjax.autodiff",
}
_LATER.update(dict.fromkeys(("_Grad", "_Vmap", "recompute_block"), "mindjax.autodiff"))
_COMPOSITES = """
    _ones_like_for_grad add_flags augassign_add augassign_div augassign_floordiv augassign_mod
    augassign_mul augassign_sub env_get hyper_add iter_converter ms_hasnext ms_next zip_operation
"""
_LATER.update(dict.fromkeys(_COMPOSITES.split(), "mindjax.ops.composite"))
_LATER["_primexpr"] = "mindjax.ops.primitive"
_LATER["_get_cache_prim"] = "mindjax.ops._primitive_cache"
_OLD_PATHS = {
    **{name: f"mindjax.ops.{name}" for name in ("composite", "function", "functional")},
    **{name: f"mindjax.ops.{name}" for name in ("operations", "primitive")},
    "P": "mindjax.ops.operations",
    "array_ops": "mindjax.ops.operations",
    "auto_generate": "mindjax.ops",
    "functional_overload": "mindjax.ops.functional_overload",
    "linalg_ops": "mindjax.ops.operations",
    "other_ops": "mindjax.ops.operations",
    "signature": "mindjax.ops.signature",
    **dict.fromkeys(parts("ops.auto_generate"), "mindjax.ops"),
}


families = Families(
    "mindjax.ops",
    (
        "linear",
        "spectral",
        "numeric",
        "stochastic",
        "vision",
        "neural",
        "indexed",
        "updates",
        "sparse",
        "scalars",
        "fused",
        "collective",
        "custom",
    ),
)


def __getattr__(name: str) -> Any:
    if name in families.index():
        globals()[name] = families.load(name)
        return globals()[name]
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _OLD_PATHS:
        return import_module(_OLD_PATHS[name])
    former = import_module("mindjax.ops.former").find(name)
    if former is not None:
        return former
    raise AttributeError(f"module 'mindspore.ops' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *families.index(), *_LATER, *_OLD_PATHS})
