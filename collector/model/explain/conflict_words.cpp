#include "collector/model/explain/conflict_words.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "collector/model/machine/access_counts.h"

namespace warpmeter::model::explain {
namespace {

constexpr unsigned banks = 32;

/// The longest run of neighbouring lanes that are equally far apart.
struct Run {
  unsigned first = 0, lanes = 1;
  std::int64_t step = 0;
};

Run longest_run(const WarpAccess& access) {
  Run best, run;
  bool is_started = false;
  for (unsigned lane = 1; lane < warp_lanes; ++lane) {
    const bool both = (access.mask >> lane & 1) != 0 && (access.mask >> (lane - 1) & 1) != 0;
    const auto step = static_cast<std::int64_t>(access.address[lane] - access.address[lane - 1]);
    if (both && is_started && step == run.step) {
      ++run.lanes;
    } else if (both) {
      run = {lane - 1, 2, step};
    }
    is_started = both;
    if (both && step != 0 && (run.lanes > best.lanes || best.step == 0)) best = run;
  }
  return best;
}

std::string apart(std::int64_t bytes) {
  const std::int64_t length = bytes < 0 ? -bytes : bytes;
  if (length % word != 0) return fmt::format("{} bytes", shown(static_cast<double>(length)));
  return length == word ? "one word"
                        : fmt::format("{} words", shown(static_cast<double>(length) / word));
}

/// Rows that are the elements of an array of structures.
bool is_of_elements(const SharedArray& array, const Layout& layout) {
  return array.extents.size() == 1 && layout.row == array.element_bytes;
}

}  // namespace

schema::WarpPicture banks_of(const SiteInfo& site, const WarpAccess& access) {
  schema::WarpPicture picture;
  picture.mask = access.mask;
  picture.width = access.width;
  for_each_lane(access.mask, [&](unsigned lane) { picture.address[lane] = access.address[lane]; });
  const auto passes =
      shared_passes(site.is_matrix ? matrix_rows(access) : access, shared_access(site));
  std::copy(passes.begin(), passes.end(), picture.pass.begin());
  return picture;
}

std::string pattern_in_words(const WarpAccess& access) {
  struct Places {
    std::vector<std::uint64_t> words;
    std::uint32_t banks = 0;  ///< bit b: bank b is among them
    std::size_t count() {
      std::sort(words.begin(), words.end());
      return static_cast<std::size_t>(std::unique(words.begin(), words.end()) - words.begin());
    }
    unsigned bank_count() const { return static_cast<unsigned>(std::popcount(banks)); }
  } of_all, of_run;
  const Run run = longest_run(access);
  for_each_lane(access.mask, [&](unsigned lane) {
    const bool is_of_run = lane >= run.first && lane < run.first + run.lanes;
    for (unsigned byte = 0; byte < access.width; byte += word) {
      const std::uint64_t place = (access.address[lane] + byte) / word;
      for (Places* places : {&of_all, is_of_run ? &of_run : &of_all}) {
        places->words.push_back(place);
        places->banks |= 1u << place % banks;
      }
    }
  });
  // Lanes that have a bank each do not meet: it is the runs beside them that they meet.
  const bool meets = of_run.bank_count() < of_run.count();
  if (run.lanes < 4 || run.step == static_cast<std::int64_t>(access.width) || !meets) {
    return fmt::format("Its lanes go to {} words in {} banks.", of_all.count(),
                       in_words(of_all.bank_count()));
  }
  const std::string who = run.lanes == warp_lanes ? "All 32 lanes"
                          : run.lanes == 16
                              ? "The 16 lanes of half a warp"
                              : fmt::format("Lanes {} to {}", run.first, run.first + run.lanes - 1);
  const std::string width =
      access.width > word ? fmt::format(" and {} bytes wide", access.width) : "";
  return fmt::format("{}, {} apart{}, meet in {} bank{}.", who, apart(run.step), width,
                     in_words(of_run.bank_count()), of_run.bank_count() == 1 ? "" : "s");
}

std::string change_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if) {
  const std::string name = array.name.empty() ? "array" : array.name;
  if (is_of_elements(array, layout)) return "";
  const std::uint32_t element = what_if.element();
  const std::uint32_t columns = layout.row / element, rows = array.bytes / layout.row;
  const bool is_declared = array.extents.size() > 1;
  switch (layout.kind) {
    case Layout::Kind::padding: {
      const std::uint32_t more = layout.amount * word / element;
      if (is_declared && layout.row == array.extents.back() * element) {
        std::string outer;
        for (std::size_t i = 0; i + 1 < array.extents.size(); ++i) {
          outer += fmt::format(FMT_COMPILE("[{}]"), array.extents[i]);
        }
        return fmt::format(FMT_COMPILE("{}{}[{}]"), name, outer, columns + more);
      }
      return fmt::format(FMT_COMPILE("{}[i + i / {}{}]"), name, columns,
                         more > 1 ? fmt::format(FMT_COMPILE(" * {}"), more) : "");
    }
    case Layout::Kind::swizzle: {
      std::string row =
          layout.amount == 0 ? "y" : fmt::format(FMT_COMPILE("(y >> {})"), layout.amount);
      if ((rows - 1) >> layout.amount >= columns)
        row = fmt::format(FMT_COMPILE("({} % {})"), row, columns);
      if (is_declared && array.extents.size() == 2)
        return fmt::format(FMT_COMPILE("{}[y][x ^ {}]"), name, row);
      return fmt::format(FMT_COMPILE("{}[i ^ {}], y = i / {}"), name, row, columns);
    }
    case Layout::Kind::transpose:
      if (is_declared && array.extents.size() == 2)
        return fmt::format(FMT_COMPILE("{}[x][y]"), name);
      return fmt::format(FMT_COMPILE("{}[i % {} * {} + i / {}]"), name, columns, rows, columns);
    case Layout::Kind::split:
    case Layout::Kind::as_is:
      break;
  }
  return "";
}

std::string meaning_of(const SharedArray& array, const Layout& layout) {
  const bool is_declared = array.extents.size() > 1;
  const std::string words =
      layout.amount == 1 ? "a word" : fmt::format(FMT_COMPILE("{} words"), layout.amount);
  const std::string part = array.part.empty() ? ""
                                              : fmt::format(FMT_COMPILE(", of the part of {} {}"),
                                                            array.name, array.part);
  const std::string row =
      is_declared ? "a row" : fmt::format(FMT_COMPILE("after every {} words"), layout.row / word);
  switch (layout.kind) {
    case Layout::Kind::padding:
      if (is_of_elements(array, layout)) {
        return fmt::format(FMT_COMPILE("a member of {} more in each element{}"), words, part);
      }
      return fmt::format(FMT_COMPILE("{} of padding {}{}"), words, row, part);
    case Layout::Kind::swizzle:
      if (is_declared) return "a swizzle";
      return fmt::format(FMT_COMPILE("a swizzle of rows of {} words{}"), layout.row / word, part);
    case Layout::Kind::transpose:
      if (is_declared) return "stored the other way round";
      return fmt::format(FMT_COMPILE("rows of {} words stored as columns{}"), layout.row / word,
                         part);
    case Layout::Kind::split:
      return fmt::format(FMT_COMPILE("an array for each word of an element{}"), part);
    case Layout::Kind::as_is:
      break;
  }
  return "";
}

}  // namespace warpmeter::model::explain
