"""Reference meaning of kernels that were made for one device: attention, routing, quantisation."""
