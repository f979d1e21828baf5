// SPDX-License-Identifier: MIT
// An array of shared memory stored in another way: every recorded access of it goes where the
// change puts it, and is counted by the rules that count it today.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/explain/alike.h"
#include "collector/model/explain/copy_costs.h"
#include "collector/model/explain/request_words.h"
#include "collector/model/explain/shared_arrays.h"
#include "collector/model/explain/tensor_boxes.h"

namespace warpmeter::model::explain {

/// Wavefronts and requests of an array's accesses, as the counters name them.
struct LayoutCost {
  /// Wavefronts, in the order of SharedArray::sites, and behind them CopyCosts::sites().
  std::span<std::uint64_t> of_site;
  std::uint64_t load_wavefronts = 0, store_wavefronts = 0, atomic_wavefronts = 0;
  std::uint64_t load_requests = 0, store_requests = 0, atomic_requests = 0;
  /// The wavefronts of ldmatrix and stmatrix, which no counter of loads and stores sees.
  std::uint64_t matrix_load_wavefronts = 0, matrix_store_wavefronts = 0;
  std::uint64_t matrix_load_requests = 0, matrix_store_requests = 0;
  /// The wavefronts of cp.async, where they are known, and those past L1 among them; and the
  /// sectors of global memory that the latter read, which depend on both sides.
  std::uint64_t copy_wavefronts = 0, bypass_wavefronts = 0, bypass_sectors = 0;
  bool are_copies_measured = true;  ///< false: no measured pattern tells how some would be done
  std::uint64_t wavefronts() const {
    return load_wavefronts + store_wavefronts + atomic_wavefronts + matrix_load_wavefronts +
           matrix_store_wavefronts + copy_wavefronts;
  }
  std::uint64_t requests() const {
    return load_requests + store_requests + atomic_requests + matrix_load_requests +
           matrix_store_requests;
  }
};

/// Where a site's accesses are counted.
struct Counted {
  std::uint64_t LayoutCost::*wavefronts;
  std::uint64_t LayoutCost::*requests;
};
Counted counted_as(const SiteInfo& site);

/// A member of a structure, or what several of them are accessed as together.
struct Member {
  std::uint32_t begin = 0, bytes = 0;
};

/// Where a layout puts the bytes of an array.
class Moved {
 public:
  /// `element`: bytes that stay together; `bytes`: of the array; `members` have to outlive it.
  Moved(const Layout& layout, std::uint32_t element, std::uint32_t bytes,
        std::span<const Member> members = {});
  /// For boxes, which have to outlive it, in an array that begins there.
  Moved(const Layout& layout, const TensorBoxes& boxes, std::uint32_t begin);
  std::uint32_t operator()(std::uint32_t offset) const;
  const Layout& layout() const { return layout_; }

 private:
  Layout layout_;
  Divisor row_, element_, elements_;  ///< elements of a row
  std::uint32_t rows_ = 1;
  std::span<const Member> members_;
  const TensorBoxes* boxes_ = nullptr;
  std::uint32_t begin_ = 0;  ///< the array's, in shared memory
};

/// Tries layouts of one array.
class WhatIf {
 public:
  /// Both must outlive it.
  WhatIf(const Subject& subject, const SharedArray& array);

  /// Why nothing can be tried; empty when something can.
  const std::string& impossible() const { return impossible_; }

  /// Null: such a layout does not fit the accesses, or what the compiler would make of it is not
  /// known, or a sample of very many accesses says that it saves next to nothing (has_useless()).
  /// Else it stays as long as this does.
  const LayoutCost* cost(const Layout& layout) const;
  bool has_useless() const { return has_useless_; }
  /// True if some layout would save half of the wavefronts beyond one a request of these sites,
  /// going by the accesses that are known, be they all or a sample.
  bool may_help(const std::vector<std::size_t>& sites) const;

  /// The lengths of rows that layouts() is asked for.
  std::vector<std::uint32_t> rows() const;
  /// All that are worth a try with rows of this length.
  std::vector<Layout> layouts(std::uint32_t row) const;

  std::uint32_t element() const { return element_; }
  /// Bytes that every layout keeps together: elements, and what a copy moves at once.
  std::uint32_t kept() const { return std::lcm(element_, copied_); }
  /// Bytes that a swizzle keeps together: those of a word lie in one bank whatever their order.
  std::uint32_t swizzled() const { return std::max(kept(), word); }
  /// Bytes that an asynchronous copy moves at once, the most of all; 1: there is none.
  std::uint32_t copied() const { return copied_; }
  /// True for copies of stretches (cp.async.bulk): rows stay whole.
  bool has_bulk_copies() const { return has_bulk_copies_; }
  const CopyCosts& copies() const { return copies_; }
  const TensorBoxes& boxes() const { return boxes_; }
  /// The sites of LayoutCost::of_site.
  std::vector<std::size_t> counted_sites() const;
  /// Bytes that the array has more with each word of padding in rows of this length.
  std::uint32_t bytes_of_padding(std::uint32_t row) const;
  /// True if the second access costs what the first does, with the array as it is.
  bool are_alike(const Placed& first, const Placed& second) const;
  /// The access as the machine makes it, moved; each of its requests.
  std::vector<WarpAccess> requests(const Layout& layout, const Placed& access) const;

