// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/steps.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/stack.h"
#include "collector/model/counts/sass/audit.h"
#include "collector/model/counts/steps/code.h"
#include "collector/model/counts/steps/walk.h"
#include "collector/model/machine/memory/memory.h"

namespace warpmeter::model::steps {
namespace {

/// Blocks of code that all warps of a launch may execute, and places that they may load from.
constexpr std::uint64_t most_blocks = 400'000'000;
constexpr std::size_t most_places = std::size_t{1} << 22;

constexpr std::string_view time_doubt =
    "lanes of a warp part so that hardware's issues depend on time: in three groups or more behind "
    "a loop, or while some of them end";

constexpr unsigned parameter_bank = 0, table_bank = 2;
/// Where a thread's local memory ends: only distances from it are of use.
constexpr std::uint32_t stack_offset = 0x28;
/// The second differs from the first in every other bit, down to the alignment of 16 bytes.
constexpr std::array<std::uint32_t, 2> stack_tops = {0xfffdc0, 0xa5a230};
constexpr std::string_view address_doubt = "a branch depends on where local memory lies";

/// Places of memory and what was there.
class Seen {
 public:
  /// False: there are too many.
  bool add(std::uint64_t address, unsigned bytes, const std::uint32_t* words) {
    Found& found = places_[address];
    if (bytes > found.bytes) {
      found.bytes = bytes;
      std::copy(words, words + 4, found.words.begin());
    }
    return places_.size() <= most_places;
  }
  bool is_same_in(const DeviceMemory& memory) const {
    return std::all_of(places_.begin(), places_.end(), [&](const auto& place) {
      std::uint32_t words[4] = {};
      return read(memory, place.first, place.second.bytes, words) &&
             std::equal(words, words + 4, place.second.words.begin());
    });
  }
  bool is_empty() const { return places_.empty(); }

  static bool read(const DeviceMemory& memory, std::uint64_t address, unsigned bytes,
                   std::uint32_t* words) {
    const Allocation* allocation = memory.find(address);
    if (allocation == nullptr) return false;
    const std::uint64_t offset = address - allocation->address;
    if (offset + bytes > allocation->data.size()) return false;
    std::memcpy(words, allocation->data.data() + offset, bytes);
    return true;
  }

 private:
  struct Found {
    unsigned bytes = 0;
    std::array<std::uint32_t, 4> words = {};
  };
  std::unordered_map<std::uint64_t, Found> places_;
};

class OfLaunch : public Surroundings {
 public:
  OfLaunch(const Code& code, const Geometry& geometry, std::span<const std::byte> parameters,
           const DeviceMemory& memory, bool may_load, std::uint32_t stack_top)
      : code_(code),
        geometry_(geometry),
        parameters_(parameters),
        memory_(memory),
        may_load_(may_load),
        stack_top_(stack_top) {}

  std::optional<std::uint32_t> constant(unsigned bank, std::uint32_t offset) override {
    if (bank == table_bank) return number_at<std::uint32_t>(code_.tables, offset);
    if (bank != parameter_bank) return std::nullopt;
    const Dim3 &block = geometry_.block, &grid = geometry_.grid;
    const std::uint32_t sizes[] = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
    if (offset % 4 == 0 && offset / 4 < std::size(sizes)) return sizes[offset / 4];
    if (offset == stack_offset) {
      has_stack_ = true;
      return stack_top_;
    }
    if (offset < code_.parameter_offset || code_.parameter_bytes == 0) return std::nullopt;
    return number_at<std::uint32_t>(padded_, offset - code_.parameter_offset);
  }

  bool load(std::uint64_t address, unsigned bytes, std::uint32_t* words) override {
    if (!may_load_ || is_full_) return false;
    if (!Seen::read(memory_, address, bytes, words)) return false;
    is_full_ = !seen_.add(address, bytes, words);
    return !is_full_;
  }

  bool is_global(std::uint64_t address) const override { return memory_.find(address) != nullptr; }

  const Seen& seen() const { return seen_; }
  bool has_stack() const { return has_stack_; }

