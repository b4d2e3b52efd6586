#include "hearsay/core/error.h"
#include "hearsay/live/server.h"

namespace hearsay::live {

bool can_serve() { return false; }

std::unique_ptr<Server> make_server(std::filesystem::path /*run*/, Listener /*listener*/,
                                    std::string /*token*/) {
  throw InvalidArgument(
      "[live] this build of hearsay has no live page; install libcpp-httplib-dev and build again");
}

}  // namespace hearsay::live
