// `fuselage tune` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"
#include "fuselage/oracle/bundle.h"
#include "fuselage/walk/features.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Measures what the plan file claims, the roofline's latency.
constexpr const char* honest = R"(while read -r line; do
  id=${line#*:}; id=${id%%,*}; l=${line##*'"latency":'}; l=${l%%,*}
  echo "$id" >> asked
  echo "{\"id\": $id, \"latency\": $l}"
done
)";

class TuneCommandTest : public CommandTest {
 protected:
  TuneCommandTest() { write("honest.sh", honest); }
  static json without_time(json answer) {
    for (json& result : answer.at("results")) {
      result.erase("seconds");
      result.erase("recalled");
      result.erase("plan");
    }
    return answer;
  }
  void write_model(const std::string& name) const {
    learn::ScheduleModelShape shape;
    shape.scorer.features = static_cast<learn::Index>(walk::token_schema().size());
    shape.scorer.latent = 8;
    shape.facts = static_cast<learn::Index>(walk::workload_schema().size());
    const learn::ScheduleModel model(shape, 1);
    model.save(path(name).string(), oracle::schedule_fingerprints());
  }
};

TEST_F(TuneCommandTest, finds_a_good_plan_and_says_how_good) {
  const json answer = run_json("tune task1_chain task4_mixed --trials 40 --model none --out plans");
  for (const json& result : answer.at("results")) {
    EXPECT_EQ(result.at("trials"), 40);
    EXPECT_EQ(result.at("failures"), 0);
    EXPECT_GE(result.at("latency").get<double>(), result.at("lower_bound").get<double>() * (1 - 1e-9));
    EXPECT_TRUE(result.at("bound_is_optimum"));
    EXPECT_EQ(result.at("curve").at(0).at("trial"), 1);
    EXPECT_EQ(result.at("curve").back().at("latency"), result.at("latency"));
    const Finished checked = run("check " + result.at("plan").get<std::string>());
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
  }
  const Finished table = run("tune task1_chain --trials 40 --model none");
  EXPECT_THAT(squeezed(table.out), AllOf(HasSubstr("task ops greedy best improvement % known % gap trials"),
                                         HasSubstr("task1_chain 8 118,360.32 1")));
}

TEST_F(TuneCommandTest, a_model_filters_proposals_and_files_of_models_are_found) {
  std::filesystem::create_directories(path("bundle/walk"));
  write_model("model.safetensors");
  write_model("bundle/walk/schedules.safetensors");
  const std::string rest = " --trials 24 --proposals 4 --seed 3";
  const json file = without_time(run_json("tune task4_mixed --model model.safetensors" + rest));
  EXPECT_EQ(without_time(run_json("tune task4_mixed --model ." + rest)), file);
  EXPECT_EQ(without_time(run_json("tune task4_mixed --model bundle" + rest)), file);
  EXPECT_NE(without_time(run_json("tune task4_mixed --model none" + rest)), file);
  EXPECT_EQ(file.at("refit"), true);
  write("model.safetensors", "nonsense");
  EXPECT_EQ(run("tune task4_mixed --model model.safetensors").exit_code, 2);
  EXPECT_THAT(run("tune task4_mixed --model plans").err, HasSubstr("plans"));
}

TEST_F(TuneCommandTest, a_program_measures_the_same_whatever_the_workers) {
  const std::string command = "tune task4_mixed --trials 20 --model none --evaluate-with 'sh honest.sh'";
  const json one = run_json(command);
  EXPECT_EQ(one.at("results").at(0).at("trials"), 20);
  EXPECT_FALSE(one.at("results").at(0).contains("lower_bound"));
  EXPECT_EQ(lines(read("asked")).size(), 20U);
  const json three = run_json(command + " --workers 3");
  EXPECT_EQ(without_time(three), without_time(one));
  // The roofline's own figures are the same ones.
  const json own = run_json("tune task4_mixed --trials 20 --model none");
  EXPECT_EQ(own.at("results").at(0).at("curve"), one.at("results").at(0).at("curve"));
}

