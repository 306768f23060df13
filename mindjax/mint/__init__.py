"""The PyTorch-flavoured face: the same ops with `dim` and `keepdim`."""

import importlib
from typing import TYPE_CHECKING, Any

from mindjax.mint.arithmetic import add as add
from mindjax.mint.arithmetic import bmm as bmm
from mindjax.mint.arithmetic import dot as dot
from mindjax.mint.arithmetic import frac as frac
from mindjax.mint.arithmetic import isnan as isnan
from mindjax.mint.arithmetic import mv as mv
from mindjax.mint.arithmetic import sqrt as sqrt
from mindjax.mint.arithmetic import sub as sub

# arithmetic, reduction, comparison, linear algebra
from mindjax.mint.arithmetic import where as where
from mindjax.mint.convolution import conv2d as conv2d
from mindjax.mint.reduction import all as all
from mindjax.mint.reduction import amax as amax
from mindjax.mint.reduction import amin as amin
from mindjax.mint.reduction import any as any
from mindjax.mint.reduction import argmin as argmin
from mindjax.mint.reduction import argsort as argsort
from mindjax.mint.reduction import count_nonzero as count_nonzero
from mindjax.mint.reduction import cummax as cummax
from mindjax.mint.reduction import cummin as cummin
from mindjax.mint.reduction import cumprod as cumprod
from mindjax.mint.reduction import cumsum as cumsum
from mindjax.mint.reduction import equal as equal
from mindjax.mint.reduction import max as max
from mindjax.mint.reduction import mean as mean
from mindjax.mint.reduction import median as median
from mindjax.mint.reduction import min as min
from mindjax.mint.reduction import nansum as nansum
from mindjax.mint.reduction import norm as norm
from mindjax.mint.reduction import prod as prod
from mindjax.mint.reduction import softmax as softmax
from mindjax.mint.reduction import sort as sort
from mindjax.mint.reduction import std as std
from mindjax.mint.reduction import std_mean as std_mean
from mindjax.mint.reduction import topk as topk
from mindjax.mint.reduction import var as var
from mindjax.mint.reduction import var_mean as var_mean
from mindjax.ops.activation import sigmoid as sigmoid
from mindjax.ops.arithmetic import abs as abs
from mindjax.ops.arithmetic import div as div
from mindjax.ops.arithmetic import divide as divide
from mindjax.ops.arithmetic import floor_divide as floor_divide
from mindjax.ops.arithmetic import fmod as fmod
from mindjax.ops.arithmetic import maximum as maximum
from mindjax.ops.arithmetic import minimum as minimum
from mindjax.ops.arithmetic import mul as mul
from mindjax.ops.arithmetic import neg as neg
from mindjax.ops.arithmetic import negative as negative
from mindjax.ops.arithmetic import pow as pow
from mindjax.ops.arithmetic import remainder as remainder
from mindjax.ops.arithmetic import sign as sign
from mindjax.ops.blending import addcdiv as addcdiv
from mindjax.ops.blending import addcmul as addcmul
from mindjax.ops.blending import lerp as lerp
from mindjax.ops.clipping import clamp as clamp
from mindjax.ops.clipping import clamp as clip  # noqa: F401
from mindjax.ops.comparison import allclose as allclose
from mindjax.ops.comparison import eq as eq
from mindjax.ops.comparison import greater as greater
from mindjax.ops.comparison import greater_equal as ge  # noqa: F401
from mindjax.ops.comparison import greater_equal as greater_equal
from mindjax.ops.comparison import gt as gt
from mindjax.ops.comparison import isclose as isclose
from mindjax.ops.comparison import le as le
from mindjax.ops.comparison import less as less
from mindjax.ops.comparison import less_equal as less_equal
from mindjax.ops.comparison import lt as lt
from mindjax.ops.comparison import ne as ne
from mindjax.ops.comparison import not_equal as not_equal
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
from mindjax.ops.exponential import square as square
from mindjax.ops.extremes import argmax as argmax
from mindjax.ops.linalg import inverse as inverse
from mindjax.ops.logic import bitwise_and as bitwise_and
from mindjax.ops.logic import bitwise_or as bitwise_or
from mindjax.ops.logic import bitwise_xor as bitwise_xor
from mindjax.ops.logic import isfinite as isfinite
from mindjax.ops.logic import isinf as isinf
from mindjax.ops.logic import logical_and as logical_and
from mindjax.ops.logic import logical_not as logical_not
from mindjax.ops.logic import logical_or as logical_or
from mindjax.ops.logic import logical_xor as logical_xor
from mindjax.ops.products import addbmm as addbmm
from mindjax.ops.products import addmm as addmm
from mindjax.ops.products import addmv as addmv
from mindjax.ops.products import matmul as matmul
from mindjax.ops.products import mm as mm
from mindjax.ops.products import outer as outer
from mindjax.ops.reduction import logsumexp as logsumexp
from mindjax.ops.reduction import sum as sum
from mindjax.ops.rounding import ceil as ceil
from mindjax.ops.rounding import floor as floor
from mindjax.ops.rounding import round as round
from mindjax.ops.special import float_power as float_power
from mindjax.ops.special import imag as imag
from mindjax.ops.special import isneginf as isneginf
from mindjax.ops.special import logaddexp as logaddexp
from mindjax.ops.special import logaddexp2 as logaddexp2
from mindjax.ops.special import nan_to_num as nan_to_num
from mindjax.ops.special import real as real
from mindjax.ops.special import sinc as sinc
from mindjax.ops.special import xlogy as xlogy
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
# linear algebra
from mindjax.mint import linalg as linalg
from mindjax.mint.linalg import addr_ as addr_
from mindjax.mint.linalg import baddbmm as baddbmm
from mindjax.mint.linalg import cdist as cdist
from mindjax.mint.linalg import einsum as einsum
from mindjax.mint.linalg import trace as trace
from mindjax.mint.linalg import triangular_solve as triangular_solve
from mindjax.mint.linalg import vdot as vdot
from mindjax.ops.linear.contractions import cross as cross

