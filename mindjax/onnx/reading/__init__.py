"""ONNX files as networks."""

from mindjax.onnx.reading.cell import OnnxCell as OnnxCell
from mindjax.onnx.reading.cell import load as load
from mindjax.onnx.reading.errors import OnnxError as OnnxError
