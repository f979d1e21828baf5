// SPDX-License-Identifier: MIT
#include "collector/runtime/check/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/failed_calls.h"
#include "collector/runtime/check/python.h"
#include "collector/runtime/check/python_objects.h"

namespace warpmeter::runtime {
namespace {

using model::check::structure_chunk;

/// A copy that is smaller may be one structure, whose gap comes once.
constexpr std::uint64_t least_array_bytes = 64;

std::string bytes_in_words(std::uint64_t bytes) {
  return with_noun(fmt::format("{}", fmt::group_digits(bytes)), "byte");
}

bool is_shared_with_host(MemoryKind kind) {
  return kind == MemoryKind::managed || kind == MemoryKind::pinned;
}

std::string in_words(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::managed:
      return "managed memory";
    case MemoryKind::pinned:
      return "pinned memory";
    case MemoryKind::registered:
      return "memory that was registered";
    default:
      return "device memory";
  }
}

/// Where a kernel's mistake is: its line, or the line of its PTX where it was compiled without
/// -lineinfo.
std::string place_of(const model::check::Finding& finding, const std::string& kernel) {
  if (finding.place.line > 0 && !finding.file.empty()) {
    return fmt::format("{}:{}", model::relative_path(finding.file), finding.place.line);
  }
  return fmt::format("{}, PTX line {}", kernel, finding.place.ptx_line);
}

/// The other line that the message names; empty: none.
std::string other_of(const model::check::Finding& finding) {
  if (finding.other_line <= 0 || finding.other_file.empty()) return "";
  return fmt::format("{}:{}", model::relative_path(finding.other_file), finding.other_line);
}

/// Where a person finds a kernel's mistake, and the end of its message. In the toolkit's own
/// kernels that is the host code that called Thrust or CUB; the message then names the header.
struct Attributed {
  std::string where, ending;
};
Attributed attributed(const model::check::Finding& finding, const std::string& kernel) {
  const HostPlace call = place_of_call();
  const std::string place = place_of(finding, kernel), from = call.after("; launched");
  const bool has_line = finding.place.line > 0 && !finding.file.empty();
  if (const auto function = call.is_python && !has_line ? numba_kernel() : std::nullopt) {
    return {function->in_words(),
            fmt::format("; in kernel '{}', line {} of its PTX: @cuda.jit(lineinfo=True) gives the "
                        "line{}",
                        function->function, finding.place.ptx_line, from)};
  }
  if (!model::check::is_of_toolkit(finding.file) || call.in_words().empty()) return {place, from};
  const bool is_named = finding.message.find(place) != std::string::npos;
  return {
      call.in_words(),
      fmt::format("{}{}{}", is_named ? "" : "; in the toolkit's code at ", is_named ? "" : place,
                  call.line > 0 ? "" : "; compile the host code with -g for the line")};
}

}  // namespace

Checks::Checks(Report& report, Memory& memory)
    : report_(report),
      memory_(memory),
      races_(
          memory,
          [this](const std::string& kind, const std::string& where, const std::string& what,
                 const std::string& message) { find(kind, where, what, message); },
          [this](const std::string& text) { report_.say(text); }) {
  memory.tell(this);
  memory.use_two_views();
}

void Checks::find(const std::string& kind, const std::string& where, const std::string& what,
                  const std::string& message, std::uint64_t times, bool is_remark,
                  const std::string& other) {
  const auto [first, is_new] =
      messages_.try_emplace({kind + '\n' + where, what}, std::pair(message, other));
  report_.find({kind, where, first->second.first, times, is_remark, first->second.second});
}

void Checks::allocated(const Block& block) {
  const auto after = freed_.lower_bound(block.address);
  auto from = after;
  if (from != freed_.begin() &&
      std::prev(from)->first + std::prev(from)->second.bytes > block.address) {
    --from;
  }
  freed_.erase(from, freed_.lower_bound(block.address + block.bytes));
  if (block.kind == MemoryKind::device) written_.add(block.address, block.bytes);
  if (block.kind != MemoryKind::mapped) return;
  // Bytes that were unset before the stretch became this one are so still; of what joins it
  // is_fresh tells.
  written_.add(block.address, block.bytes);
  model::check::MarkedBytes& written = *written_.find(block.address);
  written.mark(0, block.bytes);
  for (const auto& [address, before] : parting_) {
    const std::uint64_t begin = std::max(address, block.address);
    const std::uint64_t end = std::min(address + before.bytes, block.address + block.bytes);
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t unset = before.written.next(false, at - address, end - address) + address;
      at = before.written.next(true, unset - address, end - address) + address;
      written.unmark(unset - block.address, at - unset);
    }
  }
}

