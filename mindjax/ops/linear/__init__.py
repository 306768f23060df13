"""Linear algebra: factorisations, solvers, determinants, matrix functions, distances."""
