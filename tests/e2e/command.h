// The real binary, run as a user runs it: in a directory of its own, by its arguments, judged by its exit
// code, stdout and stderr. Every test has its own directory, so that tests may run at once.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fuselage {

struct Finished {
  int exit_code = -1;  // -1: killed
  std::string out;
  std::string err;
};

class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fuselage-cli-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~CommandTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
    std::filesystem::remove_all(directory_.string() + ".data", ignored);
  }

  // Runs a line of shell in the directory; $FUSELAGE is the binary. What it leaves in the directory stays.
  // The user's data directory lies beside it.
  Finished shell(const std::string& script) const {
    const std::string line = fmt::format(
        "cd '{0}' && export XDG_DATA_HOME='{0}.data' && FUSELAGE='{1}' && {{ {2} ; }} > '{0}.out' 2> "
        "'{0}.err'",
        directory_.string(), FUSELAGE_COMMAND, script);
    const int status = std::system(line.c_str());
    Finished finished{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                      .out = slurp(directory_.string() + ".out"),
                      .err = slurp(directory_.string() + ".err")};
    for (const char* suffix : {".out", ".err"}) std::filesystem::remove(directory_.string() + suffix);
    return finished;
  }
  // `arguments` as they would be typed.
  Finished run(const std::string& arguments) const {
    return shell(fmt::format("\"$FUSELAGE\" {} < /dev/null", arguments));
  }
  nlohmann::json run_json(const std::string& arguments) const {
    const Finished finished = run(arguments + " --json");
    EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 1) << finished.err;
    return nlohmann::json::parse(finished.out);
  }

  std::filesystem::path path(const std::string& name) const { return directory_ / name; }
  std::string read(const std::string& name) const { return slurp(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  // Names in a folder, hidden ones included, sorted.
  std::vector<std::string> list(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder)))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  static std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  // With one space for every run of them.
  static std::string squeezed(const std::string& text) {
    std::string result;
    for (char c : text)
      if (c != ' ' || !result.ends_with(' ')) result += c;
    return result;
  }

 private:
  std::filesystem::path directory_;
};

// A graph in which every node reads four of the six before it, on a machine that holds six of its tensors:
// too many sets of residents are worth keeping for a quick proof.
inline std::string dense_graph(int ops) {
  constexpr const char* names[] = {"matmul", "add", "relu", "layernorm", "gelu"};
  std::string nodes;
  for (int id = 0; id < ops; ++id) {
    std::string inputs;
    for (int back : {1, 2, 4 + id % 2, 6 - id % 3 / 2})
      if (back <= id) inputs += fmt::format("{}{}", inputs.empty() ? "" : ", ", id - back);
    nodes += fmt::format("{}{{\"id\": {}, \"op\": \"{}\", \"shape\": [128, 128], \"inputs\": [{}]}}",
                         id == 0 ? "" : ",\n", id, names[id * 7 % 5], inputs);
  }
  return fmt::format(
      "{{\"name\": \"dense{}\", \"nodes\": [\n{}],\n\"hardware\": {{\"fast_mem_capacity\": 393216, "
      "\"slow_mem_bandwidth\": 4, \"kernel_launch_cost\": 2000, \"max_fusion_depth\": 4}}}}\n",
      ops, nodes);
}

}  // namespace fuselage
