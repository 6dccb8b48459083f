// The Python client under Debian's own Python, against the command's server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

constexpr const char* missing = "/usr/bin/python3 has no websockets (python3-websockets)";

class PythonClient : public CommandTest {
 protected:
  bool has_websockets() const { return shell("/usr/bin/python3 -c 'import websockets'").exit_code == 0; }
};

TEST_F(PythonClient, plays_and_rebuilds_states) {
  if (!has_websockets()) GTEST_SKIP() << missing;
  ASSERT_EQ(
      run("oracle --tasks task2_residual --policy eps0.3 --format grpo --rules seed --out data").exit_code,
      0);
  const Finished finished = shell(
      "\"$FUSELAGE\" serve --port 0 --oracle > port.txt & server=$!; "
      "for i in $(seq 100); do grep -q listening port.txt && break; sleep 0.05; done; "
      "timeout 60 /usr/bin/python3 '" FUSELAGE_SOURCE_DIR
      "/tests/python/client_check.py' "
      "\"$(sed 's/.* //' port.txt)\" '" FUSELAGE_SOURCE_DIR
      "/clients/python' "
      "data/grpo/test-00000-of-00001.jsonl; result=$?; "
      "kill $server; wait $server; exit $result");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::HasSubstr("well"));
}

TEST_F(PythonClient, says_that_a_killed_server_is_gone_and_finds_the_next_one) {
  if (!has_websockets()) GTEST_SKIP() << missing;
  const Finished finished = shell("timeout 60 /usr/bin/python3 '" FUSELAGE_SOURCE_DIR
                                  "/tests/python/killed_server_check.py' "
                                  "\"$FUSELAGE\" '" FUSELAGE_SOURCE_DIR "/clients/python'");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::HasSubstr("well"));
}

}  // namespace
}  // namespace fuselage