 private:
  /// The last parameter may be shorter than what is read of it.
  std::vector<std::byte> with_padding() const {
    std::vector<std::byte> bytes(parameters_.begin(), parameters_.end());
    bytes.resize(bytes.size() + 3);
    return bytes;
  }

  const Code& code_;
  const Geometry& geometry_;
  std::span<const std::byte> parameters_;
  const DeviceMemory& memory_;
  const bool may_load_;
  std::vector<std::byte> padded_ = with_padding();
  const std::uint32_t stack_top_;
  Seen seen_;
  bool is_full_ = false, has_stack_ = false;
};

/// Some blocks' warps, by one thread.
struct Part {
  Part(const Code& code, OfLaunch surroundings_of_it)
      : surroundings(std::move(surroundings_of_it)), tally(code) {}
  OfLaunch surroundings;
  Tally tally;
};

class Followed : public FollowedLaunch {
 public:
  Followed(const Code& code, const Geometry& geometry, std::span<const std::byte> parameters,
           const DeviceMemory& memory, unsigned threads)
      : code_(code), geometry_(geometry), parameters_(parameters), threads_(std::max(threads, 1U)) {
    run(memory, true);
  }

  Executions end(const DeviceMemory& memory) override {
    const bool is_same = std::all_of(parts_.begin(), parts_.end(), [&](const auto& part) {
      return part->surroundings.seen().is_same_in(memory);
    });
    if (!is_same) run(memory, false);
    return result();
  }

 private:
  /// Follows all warps, and again with local memory elsewhere if they ask where it is; where they
  /// may not load, what is in memory is not known.
  void run(const DeviceMemory& memory, bool may_load) {
    follow(memory, may_load, stack_tops[0]);
    const bool has_stack = std::any_of(parts_.begin(), parts_.end(), [](const auto& part) {
      return part->surroundings.has_stack();
    });
    if (!has_stack || !sum_.doubt.empty()) return;
    Tally first = std::move(sum_);
    follow(memory, may_load, stack_tops[1]);
    if (sum_ != first) sum_.doubt = address_doubt;
  }

  void follow(const DeviceMemory& memory, bool may_load, std::uint32_t stack_top) {
    parts_.clear();
    next_ = 0;
    spent_ = 0;
    const OfLaunch surroundings(code_, geometry_, parameters_, memory, may_load, stack_top);
    std::vector<LargeThread> others;
    for (unsigned i = 0; i < threads_; ++i) {
      parts_.push_back(std::make_unique<Part>(code_, surroundings));
    }
    for (unsigned i = 1; i < threads_; ++i) others.emplace_back([this, i] { run(*parts_[i]); });
    run(*parts_[0]);
    for (const LargeThread& other : others) other.join();
    sum_ = parts_[0]->tally;
    for (std::size_t i = 1; i < parts_.size(); ++i) sum_.add(parts_[i]->tally);
    // Warps that went side by side may have spent too much together.
    if (sum_.doubt.empty() && spent_ > most_blocks) sum_.doubt = too_long;
  }

  void run(Part& part) {
    Walk walk(code_, part.surroundings);
    const std::uint64_t blocks = geometry_.grid.count();
    const std::uint64_t warps = (geometry_.block.count() + 31) / 32;
    for (std::uint64_t b = next_++; b < blocks; b = next_++) {
      const std::uint64_t x = geometry_.grid.x, y = geometry_.grid.y;
      const Dim3 block = {static_cast<std::uint32_t>(b % x), static_cast<std::uint32_t>(b / x % y),
                          static_cast<std::uint32_t>(b / x / y)};
      for (unsigned warp = 0; warp < warps; ++warp) {
        const std::uint64_t left = most_blocks - std::min<std::uint64_t>(spent_, most_blocks);
        walk.set_budget(left);
        if (walk.follow(geometry_.block, block, warp, part.tally)) {
          spent_ += left - walk.budget();
          continue;
        }
        next_ = blocks;  // nobody needs to go on
        return;
      }
    }
  }

