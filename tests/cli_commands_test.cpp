// The other commands, bad usage and bad input, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Commands = CommandTest;

TEST_F(Commands, HelpAndVersion) {
  EXPECT_EQ(run("--version").out, "fuselage 0.1.0\n");
  const Finished bare = run("");
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.out, run("--help").out);
  for (const char* command : {"search", "explain", "check", "generate", "tasks", "replay"}) {
    EXPECT_THAT(bare.out, HasSubstr(fmt::format("  {} ", command)));
    const Finished help = run(fmt::format("{} --help", command));
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  fuselage "));
    for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
  }
}

TEST_F(Commands, BadUsageIsTwoWithAHint) {
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_EQ(finished.out, "") << arguments;
    EXPECT_THAT(finished.err, StartsWith("fuselage: error: ")) << arguments;
    EXPECT_THAT(finished.err, HasSubstr(message)) << arguments;
  };
  refused("serach all", "\"serach\" is no command; did you mean search?\nSee 'fuselage --help'.");
  refused("search", "TARGET is required\nSee 'fuselage search --help'.");
  refused("search all --rule seed", "\"--rule\" is not expected here; did you mean --rules?");
  refused("search all --out", "--out: its value is missing");
  refused("search all --steps 1 --steps 2", "--steps: given more than once");
  refused("search all --rules honest",
          "--rules: \"honest\" is unknown; expected one of seed, seed-honest, physical");
  refused("search all --steps -1", "--steps: -1 is out of range; expected an integer >= 1");
  refused("search all --steps 1.5", "--steps: \"1.5\" is no integer; expected an integer >= 1");
  refused("search all --time nan",
          "--time: \"nan\" is no number; expected a number from 1e-06 to 1000000000");
  refused("search all --time abc",
          "--time: \"abc\" is no number; expected a number from 1e-06 to 1000000000");
  refused("search all --time 0", "--time: \"0\" is out of range; expected a number from 1e-06 to 1000000000");
  refused("search all --memory 99999999999999999", "--memory: 99999999999999999 is out of range");
  refused("search all --order free", "--order: free does not exist under the rules seed-honest");
  refused("search all --set slow_mem=1", "--set: \"slow_mem=1\" sets no hardware field");
  refused("search all --set max_fusion_depth=0", "--set max_fusion_depth: 0 is out of range");
  refused("search task9", "\"task9\" is no task and no file; expected one of all, task1_chain");
  refused("generate --ops 0", "--ops: 0 is out of range; expected an integer from 1 to 1000000");
  refused("generate --shape 256", "--shape: \"256\" is no shape; expected HEIGHTxWIDTH");
  refused("generate --shape 0x5", "--shape: 0 is out of range");
  refused("generate --curriculum 1.5",
          "--curriculum: \"1.5\" is out of range; expected a number from 0 to 1");
  refused("generate --curriculum 0.5 --ops 3", "--curriculum excludes --ops");
  refused("generate --seed seven", "\"seven\" is no integer");
  refused("tasks --json --write x", "--json: does not go with --write");
}

TEST_F(Commands, BadInputNamesFileAndField) {
  const std::string machine = R"("hardware": {"fast_mem_capacity": 65536, "slow_mem_bandwidth": 1,
                                  "kernel_launch_cost": 1, "max_fusion_depth": 2})";
  const auto refused = [&](const std::string& text, const std::string& message) {
    write("bad.json", text);
    const Finished finished = run("search bad.json task1_chain");
    EXPECT_EQ(finished.exit_code, 2) << text;
    EXPECT_EQ(finished.out, "") << text;
    EXPECT_THAT(finished.err, StartsWith("fuselage: error: bad.json")) << text;
    EXPECT_THAT(finished.err, HasSubstr(message)) << text;
  };
  const auto node = [&](const std::string& fields) {
    return R"({"nodes": [{"id": 0, )" + fields + "}], " + machine + "}";
  };
  refused("", "empty");
  refused("[[[[", "");
  refused(R"({"nodes": [)", "");
  refused(node(R"("op": "tanh", "shape": [8, 8], "inputs": [])"), "nodes[0].op: \"tanh\"");
  refused(node(R"("op": "relu", "shape": [0, 8], "inputs": [])"), "nodes[0].shape[0]: 0");
  refused(node(R"("op": "relu", "shape": [8, 8], "inputs": [0])"), "0");
  refused(node(R"("op": "relu", "shape": [8, 8], "inputs": [], "flops": -1)"), "nodes[0].flops: -1");
  refused(node(R"("op": "relu", "shape": [8, 8])"), "nodes[0].inputs");
  EXPECT_THAT(run("search missing.json").err, HasSubstr("missing.json: cannot be opened: No such file"));
  write("machine.json", R"({"fast_mem_capacity": "much"})");
  EXPECT_THAT(run("search all --hardware machine.json").err,
              HasSubstr("machine.json: fast_mem_capacity: \"much\""));
  EXPECT_THAT(shell("echo '{}' | \"$FUSELAGE\" search -").err, HasSubstr("stdin: "));
}

