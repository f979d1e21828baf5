// Where the injected library is, and a folder that only this user can enter.
#pragma once

#include <filesystem>

namespace warpmeter::profile {

/// Made for one session, for its socket and perhaps the library; gone with everything in it when it
/// goes out of scope.
class PrivateFolder {
 public:
  /// In $TMPDIR, or in /tmp where that one's path is too long for a socket. Throws Error{file}.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// libwarpmeter_inject.so next to `program` or in ../lib of it, when it is the very one that this
/// program was built with; else unpacked into `folder`. Throws Error{file}.
std::filesystem::path find_injector(const std::filesystem::path& program,
                                    const std::filesystem::path& folder);

}  // namespace warpmeter::profile
