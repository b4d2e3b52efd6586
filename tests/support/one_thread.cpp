#include <pthread.h>

#include <cstdio>
#include <cstdlib>

/// Linked into the test programs that ONE_THREAD says start no thread; takes the place of the C
/// library's.
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  std::fputs(
      "A test started a thread, but its program is marked ONE_THREAD and is therefore not run\n"
      "under the thread sanitizer. Remove ONE_THREAD from the CMakeLists.txt of its folder.\n",
      stderr);
  std::abort();
}
