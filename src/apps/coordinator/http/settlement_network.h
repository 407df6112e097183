// The chain on which the page settles, and the node through which it reads the chain (`weft serve
// --settlement`).
#pragma once

#include <string>

#include "common/base/ids.h"

namespace weft::coordinator {

struct SettlementNetwork {
  std::string rpc;
  PublicKey program;
  PublicKey mint;
  Hash genesis{};  // The cluster's genesis hash; zeros if the network's file lacks it.
};

}  // namespace weft::coordinator
