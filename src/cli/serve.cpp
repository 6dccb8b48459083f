#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/serve/server.h"
#include "interrupt.h"
#include "options.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(Serves episodes over HTTP and WebSockets, in two dialects. Clients of the original environment work as
they are: GET /tasks, POST /reset, POST /step/ID, GET /state/ID, and /ws with {"type": "reset", "task": ...}.
So do OpenEnv's: /ws with {"type": "reset", "data": {...}}, /schema, /metadata, /health, /openapi.json, /mcp.
A WebSocket's dialect follows from its first message; /ws?dialect=own or openenv decides it.

reset takes task, or random with curriculum_level (or num_ops and difficulty) and seed, or graph: one of
yours; rules (seed, seed-honest; grid: fusionops, fusionops-honest), family, max_steps; lookahead and
retention_cost change the environment and are off unless asked for. num_ops and difficulty count only together, as in
the original. clone copies a live session, steps takes
several actions at once, hint (with --oracle) tells the optimal actions and what each action is worth.
GET /web is a page to play and watch an episode. GET /metrics is for Prometheus.

It listens on this machine only unless --host says otherwise, which needs --token-file (clients then send
Authorization: Bearer TOKEN) or --insecure. SIGTERM and Ctrl-C end it: clients are told.

Host, and Origin where it is sent, must name this server, or the reply is 403, so that no page of another
site plays through its reader's browser: localhost, 127.x.x.x, [::1] and what --allow-host adds (behind a
proxy, the name that browsers see). Beyond this machine, with --host, addresses are right too; and any name
where there is a token, which protects it, and no --allow-host. With --insecure names need --allow-host.

Exit code: 0 when it was told to stop; 2 for bad usage, or if it can't listen there.

Examples:
  fuselage serve
  fuselage serve --port 8000 --oracle --access-log -
  fuselage serve --host 0.0.0.0 --insecure --allow-host trainer.lan
  fuselage serve --host 0.0.0.0 --token-file secret.txt --capacity 500 --per-client 50
  curl -s -X POST localhost:7860/reset -d '{"task": "task4_mixed"}')";

struct ServeCommand {
  std::string host = "127.0.0.1";
  std::optional<std::int64_t> port, threads, capacity, per_client, connections, connections_per_client,
      max_body, max_ops, seed;
  std::vector<std::string> allowed_hosts;
  std::optional<double> idle, request_time, ping;
  std::string token_file, access_log;
  walk::Rules rules = walk::Rules::seed;
  bool insecure = false;
  bool oracle = false;
  bool quiet = false;
};

bool is_loopback(const std::string& host) {
  return host == "::1" || host == "localhost" || host.starts_with("127.");
}

// As many as the system allows: each connection is one.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string read_token(const std::string& file) {
  std::string token = read_file(file);
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  const bool fits = std::all_of(token.begin(), token.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
  });
  if (token.empty() || !fits)
    fail("--token-file: {} holds no token; expected one line of letters, digits, '-', '.', '_' and '~'",
         file);
  return token;
}

