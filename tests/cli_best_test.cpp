// fuselage best, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"
#include "store_records.h"

namespace fuselage {
namespace {

using nlohmann::json;
using oracle::Record;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// The records of three problems, two of which share a name.
std::string three_lines() {
  const Workload workload = oracle::small_workload();
  const auto record = [&](walk::Rules rules) {
    return oracle::make_record(oracle::plan_of(workload, 128, rules), oracle::origin);
  };
  return record_to_line(record(walk::Rules::seed)) + record_to_line(record(walk::Rules::physical));
}

class Best : public CommandTest {
 protected:
  Best() { write("three.jsonl", three_lines() + record_to_line(named("other"))); }

  // A problem of its own under another name.
  static Record named(const std::string& name, int tile = 128) {
    Workload workload = oracle::small_workload();
    workload.name = name;
    workload.hardware.max_fusion_depth = 7;
    return oracle::make_record(oracle::plan_of(workload, tile), oracle::origin);
  }
  Finished best(const std::string& arguments) const { return run("best " + arguments + " --store s.sqlite"); }
  // The same message, on stderr, and no answer.
  void expect_refused(const Finished& finished, int exit_code, const std::string& message) const {
    EXPECT_EQ(finished.exit_code, exit_code);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message)));
  }
};

TEST_F(Best, HelpSaysHow) {
  EXPECT_THAT(run("--help").out, HasSubstr("  best "));
  for (const char* command : {"best", "best list", "best show", "best export", "best import"}) {
    const Finished help = run(std::string(command) + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  fuselage best ")) << command;
    for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
  }
  expect_refused(run("best"), 2, "See 'fuselage best --help'");
  expect_refused(run("best lst"), 2, "did you mean list?");
  expect_refused(run("best show"), 2, "NAME is required");
  expect_refused(run("best list --store ''"), 2, "--store: \"\" is no file name");
}

TEST_F(Best, ImportListShowExport) {
  const Finished imported = best("import three.jsonl");
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.out, "three.jsonl: 3 new, 0 better, 0 bound improved, 0 kept\n");

  const Finished table = best("list");
  EXPECT_EQ(table.exit_code, 0);
  const auto rows = lines(squeezed(table.out));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], "name ops rules order best bound gap proof engine when key");
  EXPECT_THAT(rows[1],
              StartsWith("other 3 seed-honest fixed 213,716.06 - - not proven exact 2031-01-31T23:59:59Z "));
  EXPECT_THAT(rows[2], StartsWith("small 3 seed fixed 213,716.06 "));
  EXPECT_THAT(rows[3], StartsWith("small 3 physical fixed 213,716.06 "));

  const Finished shown = best("show other");
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, StartsWith("other: 3 ops in 3 kernels; rules seed-honest, order fixed\n"));
  EXPECT_THAT(shown.out, HasSubstr("\nbest: 213,716.06 cycles, not proven; bound -, gap -\n"
                                   "found: by exact, 2031-01-31T23:59:59Z, budget steps=10, fuselage 0.1.0\n"
                                   "key: "));
  EXPECT_THAT(shown.out, HasSubstr("213716.06"));

  EXPECT_EQ(best("export out/all.jsonl").err, "fuselage: 3 records written to out/all.jsonl\n");
  EXPECT_EQ(best("export -").out, read("out/all.jsonl"));
  EXPECT_EQ(run("best import out/all.jsonl --store copy.sqlite").exit_code, 0);
  EXPECT_EQ(run("best export - --store copy.sqlite").out, read("out/all.jsonl"));
}

TEST_F(Best, OnlyImprovesAndSaysSo) {
  best("import three.jsonl");
  Record bounded = named("other");
  bounded.lower_bound = 1000;
  write("bounded.jsonl", record_to_line(bounded));
  write("better.jsonl", record_to_line(named("again", 256)));
  const json imported = run_json("best import bounded.jsonl better.jsonl three.jsonl --store s.sqlite");
  EXPECT_EQ(imported.at("files").at(0).at("bound improved"), 1);
  EXPECT_EQ(imported.at("files").at(1).at("better"), 1);
  EXPECT_EQ(imported.at("files").at(2).at("kept"), 3);
  const json record = run_json("best show again --store s.sqlite");
  EXPECT_EQ(record.at("lower_bound"), 1000);
  EXPECT_EQ(record.at("plan").at("kernels").at(0).at("tile"), 256);
  EXPECT_EQ(run_json("best list --store s.sqlite").at("records").size(), 3U);
}

