// SPDX-License-Identifier: MIT
#include "collector/inject/by_line.h"

#include <algorithm>
#include <utility>

namespace warpmeter::inject {
namespace {

constexpr std::size_t lines_a_frame =
    1000;  // the lines a frame of at most 60 bytes: below max_frame_bytes

/// Sends the entries in as many messages as they need.
template <class Message, class Entry>
void send_in_parts(Channel& channel, std::vector<Entry> Message::*entries, std::vector<Entry> all) {
  for (std::size_t first = 0; first < all.size(); first += lines_a_frame) {
    Message message;
    const std::size_t end = std::min(first + lines_a_frame, all.size());
    for (std::size_t i = first; i < end; ++i) (message.*entries).push_back(all[i]);
    channel.send(message);
  }
}

}  // namespace

ByLine::ByLine(Channel& channel, const cupti::CuptiApi& api, const Config& config)
    : channel_(channel),
      api_(api),
      mode_(config.mode),
      kernel_(config.lines_of),
      modules_(config.lines_of) {}

void ByLine::start(CUcontext context, std::uint32_t device, const std::string& chip) {
  is_started_ = true;
  if (mode_ == Mode::lines) {
    lines_ = std::make_unique<LineSession>(api_, context, device, chip);
  } else {
    stalls_ = std::make_unique<StallSession>(api_, context);
  }
}

void ByLine::finish() {
  if (lines_) {
    counts_ = lines_->finish();
  } else {
    samples_ = stalls_->finish();
  }
}

std::string ByLine::send() { return lines_ ? send_lines() : send_stalls(); }

std::string ByLine::send_lines() {
  if (counts_.empty()) return "CUPTI counted none of its machine instructions";
  Places places(api_, modules_);
  const std::vector<schema::Line> lines =
      lines_of(counts_, [&](const Instruction& at) { return places.of(at); });
  if (lines.empty() && counts_accesses(counts_)) return places.why_none();
  std::vector<Lines::Line> sent;
  for (const schema::Line& line : lines) {
    sent.push_back({channel_.name(line.file), channel_.name(line.access), 0, line.line,
                    line.requests, line.transactions, line.ideal, line.bytes, line.grade});
  }
  send_in_parts(channel_, &Lines::lines, std::move(sent));
  send_instructions(instructions_of(counts_, kernel_));
  return "";
}

std::string ByLine::send_stalls() {
  // Kernels that the library of the program launches beside it are sampled too.
  std::erase_if(samples_,
                [&](const InstructionStalls& stalls) { return stalls.at.function != kernel_; });
  if (samples_.empty()) return "the launch was too short for a sample";
  Places places(api_, modules_);
  const std::vector<schema::Stall> stalls =
      stalls_of(samples_, [&](const Instruction& at) { return places.of(at); });
  if (std::none_of(stalls.begin(), stalls.end(),
                   [](const schema::Stall& stall) { return stall.line > 0; })) {
    return places.why_none();
  }
  std::vector<Stalls::Stall> sent;
  for (const schema::Stall& stall : stalls) {
    sent.push_back({stall.line > 0 ? channel_.name(stall.file) : 0, channel_.name(stall.reason),
                    stall.line, stall.samples, stall.idle_samples});
  }
  send_in_parts(channel_, &Stalls::stalls, std::move(sent));
  send_instructions(samples_of(samples_));
  return "";
}

void ByLine::send_instructions(const std::vector<schema::InstructionCount>& counts) {
  std::vector<Instructions::Instruction> sent;
  for (const schema::InstructionCount& one : counts) {
    sent.push_back({channel_.name(one.what), one.address, one.count});
  }
  if (!sent.empty()) send_in_parts(channel_, &Instructions::instructions, std::move(sent));
}

}  // namespace warpmeter::inject
