// SPDX-License-Identifier: MIT
// The messages between the injected library and `warpmeter profile`.
//
// The program's environment names a socket in a private folder (WARPMETER_SOCKET). Every process
// that loads the injector connects to it by itself: nothing is inherited, so a child that closes
// all descriptors is still heard, and no descriptor of ours can become one of the program's files.
// The socket keeps message boundaries (SOCK_SEQPACKET): one message is one frame, whole or not
// there.
//
//   injector                          warpmeter
//   Hello            ─────────────▶
//                    ◀─────────────   Config
//   Device, Name, Launch, ActivityShape, Activities, Seen, Running, Problem … as they happen
//   Bye              ─────────────▶   and the end of the connection
//
// A frame is two bytes of protocol version, two of its kind, then the fields below in their order
// (bytes.h). Texts that come again and again (kernels, reasons) are sent once as a Name and
// referred to by number; a number belongs to its connection. Activities come by the hundred
// thousand and mostly repeat: what repeats is an ActivityShape with a number of its own. The
// injector sends what is finished at once, so that a crash loses nothing that was. When warpmeter
// has gone, the injector falls silent and the program goes on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "collector/inject/names/named.h"
#include "schema/records.h"

namespace warpmeter::inject {

inline constexpr std::uint16_t protocol_version = 18;
/// Fits into a socket's buffer as Linux makes it (net.core.wmem_default).
inline constexpr std::size_t max_frame_bytes = 128 * 1024;
/// Names a frame can carry; a longer one is cut.
inline constexpr std::size_t max_text_bytes = 100 * 1024;
inline constexpr const char* socket_variable = "WARPMETER_SOCKET";

/// The first frame of a process.
struct Hello {
  std::uint32_t process = 0, parent = 0;
  std::string program;  ///< the program of /proc/self/exe
};

enum class Mode : std::uint8_t {
  off,       ///< this process is not measured
  activity,  ///< durations of kernels, copies and API calls
  counters,  ///< counters of every chosen launch
  lines,     ///< accesses by source line, of one launch in the whole process
  stalls,    ///< the warps' waits by source line, of one launch in the whole process
};

/// The part of a process that is measured, by its calls of cudaProfilerStart and cudaProfilerStop.
enum class Profiling : std::uint8_t {
  on,     ///< from its beginning on, until it calls Stop; and from a Start on again
  off,    ///< from its first Start on
  always  ///< all of it, whatever it calls
};

/// Which launches are measured.
struct Selection {
  std::string kernel;                  ///< "NAME", "regex:PATTERN", or empty: all
  std::uint64_t skip = 0;              ///< for those, this many first ones are not
  std::uint64_t count = 0;             ///< and no more than these are; 0: all
  std::vector<std::uint32_t> devices;  ///< ordinals; empty: all
  std::vector<std::string> ranges;     ///< NVTX ranges, of which one is open; empty: any
  Profiling profiling = Profiling::on;
  /// A launch is not counted that would hold the program for longer, because of work in front of it
  /// that may wait for the program; or for twelve times as long, where nothing is known of that
  /// work.
  std::uint32_t launch_timeout_ms = 5000;
};

struct Config {
  Mode mode = Mode::off;
  std::string cupti_directory;  ///< where libcupti.so.13 lies
  std::vector<std::string> counters;
  Selection selection;
  bool calls = true;            ///< Mode::activity records calls of the API too
  bool ranges = false;          ///< and NVTX ranges
  bool managed_memory = false;  ///< and page faults and migrations
  bool allocations = false;     ///< and allocations
  /// For Mode::lines and Mode::stalls: the kernel, as the machine code has it, whose first chosen
  /// launch is looked at.
  std::string lines_of;
  /// Where kernels are executed by the model: as which device, how many of them, and whether their
  /// mistakes are looked for.
  std::uint32_t arch = 90, devices = 1;
  bool checks = false;
  std::string blocks;  ///< which blocks of a launch are counted, as --blocks; empty: all
  std::vector<std::string>
      shapes;  ///< the shapes of arrays in shared memory, as the person gave them
  /// Sources that machine code or PTX names are read below these folders only.
  std::vector<std::string> source_folders;
};

/// A device of this process, before its first launch.
struct Device {
  schema::Device device;
};

struct Name {
  std::uint32_t id = 0;
  std::string text;
};

/// The machine code of a kernel (schema::KernelCode), and why its resources are not known.
struct KernelCode {
  std::optional<std::uint32_t> bytes, spill_load_bytes, spill_store_bytes;
  std::uint32_t spills_reason = 0, resources_reason = 0;  ///< Names; 0: there is nothing to say
};

/// The shape of a launch; the same for both modes. Unknown is nullopt.
struct LaunchShape {
  std::uint32_t device = 0, context = 0, stream = 0;
  std::uint32_t kernel = 0;  ///< Name: as the machine code has it
  std::uint32_t range = 0;   ///< Name of the innermost NVTX range; 0: none
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::optional<std::uint32_t> static_shared_bytes, registers, local_bytes;
  std::optional<KernelCode> code;  ///< where the machine code is at hand
  std::uint32_t correlation = 0;   ///< CUPTI's number of the call; 0: the activity has it
};

/// One launch and its counters, in the order of Config::counters.
struct Launch {
  LaunchShape shape;
  struct Value {
    double value = 0;
    std::uint32_t reason = 0;  ///< Name; not 0: there is no value, or why the grade is no better
    schema::Grade grade = schema::Grade::measured;
  };
  std::vector<Value> values;
  /// How many launches of this kernel, geometry and stream the process made before, those that the
  /// selection leaves out included.
  std::uint32_t occurrence = 0;
  std::uint32_t failure = 0;      ///< Name: why the kernel did not end well; 0: it did
  std::uint32_t explanation = 0;  ///< the number of its Explained message; 0: nobody looked
  /// For Mode::lines and Mode::stalls, the Name of the reason why it has none; 0: what it has was
  /// sent before.
  std::uint32_t without_lines = 0;
  bool could_not_run = false;  ///< it failed because nothing here can execute its kernel
  bool is_in_graph = false;    ///< a kernel of a CUDA graph that was launched by itself
  /// The bounds of a value or of a metric that follows from them, where some blocks were counted.
  struct Interval {
    std::uint32_t metric = 0;  ///< Name
    double low = 0, high = 0;
  };
  std::vector<Interval> intervals = {};
};

enum class ActivityKind : std::uint8_t {
  kernel,
  copy,
  set,
  call,
  range,  ///< an NVTX range
  page_fault,
  migration,
  thrashing,
  throttling,
  remote_map,
  allocation  ///< memory that the program allocates, from then until it is freed
};

/// The name of an allocation among activities; nvprof printed none.
inline constexpr const char* allocation_name = "[CUDA memory allocation]";

/// CUPTI's kinds of memory.
enum class MemoryKind : std::uint8_t {
  none,
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static,
  managed_static,
  unknown
};

/// Accesses on source lines, of the Launch that this connection sends next; as many of these as
/// they need.
struct Lines {
  struct Line {
    std::uint32_t file = 0, access = 0;  ///< Names
    std::uint32_t text = 0;              ///< Name; 0: the sender has not read the file
    std::int32_t line = 0;
    std::uint64_t requests = 0, transactions = 0, ideal = 0;
    std::optional<std::uint64_t> bytes;
    schema::Grade grade = schema::Grade::exact;
  };
  std::vector<Line> lines;
};

/// The warps' waits on source lines, of the Launch that this connection sends next; as many of
/// these as they need.
struct Stalls {
  struct Stall {
    std::uint32_t file = 0, reason = 0;  ///< Names; file 0: instructions without a line
    std::int32_t line = 0;
    std::uint64_t samples = 0, idle_samples = 0;
  };
  std::vector<Stall> stalls;
};

/// Counts of single machine instructions, of the Launch that this connection sends next; as many of
/// these as they need.
struct Instructions {
  struct Instruction {
    std::uint32_t what = 0;  ///< Name, as schema::InstructionCount::what
    std::uint64_t address = 0, count = 0;
  };
  std::vector<Instruction> instructions;
};

/// A mistake that was found in the program.
struct Finding {
  std::string kind;     ///< "out of bounds", "leak"
  std::string where;    ///< "reduce.cu:12"; empty: not known
  std::string message;  ///< one sentence
  std::uint64_t times = 1;
  bool is_remark = false;  ///< worth a look, but no mistake by itself
  std::string other = {};  ///< the other line that the message names: "reduce.cu:9"; empty: none
};

/// How much of this process was looked at since the Checked before: sent as its launches end, for a
/// process may end in the middle.
struct Checked {
  std::uint64_t launches = 0;  ///< launches that were followed to their ends
  std::uint64_t stopped = 0;   ///< kernels that did not come to their ends
  std::uint64_t refused = 0;   ///< launches and calls that the model could not answer
  std::uint64_t partial = 0;   ///< launches with memory beyond what could be followed
  std::uint64_t gaps = 0;      ///< model::check::Gaps of all launches
};

/// One thing that was found in a launch, of the Explained that this connection sends next; as many
/// of these as there are findings.
struct Found {
  schema::Finding finding;
};

/// The findings of launches: sent once, before the first of them.
struct Explained {
  std::uint32_t id = 0;  ///< from 1, none twice on a connection
  bool was_made = false;
  std::vector<schema::Explanation::Missing> missing;
};

/// An end of a copy or migration that is a device; context 0: none.
struct DeviceEnd {
  std::uint32_t device = 0, context = 0;
};

/// The properties that activities have in common; sent once, before the first of them.
struct ActivityShape {
  std::uint32_t id = 0;  ///< from 1, in their order
  ActivityKind kind = ActivityKind::call;
  /// Name: the kernel, the direction of a copy ("[CUDA memcpy HtoD]"), the function, the range.
  std::uint32_t name = 0;
  std::uint32_t thread = 0;  ///< the thread of a call or range; 0: not known
  /// The launch of a kernel; device, context and stream of what else a GPU did. A call has none.
  std::optional<LaunchShape> shape;
  MemoryKind source_memory = MemoryKind::none, target_memory = MemoryKind::none;
  std::optional<DeviceEnd> source,
      target;  ///< the ends of a peer copy or migration that are devices
};

/// Something that took time.
struct Activity {
  std::uint32_t shape = 0;            ///< ActivityShape
  std::uint64_t start_ns = 0;         ///< by the clock of TraceBegins; 0: not known
  std::optional<double> duration_ns;  ///< unknown where the model executes
  /// Bytes of a copy, set, migration or allocation, page faults, warp instructions of a kernel; 0:
  /// not known.
  std::uint64_t amount = 0;
  /// A call and its kernel or copy share it. It grows from call to call of a process. 0: not known.
  std::uint32_t correlation = 0;
  /// A kernel inside of a graph is none of the process's own launches.
  bool is_in_graph = false;
  std::optional<std::uint64_t> address;  ///< the first one of a fault, migration or allocation
};
struct Activities {
  std::vector<Activity> activities;
};

/// The start of the recording. The clock is the machine's, the same for all processes.
struct TraceBegins {
  std::uint64_t now_ns = 0;
};

/// A kernel was launched that the selection leaves out; sent once a kernel.
struct Seen {
  std::uint32_t kernel = 0;
};

/// Where the model executes: a kernel has run for a while, so that a person may want to know which
/// one it was should nothing else be heard of it. It has ended with the next of these.
struct Running {
  std::uint32_t kernel = 0;  ///< Name; 0: none
};

/// A launch that the API refused, so that no kernel came to run.
struct Refused {
  std::uint32_t reason = 0;  ///< Name: a sentence that names the kernel
};

/// A call of the API that returned an error; sent once for each function and error, and once more
/// if the program ignores it.
struct FailedCall {
  std::string call;  ///< "cuInit returned CUDA_ERROR_NO_DEVICE (no CUDA-capable device …)"
  bool is_of_model = false;  ///< the model cannot do what was asked
  bool was_ignored = false;  ///< the program went on as if it had worked
};

/// Why this process, or a part of it, cannot be measured; or what a person should know beside the
/// figures, which is no reason for there being none.
struct Problem {
  bool is_remark = false;
  std::string text;
};

/// An array of Config::shapes that kernels of this process had, before its Bye.
struct Shaped {
  std::string array;
  std::string wrong;  ///< why the shape fits none of them; empty: it fits one
};

/// A program that was started and that nothing can be told of. The only message of its connection,
/// without a Hello: the process that says so is about to become that program.
struct Unobserved {
  std::string program;  ///< as it was named
  std::string reason;
};

/// A name that the program gave; a later one for the same takes its place.
struct ResourceName {
  Resource resource = Resource::stream;
  std::uint32_t context = 0;  ///< CUPTI's number of a stream's context; 0: it is no stream
  /// CUPTI's number of a context or stream, the ordinal of a device, or the program's of a thread.
  std::uint64_t number = 0;
  std::string name;
};

/// The process ends in order.
struct Bye {
  std::uint64_t lost_records = 0;  ///< CUPTI had no room for them
  bool was_off = false;            ///< Profiling::off, and it never called cudaProfilerStart
};

using Message =
    std::variant<Hello, Config, Device, Name, Launch, Activities, Seen, Problem, Bye, Lines,
                 Finding, Checked, Found, Explained, Stalls, Shaped, Unobserved, Refused, Running,
                 FailedCall, ActivityShape, TraceBegins, Instructions, ResourceName>;

std::vector<std::uint8_t> encode(const Message& message);

/// nullopt for anything that encode() of this version does not write; never reads past the frame,
/// and never takes more memory than a small multiple of it.
std::optional<Message> decode(std::span<const std::uint8_t> frame);

}  // namespace warpmeter::inject
