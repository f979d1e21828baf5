// SPDX-License-Identifier: MIT
// An entry of a PTX module, ready to run: operations, what their operands' rows hold at the start,
// memory sites, and where each instruction came from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "collector/model/machine/async_copies.h"
#include "collector/model/machine/bulk.h"
#include "collector/model/machine/device_calls.h"
#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/native/code.h"
#include "collector/model/machine/texture/access.h"
#include "collector/model/machine/warp/matrix_product.h"
#include "collector/model/machine/warp/operation.h"
#include "collector/model/machine/warp/unset_steps.h"
#include "collector/model/machine/warp/warp.h"
#include "collector/model/machine/warp/warpgroup_product.h"
#include "collector/model/ptx/parting.h"

namespace warpmeter::model {

class MachineSteps;

/// Where an instruction was written. `file` indexes Program::files; line 0: not known.
struct Place {
  int ptx_line = 0;
  int file = 0;
  int line = 0;      ///< the line of code that was inlined, of the outermost call
  int own_line = 0;  ///< where the code itself stands, if in the same file; else `line`
  int code_file = 0, code_line = 0;  ///< where the code itself stands, in whatever file
};

enum class AccessKind : std::uint8_t { load, store, atomic, reduction };
constexpr bool is_atomic(AccessKind kind) {
  return kind == AccessKind::atomic || kind == AccessKind::reduction;
}

/// How far a fence, or a strong access, is seen. The cluster's scope counts as the block's; see
/// Program::names_cluster_scope.
enum class Scope : std::uint8_t { block, device };

/// One request that the machine makes where PTX has an access.
struct Request {
  std::int8_t offset = 0;   ///< from the access's address
  std::uint8_t width = 4;   ///< bytes a lane
  bool is_window = false;   ///< the address is rounded down to the width: a merged access
  bool is_elected = false;  ///< one lane acts for all
};

inline constexpr std::uint32_t any_instruction = ~std::uint32_t{0};

/// The carrier of an access's data; hardware has counters of its own for each.
enum class Carrier : std::uint8_t {
  registers,
  copy,     ///< cp.async, whose global side is a load like any other
  matrix,   ///< ldmatrix and stmatrix
  product,  ///< wgmma, which reads shared memory itself
  bulk,     ///< cp.async.bulk and its like: each lane that asks is a request
  counted,  ///< st.async and red.async, whose bytes a barrier object counts
};

/// A memory instruction.
struct SiteInfo {
  AccessKind kind = AccessKind::load;
  AddressSpace space = AddressSpace::generic;
  std::uint8_t width = 4;      ///< bytes a lane, all registers of a vector together
  std::uint8_t alignment = 4;  ///< that an address must have
  std::uint8_t parts = 1;      ///< registers of a vector
  std::uint32_t instruction = 0;
  /// A site of the same basic block, executed before, whose addresses differ from this one's by the
  /// same number in every lane; see ptx/leaders.h.
  std::optional<std::uint32_t> leader;
  bool says_cluster = false;  ///< .shared::cluster is written: it may reach another block's memory
  bool is_strong = false;     ///< volatile or ordered: other threads are meant to see it
  bool says_order = false;    ///< .relaxed and the like is written
  bool acquires = false, releases = false;
  Scope scope = Scope::device;  ///< the scope of an atomic or a strong access
  bool is_of_system = false;    ///< true if the host is meant to see it too
  bool stores_same = false;     ///< a store of what is one value in all threads
  bool is_read_only =
      false;               ///< a load by ld.global.nc: the compiler knows that nobody stores there
  bool is_copied = false;  ///< a load of what is only stored again
  bool is_verified = false;  ///< a load of what an atomic there compares before it changes it
  /// The shared array that it means, where the code shows it: bytes from `array_begin` to before
  /// `array_end`. Both 0: not known.
  std::uint32_t array_begin = 0, array_end = 0;
  std::uint8_t row_bytes = 0;  ///< the row bytes of a register of a load or store; 0: not known
  bool is_float = false;       ///< an atomic of floats
  bool is_apart = false;       ///< for what no counter of loads or stores holds
  bool is_texture = false;     ///< samples a texture or reaches a surface: not counted, but checked
  bool is_bulk = false;        ///< one of those that moves stretches, not a request a warp
  Carrier carrier = Carrier::registers;
  bool exchanges = false;       ///< atom.exch
  bool bypasses_l1 = false;     ///< cp.async.cg
  bool may_fall_short = false;  ///< cp.async whose source may have fewer bytes than it stores
  bool has_stride = false;      ///< for a fragment of wmma: its lines are equally far apart
  bool retries = false;         ///< an atomic that the machine code runs as a loop
  bool waits = false;           ///< how often depends on what others do at the time
  bool is_ordered = false;      ///< where depends on the order in which threads come to an atomic
  bool is_raced = false;        ///< where depends on what a load finds that others store meanwhile
  bool is_behind = false;       ///< lanes that wait for others on the way to it come one by one
  bool decides = false;         ///< a branch or guard depends on what it reads
  std::vector<ptx::Parting> partings;  ///< branches that lie around it, where that is known
  bool counts_left_out = false;        ///< hardware counts lanes that a guard leaves out
  bool counts_lanes = false;           ///< an atomic whose equal addresses are added up beforehand
  /// The requests of one execution; none where another site's requests include it.
  std::vector<Request> requests;
  /// Why its addresses, or who comes to it, depend on what only the hardware knows; empty: they do
  /// not.
  std::string_view unknown;
  std::string_view doubt;  ///< why the machine may make other requests; empty when it does not
  /// Instructions at which no warp may part, for else the machine may make other requests;
  /// any_instruction stands for all of them.
  std::vector<std::uint32_t> together;

