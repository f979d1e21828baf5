// SPDX-License-Identifier: MIT
#include "collector/model/input/cache.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/new_file.h"
#include "collector/model/input/compiled_json.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* suffix = ".cbor";

/// FNV-1a (Fowler, Noll, Vo), 64 bits: names the file, and tells whether it is whole.
template <class Bytes>
std::uint64_t hash_of(const Bytes& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

/// The sum of what comes before it, as the last bytes of a file.
using Sum = std::array<std::uint8_t, sizeof(std::uint64_t)>;

Sum sum_of(const std::vector<std::uint8_t>& bytes) {
  Sum sum;
  const std::uint64_t hash = hash_of(bytes);
  std::memcpy(sum.data(), &hash, sum.size());
  return sum;
}

/// A file's bytes without the sum at its end; empty where they are not those that were written.
std::vector<std::uint8_t> whole_contents(std::istream& stream, std::uintmax_t size) {
  std::vector<std::uint8_t> bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!stream) return {};
  Sum sum;
  if (bytes.size() < sum.size()) return {};
  std::copy(bytes.end() - sum.size(), bytes.end(), sum.begin());
  bytes.resize(bytes.size() - sum.size());
  if (sum != sum_of(bytes)) bytes.clear();
  return bytes;
}

fs::path place_of(const std::string& key) {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / fmt::format("{:016x}{}", hash_of(key), suffix);
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

std::vector<Entry> entries() {
  std::vector<Entry> all;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(cache_folder(), ignored)) {
    if (file.path().extension() != suffix || !file.is_regular_file(ignored)) continue;
    std::error_code gone;  // another process makes room as well
    const Entry entry{file.path(), file.last_write_time(gone), file.file_size(gone)};
    if (!gone) all.push_back(entry);
  }
  return all;
}

void remove_oldest() {
  std::vector<Entry> all = entries();
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const Entry& entry : all) {
    bytes += entry.bytes;
    if (bytes > cache_limit) fs::remove(entry.path, ignored);
  }
}

}  // namespace

CacheState cache_state() {
  CacheState state;
  for (const Entry& entry : entries()) {
    ++state.entries;
    state.bytes += entry.bytes;
  }
  return state;
}

std::optional<Compiled> find_compiled(const std::string& key) {
  const fs::path path = place_of(key);
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return std::nullopt;  // a pipe would be waited for
  const std::uintmax_t size = fs::file_size(path, unknown);
  if (unknown) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  try {
    const json entry = json::from_cbor(whole_contents(stream, size));
    if (entry.at("key").get_ref<const std::string&>() != key) return std::nullopt;
    Compiled compiled = compiled_of(entry);
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return compiled;
  } catch (const json::exception&) {
    return std::nullopt;  // a damaged file, or what somebody else left there
  } catch (const std::ios_base::failure&) {
    return std::nullopt;  // cannot be read
  }
}

void keep_compiled(const std::string& key, const Compiled& compiled) {
  const fs::path path = place_of(key);
  std::error_code error;
  if (path.empty()) return;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return;
  fs::create_directories(path.parent_path(), error);
  if (error) return;
  json entry = json_of(compiled);
  entry["key"] = key;
  std::vector<std::uint8_t> bytes = json::to_cbor(entry);
  const Sum sum = sum_of(bytes);
  bytes.insert(bytes.end(), sum.begin(), sum.end());
  // A larger file than a program may write would end the program (SIGXFSZ).
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes.size() > most.rlim_cur) return;
  // One at a time: a new file asks for the umask, which is the whole process's.
  static std::mutex writing;
  const std::lock_guard alone(writing);
  try {
    NewFile file(path.string(), "it is only a cache");
    file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    file.keep();
  } catch (const Error&) {
    return;  // the next run compiles again what is not kept
  }
  remove_oldest();
}

}  // namespace warpmeter::model