// Lines from many threads, each with the time before it.
class AccessLog {
 public:
  explicit AccessLog(const std::string& path) {
    if (path != "-") fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd_ < 0 || ::write(fd_, "", 0) < 0)  // a stderr that was closed shows here
      fail("--access-log: {} cannot be written: {}; expected a writable file, or -", path,
           std::generic_category().message(errno));
  }
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;
  ~AccessLog() {
    if (fd_ != STDERR_FILENO) ::close(fd_);
  }
  // A line that can't be written is lost; that is told once, and no reason to stop serving.
  void write(const std::string& line) {
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::string text = fmt::format("{{\"time\":{:.3f},{}\n", now, line.substr(1));
    const std::scoped_lock guard(lock_);
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t count = ::write(fd_, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return tell_loss();
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  void tell_loss() {
    if (std::exchange(told_, true)) return;
    print_error(fmt::format("--access-log: cannot be written: {}; lines are lost",
                            std::generic_category().message(errno)));
  }

  std::mutex lock_;
  int fd_ = STDERR_FILENO;
  bool told_ = false;
};

serve::ServerOptions server_options(const ServeCommand& command) {
  serve::ServerOptions options;
  options.host = command.host == "localhost" ? "127.0.0.1" : command.host;
  options.port = static_cast<std::uint16_t>(command.port.value_or(7860));
  options.threads = static_cast<int>(
      command.threads.value_or(std::max<std::int64_t>(1, std::thread::hardware_concurrency())));
  options.allowed_hosts = command.allowed_hosts;
  if (!command.token_file.empty()) options.token = read_token(command.token_file);
  if (!is_loopback(command.host) && options.token.empty() && !command.insecure)
    fail("--host: {} can be reached from other machines; expected --token-file FILE with it, or --insecure",
         command.host);
  options.most_connections = static_cast<std::size_t>(command.connections.value_or(16'384));
  options.most_connections_a_client = static_cast<std::size_t>(
      command.connections_per_client.value_or(static_cast<std::int64_t>(options.most_connections)));
  options.most_body_bytes = options.most_message_bytes =
      static_cast<std::size_t>(command.max_body.value_or(1 << 20));
  options.request_seconds = command.request_time.value_or(10);
  options.ping_seconds = command.ping.value_or(20);
  options.hub.oracle = command.oracle;
  options.hub.hints_at_once = std::max(1, options.threads - 1);
  options.hub.capacity = static_cast<std::size_t>(command.capacity.value_or(4'096));
  options.hub.per_client =
      static_cast<std::size_t>(command.per_client.value_or(static_cast<std::int64_t>(options.hub.capacity)));
  options.hub.idle_seconds = command.idle.value_or(600);
  options.hub.version = FUSELAGE_VERSION;
  options.hub.limits.rules = command.rules;
  options.hub.limits.max_ops = static_cast<int>(command.max_ops.value_or(1'000));
  options.hub.seed = command.seed ? static_cast<std::uint64_t>(*command.seed)
                                  : (std::uint64_t{std::random_device{}()} << 32) + std::random_device{}();
  return options;
}

int serve_until_stopped(const ServeCommand& command) {
  if (command.rules == walk::Rules::physical)
    fail("--rules: physical has no episodes; expected seed or seed-honest");
  serve::ServerOptions options = server_options(command);
  std::optional<AccessLog> log;
  if (!command.access_log.empty()) {
    log.emplace(command.access_log);
    options.access_log = [&log](const std::string& line) { log->write(line); };
  }
  raise_descriptor_limit();
  const std::atomic<bool>& stop = stop_on_interrupt();
  serve::Server server(options);
  if (!command.quiet)
    write_stdout(
        fmt::format("listening on http://{}:{}\n",
                    command.host.find(':') == std::string::npos ? command.host : "[" + command.host + "]",
                    server.port()));
  server.run(stop);
  using Count = serve::Metrics::Count;
  const serve::Metrics& metrics = server.metrics();
  if (!command.quiet)
    print_note(fmt::format("stopped after {} connections, {} episodes, {} steps",
                           grouped(metrics.count(Count::connections)), grouped(metrics.count(Count::resets)),
                           grouped(metrics.count(Count::steps))));
  return exit_ok;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("serve", "Serve the environments over HTTP and WebSockets");
  command.footer(footer);
  auto options = std::make_shared<ServeCommand>();
  const auto text = [&command](const char* flag, const char* value, const char* about, std::string& to) {
    add_text(command, {flag, value, about}, to);
  };
  const auto seconds = [&command](const char* flag, const char* about, std::optional<double>& to) {
    add_number(command, {flag, "SECONDS", about}, {.min = 0.1, .max = 1e6}, to);
  };
  text("--host", "ADDRESS", "where to listen, default 127.0.0.1", options->host);
  add_texts(command, {"--allow-host", "NAME", "a name by which it may be asked for; may be given again"},
            options->allowed_hosts);
  add_integer(command, {"--port", "N", "default 7860; 0: any that is free"}, {.min = 0, .max = 65'535},
              options->port);
  add_integer(command, {"--threads", "N", "default: all cores"}, {.min = 1, .max = 256}, options->threads);
  add_choice(
      command,
      {"--rules", "RULES", "of walk episodes unless a reset says which: seed (default) or seed-honest"},
      walk::rules_names, options->rules);
  command.add_flag("--oracle", options->oracle, "give hints");
  text("--token-file", "FILE", "holds the token that clients must send", options->token_file);
  command.add_flag("--insecure", options->insecure, "let other machines in without a token");
  add_integer(command, {"--capacity", "N", "sessions, at most, default 4096"}, {.min = 1, .max = 1'000'000},
              options->capacity);
  add_integer(command, {"--per-client", "N", "sessions of one address, default: all"},
              {.min = 1, .max = 1'000'000}, options->per_client);
  add_integer(command, {"--connections", "N", "at most, default 16384"}, {.min = 1, .max = 1'000'000},
              options->connections);
  add_integer(command, {"--connections-per-client", "N", "of one address, default: all"},
              {.min = 1, .max = 1'000'000}, options->connections_per_client);
  add_integer(command, {"--max-body", "BYTES", "of a body or message, default 1048576"},
              {.min = 1'000, .max = std::int64_t{1} << 30}, options->max_body);
  add_integer(command, {"--max-ops", "N", "of a graph that a client sends or asks for, default 1000"},
              {.min = 1, .max = 1'000'000}, options->max_ops);
  seconds("--idle", "after which an unused session is freed, default 600", options->idle);
  seconds("--request-time", "for a client to send a request or read a reply, default 10",
          options->request_time);
  seconds("--ping", "of silence before a WebSocket is pinged, default 20", options->ping);
  add_integer(command, {"--seed", "N", "of graphs for which a client names none; default: a random one"},
              {.min = 0}, options->seed);
  text("--access-log", "FILE", "a line of JSON for each request; -: to stderr", options->access_log);
  command.add_flag("--quiet", options->quiet, "say nothing");
  command.callback([options, &exit_code] { exit_code = serve_until_stopped(*options); });
}

}  // namespace fuselage::cli