  bool is_atomic() const { return model::is_atomic(kind); }
  /// Bytes of the narrowest request: a vector may be loaded in parts.
  unsigned narrowest_request() const {
    unsigned narrowest = width;
    for (const Request& request : requests)
      narrowest = std::min<unsigned>(narrowest, request.width);
    return narrowest;
  }
};

/// A kind of access that machine code has beyond what its PTX explains; `space` may be generic.
struct StrayAccess {
  AccessKind kind = AccessKind::load;
  AddressSpace space = AddressSpace::generic;
  Carrier carrier = Carrier::registers;
};

inline constexpr std::string_view stray_accesses =
    "counted at PTX level: the machine code has accesses that belong to no line of the PTX";

/// The factors of a product of matrices on the tensor cores.
enum class ProductType : std::uint8_t {
  none,
  fp64,
  tf32,
  bf16,
  fp16,
  fp8,
  fp4,
  int8,
  int4,
  int1,
  unknown,
};

struct TensorProduct {
  ProductType type = ProductType::none;
  std::uint32_t operations = 0;  ///< a warp's: a sum and a product are two; 0: not known
};

/// An instruction of the machine code.
struct MachineOperation {
  std::uint64_t counted_as = 0;  ///< sass::CountedAs; 0: not known
  bool is_guarded = false;       ///< some threads may not execute it
  bool may_run = true;           ///< something leads to it
  TensorProduct product;
};

/// A row that holds the same number in every lane.
struct ConstantRow {
  std::uint16_t row = 0;
  std::uint8_t element_bytes = 4;  ///< 2, 4 or 8
  std::uint64_t bits = 0;
};

/// The source of a special register.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  smid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,  ///< 1: the launch has clusters
};

struct SpecialRow {
  std::uint16_t row = 0;
  Special special = Special::tid_x;
};

struct RowRange {
  std::uint32_t first = 0, count = 0;  ///< in units of row_unit_bytes
};

/// The registers of a warp that have to be the same twice, at one place of a loop that asks for
/// what others bring about, so that the warp goes on in the loop as it did
/// (ptx/flow/asking_loops.h).
struct LoopState {
  std::vector<RowRange> rows;
  std::vector<std::uint32_t> predicates;
  bool stores = true;  ///< the loop may change memory in a way that nobody notes
};

/// A `.global` variable of the module; each launch starts from `initial`.
struct ModuleVariable {
  std::string name;
  std::uint64_t address = 0;
  std::vector<std::byte> initial;
};

/// A `.const` variable of the module, within constant_memory.
struct ConstantVariable {
  std::string name;
  std::uint64_t offset = 0;
};

/// An instruction whose lanes wait for each other: the row that holds which.
struct SyncInfo {
  std::uint32_t instruction = 0;
  std::uint16_t members = 0;
};

/// An instruction that orders what its thread does before and after it.
struct FenceInfo {
  std::uint32_t instruction = 0;
  Scope scope = Scope::device;
  bool is_of_system = false;  ///< for the host too
};

