// SPDX-License-Identifier: MIT
// The refusals of `warpmeter model`, and how it says so.
#include "tests/collector/cli/model_workspace.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ModelMistakes : public ModelWorkspace {};

struct Mistake {
  std::vector<std::string> words;
  int exit_code;
  const char* message;
};

TEST_F(ModelMistakes, RefusesWhatCannotBeRun) {
  const std::vector<std::string> add = {"add.ptx", "--grid", "1", "--block", "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), add.begin(), add.end());
    return more;
  };
  const Mistake table[] = {
      {{}, 2, "needs a .cu or .ptx file"},
      {{"add.ptx"}, 2, "needs --grid and --block"},
      {{"nowhere.ptx", "--grid", "1", "--block", "1"}, 5, "there is no file nowhere.ptx"},
      {{"spec.txt", "--grid", "1", "--block", "1"}, 2, "neither .cu nor .ptx"},
      {{"add.ptx", "--grid", "1,2,3,4", "--block", "1"}, 2, "one to three numbers"},
      {{"add.ptx", "--grid", "0", "--block", "1"}, 2, "--grid"},
      {with({"--arg", "null", "--arg", "u32=1", "--blocks", "0"}), 2, "--blocks takes"},
      {{"add.ptx", "--grid", "1", "--block", "2048"}, 2, "at most 1024 threads"},
      {with({"--arg", "u32=1"}), 2, "parameter 1 of add(u64, u32) is u64"},
      {with({"--arg", "null"}), 2, "parameter 2 (u32) has none"},
      {with({"--arg", "@x", "--arg", "u32=1"}), 2, "names no buffer"},
      {with({"--arg", "o:u32[1]", "--arg", "u32=1", "--save", "x=x.npy"}), 2, "no buffer 'x'"},
      {with({"--arg", "o:u32[1]", "--arg", "u32=1", "--save", "o=x.txt"}), 2, "neither .npy nor"},
      {with({"--arg", "o:u32[]=no.npy", "--arg", "u32=1"}), 5, "there is no file no.npy"},
      {with({"--arg", "o:u64[9999999999999999]", "--arg", "u32=1"}), 2, "memory"},
      {with({"--arg", "o:u64[18446744073709551615]", "--arg", "u32=1"}), 2, "memory"},
      {with({"--arg", "o:u64[1e20]", "--arg", "u32=1"}), 2, "no whole number above 0"},
      {with({"--arg", "null", "--arg", "u32=1", "--threads", "0"}), 2, "--threads takes"},
      {with({"--arg", "null", "--arg", "u32=1", "--shared", "-1"}), 2, "--shared takes"},
      {with({"--arg", "null", "--arg", "u32=1", "--cubin", "no.cubin"}), 5, "no file no.cubin"},
      {with({"--arg", "null", "--arg", "u32=1", "--std", "c++14"}), 2, "--std takes c++17"},
      {{"add.ptx", "--grid", "-1", "--block", "1"}, 2, "--grid takes a whole number from 1"},
      {{"add.ptx", "--grid", "1,70000", "--block", "1", "--arg", "null", "--arg", "u32=1"},
       2,
       "larger than a device takes"},
      {{"add.ptx", "--grid", "1", "--block", "1,1,65", "--arg", "null", "--arg", "u32=1"},
       2,
       "a block of 1×1×65 threads is larger than a device takes (1024×1024×64)"},
  };
  for (const Mistake& row : table) {
    const Outcome outcome = model(row.words);
    EXPECT_EQ(outcome.exit_code, row.exit_code) << row.message << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr(row.message));
    EXPECT_THAT(outcome.output, testing::IsEmpty());
  }
}

