// `weft vision help`: this machine helps a camera that is shared from the page Vision.
#pragma once

#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct VisionHelpOptions {
  std::string link;            // The link of the camera.
  std::string device = "gpu";  // "gpu", "cpu", or a part of a GPU's name.
  bool unsafe_sandbox = false;
  net::TlsOptions tls;
  bool json = false;
};
// Joins the camera and computes frames until Ctrl-C or until the camera ends it. A connection that
// breaks is made again for half a minute. Returns 0 after both ends.
int vision_help_command(const VisionHelpOptions& options);

}  // namespace weft::cli