/// An instruction that starts copies to shared memory, puts them in a group, or waits for them.
struct CopyInfo {
  enum class Kind : std::uint8_t { start, commit, wait, wait_all, hand_over };
  std::uint32_t instruction = 0;
  Kind kind = Kind::start;   ///< hand_over: a barrier object counts them (cp.async.mbarrier.arrive)
  std::uint32_t groups = 0;  ///< that may be left when it has waited
};

/// A variable in shared memory; of an array without a size, dynamic memory, 0 bytes.
struct SharedVariable {
  std::string name;
  std::uint32_t offset = 0, bytes = 0;
};

/// The traits of an instruction that its cost depends on; sums of these.
inline constexpr std::uint8_t trait_double = 1;   ///< arithmetic of 64-bit floats
inline constexpr std::uint8_t trait_widens = 2;   ///< a float becomes a double
inline constexpr std::uint8_t trait_narrows = 4;  ///< a double becomes a float
inline constexpr std::uint8_t trait_begins = 8;   ///< an integer becomes a double
inline constexpr std::uint8_t trait_ends = 16;    ///< a double becomes an integer
inline constexpr std::uint8_t trait_judges = 32;  ///< a double decides
inline constexpr std::uint8_t trait_keeps = 64;   ///< memory or a parameter holds a double

struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
  std::string type = {};  ///< "u64", "f32"; of a structure, "b8[24]"
};

/// An access of the machine code to local memory, whose frame begins where the stack pointer
/// points.
struct LocalAccess {
  bool is_store = false;
  bool is_of_frame = false;  ///< at a fixed place of the frame; else at a computed address
  std::int32_t place = 0;    ///< in the frame
  std::uint8_t width = 0;    ///< bytes
};

/// The resources of a thread on a multiprocessor, as the machine code says.
struct Resources {
  std::optional<std::int64_t> registers, local_bytes, code_bytes;
  std::vector<LocalAccess> local_accesses = {};
  bool takes_address_of_frame = false;  ///< then something in it is no spilled register
  bool holds_functions = false;         ///< that the kernel calls, in its own section
};

/// The bytes of local memory for the frames of functions that are called: as much as programs ask
/// for with cudaLimitStackSize, and more than hardware has of its own accord.
inline constexpr std::uint32_t stack_bytes = 256 << 10;
/// Behind all else of it, for alloca.
inline constexpr std::uint32_t most_taken_bytes = 32 << 10;

/// Memory that is there before a launch and after it, as the kernel's code tells one piece from
/// another. Its contents may depend on the order in which threads came to an atomic.
struct LastingMemory {
  enum class Kind : std::uint8_t { parameter, variable, elsewhere };
  Kind kind = Kind::elsewhere;
  std::uint64_t place =
      0;  ///< the place of the pointer among the parameters; the variable's address
  /// Where the kernel's accesses lie by its contents: sites.
  std::vector<std::uint32_t> ordered_sites = {};
  /// The memory whose contents depend on its own after the launch; indices of
  /// Program::lasting_memory.
  std::vector<std::uint32_t> leads_to = {};
  bool is_left_ordered = false;  ///< by the kernel itself
  bool is_stored = false;        ///< some access may store there, as far as the code shows
};

struct Program {
  std::string kernel;
  int arch = 0;  ///< 90 is sm_90
  std::vector<Operation> operations;
  std::vector<Place> places;                  ///< the places of each instruction
  std::vector<std::uint8_t> traits;           ///< the traits of each instruction
  std::map<std::uint32_t, Place> decided_at;  ///< for branches: the condition at which lanes part
  std::vector<std::string> files;
  std::vector<SiteInfo> sites;
  std::vector<SyncInfo> syncs;
  std::vector<FenceInfo> fences;
  std::vector<CopyInfo> copies;
  std::vector<AsyncCopy> async_copies;  ///< Operation::imm of those of Code::count_copy
  std::vector<BulkCopy> bulk_copies;    ///< Operation::imm of those of Code::bulk_copy
  std::vector<CopyInfo>
      bulk_groups;  ///< the instructions that put those in groups, or wait for groups
  std::vector<MatrixProduct> products;  ///< Operation::extra of those that multiply matrices
  std::vector<WarpgroupProduct> warpgroup_products;  ///< Operation::imm of those of warpgroups
  std::vector<MatrixReach> reaches;  ///< and of those that say where parts of one lie
  std::vector<TextureAccess> texture_accesses;
  UnsetTable unset;

