#include "engine/gguf/mapped_file.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

namespace weft::gguf {

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fail(ErrorCode::not_found, "The file '{}' cannot be opened: {}.", path,
                std::strerror(errno));
  return of(descriptor, path);
}

Result<std::unique_ptr<MappedFile>> MappedFile::of(int descriptor, const std::string& name) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return fail(ErrorCode::invalid_argument, "'{}' is not a regular file.", name);
  }
  const auto bytes = static_cast<std::size_t>(about.st_size);
  void* address = nullptr;
  if (bytes > 0) {  // A mapping of 0 bytes would fail.
    address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      const int reason = errno;
      ::close(descriptor);
      return fail(ErrorCode::out_of_memory, "The file '{}' ({} bytes) cannot be mapped: {}.", name,
                  bytes, std::strerror(reason));
    }
  }
  ::close(descriptor);  // The mapping stays valid without the descriptor.
  return std::unique_ptr<MappedFile>(new MappedFile(address, bytes));
}

MappedFile::MappedFile(void* address, std::size_t bytes)
    : address_(address), memory_(ByteSpan(static_cast<const std::uint8_t*>(address), bytes)) {}

MappedFile::~MappedFile() {
  if (address_ != nullptr) ::munmap(address_, static_cast<std::size_t>(memory_.bytes()));
}

}  // namespace weft::gguf
