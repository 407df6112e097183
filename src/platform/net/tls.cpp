#include "platform/net/tls.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <set>
#include <unistd.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "common/base/bytes.h"

namespace weft::net {

namespace {

template <auto release>
struct Releaser {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Releaser<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Releaser<X509_free>>;
using FilePtr = std::unique_ptr<FILE, Releaser<fclose>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Releaser<GENERAL_NAMES_free>>;

constexpr long valid_days = 825;
constexpr int renew_days = 7;

bool is_address(const std::string& name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

std::set<std::string> names_of(X509* certificate) {
  std::set<std::string> names;
  const NamesPtr list(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; list && i < sk_GENERAL_NAME_num(list.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) {
      names.emplace(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                    ASN1_STRING_length(name->d.dNSName));
    } else if (name->type == GEN_IPADD) {
      char text[INET6_ADDRSTRLEN] = {};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text);
      names.emplace(text);
    }
  }
  return names;
}

CertificatePtr read_certificate(const std::filesystem::path& path) {
  const FilePtr file(std::fopen(path.c_str(), "r"));
  return CertificatePtr(file ? PEM_read_X509(file.get(), nullptr, nullptr, nullptr) : nullptr);
}

KeyPtr read_key(const std::filesystem::path& path) {
  const FilePtr file(std::fopen(path.c_str(), "r"));
  return KeyPtr(file ? PEM_read_PrivateKey(file.get(), nullptr, nullptr, nullptr) : nullptr);
}

bool still_good(const TlsFiles& files, const std::vector<std::string>& names, UnixMillis at) {
  const auto certificate = read_certificate(files.certificate);
  const auto key = read_key(files.key);
  if (!certificate || !key || X509_check_private_key(certificate.get(), key.get()) != 1)
    return false;
  std::time_t week_on = static_cast<std::time_t>(at / 1000) + renew_days * 24 * 3600;
  if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &week_on) < 0) return false;
  // A certificate that could sign others, as earlier versions made them, must be replaced.
  if (X509_check_ca(certificate.get()) != 0) return false;
  const auto covered = names_of(certificate.get());
  return std::ranges::all_of(names, [&](const auto& name) { return covered.contains(name); });
}

bool add_extension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

CertificatePtr make_certificate(EVP_PKEY* key, const std::vector<std::string>& names, UnixMillis at,
                                const SelfSigned& how) {
  CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  unsigned char serial[16];
  RAND_bytes(serial, sizeof serial);
  serial[0] &= 0x7f;  // Serial numbers are positive.
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  const auto start = static_cast<std::time_t>(at / 1000);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), start - 3600);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), start + valid_days * 24 * 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* subject = X509_NAME_new();
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("Weft coordinator"), -1, -1, 0);
  X509_set_subject_name(certificate.get(), subject);
  X509_set_issuer_name(certificate.get(), subject);
  X509_NAME_free(subject);
  std::string alternatives;
  for (const auto& name : names) {
    // trantor's client compares addresses only with DNS names, so an address is written as both
    // kinds.
    if (is_address(name)) alternatives += "IP:" + name + ",";
    if (!name.contains(':')) alternatives += "DNS:" + name + ",";
  }
  alternatives.pop_back();
  const bool made = add_extension(certificate.get(), NID_subject_alt_name, alternatives) &&
                    add_extension(certificate.get(), NID_basic_constraints,
                                  how.signs_no_others ? "critical,CA:FALSE" : "critical,CA:TRUE") &&
                    add_extension(certificate.get(), NID_key_usage,
                                  how.signs_no_others ? "critical,digitalSignature"
                                                      : "critical,digitalSignature,keyCertSign") &&
                    add_extension(certificate.get(), NID_subject_key_identifier, "hash") &&
                    add_extension(certificate.get(), NID_ext_key_usage, "serverAuth") &&
                    X509_sign(certificate.get(), key, EVP_sha256()) > 0;
  return made ? std::move(certificate) : nullptr;
}

Result<FilePtr> create_file(const std::filesystem::path& path, mode_t mode) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  const int descriptor = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor >= 0) fchmod(descriptor, mode);  // Sets the mode independently of the umask.
  FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
  if (file == nullptr) return fail(ErrorCode::unavailable, "{} cannot be written.", path.string());
  return FilePtr(file);
}

}  // namespace

std::vector<std::string> local_names() {
  std::set<std::string> names{"localhost", "127.0.0.1", "::1"};
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) == 0 && host[0] != '\0') names.emplace(host);
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
      char text[INET6_ADDRSTRLEN] = {};
      if (entry->ifa_addr->sa_family == AF_INET) {
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, text,
                  sizeof text);
      } else if (entry->ifa_addr->sa_family == AF_INET6) {
        const auto& address = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
        // Link-local addresses are useless without their zone.
        if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;
        inet_ntop(AF_INET6, &address, text, sizeof text);
      }
      if (text[0] != '\0') names.emplace(text);
    }
    freeifaddrs(list);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> names_of(const TlsFiles& files) {
  const auto certificate = read_certificate(files.certificate);
  if (!certificate) return {};
  const auto names = names_of(certificate.get());
  return {names.begin(), names.end()};
}

Result<TlsFiles> self_signed(const std::filesystem::path& folder,
                             const std::vector<std::string>& names, UnixMillis at,
                             const SelfSigned& how) {
  TlsFiles files{.certificate = folder / "cert.pem", .key = folder / "key.pem"};
  if (names.empty())
    return fail(ErrorCode::invalid_argument, "A certificate needs at least one name.");
  if (still_good(files, names, at)) return files;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::unavailable, "The folder {} cannot be made: {}.", folder.string(),
                error.message());
  const KeyPtr key(EVP_EC_gen("P-256"));
  const auto certificate = key ? make_certificate(key.get(), names, at, how) : nullptr;
  if (!certificate)
    return fail(ErrorCode::internal, "OpenSSL makes no certificate for these names.");
  WEFT_ASSIGN(auto key_file, create_file(files.key, 0600));
  WEFT_ASSIGN(auto certificate_file, create_file(files.certificate, 0644));
  if (PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_X509(certificate_file.get(), certificate.get()) != 1 ||
      std::fflush(key_file.get()) != 0 || std::fflush(certificate_file.get()) != 0) {
    return fail(ErrorCode::unavailable, "The certificate cannot be written to {}.",
                folder.string());
  }
  return files;
}

Result<std::string> fingerprint_of(const TlsFiles& files) {
  const auto certificate = read_certificate(files.certificate);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (!certificate || X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size) != 1)
    return fail(ErrorCode::invalid_argument, "{} is not a PEM certificate that can be read.",
                files.certificate.string());
  return to_hex(ByteSpan(digest).first(size));
}

Result<> check_certificate(const TlsFiles& files) {
  const auto certificate = read_certificate(files.certificate);
  if (!certificate)
    return fail(ErrorCode::invalid_argument, "{} is not a PEM certificate that can be read.",
                files.certificate.string());
  const auto key = read_key(files.key);
  if (!key)
    return fail(ErrorCode::invalid_argument, "{} is not a PEM private key that can be read.",
                files.key.string());
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return fail(ErrorCode::invalid_argument, "The key {} does not belong to the certificate {}.",
                files.key.string(), files.certificate.string());
  }
  return {};
}

Result<> check_authority(const std::filesystem::path& file) {
  if (!read_certificate(file))
    return fail(ErrorCode::invalid_argument,
                "--ca-cert {} is not a PEM certificate that can be read.", file.string());
  return {};
}

}  // namespace weft::net
