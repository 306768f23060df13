"""ONNX files: networks written with ONNX's operators, and read as Cells."""

from mindjax.onnx.reading import OnnxCell as OnnxCell
from mindjax.onnx.reading import OnnxError as OnnxError
from mindjax.onnx.reading import load as load
from mindjax.onnx.writing import export as export
