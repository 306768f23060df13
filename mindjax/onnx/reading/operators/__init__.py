"""What ONNX's operators compute, by families; importing them fills the table."""

from mindjax.onnx.reading.operators import elementwise as elementwise
from mindjax.onnx.reading.operators import flow as flow
from mindjax.onnx.reading.operators import images as images
from mindjax.onnx.reading.operators import indexing as indexing
from mindjax.onnx.reading.operators import layers as layers
from mindjax.onnx.reading.operators import quantized as quantized
from mindjax.onnx.reading.operators import recurrent as recurrent
from mindjax.onnx.reading.operators import reductions as reductions
from mindjax.onnx.reading.operators import shapes as shapes
from mindjax.onnx.reading.operators import windows as windows
