// SPDX-License-Identifier: MIT
#include "reports/selector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "base/variant_name.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Reads what stands between two "@".
class ConditionReader {
 public:
  ConditionReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::optional<Selector::Mistake> sizes(std::vector<std::int64_t>& sizes) {
    do {
      const auto size = number();
      if (!size) return Selector::Mistake{at_, "a size, grid=…, block=… or device=…"};
      sizes.push_back(*size);
    } while (take(','));
    return end("',', '@' or the end of the selector");
  }

  std::optional<Selector::Mistake> shapes(std::vector<std::string>& shapes) {
    do {
      std::int64_t extents[3] = {1, 1, 1};
      for (int i = 0; i < 3 && (i == 0 || take('x')); ++i) {
        const auto extent = number();
        if (!extent) return Selector::Mistake{at_, "a number, as in 64x64,"};
        extents[i] = *extent;
      }
      shapes.push_back(fmt::format("{}x{}x{}", extents[0], extents[1], extents[2]));
    } while (take(','));
    return end("',', '@' or the end of the selector");
  }

 private:
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const char* last = text_.data() + text_.size();
    if (begin == last || !is_digit(*begin)) return std::nullopt;
    const auto [end, error] = std::from_chars(begin, last, value);
    if (error != std::errc{}) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<Selector::Mistake> end(const char* expected) const {
    if (at_ == text_.size()) return std::nullopt;
    return Selector::Mistake{at_, expected};
  }

  std::string_view text_;
  std::size_t at_;
};

template <class Value>
bool meets_all(const std::vector<std::vector<Value>>& conditions, const Value& value) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  });
}

}  // namespace

std::string LaunchName::text() const {
  return fmt::format("{}/{}{}{}", family, variant, size ? " at " + grouped_number(*size) : "",
                     shows_device ? " on " + device : "");
}

void ReadableNames::add(const LaunchName& launch) {
  geometries_[launch.text()].insert(launch.geometry());
}

std::string ReadableNames::of(const LaunchName& launch) const {
  std::string text = launch.text();
  const auto found = geometries_.find(text);
  const bool several = found != geometries_.end() && found->second.size() > 1;
  return several ? fmt::format("{} ({})", text, launch.geometry()) : text;
}

std::optional<Selector::Mistake> Selector::read(std::string_view text, Selector& selector) {
  selector = Selector();
  selector.text_ = std::string(text);
  std::size_t at = text.find('@');
  selector.name_ = std::string(text.substr(0, at));
  if (selector.name_.empty()) return Mistake{0, "the name of a family or variant, or *"};
  while (at != std::string_view::npos) {
    const std::size_t next = text.find('@', at + 1);
    const std::string_view until = text.substr(0, next);
    const std::string_view condition = until.substr(at + 1);
    std::optional<Mistake> mistake;
    if (condition.starts_with("grid=")) {
      mistake = ConditionReader(until, at + 6).shapes(selector.grids_.emplace_back());
    } else if (condition.starts_with("block=")) {
      mistake = ConditionReader(until, at + 7).shapes(selector.blocks_.emplace_back());
    } else if (condition.starts_with("device=")) {
      selector.devices_.emplace_back(condition.substr(7));
      if (condition.size() == 7) mistake = Mistake{at + 8, "the name of a device"};
    } else {
      mistake = ConditionReader(until, at + 1).sizes(selector.sizes_.emplace_back());
    }
    if (mistake) return mistake;
    at = next;
  }
  return std::nullopt;
}

bool Selector::names(const LaunchName& launch) const {
  return name_.empty() || means_variant(name_, launch.family, launch.variant);
}

Selector Selector::of_any_family() const {
  Selector any = *this;
  if (name_.find('/') == std::string::npos) any.name_ = "*/" + name_;
  return any;
}

Selector Selector::of_all_parameters() const {
  Selector all = *this;
  all.name_ += "[[]*";  // a glob's way to write a bracket
  return all;
}

bool Selector::selects(const LaunchName& launch) const {
  if (!names(launch)) return false;
  if (!sizes_.empty() && (!launch.size || !meets_all(sizes_, *launch.size))) return false;
  return meets_all(grids_, launch.grid) && meets_all(blocks_, launch.block) &&
         std::all_of(devices_.begin(), devices_.end(), [&](const std::string& device) {
           return launch.device == device || launch.device.starts_with(device + " #") ||
                  fnmatch(device.c_str(), launch.device.c_str(), 0) == 0;
         });
}

