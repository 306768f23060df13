"""COO and CSR tensors and the functions on them."""
