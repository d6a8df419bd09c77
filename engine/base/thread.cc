#include "engine/base/thread.h"

#include <pthread.h>

#include <string>

namespace proofmill::engine {

void SetThreadName(std::string_view name) {
  pthread_setname_np(pthread_self(), std::string(name.substr(0, 15)).c_str());
}

}  // namespace proofmill::engine
