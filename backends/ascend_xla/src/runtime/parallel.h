// Threads that the kernels of the host share.
#pragma once
#include <cstdint>
#include <functional>

namespace ascend {

// Calls `work(begin, end)` over parts of [0, count) of at least `grain`, and returns when all are
// done. Where the threads are busy with another kernel, the caller does all of it.
void ParallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace ascend
