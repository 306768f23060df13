// Products of matrices whose elements lie at any strides.
#pragma once
#include <cstdint>

namespace ascend {

template <typename T>
struct Matrix {
  T* data;
  int64_t row, column;  // strides in elements
};

// c = a b, with a of m x k, b of k x n. Uses the shared threads.
void Gemm(int64_t m, int64_t n, int64_t k, Matrix<const float> a, Matrix<const float> b,
          Matrix<float> c);

}  // namespace ascend