void Checks::is_fresh(std::uint64_t address, std::uint64_t bytes) {
  const Block* block = memory_.find(address);
  auto* written = block == nullptr ? nullptr : written_.find(block->address);
  if (written != nullptr) written->unmark(address - block->address, bytes);
}

void Checks::is_shared(std::uint64_t address, std::uint64_t bytes) { set(address, bytes); }

void Checks::released(const Block& block) {
  find_overrun(block);
  races_.released(block);
  if (block.kind == MemoryKind::mapped) {
    if (auto* written = written_.find(block.address)) {
      parting_[block.address] = {block.bytes, std::move(*written)};
    }
  }
  if (block.kind == MemoryKind::device || block.kind == MemoryKind::mapped) {
    written_.remove(block.address);
  }
  freed_[block.address] = {block.bytes, block.name, place_of_call().after(""), block.kind};
}

const Checks::Freed* Checks::freed_at(std::uint64_t address) const {
  const auto after = freed_.upper_bound(address);
  if (after == freed_.begin()) return nullptr;
  const auto& [begin, freed] = *std::prev(after);
  return address - begin < freed.bytes ? &freed : nullptr;
}

std::uint64_t Checks::beginning_of_freed(std::uint64_t address) const {
  const auto after = freed_.upper_bound(address);
  return after == freed_.begin() ? 0 : std::prev(after)->first;
}

/// Between the members of structures there are gaps that nobody writes: up to seven bytes, inside
/// of eight aligned ones of which others are written.
void Checks::find_unset(const Block& block, const model::check::MarkedBytes& written,
                        std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t end = offset + bytes;
  unset_.copied += bytes;
  for (std::uint64_t begin = written.next(false, offset, end); begin < end;) {
    const std::uint64_t past = written.next(true, begin, end);
    const std::uint64_t chunk = begin / structure_chunk * structure_chunk;
    const bool is_gap = past <= chunk + structure_chunk && written.any(chunk, structure_chunk);
    std::uint64_t& first = is_gap ? unset_.first_gap : unset_.first;
    std::uint64_t& sum = is_gap ? unset_.gap_bytes : unset_.bytes;
    if (sum == 0) first = begin;
    sum += past - begin;
    unset_.gaps += is_gap ? 1 : 0;
    unset_.name = block.name;
    begin = written.next(false, past, end);
  }
}

void Checks::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const Block* source = memory_.find(from);
  const Block* target = memory_.find(to);
  model::check::MarkedBytes* read = source == nullptr ? nullptr : written_.find(source->address);
  model::check::MarkedBytes* written = target == nullptr ? nullptr : written_.find(target->address);
  if (written == nullptr) {
    if (read != nullptr) find_unset(*source, *read, from - source->address, bytes);
    return;
  }
  // Unset bytes stay unset where they are copied to.
  const std::uint64_t offset = to - target->address;
  if (read == nullptr) return written->mark(offset, bytes);
  const std::uint64_t begin = from - source->address, end = begin + bytes;
  if (read->all(begin, bytes)) return written->mark(offset, bytes);
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t set = read->next(true, at, end);
    written->unmark(offset + (at - begin), set - at);
    at = read->next(false, set, end);
    written->mark(offset + (set - begin), at - set);
  }
}

void Checks::end_of_copy(std::string_view call) {
  const Unset unset = std::exchange(unset_, {});
  const bool is_lone_gap = unset.gaps == 1 && unset.copied >= least_array_bytes;
  if (unset.bytes == 0 && !is_lone_gap) return;
  const std::uint64_t bytes = unset.bytes > 0 ? unset.bytes : unset.gap_bytes;
  find("uninitialised read", place_of_call().in_words(), std::string(call),
       fmt::format("{} copies {} of {}, from byte {} on, that nothing has written", call,
                   bytes_in_words(bytes), unset.name,
                   unset.bytes > 0 ? unset.first : unset.first_gap));
}

void Checks::find_in_call(const std::string& kind, std::string_view call,
                          const std::string& message) {
  find(kind, place_of_call().in_words(), std::string(call), message);
}

void Checks::set(std::uint64_t to, std::uint64_t bytes) {
  const Block* block = memory_.find(to);
  if (block == nullptr) return;
  if (auto* written = written_.find(block->address)) written->mark(to - block->address, bytes);
}