/// A run of nothing would be the last one, which `report` shows.
TEST_F(ModelMistakes, StoresNoRunWhereAnInputIsMissing) {
  const Outcome outcome = model({"add.ptx", "--grid", "1", "--block", "1", "--arg",
                                 "o:u32[4]=no.npy", "--arg", "u32=1", "--db", "kept.db"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.error;
  EXPECT_FALSE(std::filesystem::exists(file("kept.db")));
}

TEST_F(ModelMistakes, RefusesWhatTheCompilerWouldPassOver) {
  write("file", "");
  const Mistake table[] = {
      {{"--arch", "sm_91"}, 2, "not 'sm_91' (did you mean sm_90?): sm_"},
      {{"--arch", "sm91"}, 2, "not 'sm91' (did you mean sm_90?): sm_"},
      {{"--arch", "sm_9"}, 2, "not 'sm_9' (did you mean sm_90?): sm_"},
      {{"--arch", "sm_90a"}, 2, "not 'sm_90a' (did you mean sm_90?): sm_"},
      {{"--arch", "sm_999"}, 2, "not 'sm_999': sm_"},
      {{"--arch", "fermi"}, 2, "not 'fermi': sm_"},
      {{"-I", "nowhere"}, 2, "--include takes a folder, and 'nowhere' is not there"},
      {{"-I", "file"}, 2, "'file' is none"},
      {{"-D", "1x=2"}, 2, "--define takes NAME or NAME=VALUE, not '1x=2'"},
      {{"-D", "=3"}, 2, "--define takes"},
  };
  for (const Mistake& row : table) {
    for (const char* source : {"transpose.cu", "add.ptx"}) {
      std::vector<std::string> words = {source, "--grid", "1", "--block", "1"};
      words.insert(words.end(), row.words.begin(), row.words.end());
      const Outcome outcome = model(words);
      EXPECT_EQ(outcome.exit_code, row.exit_code) << row.message << outcome.error;
      EXPECT_THAT(outcome.error, HasSubstr(row.message));
      words.emplace_back("--accepts");
      EXPECT_EQ(model(words).exit_code, row.exit_code) << row.message;
    }
  }
  EXPECT_EQ(transposed({"-I", ".", "-D", "F(x)=x", "-D", "M", "--arch", "sm_80"}).exit_code, 0);
  for (const char* arch : {"sm90", "90"}) {  // its meaning is plain
    EXPECT_EQ(transposed({"--arch", arch}).exit_code, 0) << arch;
  }
}

TEST_F(ModelMistakes, RefusesABufferOfOtherElementsThanTheParameterPointsTo) {
  write("halve.cu", "__global__ void halve(float* p) { p[threadIdx.x] /= 2; }\n");
  const auto run = [&](const char* buffer) {
    return model({"halve.cu", "--grid", "1", "--block", "32", "--arg", buffer});
  };
  EXPECT_EQ(run("f32[32]=1").exit_code, 0);
  const Outcome refused = run("f64[32]=1");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error,
              HasSubstr("parameter 1 of halve(float*) is float*, and 'f64[32]=1' does not fit: it "
                        "points to f32: write f32 in place of f64"));
}

TEST_F(ModelMistakes, SaysThatWhatIsCompiledIsNotCompiledOnceMore) {
  const Outcome outcome = model(
      {"add.ptx", "--grid", "1", "--block", "1", "--arg", "u32[1]", "--arg", "u32=1", "-D", "N=1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("add.ptx is compiled already: --arch, --std, -I and -D"));
}

TEST_F(ModelMistakes, CompilesWithTheOptionsWhenItSaysWhatItAccepts) {
  write("needs.cu", "__global__ void k(int* p) { *p = VALUE; }\n");
  EXPECT_EQ(model({"--accepts", "needs.cu"}).exit_code, 2);
  EXPECT_EQ(model({"--accepts", "needs.cu", "-D", "VALUE=1"}).exit_code, 0);
}

/// A stranger's source may include any file that we can read; its lines belong into no message, and
/// into no database.
TEST_F(ModelMistakes, QuotesNoFileThatASourceIncludesFromElsewhere) {
  const TemporaryFolder elsewhere;
  const std::string secret = (elsewhere.path() / "secret").string();
  std::ofstream(secret) << "password = topsecret;\n";
  const std::string kernel = "\n__global__ void k(float* a) { a[0] = wrong; }\n";
  write("k.cu", "#include \"" + secret + "\"" + kernel);
  std::filesystem::create_symlink(secret, file("beside.h"));
  write("linked.cu", "#include \"beside.h\"" + kernel);
  for (const char* compiler : {"nvrtc", "nvcc"}) {
    for (const char* source : {"k.cu", "linked.cu"}) {
      const Outcome outcome = model({source, "-k", "k", "--grid", "1", "--block", "1", "--arg",
                                     "a:f32[1]", "--compiler", compiler});
      EXPECT_NE(outcome.exit_code, 0);
      const std::string all = outcome.error + outcome.output;
      EXPECT_THAT(all, AllOf(HasSubstr("this file is outside of the source's folder, the working "
                                       "folder and -I"),
                             HasSubstr("identifier \"wrong\" is undefined"),
                             Not(HasSubstr("topsecret")), Not(HasSubstr("password"))))
          << compiler << " " << source;
    }
    const Outcome outcome =
        model({"k.cu", "-k", "k", "--grid", "1", "--block", "1", "--arg", "a:f32[1]", "--compiler",
               compiler, "-I", elsewhere.path().string()});
    EXPECT_THAT(outcome.error + outcome.output, HasSubstr("topsecret")) << compiler;
  }
}

/// NVRTC takes more than that.
TEST_F(ModelMistakes, ASmallLimitOfTheStackIsNone) {
  Start start{{"model", "transpose.cu", "-k", "transpose_tiled", "--grid", "4,4", "--block",
               "16,16", "--arg", "out:f32[4096]", "--arg", "in:f32[4096]=iota", "--arg",
               "width:i32=64", "--arg", "i32=64"},
              file("").parent_path()};
  start.most_stack = std::size_t{96} << 10;
  const Outcome outcome = run_program(start);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

}  // namespace
}  // namespace warpmeter::cli