# isort: split
# shape, indexing, creation, sampling
from mindjax.mint.creation import clone as clone
from mindjax.mint.creation import full as full
from mindjax.mint.creation import linspace as linspace
from mindjax.mint.creation import ones as ones
from mindjax.mint.creation import zeros as zeros
from mindjax.mint.indexing import gather as gather
from mindjax.mint.indexing import index_add as index_add
from mindjax.mint.indexing import index_select as index_select
from mindjax.mint.indexing import scatter as scatter
from mindjax.mint.indexing import scatter_add as scatter_add
from mindjax.mint.indexing import unique as unique
from mindjax.mint.sampling import bernoulli as bernoulli
from mindjax.mint.sampling import multinomial as multinomial
from mindjax.mint.sampling import normal as normal
from mindjax.mint.sampling import rand as rand
from mindjax.mint.sampling import rand_like as rand_like
from mindjax.mint.sampling import randint as randint
from mindjax.mint.sampling import randint_like as randint_like
from mindjax.mint.sampling import randn as randn
from mindjax.mint.sampling import randn_like as randn_like
from mindjax.mint.sampling import randperm as randperm
from mindjax.mint.shape import cat as cat
from mindjax.mint.shape import chunk as chunk
from mindjax.mint.shape import concat as concat
from mindjax.mint.shape import diag as diag
from mindjax.mint.shape import flatten as flatten
from mindjax.mint.shape import meshgrid as meshgrid
from mindjax.mint.shape import narrow as narrow
from mindjax.mint.shape import permute as permute
from mindjax.mint.shape import repeat_interleave as repeat_interleave
from mindjax.mint.shape import select as select
from mindjax.mint.shape import split as split
from mindjax.mint.shape import squeeze as squeeze
from mindjax.mint.shape import stack as stack
from mindjax.mint.shape import transpose as transpose
from mindjax.ops.creation import empty as empty
from mindjax.ops.creation import empty_like as empty_like
from mindjax.ops.creation import eye as eye
from mindjax.ops.creation import full_like as full_like
from mindjax.ops.creation import ones_like as ones_like
from mindjax.ops.creation import zeros_like as zeros_like
from mindjax.ops.gather import take as take
from mindjax.ops.masking import masked_select as masked_select
from mindjax.ops.masking import nonzero as nonzero
from mindjax.ops.ranges import arange as arange
from mindjax.ops.rearrange import flip as flip
from mindjax.ops.rearrange import roll as roll
from mindjax.ops.rearrange import tril as tril
from mindjax.ops.rearrange import triu as triu
from mindjax.ops.sequence import dstack as dstack
from mindjax.ops.sequence import hstack as hstack
from mindjax.ops.sequence import tile as tile
from mindjax.ops.sequence import unbind as unbind
from mindjax.ops.shape import broadcast_to as broadcast_to
from mindjax.ops.shape import ravel as ravel
from mindjax.ops.shape import reshape as reshape
from mindjax.ops.shape import swapaxes as swapaxes
from mindjax.ops.shape import t as t
from mindjax.ops.shape import unsqueeze as unsqueeze
from mindjax.ops.vision.convolution import conv_tbc as conv_tbc

# networks
if TYPE_CHECKING:
    from mindjax.mint import nn as nn
    from mindjax.mint import optim as optim
    from mindjax.mint import special as special
    from mindjax.mint.numeric import batch_norm_elemt as batch_norm_elemt
    from mindjax.mint.numeric import (
        batch_norm_gather_stats_with_counts as batch_norm_gather_stats_with_counts,
    )
    from mindjax.mint.numeric import batch_norm_stats as batch_norm_stats
    from mindjax.mint.numeric import bincount as bincount
    from mindjax.mint.numeric import bitwise_not as bitwise_not
    from mindjax.mint.numeric import diff as diff
    from mindjax.mint.numeric import gcd as gcd
    from mindjax.mint.numeric import histc as histc
    from mindjax.mint.numeric import kthvalue as kthvalue
    from mindjax.mint.numeric import npu_gelu as npu_gelu
    from mindjax.mint.numeric import polar as polar
    from mindjax.mint.numeric import searchsorted as searchsorted
    from mindjax.mint.numeric import unique_consecutive as unique_consecutive

# Names of families of ops, which are loaded when asked for: the module of mint that has them.
_FAMILIES = {
    "numeric": (
        "batch_norm_elemt",
        "batch_norm_gather_stats_with_counts",
        "batch_norm_stats",
        "bincount",
        "bitwise_not",
        "diff",
        "gcd",
        "histc",
        "kthvalue",
        "npu_gelu",
        "polar",
        "searchsorted",
        "unique_consecutive",
    ),
}


def __getattr__(name: str) -> Any:
    if name == "Tensor":
        return importlib.import_module("mindjax.tensor").Tensor
    if name == "functional":
        return importlib.import_module("mindjax.mint.nn.functional")
    # Layers and optimizers rest on Cells, which lie above: they are loaded when asked for.
    if name in ("nn", "optim", "special"):
        return importlib.import_module(f"mindjax.mint.{name}")
    for module, names in _FAMILIES.items():
        if name in names:
            globals()[name] = getattr(importlib.import_module(f"mindjax.mint.{module}"), name)
            return globals()[name]
    raise AttributeError(f"module 'mindjax.mint' has no attribute '{name}'")
