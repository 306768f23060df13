"""Networks as ONNX: MindIR's graph of primitives, written with ONNX's operators."""

from mindjax.onnx.writing.model import export as export
