"""Steps of optimizers as operators, dense and sparse."""
