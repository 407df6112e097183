// Certificates for `weft serve`: a self-signed one for a LAN, and a look at one that was given.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "platform/net/server.h"

namespace weft::net {

// This machine's name, "localhost", and the addresses of its interfaces, for a certificate's
// alternative names.
[[nodiscard]] std::vector<std::string> local_names();

// cert.pem and key.pem (0600) in `folder`, valid for `names` (host names and addresses). What is
// there is kept while it covers all names and lasts another week; otherwise it is replaced: ECDSA
// P-256, 825 days, the most that browsers take. It cannot sign other certificates: a browser that
// trusts it trusts this server alone.
struct SelfSigned {
  bool signs_no_others = true;  // Off only in tests: its key then makes certificates of any site.
};
[[nodiscard]] Result<TlsFiles> self_signed(const std::filesystem::path& folder,
                                           const std::vector<std::string>& names, UnixMillis at,
                                           const SelfSigned& how = {});

// Reads both files and checks that they belong together, so that the sentence comes from us and not
// from the TLS library.
[[nodiscard]] Result<> check_certificate(const TlsFiles& files);

// Whether a file has certificates that others can lead to (--ca-cert).
[[nodiscard]] Result<> check_authority(const std::filesystem::path& file);

// The host names and addresses that the certificate is valid for; none if it cannot be read.
[[nodiscard]] std::vector<std::string> names_of(const TlsFiles& files);

// SHA-256 of the certificate, in hex.
[[nodiscard]] Result<std::string> fingerprint_of(const TlsFiles& files);

}  // namespace weft::net
