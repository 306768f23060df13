"""Method families of Tensor: class-body aliases of ops."""
