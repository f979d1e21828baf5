// SPDX-License-Identifier: MIT
#include "tests/reports/explained_launches.h"

#include <string>
#include <utility>

namespace warpmeter::reports {
namespace {

using namespace schema;

Launch explained_launch(const std::string& family, const std::string& variant,
                        std::optional<std::int64_t> size, std::vector<Finding> findings) {
  Launch launch;
  launch.family = family;
  launch.variant = variant;
  launch.size = size;
  launch.kernel = family + "_" + variant;
  launch.grid[0] = launch.grid[1] = 256;
  launch.block[0] = launch.block[1] = 16;
  launch.static_shared_bytes = 1024;
  launch.registers = 32;
  launch.local_bytes = 0;
  launch.verified = true;
  launch.timing_reason = "the model does not measure time";
  launch.explanation.was_made = true;
  launch.explanation.findings = std::move(findings);
  return launch;
}

/// A finding of the launch as a whole.
Finding whole(const std::string& kind, const std::string& evidence, double share,
              const std::string& share_of) {
  Finding finding;
  finding.kind = kind;
  finding.evidence = evidence;
  finding.share = share;
  finding.share_of = share_of;
  return finding;
}

struct AccessCounts {
  std::uint64_t requests = 0, transactions = 0, ideal = 0;
};

Finding access(const std::string& kind, int line, const std::string& what,
               const std::string& object, AccessCounts counts, double share,
               const std::string& evidence) {
  Finding finding = whole(kind, evidence, share, "the launch's global sectors");
  finding.file = "app/kernels.cu";
  finding.line = line;
  finding.text = "float v = in[i];";
  finding.object = object;
  finding.access = what;
  finding.requests = counts.requests;
  finding.transactions = counts.transactions;
  finding.ideal = counts.ideal;
  return finding;
}

/// Lane l at `base` + l × `step` bytes; in pass `passes` of the lane.
WarpPicture picture(std::uint64_t base, std::uint64_t step, unsigned passes) {
  WarpPicture picture;
  picture.mask = 0xffffffff;
  picture.width = 4;
  for (unsigned lane = 0; lane < WarpPicture::lane_count; ++lane) {
    picture.address[lane] = base + lane * step;
    picture.pass[lane] = passes == 0 ? 0 : lane % passes + 1;
  }
  return picture;
}

/// A warp on two columns of a tile of 16 × `pitch` floats.
WarpPicture columns_of_tile(unsigned pitch) {
  WarpPicture warp = picture(0, 0, 1);
  std::array<unsigned, 32> used{};
  for (unsigned lane = 0; lane < WarpPicture::lane_count; ++lane) {
    const unsigned word = lane % 16 * pitch + lane / 16;
    warp.address[lane] = 4 * word;
    warp.pass[lane] = ++used[word % 32];
  }
  return warp;
}

Remedy remedy(const std::string& name, const std::string& change, const std::string& words,
              std::uint64_t transactions, std::uint64_t others, std::int64_t shared_bytes,
              bool is_advised) {
  Remedy remedy;
  remedy.name = name;
  remedy.change = change;
  remedy.words = words;
  remedy.transactions = transactions;
  remedy.other_transactions = others;
  remedy.shared_bytes = shared_bytes;
  remedy.blocks = 8;
  remedy.is_advised = is_advised;
  remedy.predicted = {{"shared_load_wavefronts", transactions}};
  return remedy;
}

std::vector<Finding> global_findings() {
  std::vector<Finding> findings = {
      access("strided_access", 12, "global load", "in", {32'768, 1'048'576, 131'072}, 0.7,
             "Neighbouring lanes are 16,384 bytes apart: each fetches a sector of its own."),
      access("scattered_access", 14, "global load", "table", {1'000, 20'500, 4'000}, 0.2,
             "The 32 lanes of a warp go to 20.5 sectors without an order."),
      access("misaligned_access", 16, "global store", "out", {1'000, 5'000, 4'000}, 0.04,
             "Warps begin 4 bytes after a sector."),
      access("overlapping_access", 18, "global load", "in", {3'000, 13'000, 5'000}, 0.03,
             "Three loads of one warp fetch 13,000 sectors, of which 5,000 differ."),
      access("refetched_sectors", 20, "global load", "a", {4'096, 65'536, 16'384}, 0.02,
             "16 warps of the block fetch the same rows."),
      access("repeated_load", 22, "global load", "scale", {4'096, 4'096, 256}, 0.01,
             "Every iteration loads the same address."),
      access("repeated_store", 23, "global store", "out", {4'096, 16'384, 512}, 0.008,
             "97 % of the sectors are stored over by the same warp before the block has read "
             "them."),
      access("narrow_access", 24, "global load", "in", {4'096, 16'384, 16'384}, 0.0005,
             "Four neighbouring floats are loaded one by one."),
      access("contended_atomic", 26, "global atomic", "histogram", {1'024, 32'768, 1'024}, 0.5,
             "All lanes add to one of 4 addresses."),
      access("local_memory", 28, "local load", "", {512, 2'048, 0}, 0.1,
             "An array with computed indices lies in local memory."),
      access("excess_transactions", 30, "global store", "", {1'024, 8'192, 4'096}, 0.3, ""),
      whole("below_copy",
            "It moves 1,029 GB/s of what it reads and writes, copy moves 3,808 GB/s, and computes "
            "nothing: at that it would take 35.2 µs instead of 130 µs.",
            0.73, "its time"),
      access("waiting", 32, "", "", {}, 0.56,
             "They wait for global or local memory (long_scoreboard) 51 %.")};
  findings.back().share_of = "8,410 samples of its warps";
  findings[0].lanes = picture(0, 16'384, 0);
  findings[2].lanes = picture(4, 4, 0);
  findings[1].grade = Grade::ptx;
  findings[1].grade_reason = "there is no machine code";
  findings[2].share_of.clear();
  findings[2].share = 0;
  return findings;
}

Launch hostile_launch() {
  Finding finding =
      access("bank_conflict", 1, "shared load", "t`i|le<b>\n\x1b[31m", {1, 32, 1}, 0.97,
             "A `quoted` | piped <img src=x onerror=\"window.hacked=9\">\nsecond line.");
  finding.file = "a|b`c <i>.cu";
  finding.share_of = "everything & all";
  finding.lanes = picture(0, 128, 32);
  Remedy change = remedy("swizzle", "t[y][x ^ `y`] | <b>", "a | b", 1, 0, 4096, true);
  change.lanes = picture(0, 4, 1);
  finding.remedies = {change};
  return explained_launch("pro|gram", "void f<int, 4>(float*, `x`)\x1b[31m", std::nullopt,
                          {finding});
}

Launch failed_launch() {
  Launch launch = explained_launch("transpose", "broken", 4096, {});
  launch.outcome = LaunchOutcome::failed;
  launch.verified = false;
  launch.reason = "3 of 16777216 values are wrong";
  return launch;
}

Launch unexplained_launch() {
  Launch launch = explained_launch("app", "binary_only", std::nullopt, {});
  launch.explanation.was_made = false;
  launch.explanation.missing = {{"", "the kernel is not there as PTX"}};
  return launch;
}

}  // namespace

Finding tile_conflict() {
  Finding finding =
      access("bank_conflict", 44, "shared load", "tile", {524'288, 4'194'304, 524'288}, 0.888,
             "Half a warp reads one column: its 16 lanes, 16 words apart, meet in 2 banks.");
  finding.file = "kernels/transpose.cu";
  finding.text = "out[o] = tile[threadIdx.x][threadIdx.y];";
  finding.share_of = "the launch's shared wavefronts";
  finding.other_transactions = 524'288;
  finding.kernel_transactions = 4'718'592;
  finding.lanes = columns_of_tile(16);
  Remedy padding = remedy("padding 1", "tile[16][17]", "a word of padding a row", 1'048'576,
                          1'048'576, 1088, true);
  padding.lanes = columns_of_tile(17);
  padding.also_amounts = {3, 5, 7, 9, 20};
  finding.remedies = {
      remedy("swizzle", "tile[y][x ^ y]", "a swizzle", 524'288, 524'288, 1024, true), padding,
      remedy("padding 16", "", "16 words of padding a row", 8'388'608, 524'288, 2048, false)};
  finding.remedies[0].lanes = picture(0, 4, 1);
  finding.remedies[2].blocks = 4;
  finding.remedies[2].also_amounts = {24};
  return finding;
}

std::vector<Launch> explained_launches() {
  std::vector<Launch> launches = {explained_launch("transpose", "copy", 4096, {})};
  const Launch tiled = explained_launch("transpose", "tiled", 4096, {tile_conflict()});
  launches.insert(launches.end(), 3, tiled);
  launches.push_back(explained_launch("app", "global", std::nullopt, global_findings()));
  launches.back().explanation.missing = {
      {"tail", "the number of multiprocessors is not known"},
      {"small_grid", "the number of multiprocessors is not known"}};
  launches.push_back(explained_launch(
      "app", "whole", 1,
      {whole("divergence", "At app/kernels.cu:40 16 of 32 lanes wait for the others.", 0.31,
             "the launch's lane slots"),
       whole("low_occupancy", "Registers (128 a thread) leave room for 16 of 64 warps.", 0.75,
             "a multiprocessor's warps"),
       whole("small_grid", "4 blocks on 132 multiprocessors.", 0.97, "the device"),
       whole("partial_warp", "A block of 33 threads has a warp with one lane.", 0.484,
             "the launch's lane slots"),
       whole("tail", "The last of 2 waves has 4 blocks of 528.", 0.25, "the launch's time"),
       whole("double_arithmetic", "The literal 0.5 is a double.", 0.0004,
             "the launch's instructions")}));
  launches.push_back(hostile_launch());
  launches.push_back(unexplained_launch());
  launches.push_back(failed_launch());
  return launches;
}

}  // namespace warpmeter::reports