TEST_F(TuneCommandTest, it_goes_on_from_its_log_also_from_half_a_line) {
  const std::string command = "tune task4_mixed --model none --evaluate-with 'sh honest.sh' --log log.jsonl";
  const json whole = run_json("tune task4_mixed --model none --trials 30 --evaluate-with 'sh honest.sh'");
  run_json(command + " --trials 13");
  EXPECT_EQ(lines(read("log.jsonl")).size(), 14U);
  const std::string log = read("log.jsonl");
  write("log.jsonl", log.substr(0, log.size() - 25));  // the last trial was being written
  std::filesystem::remove(path("asked"));
  const json resumed = run_json(command + " --trials 30 --resume");
  EXPECT_EQ(without_time(resumed), without_time(whole));
  EXPECT_EQ(resumed.at("results").at(0).at("recalled"), 12);
  EXPECT_EQ(lines(read("asked")).size(), 18U);
  EXPECT_EQ(lines(read("log.jsonl")).size(), 31U);
  for (const std::string& line : lines(read("log.jsonl"))) EXPECT_TRUE(json::accept(line)) << line;
}

TEST_F(TuneCommandTest, a_log_is_neither_overwritten_nor_mixed_up) {
  const std::string command = "tune task1_chain --trials 8 --model none --log log.jsonl";
  EXPECT_EQ(run(command + " --resume").exit_code, 0);
  EXPECT_THAT(run(command).err, HasSubstr("exists already"));
  const Finished other = run(command + " --resume --seed 2");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("graph 0: seed is 0; expected 2"));
  EXPECT_THAT(run("tune task2_residual --trials 8 --model none --log log.jsonl --resume").err,
              HasSubstr("graph 0: name is"));
  EXPECT_THAT(run("tune all --resume").err, HasSubstr("--resume: there is no log"));
}

TEST_F(TuneCommandTest, several_graphs_share_a_log) {
  const std::string command = "tune all --model none --log log.jsonl";
  run_json(command + " --trials 5");
  const json more = run_json(command + " --trials 9 --resume");
  EXPECT_EQ(without_time(more), without_time(run_json("tune all --model none --trials 9")));
}

TEST_F(TuneCommandTest, interrupted_it_says_what_it_has_and_goes_on_later) {
  write("slow.sh", std::string(honest).replace(std::string(honest).find("echo \"$id\""), 0, "sleep 0.05; "));
  const std::string command =
      "tune task4_mixed --model none --trials 40 --evaluate-with 'sh slow.sh' --log log.jsonl";
  const Finished stopped =
      shell("\"$FUSELAGE\" " + command +
            " & pid=$!; for i in $(seq 500); do sleep 0.02; "
            "[ \"$(wc -l < log.jsonl)\" -gt 4 ] && break; done; kill -INT $pid; wait $pid");
  EXPECT_THAT(stopped.err, HasSubstr("interrupted; the same command with --resume goes on"));
  EXPECT_THAT(stopped.out, HasSubstr("task4_mixed"));
  const std::size_t before = lines(read("log.jsonl")).size();
  EXPECT_GT(before, 1U);
  EXPECT_LT(before, 41U);
  const json resumed = run_json(command + " --resume");
  EXPECT_EQ(lines(read("log.jsonl")).size(), 41U);
  EXPECT_EQ(resumed.at("results").at(0).at("curve"),
            run_json("tune task4_mixed --model none --trials 40").at("results").at(0).at("curve"));
}

TEST_F(TuneCommandTest, bad_plans_are_counted_and_all_bad_is_an_answer_of_no) {
  write("moody.sh", R"(while read -r line; do id=${line#*:}; id=${id%%,*}
  if [ $((id % 2)) = 0 ]; then echo "{\"id\": $id, \"error\": \"no room\"}"; else echo "{\"id\": $id, \"latency\": $id}"; fi; done)");
  const json moody = run_json("tune task4_mixed --model none --trials 10 --evaluate-with 'sh moody.sh'");
  EXPECT_EQ(moody.at("results").at(0).at("failures"), 5);
  EXPECT_EQ(moody.at("results").at(0).at("latency"), 1);
  write(
      "never.sh",
      R"(while read -r line; do id=${line#*:}; id=${id%%,*}; echo "{\"id\": $id, \"error\": \"no room\"}"; done)");
  const Finished never = run("tune task4_mixed --model none --trials 10 --evaluate-with 'sh never.sh'");
  EXPECT_EQ(never.exit_code, 1);
  EXPECT_THAT(never.err, HasSubstr("task4_mixed: all 10 trials failed; the last one: no room"));
}

TEST_F(TuneCommandTest, a_program_that_is_none_is_bad_input) {
  const Finished none = run("tune task4_mixed --model none --evaluate-with /no/such/program");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err,
              HasSubstr("fuselage: error: --evaluate-with: \"/no/such/program\" ended with exit code 127"));
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(run("tune task4_mixed --workers 2").exit_code, 2);
  EXPECT_EQ(run("tune task4_mixed --trials 0").exit_code, 2);
}

}  // namespace
}  // namespace fuselage
