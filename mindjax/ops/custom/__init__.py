"""User-written operators: Python functions, jax functions and native kernels."""

from mindjax.ops.custom.custom import Custom as Custom
from mindjax.ops.custom.custom import PyFunc as PyFunc
from mindjax.ops.custom.hybrid import kernel as kernel
from mindjax.ops.custom.hybrid import ms_kernel as ms_kernel
from mindjax.ops.custom.native import CustomOpBuilder as CustomOpBuilder
from mindjax.ops.custom.registration import AiCPURegOp as AiCPURegOp
from mindjax.ops.custom.registration import AkgAscendRegOp as AkgAscendRegOp
from mindjax.ops.custom.registration import AkgGpuRegOp as AkgGpuRegOp
from mindjax.ops.custom.registration import CpuRegOp as CpuRegOp
from mindjax.ops.custom.registration import CustomRegOp as CustomRegOp
from mindjax.ops.custom.registration import DataType as DataType
from mindjax.ops.custom.registration import TBERegOp as TBERegOp
from mindjax.ops.custom.registration import custom_info_register as custom_info_register
from mindjax.ops.custom.registration import op_info_register as op_info_register
