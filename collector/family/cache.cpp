#include "collector/family/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/new_file.h"

namespace warpmeter::family {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* suffix = ".cbor";

/// FNV-1a (Fowler, Noll, Vo), 64 bits: names the file, and no more.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
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
    if (file.path().extension() != suffix) continue;
    all.push_back({file.path(), file.last_write_time(ignored), file.file_size(ignored)});
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

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "warpmeter";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "warpmeter";
  }
  return {};
}

CacheState cache_state() {
  CacheState state;
  for (const Entry& entry : entries()) {
    ++state.entries;
    state.bytes += entry.bytes;
  }
  return state;
}

std::optional<model::Compiled> find_compiled(const std::string& key) {
  const fs::path path = place_of(key);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(stream), {}};
  const json entry = json::from_cbor(bytes, true, false);
  try {
    if (entry.at("key").get_ref<const std::string&>() != key) return std::nullopt;
    model::Compiled compiled;
    compiled.ptx = entry.at("ptx").get<std::string>();
    for (const std::uint8_t byte : entry.at("cubin").get_binary()) {
      compiled.cubin.push_back(std::byte{byte});
    }
    compiled.named = entry.at("named").get<std::map<std::string, std::string>>();
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return compiled;
  } catch (const json::exception&) {
    return std::nullopt;  // what somebody else left there
  }
}

void keep_compiled(const std::string& key, const model::Compiled& compiled) {
  const fs::path path = place_of(key);
  std::error_code error;
  if (path.empty()) return;
  fs::create_directories(path.parent_path(), error);
  if (error) return;
  json entry;
  entry["key"] = key;
  entry["ptx"] = compiled.ptx;
  const auto* cubin = reinterpret_cast<const std::uint8_t*>(compiled.cubin.data());
  entry["cubin"] = json::binary({cubin, cubin + compiled.cubin.size()});
  entry["named"] = compiled.named;
  const std::vector<std::uint8_t> bytes = json::to_cbor(entry);
  // One at a time: a new file asks for the umask, which is the whole process's.
  static std::mutex writing;
  const std::lock_guard alone(writing);
  try {
    NewFile file(path.string(), "it is only a cache");
    file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    file.keep();
  } catch (const Error&) {
    return;  // what is not kept is compiled again
  }
  remove_oldest();
}

}  // namespace warpmeter::family
