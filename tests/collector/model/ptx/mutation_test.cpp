// SPDX-License-Identifier: MIT
// Broken and hostile texts: whatever they are, the answer is a module or a diagnostic, soon. The
// module of a mutant must stand every analysis as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "collector/model/ptx/flow/slots.h"
#include "collector/model/ptx/row.h"
#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// True if the text parses; if so, everything that can be asked of it has been.
bool survives(const std::string& text) {
  const auto result = parse(text);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) {
    EXPECT_GT(problem->line, 0);
    EXPECT_GT(problem->column, 0);
    EXPECT_FALSE(problem->message.empty());
    EXPECT_LT(problem->message.size(), 400u);
    return false;
  }
  for (const Function& function : std::get<0>(result)->functions) {
    check_opcodes(function);
    const auto graph = control_flow(function);
    if (!std::holds_alternative<ControlFlow>(graph)) continue;
    const DataFlow data = data_flow(function);
    const Slots slots = allocate(data, std::get<0>(graph));
    EXPECT_EQ(slots.slot.size(), data.registers().size());
  }
  return true;
}

/// Texts of a few thousand characters: the file by hand, and every function of the features alone.
std::vector<std::string> seeds() {
  std::vector<std::string> texts = {data_file("by_hand.ptx")};
  for (const char* name : {"features_sm_90.ptx", "features_sm_100.ptx"}) {
    const std::string file = data_file(name);
    std::size_t begin = 0;
    for (std::size_t end; (end = file.find("\n}\n", begin)) != std::string::npos; begin = end + 3) {
      const std::string function = file.substr(begin, end + 3 - begin);
      if (function.size() < 6000) {
        texts.push_back(begin == 0 ? function : with_header(function));
      }
    }
  }
  return texts;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      const std::size_t at = below(text.size() + 1);
      const std::size_t length = std::min(below(below(4) == 0 ? 200 : 6) + 1, text.size() - at);
      switch (below(6)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(at, length));
          break;
        case 2:
          text.insert(below(text.size() + 1), text.substr(at, length));
          break;
        case 3:
          text.insert(at, token());
          break;
        case 4:
          if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
          break;
        default:
          if (below(8) == 0) text.resize(at);
          break;
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::string token() {
    static const char* const tokens[] = {"{",
                                         "}",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         ";",
                                         ",",
                                         ":",
                                         "@",
                                         "!",
                                         "|",
                                         ".",
                                         "<4000000000>",
                                         "0xFFFFFFFFFFFFFFFF",
                                         "-",
                                         "1e400",
                                         ".reg .b32 %r<3>;",
                                         "bra L1;",
                                         "L1:",
                                         "\"",
                                         "/*",
                                         "//",
                                         "[][2]",
                                         "= {1, {2}}",
                                         ".param",
                                         ".v4",
                                         ".align 0",
                                         "ret;",
                                         "exit;",
                                         ".branchtargets L1;",
                                         "generic(",
                                         "\0",
                                         "call"};
    return tokens[below(std::size(tokens))];
  }

  std::mt19937 random_;
};

TEST(PtxMutation, ThousandsOfMutantsAreAnswered) {
  const std::vector<std::string> texts = seeds();
  for (const std::string& text : texts) EXPECT_TRUE(survives(text)) << text;
  Mutator mutator(20);
  int parsed_count = 0;
  constexpr int mutants = 4000;
  for (int i = 0; i < mutants; ++i) {
    const std::string& text = texts[static_cast<std::size_t>(i) % texts.size()];
    parsed_count += survives(mutator.mutate(text));
  }
  // Else the mutants say nothing about what comes after the parser, or were no mutants.
  EXPECT_GT(parsed_count, mutants / 50);
  EXPECT_LT(parsed_count, mutants * 9 / 10);
}

TEST(PtxMutation, EveryPrefixIsAnswered) {
  const std::string text = data_file("by_hand.ptx");
  for (std::size_t size = 0; size < text.size(); size += 3) survives(text.substr(0, size));
}

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string result;
  while (result.size() < bytes) result += text;
  return result;
}

TEST(PtxMutation, HostileTextsAreAnsweredSoon) {
  constexpr std::size_t size = 1 << 19;
  const std::string texts[] = {
      entry(repeated("{ L: bra L; }\n", size)),
      entry(repeated("{ .reg .b32 x, y<3>; add.u32 x, y1, y2; }\n", size)),
      entry(repeated("@%p1 bra A; @%p2 ret;\n", size) + "A: ret;"),
      entry("A: B: " + repeated("@%p1 bra A; @%p2 bra B; ", size / 8) + "ret;"),
      entry("mov.u32 %r" + repeated("1", size) + ", 2;"),
      entry("{ .reg .b32 x" + repeated("1", size) + "; }"),
      entry("mov.u32 %r1, " + repeated("-", size) + "2;"),
      entry("mov.u32 %r1, [%r2" + repeated("+1", size) + "];"),
      entry("call (" + repeated("%r1,", size) + "%r1), f;"),
      entry("T: .branchtargets " + repeated("A,", size) + "A;\nA: brx.idx %r1, T; brx.idx %r1, T;"),
      entry(repeated(".loc 1 2 3, function_name f, inlined_at 1 2 3\nmov.u32 %r1, 1;\n", size)),
      with_header(".global .b8 x[] = {" + repeated("1,", size) + "2};"),
      with_header(".global .b64 x[] = {" + repeated("generic(y)+1,", size) + "2};"),
      with_header(repeated(".func f;\n", size)),
      with_header("/*" + repeated("/*", size)),
      with_header(repeated("@", size)),
      with_header(".section x " + repeated("{", size)),
  };
  for (const std::string& text : texts) {
    const auto start = std::chrono::steady_clock::now();
    survives(text);
    // A second under sanitizers on a slow machine; what is quadratic would take minutes.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20))
        << text.substr(0, 200);
  }
}

}  // namespace
}  // namespace warpmeter::model::ptx