  Executions result() const {
    const Tally& sum = sum_;
    Executions result;
    if (!sum.doubt.empty()) {
      result.doubt = sum.doubt;
      if (sum.doubt_line != 0) {
        result.doubt += " (line " + std::to_string(sum.doubt_line) + " of the PTX)";
      }
      return result;
    }
    if (sum.depends_on_time) result.time_doubt = time_doubt;
    result.of.resize(code_.operations.size());
    for (std::size_t i = 0; i < result.of.size(); ++i) {
      const Tally::Times& times = sum.blocks[code_.block_of[i]];
      result.of[i] = {.warps = times.warps,
                      .threads = times.threads,
                      .passed = times.threads,
                      .acted = {},
                      .parted = sum.parted[i],
                      .warps_again = sum.again[i].warps,
                      .threads_again = sum.again[i].threads};
      const Block& block = code_.blocks[code_.block_of[i]];
      result.of[i].threads_vary = i + 1 == block.end && sum.crowded[code_.block_of[i]] != 0;
      const Predicate& guard = code_.operations[i].guard;
      if (!guard.is_true() && !guard.is_uniform) result.of[i].passed = sum.on[i].threads;
      if (!guard.is_true() && (guard.is_uniform || sum.unknown[i] != 0)) {
        result.of[i].passed.reset();
      }
      result.of[i].acted = acted(i, result.of[i].passed);
    }
    for (const std::uint32_t access : code_.accesses) {
      const bool is_guarded = !code_.operations[access].guard.is_true();
      const std::uint64_t requests =
          is_guarded ? sum.on[access].warps : sum.blocks[code_.block_of[access]].warps;
      const auto [found, is_new] = result.requests.try_emplace(code_.lines[access], 0);
      if (found->second) *found->second += requests;
      if (sum.unknown[access] != 0) found->second.reset();
    }
    return result;
  }

  /// `@P0 BRA P1` and `@P0 EXIT P1`: an H200's inst_control counts the threads of P0, its sum over
  /// all instructions those of both. Nobody has measured others of control flow with a second
  /// predicate, nor one of the whole warp.
  std::optional<std::uint64_t> acted(std::size_t i, std::optional<std::uint64_t> passed) const {
    const Operation& operation = code_.operations[i];
    const bool is_control = operation.kind >= Kind::branch && operation.kind != Kind::barrier;
    if (!is_control || (operation.input.is_true() && operation.second_input.is_true())) {
      return passed;
    }
    const bool is_measured = (operation.kind == Kind::branch || operation.kind == Kind::end) &&
                             operation.second_input.is_true();
    if (!is_measured && sum_.blocks[code_.block_of[i]].threads != 0) return std::nullopt;
    return sum_.acted[i];
  }

  const Code& code_;
  const Geometry geometry_;
  const std::span<const std::byte> parameters_;
  const unsigned threads_;
  std::vector<std::unique_ptr<Part>> parts_;
  Tally sum_{code_};
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> spent_ = 0;  ///< blocks of code that whole warps executed
};

class Unknown : public FollowedLaunch {
 public:
  explicit Unknown(std::string why) : why_(std::move(why)) {}
  Executions end(const DeviceMemory& /*memory*/) override {
    Executions result;
    result.doubt = why_;
    return result;
  }

 private:
  std::string why_;
};

class Steps : public MachineSteps {
 public:
  explicit Steps(std::variant<Code, std::string> code) : code_(std::move(code)) {}

  std::unique_ptr<FollowedLaunch> follow(const Geometry& geometry,
                                         std::span<const std::byte> parameters,
                                         const DeviceMemory& memory,
                                         unsigned threads) const override {
    if (const auto* why = std::get_if<std::string>(&code_)) return std::make_unique<Unknown>(*why);
    return std::make_unique<Followed>(std::get<Code>(code_), geometry, parameters, memory, threads);
  }

 private:
  std::variant<Code, std::string> code_;
};

}  // namespace

std::shared_ptr<const MachineSteps> steps_of(Bytes cubin, std::string_view entry) {
  return std::make_shared<Steps>(read_code(cubin, entry));
}

std::string audit(Program& program, const ptx::Module& module, Bytes cubin) {
  std::string wrong = sass::audit(program, module, cubin);
  if (wrong.empty()) program.steps = steps_of(cubin, program.kernel);
  return wrong;
}

}  // namespace warpmeter::model::steps
