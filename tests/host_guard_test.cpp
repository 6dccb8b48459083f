// By which names a server may be asked for: what browsers and hostile clients send as Host, Origin and
// target.
#include "fuselage/serve/host_guard.h"

#include <gmock/gmock.h>

#include "error_of.h"

namespace fuselage::serve {
namespace {

using testing::HasSubstr;

const HostGuard::Options on_loopback = {};
const HostGuard::Options open_to_all = {.reachable = true};
const HostGuard::Options with_token = {.reachable = true, .has_token = true};

bool allows(const HostGuard::Options& options, const RequestNames& names) {
  return !HostGuard(options).fault(names);
}
bool allows_host(const HostGuard::Options& options, std::string_view host) {
  return allows(options, {.hosts = {host}, .origins = {}, .target = "/"});
}
bool allows_origin(const HostGuard::Options& options, std::string_view host, std::string_view origin) {
  return allows(options, {.hosts = {host}, .origins = {origin}, .target = "/"});
}
bool allows_target(const HostGuard::Options& options, std::string_view target) {
  return allows(options, {.hosts = {"localhost"}, .origins = {}, .target = target});
}

constexpr const char* own[] = {"localhost",       "localhost:7860", "LocalHost:1",       "localhost.",
                               "localhost.:7860", "127.0.0.1",      "127.0.0.1:7860",    "127.255.0.3:80",
                               "[::1]",           "[::1]:7860",     "[0:0:0:0:0:0:0:1]", "localhost:"};
constexpr const char* foreign[] = {
    "evil.example", "evil.example:7860", "localhost.evil.example", "evil.localhost", "127.0.0.1.evil.example",
    "localhostx", "xlocalhost", "127.evil.example", "128.0.0.1", "0.0.0.0", "10.0.0.1:7860", "[::2]",
    "[fe80::1]", "[::ffff:10.0.0.1]",
    // no authority at all
    "", ":", ":7860", ".", "localhost..", "::1", "[::1", "[::1]7860", "[::1]]", "[]", "[localhost]",
    "[::1%25lo]", "[::1%lo]", "localhost:x", "localhost:80:80", "localhost:65536", "localhost:-1",
    "localhost:80 evil.example", "localhost@evil.example", "evil.example@localhost", "user:pw@localhost",
    "localhost, evil.example", "localhost/evil.example", "localhost\\evil.example", "localhost?",
    "localhost#", "http://localhost", " localhost", "localhost\t", "127.0.0.01", "127.1", "0x7f.0.0.1",
    "2130706433", "localhost%00",
    "l\xc3\xb6"
    "calhost"};

TEST(HostGuard, on_loopback_it_has_the_names_of_loopback) {
  for (const char* host : own) EXPECT_TRUE(allows_host(on_loopback, host)) << host;
  for (const char* host : foreign) EXPECT_FALSE(allows_host(on_loopback, host)) << host;
  EXPECT_FALSE(allows_host(on_loopback, {"localhost\0", 10}));
  EXPECT_FALSE(allows_host({.has_token = true}, "evil.example")) << "a token makes no difference";
}

TEST(HostGuard, origins_are_pages_of_the_same_names) {
  for (const char* host : own) {
    EXPECT_TRUE(allows_origin(on_loopback, "localhost", fmt::format("http://{}", host))) << host;
    EXPECT_TRUE(allows_origin(on_loopback, "127.0.0.1:80", fmt::format("HTTPS://{}", host))) << host;
  }
  for (const char* host : foreign)
    EXPECT_FALSE(allows_origin(on_loopback, "localhost", fmt::format("http://{}", host))) << host;
  for (const char* origin :
       {"null", "", "localhost", "//localhost", "file://", "ftp://localhost", "http:/localhost",
        "http://localhost/", "http://localhost http://localhost", "javascript:localhost"})
    EXPECT_FALSE(allows_origin(on_loopback, "localhost", origin)) << origin;
  EXPECT_FALSE(allows_origin(on_loopback, "evil.example", "http://evil.example")) << "rebinding";
  EXPECT_FALSE(allows_origin(on_loopback, "evil.example", "http://localhost"));
}

TEST(HostGuard, host_is_given_once_and_each_origin_counts) {
  EXPECT_FALSE(allows(on_loopback, {.hosts = {}, .origins = {}, .target = "/"}));
  EXPECT_FALSE(allows(on_loopback, {.hosts = {"localhost", "localhost"}, .origins = {}, .target = "/"}));
  EXPECT_FALSE(allows(on_loopback, {.hosts = {"localhost", "evil.example"}, .origins = {}, .target = "/"}));
  EXPECT_FALSE(allows(with_token, {.hosts = {"a.example", "b.example"}, .origins = {}, .target = "/"}));
  EXPECT_TRUE(allows(with_token, {.hosts = {}, .origins = {}, .target = "/"})) << "any name is right";
  EXPECT_FALSE(allows(
      on_loopback,
      {.hosts = {"localhost"}, .origins = {"http://localhost", "http://evil.example"}, .target = "/"}));
}

TEST(HostGuard, an_absolute_target_counts_as_a_host) {
  for (const char* target : {"http://localhost:7860/tasks", "HTTP://127.0.0.1/", "https://[::1]?x",
                             "/http://evil.example", "*", "http://localhost"})
    EXPECT_TRUE(allows_target(on_loopback, target)) << target;
  for (const char* target : {"http://evil.example/tasks", "http://evil.example", "http://", "http:///tasks",
                             "http://localhost@evil.example/", "http://evil.example#localhost/",
                             "http://evil.example\\@localhost/", "https://evil.example?localhost/"})
    EXPECT_FALSE(allows_target(on_loopback, target)) << target;
  EXPECT_EQ(target_path("http://localhost:7860/step/a?b=c"), "/step/a?b=c");
  EXPECT_EQ(target_path("HTTPS://localhost"), "/");
  EXPECT_EQ(target_path("/tasks?a=http://x/"), "/tasks?a=http://x/");
  EXPECT_EQ(target_path("*"), "*");
}

TEST(HostGuard, names_can_be_added) {
  const HostGuard::Options named = {.names = {"Game.Example.", "10.0.0.7", "::ffff:0:1", "[FE80::0:2]"}};
  for (const char* host : {"game.example", "GAME.example:443", "game.example.", "10.0.0.7:7860",
                           "[::ffff:0:1]", "[fe80::2]:80", "localhost"})
    EXPECT_TRUE(allows_host(named, host)) << host;
  for (const char* host :
       {"x.game.example", "game.example.evil.example", "10.0.0.8", "evil.example", "[fe80::3]"})
    EXPECT_FALSE(allows_host(named, host)) << host;
  EXPECT_TRUE(allows_origin(named, "localhost:7860", "https://game.example")) << "behind a proxy";
  EXPECT_FALSE(allows_origin(named, "game.example", "https://evil.example"));
  for (const char* name : {"", "*", "*.example", "http://game.example", "game.example:80", "game.example/",
                           "[::1]:80", "a b", "game.example:", "user@game.example"})
    EXPECT_THAT(error_of([&] { HostGuard(HostGuard::Options{.names = {name}}); }), HasSubstr("--allow-host"))
        << name;
}

TEST(HostGuard, beyond_loopback_addresses_are_its_own_and_names_need_a_token_or_a_list) {
  for (const auto& options : {open_to_all, with_token}) {
    for (const char* host : {"localhost:7860", "192.168.1.5:7860", "[fe80::1]", "10.0.0.1"})
      EXPECT_TRUE(allows_host(options, host)) << host;
    EXPECT_TRUE(allows_origin(options, "192.168.1.5:7860", "http://192.168.1.5:7860"));
    EXPECT_FALSE(allows_origin(options, "192.168.1.5:7860", "http://192.168.1.5:80"));
    EXPECT_FALSE(allows_origin(options, "192.168.1.5:7860", "http://6.6.6.6:7860"));
    EXPECT_FALSE(allows_origin(options, "192.168.1.5:7860", "null"));
    for (const char* host : {"localhost@evil.example", "evil.example:x", ""})
      EXPECT_FALSE(allows_host(options, host)) << host;
  }
  EXPECT_FALSE(allows_host(open_to_all, "evil.example"));
  EXPECT_FALSE(allows_host(open_to_all, "trainer.lan"));
  EXPECT_TRUE(allows_host(with_token, "trainer.lan"));
  EXPECT_TRUE(allows_origin(with_token, "trainer.lan:7860", "http://trainer.lan:7860"));
  EXPECT_FALSE(allows_origin(with_token, "trainer.lan", "http://evil.example"));
  EXPECT_TRUE(allows_host({.reachable = true, .names = {"trainer.lan"}}, "trainer.lan"));
  EXPECT_FALSE(allows_host({.reachable = true, .has_token = true, .names = {"trainer.lan"}}, "evil.example"));
}

TEST(HostGuard, says_what_would_be_right) {
  const HostGuard guard(HostGuard::Options{.names = {"game.example"}});
  EXPECT_EQ(
      guard.fault({.hosts = {"evil.example"}, .origins = {}, .target = "/"}).value_or(""),
      R"(Host: "evil.example" is not allowed here; expected localhost, its addresses, or game.example)");
  EXPECT_THAT(guard.fault({.hosts = {"localhost"}, .origins = {"null"}, .target = "/"}).value_or(""),
              HasSubstr(R"(Origin: "null" is another site's page; expected one of localhost)"));
}

}  // namespace
}  // namespace fuselage::serve