TEST_F(Best, ShowNeedsOneRecord) {
  best("import three.jsonl");
  const json records = run_json("best list --store s.sqlite").at("records");
  expect_refused(best("show nothing"), 1, "s.sqlite: no record of \"nothing\"");
  const Finished ambiguous = best("show small");
  expect_refused(ambiguous, 2,
                 "\"small\" stands for 2 records; expected the first digits of one of these keys:\n");
  for (const json& record : records) {
    const std::string key = record.at("key").get<std::string>();
    const Finished shown = best("show " + key.substr(0, 12));
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.out, HasSubstr("key: " + key));
    EXPECT_EQ(ambiguous.err.find(key.substr(0, 12)) != std::string::npos, record.at("name") == "small");
    EXPECT_FALSE(record.contains("plan"));
  }
}

TEST_F(Best, PricesAreShownWhereThereAreAny) {
  best("import three.jsonl");
  write("priced.jsonl", record_to_line(oracle::priced_record(1, 3e5, 1e5)));
  best("import priced.jsonl");
  const Finished table = best("list");
  EXPECT_THAT(squeezed(table.out), HasSubstr("name ops rules order price best bound gap "));
  EXPECT_THAT(squeezed(table.out),
              HasSubstr("small 3 seed-honest fixed launch 2 300,000.00 100,000.00 66.7% not proven"));
  EXPECT_THAT(squeezed(table.out), HasSubstr("small 3 seed fixed - 213,716.06 "));
  const auto key = oracle::priced_record(1, 3e5).key;
  EXPECT_THAT(best("show " + key).out,
              HasSubstr("\nprice: launch 2 on top of a latency of 213,716.06 cycles\n"));
}

TEST_F(Best, AFileIsImportedAsAWhole) {
  const std::string good = record_to_line(named("other"));
  std::string tampered = good;
  tampered.replace(tampered.find("\"tile\":128"), 10, "\"tile\":256");
  write("bad.jsonl", three_lines() + tampered);
  write("good.jsonl", good);
  const Finished imported = best("import bad.jsonl good.jsonl missing.jsonl");
  EXPECT_EQ(imported.exit_code, 2);
  EXPECT_EQ(imported.out, "good.jsonl: 1 new, 0 better, 0 bound improved, 0 kept\n");
  EXPECT_THAT(imported.err,
              HasSubstr("fuselage: error: bad.jsonl:3: latency: 213716.05647058826 cycles are claimed"));
  EXPECT_THAT(imported.err, HasSubstr("missing.jsonl: cannot be opened"));
  EXPECT_EQ(run_json("best list --store s.sqlite").at("records").size(), 1U);
  const Finished piped = shell("\"$FUSELAGE\" best import - --store s.sqlite < three.jsonl");
  EXPECT_EQ(piped.out, "stdin: 2 new, 0 better, 0 bound improved, 1 kept\n");
}

TEST_F(Best, TheDefaultIsTheDataDirectory) {
  const auto in = [&](const std::string& variables, const std::string& arguments) {
    return shell(fmt::format("env -u HOME -u XDG_DATA_HOME {} \"$FUSELAGE\" best {}", variables, arguments));
  };
  EXPECT_EQ(in("HOME=\"$PWD/home\"", "import three.jsonl").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("home/.local/share/fuselage/best.sqlite")));
  EXPECT_EQ(in("HOME=\"$PWD/home\" XDG_DATA_HOME=\"$PWD/data\"", "import three.jsonl").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("data/fuselage/best.sqlite")));
  EXPECT_EQ(lines(in("HOME=\"$PWD/home\" XDG_DATA_HOME=relative", "list").out).size(), 4U);
  expect_refused(in("", "list"), 2, "--store: neither XDG_DATA_HOME nor HOME names a directory");

  const Finished none = in("HOME=\"$PWD/nobody\"", "list");
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("nobody/.local/share/fuselage/best.sqlite: no records yet"));
  expect_refused(in("HOME=\"$PWD/nobody\"", "show small"), 1, "no record of \"small\"");
  EXPECT_EQ(in("HOME=\"$PWD/nobody\"", "list --json").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("nobody"))) << "reading makes nothing";
}

TEST_F(Best, BadStoresAreTwo) {
  expect_refused(run("best list --store none.sqlite"), 2, "none.sqlite: cannot be opened: No such file");
  EXPECT_FALSE(std::filesystem::exists(path("none.sqlite")));
  expect_refused(run("best list --store three.jsonl"), 2, "three.jsonl: is no SQLite database");
  expect_refused(run("best import three.jsonl --store ."), 2, "is a directory");
  best("import three.jsonl");
  expect_refused(best("export s.sqlite"), 2, "s.sqlite: is the store");
  oracle::run_sql(path("s.sqlite"), "UPDATE best SET plan = replace(plan, '\"tile\": 128', '\"tile\": 256')");
  expect_refused(best("show other"), 2, "s.sqlite: other (");
  expect_refused(best("export out.jsonl"), 2, "latency: ");
  EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
}

}  // namespace
}  // namespace fuselage
