"""Names of dtypes and numbers: here ``int_`` is Int32, ``uint`` UInt32 and ``float_`` Float32."""

from mindjax.core.dtype import bool_ as bool_
from mindjax.core.dtype import float16 as float16
from mindjax.core.dtype import float32 as float32
from mindjax.core.dtype import float64 as float64
from mindjax.core.dtype import int8 as int8
from mindjax.core.dtype import int16 as int16
from mindjax.core.dtype import int32 as int32
from mindjax.core.dtype import int64 as int64
from mindjax.core.dtype import uint8 as uint8
from mindjax.core.dtype import uint16 as uint16
from mindjax.core.dtype import uint32 as uint32
from mindjax.core.dtype import uint64 as uint64

int_, uint, float_ = int32, uint32, float32
inf = PINF = float("inf")
NINF = -inf
nan = float("nan")
pi = 3.141592653589793
numeric_types = [
    "int_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float_",
    "float16",
    "float32",
    "float64",
    "bool_",
]