/// The array of a Python script that an access left, and the element that it meant.
std::string Checks::element_of(const model::check::Finding& finding) const {
  if (finding.address == 0 || !python::was_initialised()) return "";
  const Block* block = memory_.find(finding.address);
  if (block == nullptr) block = memory_.before(finding.address);
  const auto end_of = [](const Block* one) {
    return one->address + std::max<std::uint64_t>(one->bytes, 1);
  };
  auto array = block != nullptr ? python_array(block->address, end_of(block), finding.address)
                                : std::nullopt;
  if (const Block* after = memory_.after(finding.address); !array && after != nullptr) {
    array = python_array(after->address, end_of(after), finding.address);
    if (array || block == nullptr) block = after;
  }
  const auto element = [&](std::uint64_t begin, std::uint64_t bytes) {
    const auto offset = static_cast<std::int64_t>(finding.address - begin);
    const auto size = static_cast<std::int64_t>(bytes);
    return offset >= 0 ? offset / size : -((size - 1 - offset) / size);
  };
  if (array) {
    return fmt::format("; '{}' is {} of shape {}, and this is its element {}", array->name,
                       array->type, array->shape, element(array->address, array->item_bytes));
  }
  if (block == nullptr || finding.width == 0) return "";
  return fmt::format("; by elements of {} this is number {}", with_noun(finding.width, "byte"),
                     element(block->address, finding.width));
}

void Checks::launched(const std::string& kernel, const model::check::Checker& checker,
                      bool has_ended) {
  races_.touch(checker);
  inject::Checked checked;
  ++(has_ended ? checked.launches : checked.stopped);
  checked.partial = checker.is_partial() ? 1 : 0;
  checked.gaps = checker.gaps().bits();
  report_.tell(checked);
  const std::vector<model::check::Finding> findings = checker.findings();
  if (findings.empty()) return;
  const std::string name = readable_name(kernel);
  for (const model::check::Finding& finding : findings) {
    const Attributed words = attributed(finding, name);
    find(std::string(to_string(finding.defect)), words.where, kernel,
         finding.message + element_of(finding) + words.ending, finding.times, finding.is_remark(),
         other_of(finding));
  }
}

void Checks::launch_refused(const std::string& kernel, const model::check::Finding& finding) {
  const Attributed words = attributed(finding, readable_name(kernel));
  find("failed launch", words.where, kernel, finding.message + words.ending, finding.times);
}

void Checks::refused() {
  inject::Checked checked;
  checked.refused = 1;
  report_.tell(checked);
  memory_.for_each([&](const Block& block) {
    if (auto* written = written_.find(block.address)) written->mark(0, block.bytes);
  });
}

void Checks::because(std::string kind, std::string why) {
  reason_ = Reason{std::move(kind), std::move(why)};
}

void Checks::failed(std::string_view function, cudaError_t error, bool is_unseen) {
  const std::optional<Reason> reason = std::exchange(reason_, std::nullopt);
  if (error == cudaSuccess || error == cudaErrorNotReady) return;
  if (is_of_model(error)) return refused();
  const std::string where = place_of_call().in_words();
  const std::string what = error_in_words(function, error);
  const bool is_launch = function.starts_with("cudaLaunch") || function.starts_with("cuLaunch");
  const std::string kind = reason ? reason->kind : is_launch ? "failed launch" : "failed call";
  find(kind, where, std::string(function),
       reason ? fmt::format("{}: {}", what, reason->why) : what);
  if (is_unseen) ++unseen_[{where, what}];
}

void Checks::kernel_failed(const std::string& kernel, bool by_driver) {
  unnoticed_ = {place_of_call().in_words(), readable_name(kernel), by_driver};
}

void Checks::set_on_host_only(const std::string& variable) {
  find("host access", place_of_call().in_words(), variable,
       fmt::format(
           "host code has set '{}' before this launch, but that is a variable of its own: the "
           "device's of that name, which the kernel uses, has its first value still; use "
           "cudaMemcpyToSymbol(), or declare it __managed__",
           readable_name(variable)));
}

void Checks::printed(const std::string& kernel) {
  unshown_ = {place_of_call().in_words(), readable_name(kernel), false};
}

void Checks::ends_unshown() {
  if (!unshown_) return;
  find("lost output", unshown_->where, "unshown",
       fmt::format("kernel '{}' has printed, and the program ends without waiting for it: a GPU "
                   "shows that when the host waits; call cudaDeviceSynchronize()",
                   unshown_->kernel));
}