std::vector<std::string> selectors_of(const std::vector<LaunchName>& launches,
                                      const Selector& meant) {
  const bool with_size = meant.text().find('@') != std::string::npos;
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const LaunchName& launch : launches) {
    std::string name = launch.family + "/" + launch.variant;
    if (with_size && launch.size) name += fmt::format("@{}", *launch.size);
    if (known.insert(name).second) names.push_back(std::move(name));
  }
  return names;
}

namespace {

bool selects_any(const Selector& selector, const std::vector<LaunchName>& launches) {
  return std::any_of(launches.begin(), launches.end(),
                     [&](const LaunchName& launch) { return selector.selects(launch); });
}

/// "; did you mean …?" of the launches' names, or of the variants' alone.
std::string near_names(const std::vector<LaunchName>& launches, const Selector& selector) {
  const std::string near = did_you_mean(selector.text(), selectors_of(launches, selector));
  if (!near.empty()) return near;
  std::vector<std::string> variants;
  for (const LaunchName& launch : launches) variants.push_back(launch.variant);
  return did_you_mean(selector.text(), variants);
}

}  // namespace

Selector settled(const Selector& selector, const std::vector<LaunchName>& launches) {
  if (selects_any(selector, launches)) return selector;
  const Selector any = selector.of_any_family();
  for (const Selector& wider : {any, selector.of_all_parameters(), any.of_all_parameters()}) {
    if (selects_any(wider, launches)) return wider;
  }
  return selector;
}

std::string meant_by(const std::vector<LaunchName>& launches, const Selector& selector) {
  std::vector<LaunchName> at_sizes, without_sizes;
  for (const LaunchName& launch : launches) {
    LaunchName& bare = without_sizes.emplace_back(launch);
    bare.variant = name_without_sizes(launch.variant);
    if (bare.variant != launch.variant && selector.selects(bare)) at_sizes.push_back(launch);
  }
  if (at_sizes.empty()) {
    const std::string near = near_names(launches, selector);
    return near.empty() ? near_names(without_sizes, selector) : near;
  }
  std::vector<std::string> names = selectors_of(at_sizes, selector);
  std::transform(names.begin(), names.end(), names.begin(), printable);
  constexpr std::size_t shown = 3;
  const std::size_t count = std::min(names.size(), shown);
  std::string all = selector.text();
  all.insert(std::min(all.find('@'), all.size()), "(*)");
  return fmt::format(
      "; it is measured at named sizes: {}{}, or all of them, '{}'",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), ", "),
      names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "", all);
}

void require_selected(const std::vector<LaunchName>& launches, std::vector<Selector>& selectors,
                      std::int64_t run, const std::string& unfinished) {
  for (Selector& selector : selectors) {
    selector = settled(selector, launches);
    if (selects_any(selector, launches)) continue;
    if (!unfinished.empty()) {
      throw Error(ExitCode::nothing, fmt::format("no launch matches '{}', and {}; measure it again",
                                                 selector.text(), unfinished));
    }
    std::vector<std::string> names = selectors_of(launches, selector);
    std::transform(names.begin(), names.end(), names.begin(), printable);
    // A person names the database so, and sees the last run of another one; or a line.
    const std::string& text = selector.text();
    const std::size_t colon = text.rfind(':');
    const bool is_line = colon != text.npos && colon > 0 && colon + 1 < text.size() &&
                         text.find_first_not_of("0123456789", colon + 1) == text.npos;
    const std::string hint = text.ends_with(".db")
                                 ? fmt::format("; a database is named with --db {}", text)
                             : is_line ? fmt::format("; a line is named with --show {}", text)
                                       : meant_by(launches, selector);
    constexpr std::size_t shown = 8;
    const std::size_t count = std::min(names.size(), shown);
    throw Error(
        ExitCode::usage,
        fmt::format(
            "no launch of run {} matches '{}'{} (the launches: {}{}; --run names another run)", run,
            text, hint,
            fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), ", "),
            names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : ""));
  }
}

Selector parse_selector(std::string_view text) {
  Selector selector;
  if (const auto mistake = Selector::read(text, selector)) {
    const std::string_view rest = text.substr(std::min(mistake->at, text.size()));
    throw Error(ExitCode::usage,
                fmt::format("the selector '{}' cannot be read: at column {} {} was expected and {}",
                            text, column_of(text, mistake->at), mistake->expected,
                            rest.empty() ? "it ends" : fmt::format("'{}' is there", rest)));
  }
  return selector;
}

std::size_t column_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char c) {
           return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
         }));
}

}  // namespace warpmeter::reports
