// Certificates for `weft serve`: makes self-signed ones for a LAN, and checks given ones.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "platform/net/server.h"

namespace weft::net {

// Returns the names for a certificate: the machine's host name, "localhost", and the addresses of
// its network interfaces.
[[nodiscard]] std::vector<std::string> local_names();

// Makes cert.pem and key.pem (0600) in `folder`, valid for `names` (host names and addresses).
// Existing files are kept while they cover all names and are valid for another week. The
// certificate has an ECDSA P-256 key and is valid for 825 days, the most that browsers accept. It
// cannot sign other certificates: a browser that trusts it trusts this server alone.
struct SelfSigned {
  // False only in tests: the key can then sign certificates of any site.
  bool signs_no_others = true;
};
[[nodiscard]] Result<TlsFiles> self_signed(const std::filesystem::path& folder,
                                           const std::vector<std::string>& names, UnixMillis at,
                                           const SelfSigned& how = {});

// Reads both files and checks that the key belongs to the certificate, so that the error message is
// ours and not the TLS library's.
[[nodiscard]] Result<> check_certificate(const TlsFiles& files);

// Checks that the file has a certificate that can be read (--ca-cert).
[[nodiscard]] Result<> check_authority(const std::filesystem::path& file);

// The host names and addresses that the certificate is valid for; empty if it cannot be read.
[[nodiscard]] std::vector<std::string> names_of(const TlsFiles& files);

// Returns the SHA-256 of the certificate, in hex.
[[nodiscard]] Result<std::string> fingerprint_of(const TlsFiles& files);

}  // namespace weft::net
