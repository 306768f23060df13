"""ONNX files: networks written with ONNX's operators, and read as Cells."""

from mindjax.onnx.writing import export as export
