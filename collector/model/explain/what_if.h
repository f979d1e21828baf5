// An array of shared memory stored in another way: every recorded access of it goes where the
// change puts it, and is counted by the rules that count it today.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

/// A way to store an array whose rows are `row` bytes long.
struct Layout {
  enum class Kind {
    as_is,
    padding,    ///< `amount` words more a row
    swizzle,    ///< the element's column, exclusive or with the row shifted right by `amount`
    transpose,  ///< columns as rows
    split,      ///< elements of 8 or 16 bytes as words, in planes
  };
  Kind kind = Kind::as_is;
  std::uint32_t row = 0;
  unsigned amount = 0;

  std::string name() const;  ///< "padding 1"
};

/// Wavefronts and requests of an array's accesses, as the counters name them.
struct LayoutCost {
  std::vector<std::uint64_t> of_site;  ///< wavefronts, in the order of SharedArray::sites
  std::uint64_t load_wavefronts = 0, store_wavefronts = 0, atomic_wavefronts = 0;
  std::uint64_t load_requests = 0, store_requests = 0, atomic_requests = 0;
  std::uint64_t wavefronts() const {
    return load_wavefronts + store_wavefronts + atomic_wavefronts;
  }
};

inline constexpr std::uint32_t word = 4;  ///< bytes of a bank

/// Tries layouts of one array.
class WhatIf {
 public:
  /// Both must outlive it.
  WhatIf(const Subject& subject, const SharedArray& array);

  /// Why nothing can be tried; empty when something can.
  const std::string& impossible() const { return impossible_; }

  /// nullopt: such a layout does not fit the accesses, or what the compiler would make of it is not
  /// known.
  std::optional<LayoutCost> cost(const Layout& layout) const;
  /// Whether some layout would save half of the wavefronts beyond one a request of these sites,
  /// going by the accesses that are known, be they all or a sample.
  bool may_help(const std::vector<std::size_t>& sites) const;

  /// All that are worth a try with rows of this length.
  std::vector<Layout> layouts(std::uint32_t row) const;

  std::uint32_t element() const { return element_; }
  /// Bytes that the array has more.
  std::uint32_t more_bytes(const Layout& layout) const;
  /// Where the layout puts a byte of the array.
  std::uint32_t moved(const Layout& layout, std::uint32_t offset) const;
  /// The access as the machine makes it, moved; each of its requests.
  std::vector<WarpAccess> requests(const Layout& layout, const Placed& access) const;

 private:
  bool keeps_merged(const Layout& layout) const;
  const std::vector<Placed>& different(const Layout& layout) const;
  LayoutCost cost_of(const Layout& layout, const std::vector<Placed>& accesses) const;
  std::uint64_t beyond_requests(const Layout& layout, const std::vector<std::size_t>& sites) const;

  const Subject& subject_;
  const SharedArray& array_;
  std::uint32_t element_ = 4;       ///< bytes that stay together
  std::uint32_t narrowest_ = 4;     ///< of the accesses
  std::uint32_t merged_bytes_ = 0;  ///< of the widest access that ptxas made of several; 0: none
  std::string impossible_;
  /// Of a kind, row and period: the accesses that its layouts tell apart.
  using Kinds = std::tuple<Layout::Kind, std::uint32_t, std::uint32_t>;
  mutable std::map<Kinds, std::vector<Placed>> different_;
};

}  // namespace warpmeter::model::explain
