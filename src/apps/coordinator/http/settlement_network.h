// On which chain the page settles, and by which node it reads it (`weft serve --settlement`).
#pragma once

#include <string>

#include "common/base/ids.h"

namespace weft::coordinator {

struct SettlementNetwork {
  std::string rpc;
  PublicKey program;
  PublicKey mint;
  Hash genesis{};  // The cluster's; zeros where the network's file does not name it.
};

}  // namespace weft::coordinator