 private:
  /// Calls visit(request) for each request of the access, as the machine makes it, moved.
  template <class Visit>
  void for_each_request(const Moved& moved, const Placed& access, Visit visit) const;
  Moved moved(const Layout& layout) const {
    if (layout.kind == Layout::Kind::boxes) return {layout, boxes_, array_.offset};
    return {layout, layout.kind == Layout::Kind::swizzle ? swizzled() : element_, array_.bytes,
            members_};
  }
  void find_members();
  void find_copies();
  /// Calls visit(begin, width) for each request of the access with the members apart.
  template <class Visit>
  void for_each_member(const Placed& access, Visit visit) const;
  std::uint32_t grain() const { return std::max(word, merged_bytes_); }
  bool keeps_merged(const Layout& layout) const;
  /// Accesses that the layouts of a kind tell apart.
  struct Different {
    std::vector<Placed> accesses;
    const LayoutCost* of_rows = nullptr;  ///< for those that cost the same with all of them
    std::span<LayoutCost> by_amount;      ///< from none on, where they were all counted at once
  };
  /// Accesses by how they lie in rows of a length.
  struct OfRows {
    std::optional<LyingAccesses> lying;
    std::vector<std::pair<Placed, std::optional<RequestWords>>>
        words;                            ///< the words of the first ones
    const LayoutCost* in_rows = nullptr;  ///< those in one row each, as they are; null: not yet
  };
  const Different& different(const Layout& layout) const;
  const LayoutCost* cost_in_rows(OfRows& of_rows) const;
  /// So many costs, kept with this; as those given.
  std::span<LayoutCost> costs(std::size_t count, const LayoutCost* as) const;
  void add_cost(const Moved& to, const Placed& access, LayoutCost& cost) const;
  void add_copies(const Layout& layout, LayoutCost& cost) const;
  bool is_useless(const Layout& layout, const std::vector<Placed>& accesses) const;
  bool are_words() const;
  void count_amounts(const Layout& layout, OfRows& of_rows, Different& known) const;
  static const RequestWords& words_of(OfRows& of_rows, std::size_t number, const Placed& access,
                                      const Divisor& row_length);
  std::uint64_t beyond_requests(const Layout& layout, const std::vector<std::size_t>& sites) const;

  const Subject& subject_;
  const SharedArray& array_;
  CopyCosts copies_;
  TensorBoxes boxes_;
  std::uint32_t element_ = 4;    ///< bytes that stay together
  std::uint32_t narrowest_ = 4;  ///< the narrowest of the accesses
  std::uint32_t copied_ = 1;     ///< see copied()
  bool has_bulk_copies_ = false;
  std::uint32_t merged_bytes_ =
      0;  ///< the merged bytes of the widest access that ptxas made of several; 0: none
  bool is_merged_ = false;       ///< ptxas made an access of several
  bool has_matrices_ = false;    ///< accesses by rows of matrices (ldmatrix, stmatrix, wmma)
  bool has_stride_ = false;      ///< for wmma, whose lines stay equally far apart
  std::vector<Member> members_;  ///< the members of a structure, all of it; none: it has no members
  std::string impossible_;
  std::vector<std::size_t>
      number_of_site_;  ///< for each site of the program, its number in the array
  /// Kind, row and period.
  using Kinds = std::tuple<Layout::Kind, std::uint32_t, std::uint32_t>;
  mutable std::map<Kinds, Different> different_;
  mutable std::pair<std::uint32_t, const Different*>
      padded_{};                                     ///< row and accesses, as asked last
  mutable std::map<std::uint32_t, OfRows> of_rows_;  ///< by their length
  /// The counts of one array lie together: of small launches most time went into its memory.
  alignas(std::max_align_t) mutable std::array<std::byte, 1 << 12> first_memory_;
  mutable std::pmr::monotonic_buffer_resource memory_{first_memory_.data(), first_memory_.size()};
  mutable bool has_useless_ = false;
  bool are_words_ = false;  ///< each lane's request is one word, not of an atomic
};

}  // namespace warpmeter::model::explain
