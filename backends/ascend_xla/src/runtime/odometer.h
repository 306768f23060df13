// Walks the indices of an array in row-major order, with offsets in several others.
#pragma once
#include <cstdint>
#include <vector>

namespace ascend {

// Steps through `dims`; `offset[k]` follows the strides of the k-th array.
template <int Arrays>
class Odometer {
 public:
  Odometer(const std::vector<int64_t>& dims,
           const std::vector<int64_t> (&strides)[Arrays])
      : dims_(dims), strides_(strides), index(dims.size(), 0) {}
  void Next() {
    for (size_t i = dims_.size(); i-- > 0;) {
      if (++index[i] < dims_[i]) {
        for (int k = 0; k < Arrays; k++) offset[k] += strides_[k][i];
        return;
      }
      for (int k = 0; k < Arrays; k++) offset[k] -= (dims_[i] - 1) * strides_[k][i];
      index[i] = 0;
    }
  }
  // Goes to the n-th index.
  void Seek(int64_t n) {
    for (int k = 0; k < Arrays; k++) offset[k] = 0;
    for (size_t i = dims_.size(); i-- > 0;) {
      index[i] = n % dims_[i];
      n /= dims_[i];
      for (int k = 0; k < Arrays; k++) offset[k] += index[i] * strides_[k][i];
    }
  }

 private:
  const std::vector<int64_t>& dims_;
  const std::vector<int64_t> (&strides_)[Arrays];

 public:
  std::vector<int64_t> index;
  int64_t offset[Arrays] = {};
};

inline std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace ascend
