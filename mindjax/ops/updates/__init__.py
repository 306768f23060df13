"""Optimizer primitives beyond those of `mindjax.ops.update`; each writes its Parameters."""

from mindjax.ops.updates.adafactor import FusedAdaFactor as FusedAdaFactor
from mindjax.ops.updates.adafactor import (
    FusedAdaFactorWithGlobalNorm as FusedAdaFactorWithGlobalNorm,
)
from mindjax.ops.updates.dense import AdamNoUpdateParam as AdamNoUpdateParam
from mindjax.ops.updates.dense import ApplyAdadelta as ApplyAdadelta
from mindjax.ops.updates.dense import ApplyAdagradDA as ApplyAdagradDA
from mindjax.ops.updates.dense import ApplyAdagradV2 as ApplyAdagradV2
from mindjax.ops.updates.dense import ApplyAdaMax as ApplyAdaMax
from mindjax.ops.updates.dense import ApplyAdamWithAmsgrad as ApplyAdamWithAmsgrad
from mindjax.ops.updates.dense import ApplyAddSign as ApplyAddSign
from mindjax.ops.updates.dense import ApplyFtrl as ApplyFtrl
from mindjax.ops.updates.dense import ApplyGradientDescent as ApplyGradientDescent
from mindjax.ops.updates.dense import ApplyKerasMomentum as ApplyKerasMomentum
from mindjax.ops.updates.dense import ApplyPowerSign as ApplyPowerSign
from mindjax.ops.updates.dense import ApplyProximalAdagrad as ApplyProximalAdagrad
from mindjax.ops.updates.dense import ApplyProximalGradientDescent as ApplyProximalGradientDescent
from mindjax.ops.updates.dense import FusedCastAdamWeightDecay as FusedCastAdamWeightDecay
from mindjax.ops.updates.dense import FusedWeightScaleApplyMomentum as FusedWeightScaleApplyMomentum
from mindjax.ops.updates.dense import LARSUpdate as LARSUpdate
from mindjax.ops.updates.sparse import FusedSparseAdam as FusedSparseAdam
from mindjax.ops.updates.sparse import FusedSparseFtrl as FusedSparseFtrl
from mindjax.ops.updates.sparse import FusedSparseLazyAdam as FusedSparseLazyAdam
from mindjax.ops.updates.sparse import FusedSparseProximalAdagrad as FusedSparseProximalAdagrad
from mindjax.ops.updates.sparse import SparseApplyAdadelta as SparseApplyAdadelta
from mindjax.ops.updates.sparse import SparseApplyAdagrad as SparseApplyAdagrad
from mindjax.ops.updates.sparse import SparseApplyAdagradV2 as SparseApplyAdagradV2
from mindjax.ops.updates.sparse import SparseApplyFtrl as SparseApplyFtrl
from mindjax.ops.updates.sparse import SparseApplyFtrlV2 as SparseApplyFtrlV2
from mindjax.ops.updates.sparse import SparseApplyProximalAdagrad as SparseApplyProximalAdagrad
from mindjax.ops.updates.sparse import SparseApplyRMSProp as SparseApplyRMSProp
from mindjax.ops.updates.status import FloatStatus as FloatStatus
from mindjax.ops.updates.status import NPUAllocFloatStatus as NPUAllocFloatStatus
from mindjax.ops.updates.status import NPUClearFloatStatus as NPUClearFloatStatus
from mindjax.ops.updates.status import NPUGetFloatStatus as NPUGetFloatStatus
from mindjax.ops.updates.status import Pull as Pull
from mindjax.ops.updates.status import Push as Push