bool Checks::host_touches(std::uint64_t address, bool is_device, bool writes,
                          const void* instruction) {
  /// Allocations that the host shares have at least that much between them (memory.h).
  constexpr std::uint64_t most_behind = std::uint64_t{2} << 20;
  const Block* block = memory_.find(address);
  const Freed* freed = freed_at(address);
  const Block* before = memory_.before(address);
  const Block* after = memory_.after(address);
  const bool is_behind = before != nullptr && is_shared_with_host(before->kind) &&
                         address - (before->address + before->bytes) < most_behind;
  std::string memory = "device memory", what;
  if (block != nullptr && is_device) {
    what = fmt::format("byte {} of {}", fmt::group_digits(address - block->address), block->name);
  } else if (freed != nullptr) {
    memory = in_words(freed->kind);
    what = fmt::format("byte {} of {}, which was freed{}",
                       fmt::group_digits(address - beginning_of_freed(address)), freed->name,
                       freed->where.empty() ? " before" : freed->where);
  } else if (is_behind) {
    const std::uint64_t behind = address - (before->address + before->bytes);
    memory = std::string("past the end of ") + in_words(before->kind);
    what = fmt::format("{} behind the {} of {}",
                       behind == 0 ? "the first byte" : bytes_in_words(behind),
                       bytes_in_words(before->bytes), before->name);
  } else if (after != nullptr && is_shared_with_host(after->kind) &&
             after->address - address <= host_page_bytes) {
    memory = std::string("in front of ") + in_words(after->kind);
    what = fmt::format("{} before {}", bytes_in_words(after->address - address), after->name);
  } else if (is_device) {
    what = fmt::format("{:#x}, where nothing is allocated", address);
  } else {
    return false;
  }
  find("host access", place_of_signal(instruction).in_words(), "host access",
       fmt::format("host code {} {}: {}; the process ends there{}", writes ? "writes" : "reads",
                   memory, what, is_device ? ", as on a GPU" : ""));
  return true;
}

void Checks::find_overrun(const Block& block) {
  if (!is_shared_with_host(block.kind) || block.mapping == nullptr) return;
  const std::byte* begin = block.host + block.bytes;
  const std::byte* end = block.host + block.mapping_bytes;
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  const std::byte* first = std::find_if(begin, end, is_set);
  if (first == end) return;
  const auto last =
      std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(first), is_set);
  find("out of bounds", block.where, "overrun",
       fmt::format(
           "host code has written past the end of {}: up to {} behind its {}, as they lay when "
           "it was freed or the program ended",
           block.name, bytes_in_words(static_cast<std::uint64_t>(last.base() - begin)),
           bytes_in_words(block.bytes)));
}

void Checks::find_leaks(const std::vector<VirtualMemory::Kept>& physical) {
  struct Leak {
    std::uint64_t count = 0, bytes = 0;
    std::string name;
    const char* end = "freed";
  };
  std::map<std::pair<std::string, std::string>, Leak> leaks;
  const auto add = [&](const std::string& name, const std::string& where, std::uint64_t bytes,
                       const char* end) {
    // Those of a place are one finding; without a place there are only names.
    Leak& leak = leaks[{where, where.empty() ? name : ""}];
    ++leak.count;
    leak.bytes += bytes;
    leak.name = leak.count == 1 || leak.name == name ? name : "";
    leak.end = end;
  };
  memory_.for_each([&](const Block& block) {
    find_overrun(block);
    if (block.kind == MemoryKind::module || block.kind == MemoryKind::registered ||
        block.kind == MemoryKind::mapped) {
      return;
    }
    if (block.is_imported) return;  // it is for its owner to free
    add(block.name, block.where, block.bytes, "freed");
  });
  for (const VirtualMemory::Kept& one : physical) {
    add(one.name, one.where, one.bytes, one.is_released ? "unmapped" : "released");
  }
  for (const auto& [key, leak] : leaks) {
    const bool is_variable = leak.name.starts_with("'");
    const std::string bytes = bytes_in_words(leak.bytes);
    const std::string message =
        leak.count > 1
            ? fmt::format("{}{}, {} together, are never {}", with_noun(leak.count, "allocation"),
                          is_variable ? " of " + leak.name : "", bytes, leak.end)
        : is_variable ? fmt::format("{} of {} are never {}", bytes, leak.name, leak.end)
                      : fmt::format("{} is never {}", leak.name, leak.end);
    // An interpreter that ran in this process, embedded or not, ends without freeing what its
    // modules and a framework's pool hold.
    find("leak", key.first, message, message, leak.count, python::was_initialised());
  }
}

void Checks::end(bool has_failed, const std::vector<VirtualMemory::Kept>& physical) {
  for (const auto& [key, times] : unseen_) {
    find(
        "ignored error", key.first, "unseen",
        fmt::format("{}, and the program ended without asking for it: <<<>>> returns nothing; call "
                    "cudaGetLastError() behind it",
                    key.second),
        times);
  }
  if (unnoticed_) {
    find("ignored error", unnoticed_->where, "unnoticed",
         fmt::format("kernel '{}' failed after its launch, and no call of the program came behind "
                     "it that would tell; call {}() and look at what it returns",
                     unnoticed_->kernel,
                     unnoticed_->by_driver ? "cuCtxSynchronize" : "cudaDeviceSynchronize"));
  }
  if (races_.is_partial()) {
    inject::Checked checked;
    checked.partial = 1;
    report_.tell(checked);
  }
  if (!has_failed) find_leaks(physical);
}

}  // namespace warpmeter::runtime
