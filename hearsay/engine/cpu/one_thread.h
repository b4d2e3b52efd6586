#pragma once

// The two OpenMP functions that are needed, declared here: not every compiler ships omp.h, and its
// flag would thread other libraries' loops too.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);

namespace hearsay::engine::cpu {

/// While it exists, oneDNN uses only the calling thread: the chunks of a step run in parallel.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace hearsay::engine::cpu
