"""What MindSpore calls experimental: optimizers with groups, and their schedulers."""

from mindjax.experimental import optim as optim