  std::uint32_t row_units = 0;        ///< the row units of a warp's registers
  std::uint32_t predicate_count = 0;  ///< the predicate count of a warp
  std::vector<RowRange> registers;    ///< rows that start at zero in each block
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  /// The halves of the address of what a grid waits with as a whole, which only a cooperative
  /// launch gives it; empty: nothing asks for them.
  std::vector<ConstantRow> grid_workspace;

  std::vector<Parameter> parameters;  ///< the parameters of the entry
  std::uint32_t parameter_bytes = 0;
  std::vector<SharedVariable> shared_variables;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;
  std::size_t shared_bytes(const Geometry& geometry) const {  ///< for a block of such a launch
    return geometry.dynamic_shared_bytes == 0
               ? static_shared_bytes
               : std::size_t{dynamic_shared_offset} + geometry.dynamic_shared_bytes;
  }
  std::uint32_t local_bytes = 0;   ///< the local bytes of each thread, in the model
  std::uint32_t array_bytes = 0;   ///< those of them that the entry declares
  bool reaches_functions = false;  ///< the PTX calls functions, inlined by the model or not
  std::vector<ModuleVariable> variables;
  std::vector<ConstantVariable> constant_variables;
  std::vector<std::byte> constant_memory;
  std::vector<FunctionCode> functions;  ///< those that are not inlined
  bool has_calls = false;
  bool numbers_threads = false;  ///< true if it numbers the threads of the whole grid: see
                                 ///< ptx::numbers_threads_of_grid()
  bool prints = false, allocates = false;  ///< on the device
  std::vector<DeviceCall> device_calls;
  /// All of the module that it may launch, by their numbers; empty: it names none.
  std::vector<std::string> kernels;
  /// Why its counts are of PTX: the machine code was not read. Empty: it was, and the sites say
  /// what it makes of them.
  static constexpr const char* not_read = "counted at PTX level: the machine code was not read";
  std::string why_unaudited = not_read;
  bool is_audited() const { return why_unaudited.empty(); }
  Resources resources;  ///< unknown where the machine code was not read
  /// For each access of the machine code to local memory that PTX has none for, the instructions
  /// whose registers it keeps or brings back.
  std::vector<std::uint32_t> spills;
  /// Why the counting rules are not exact on its architecture; empty: they are, see measured.h.
  std::string why_not_exact;
  /// Accesses of the machine code that belong to no access of the PTX, so that no site counts them.
  std::vector<StrayAccess> strays;
  /// The kernel's machine code, in order, where it was audited.
  std::vector<MachineOperation> machine_operations;
  bool calls_elsewhere = false;  ///< code runs that is not among these
  bool is_straight = false;      ///< each thread executes them up to the first end, each once
  bool takes_stack = false;      ///< with alloca
  std::vector<LastingMemory> lasting_memory;  ///< where it matters
  bool yields = false;                        ///< the machine code does; see ptx::behind_waiting()
  /// Says how often each instruction of its machine code is executed; null: that was not read.
  std::shared_ptr<const MachineSteps> steps;

  /// Blocks may talk to each other through global atomics or volatile memory, so that their order
  /// can show in the results.
  bool blocks_communicate = false;
  /// A loop goes by memory that the host or another kernel may change meanwhile.
  bool polls = false;
  /// Threads can hand on what they did through memory: there are fences, barrier objects, or
  /// accesses that release.
  bool has_releases = false;
  /// Where lanes wait at barrier objects: instructions.
  std::vector<std::uint32_t> object_waits;
  std::vector<std::uint32_t> ignored_waits;  ///< those whose answer decides nothing
  /// Some warps of a block wait for each other without the rest, or arrive without waiting.
  std::vector<std::uint32_t> barriers;  ///< the barriers of the block: instructions
  /// Those that a warp comes to as a whole although a branch leads around them, when audited: the
  /// machine code predicates them.
  std::vector<std::uint32_t> predicated_barriers;
  bool has_partial_barriers = false;
  /// Those of the loops that ask for what others bring about. The first is for all other code:
  /// every register.
  std::vector<LoopState> loop_states;
  std::vector<std::uint16_t> loop_of;  ///< for each operation: its number among these
  std::uint32_t max_threads = 1024;
  Dim3 cluster = {};          ///< that the kernel asks for, in blocks
  bool has_clusters = false;  ///< blocks wait for others of their cluster, or reach their memory
  /// Some fence, strong access or barrier object is of the cluster's scope.
  bool names_cluster_scope = false;

  NativeSlot native;  ///< the code of the operations once they are complete
};

}  // namespace warpmeter::model
