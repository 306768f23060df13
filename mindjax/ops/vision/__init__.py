"""Pooling, sampling grids, image geometry, colours, boxes and deformable convolution."""
