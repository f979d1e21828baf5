// SPDX-License-Identifier: MIT
#include "schema/catalogue/metric_meaning.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "base/nearest.h"
#include "base/words.h"

namespace warpmeter::schema {
namespace {

/// A word of a name, and the words that it stands for.
struct Word {
  std::string_view word;
  std::vector<std::string_view> meaning;
};

const std::vector<Word>& words_with_meaning() {
  static const std::vector<Word> words = {
      {"gld", {"global", "read"}},
      {"gst", {"global", "write"}},
      {"ld", {"read"}},
      {"load", {"read"}},
      {"loads", {"read"}},
      {"st", {"write"}},
      {"store", {"write"}},
      {"stores", {"write"}},
      {"smem", {"shared"}},
      {"gmem", {"global"}},
      {"lmem", {"local"}},
      {"mem", {}},
      {"memory", {}},
      {"l1", {"tex"}},
      {"texture", {"tex"}},
      {"device", {"dram"}},
      {"hbm", {"dram"}},
      {"host", {"sysmem"}},
      {"system", {"sysmem"}},
      {"reads", {"read"}},
      {"writes", {"write"}},
      {"atom", {"atomic"}},
      {"atomics", {"atomic"}},
      {"bandwidth", {"throughput"}},
      {"util", {"utilization"}},
      {"instructions", {"inst"}},
      {"instruction", {"inst"}},
      {"insts", {"inst"}},
      {"flops", {"flop"}},
      {"double", {"dp"}},
      {"single", {"sp"}},
      {"half", {"hp"}},
      {"warps", {"warp"}},
      {"conflicts", {"conflict"}},
      {"stalled", {"stall"}},
  };
  return words;
}

/// The words of a name in lower case, by their meanings, each once.
std::vector<std::string> meanings_of(std::string_view name) {
  std::vector<std::string> meanings;
  const auto add = [&](std::string_view word) {
    if (word.empty()) return;
    const auto& table = words_with_meaning();
    const auto known =
        std::find_if(table.begin(), table.end(), [&](const Word& w) { return w.word == word; });
    if (known == table.end()) {
      meanings.emplace_back(word);
    } else {
      meanings.insert(meanings.end(), known->meaning.begin(), known->meaning.end());
    }
  };
  const std::string small = lower(name);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= small.size(); ++i) {
    if (i < small.size() && std::isalnum(static_cast<unsigned char>(small[i])) != 0) continue;
    add(std::string_view(small).substr(begin, i - begin));
    begin = i + 1;
  }
  std::sort(meanings.begin(), meanings.end());
  meanings.erase(std::unique(meanings.begin(), meanings.end()), meanings.end());
  return meanings;
}

/// Long words may have a letter wrong.
bool is_same(const std::string& a, const std::string& b) {
  constexpr std::size_t long_word = 5;
  return a == b || (std::min(a.size(), b.size()) >= long_word && edit_distance(a, b) <= 1);
}

/// Shared words, of all words that either name has: 1 for the same meaning.
double shared_meaning(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::size_t both = 0;
  for (const std::string& word : a) {
    both +=
        std::any_of(b.begin(), b.end(), [&](const auto& w) { return is_same(word, w); }) ? 1 : 0;
  }
  const std::size_t all = a.size() + b.size() - both;
  return all == 0 ? 0 : static_cast<double>(both) / static_cast<double>(all);
}

}  // namespace

std::vector<std::string> nearest_by_meaning(std::string_view name,
                                            std::span<const std::string> known) {
  constexpr double least = 0.5, beside_best = 0.7;  // shares: of all words, of the best name
  constexpr std::size_t most = 3;
  const std::vector<std::string> wanted = meanings_of(name);
  std::vector<std::tuple<double, std::size_t, std::string>> found;
  double best = 0;
  for (const std::string& candidate : known) {
    const double shared = shared_meaning(wanted, meanings_of(candidate));
    if (shared < least) continue;
    best = std::max(best, shared);
    found.emplace_back(-shared, edit_distance(name, candidate), candidate);
  }
  if (found.empty()) return nearest(name, known);
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (const auto& [shared, distance, candidate] : found) {
    if (names.size() < most && -shared >= best * beside_best) names.push_back(candidate);
  }
  return names;
}

}  // namespace warpmeter::schema
