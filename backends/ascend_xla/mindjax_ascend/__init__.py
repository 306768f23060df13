"""The platform ``ascend`` of JAX: a PJRT plugin, its compiler and its kernels."""