TEST_F(Commands, CheckRefusesWhatIsWrong) {
  run("search task1_chain --out .");
  const json plan = json::parse(read("task1_chain.json"));
  const auto checked = [&](const std::string& field, const json& value) {
    json changed = plan;
    changed[field] = value;
    write("changed.json", changed.dump());
    return run("check changed.json task1_chain.json");
  };
  const Finished cheaper = checked("latency", 111805.5);
  EXPECT_EQ(cheaper.exit_code, 1);
  EXPECT_THAT(cheaper.out,
              StartsWith("changed.json: latency: the file claims 111805.5, the kernels take 111806.7"));
  EXPECT_THAT(cheaper.out, HasSubstr("\ntask1_chain.json: ok, 111,806.72 cycles as claimed"));

  const Finished partial = checked("kernels", json::array({plan["kernels"][0]}));
  EXPECT_EQ(partial.exit_code, 1);
  EXPECT_THAT(partial.out, StartsWith("changed.json: illegal, COVERAGE: "));
  EXPECT_EQ(run("explain changed.json").exit_code, 1);
  EXPECT_EQ(run_json("check changed.json").at("plans").at(0).at("fault").at("code"), "COVERAGE");

  EXPECT_THAT(checked("lower_bound", 2e5).out,
              StartsWith("changed.json: lower_bound: the file claims 200000.0"));
  EXPECT_THAT(checked("lower_bound", nullptr).out, StartsWith("changed.json: proof: "));
  json actions = plan["actions"];
  for (json& action : actions) action["fuse_with_prev"] = false;
  const Finished played = checked("actions", actions);
  EXPECT_EQ(played.exit_code, 1);
  EXPECT_THAT(played.out, StartsWith("changed.json: actions: they take "));
}

TEST_F(Commands, CheckGoesOnAfterAFileItCannotRead) {
  run("search task1_chain --out .");
  write("broken.json", "{\"fuselage_plan\": 1}");
  const Finished broken = run("check broken.json task1_chain.json");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, StartsWith("fuselage: error: broken.json: "));
  EXPECT_THAT(broken.out, StartsWith("task1_chain.json: ok"));
  EXPECT_EQ(run("check nothing.json").exit_code, 2);
  EXPECT_EQ(run("explain nothing.json").exit_code, 2);
}

TEST_F(Commands, ExplainAddsUpToTheLatency) {
  run("search task4_mixed --out .");
  const Finished table = run("explain task4_mixed.json");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, StartsWith("task4_mixed: 24 ops in 9 kernels; rules seed-honest, order fixed\n"));
  EXPECT_THAT(table.out, HasSubstr("3285973.65"));
  const json explained = run_json("explain task4_mixed.json");
  EXPECT_EQ(explained.at("rules"), "seed-honest");
  double sum = 0;
  for (const json& kernel : explained.at("kernels")) sum += kernel.at("latency").get<double>();
  EXPECT_EQ(sum, explained.at("totals").at("latency").get<double>());
}

TEST_F(Commands, TasksWriteTheFilesOfTheDatasets) {
  const Finished table = run("tasks");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(squeezed(table.out),
              HasSubstr("\ntask4_mixed 24 29 expert mixed 789 256x256 1,048,576 655,360 160%\n"));
  EXPECT_EQ(run_json("tasks").size(), 9U);
  EXPECT_EQ(run("tasks --write tasks").exit_code, 0);
  EXPECT_EQ(list("tasks").size(), 9U);
  for (const std::string& name : list("tasks"))
    EXPECT_EQ(read("tasks/" + name), slurp(FUSELAGE_SOURCE_DIR "/datasets/tasks/" + name)) << name;
}

TEST_F(Commands, GenerateDrawsWhatTheSeedSays) {
  const std::string options = "generate --ops 24 --difficulty hard --topology mixed --shape 64x32 ";
  const Finished one = run(options + "--seed 8 --jsonl");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_THAT(one.out, StartsWith("{\"name\": \"mixed_n24_hard_64x32_s8\", "));
  const auto several = lines(run(options + "--seed 7 --count 3").out);
  ASSERT_EQ(several.size(), 3U);
  EXPECT_EQ(several[1] + '\n', one.out);
  EXPECT_EQ(json::parse(run(options + "--seed 8").out), json::parse(one.out));
  EXPECT_EQ(run(options + "--seed 8 --jsonl --out file.jsonl").out, "");
  EXPECT_EQ(read("file.jsonl"), one.out);
}

TEST_F(Commands, TheCurriculumIsOneStream) {
  const auto two = lines(run("generate --curriculum 0.6 --count 2 --seed 7").out);
  const auto hundred = lines(run("generate --curriculum 0.6 --count 100 --seed 7").out);
  ASSERT_EQ(hundred.size(), 100U);
  EXPECT_THAT(two, ElementsAre(hundred[0], hundred[1]));
  run("generate --curriculum 0.6 --count 100 --seed 7 --out all.jsonl");
  const json results = run_json("search all.jsonl").at("results");
  ASSERT_EQ(results.size(), 100U);
  for (const json& result : results) EXPECT_EQ(result.at("proof"), "optimal") << result.at("name");
}

TEST_F(Commands, AReaderThatLeavesIsNoError) {
  const Finished piped =
      shell("{ \"$FUSELAGE\" generate --ops 200 --count 2000; echo $? > code; } | head -n 1 | cut -c 1-8");
  EXPECT_EQ(piped.out, "{\"name\":\n");
  EXPECT_EQ(piped.err, "");
  EXPECT_EQ(read("code"), "0\n");
}

TEST_F(Commands, AFullDiskIsAnError) {
  const Finished full = shell("\"$FUSELAGE\" tasks > /dev/full");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_THAT(full.err, HasSubstr("stdout: cannot be written: No space left"));
}

}  // namespace
}  // namespace fuselage
