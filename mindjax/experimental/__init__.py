"""What MindSpore calls experimental: optimizers with groups, and tables that grow."""

from mindjax.experimental import optim as optim
from mindjax.experimental.map_parameter import MapParameter as MapParameter
