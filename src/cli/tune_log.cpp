#include "tune_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"

namespace fuselage::cli {
namespace {

constexpr int largest = std::numeric_limits<int>::max();

std::vector<NodeId> read_ids(const JsonField& field) {
  std::vector<NodeId> ids;
  for (std::size_t i = 0; i < field.array_size(); ++i)
    ids.push_back(static_cast<NodeId>(field.element(i).integer(0, largest)));
  return ids;
}

walk::Plan read_kernels(const JsonField& field) {
  walk::Plan plan;
  for (std::size_t i = 0; i < field.array_size(); ++i) {
    const JsonField kernel = field.element(i);
    plan.push_back({.nodes = read_ids(kernel.required("nodes")),
                    .tile = static_cast<int>(kernel.required("tile").integer(1, largest)),
                    .retain = read_ids(kernel.required("retain"))});
  }
  return plan;
}

oracle::Measurement read_measurement(const JsonField& root) {
  oracle::Measurement measured;
  const JsonField latency = root.required("latency");
  if (latency.is_null())
    measured.failure = root.required("failure").string();
  else
    measured.latency = latency.number(std::numeric_limits<double>::denorm_min());
  measured.attempts = static_cast<int>(root.required("attempts").integer(0, largest));
  return measured;
}

std::string line_of(std::int64_t graph, const oracle::Trial& trial) {
  nlohmann::ordered_json json = {{"graph", graph}, {"trial", trial.number}};
  json["latency"] = trial.measured.latency ? nlohmann::ordered_json(*trial.measured.latency) : nullptr;
  json["failure"] = trial.measured.latency ? nullptr : nlohmann::ordered_json(trial.measured.failure);
  json["attempts"] = trial.measured.attempts;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const walk::PlanKernel& kernel : trial.plan)
    json["kernels"].push_back({{"nodes", kernel.nodes}, {"tile", kernel.tile}, {"retain", kernel.retain}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Commands are bytes of the user's.
template <class Value>
std::string text_of(const Value& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

TuneLog::TuneLog(std::string path, bool resume) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code unreadable;
  const bool exists = std::filesystem::exists(path_, unreadable);
  if (unreadable) fail("--log: {}: {}; expected the name of a file", path_, unreadable.message());
  if (exists && !resume)
    fail("--log: {} exists already; expected a new file, or --resume to go on from it", path_);
  if (exists) {
    std::string text = read_file(path_);
    text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
    read(text);
    write_file_atomically(path_, text);
  } else {
    write_file_atomically(path_, "");
  }
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) fail("--log: {} cannot be written: {}", path_, std::generic_category().message(errno));
}

TuneLog::~TuneLog() {
  if (fd_ >= 0) ::close(fd_);
}

void TuneLog::read(const std::string& text) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const Json json = parse_json(line, path_, {.object_only = true, .first_line = ++number});
    const JsonField root(json, path_);
    const std::int64_t graph = root.required("graph").integer(0);
    if (root.has("fuselage_tune")) {
      root.required("fuselage_tune").integer(1, 1);
      headers_[graph] = json;
      continue;
    }
    entries_[{graph, root.required("trial").integer(1)}] = {.plan = read_kernels(root.required("kernels")),
                                                            .measured = read_measurement(root)};
  }
}

void TuneLog::begin(const nlohmann::ordered_json& header) {
  recalled_ = 0;
  graph_ = header.at("graph").get<std::int64_t>();
  if (fd_ < 0) return;
  const auto known = headers_.find(graph_);
  if (known == headers_.end()) return append(text_of(header));
  for (const auto& [key, value] : header.items()) {
    const auto logged = known->second.find(key);
    if (logged != known->second.end() && text_of(*logged) == text_of(nlohmann::json(value))) continue;
    fail("{}: graph {}: {} is {}; expected {}, as asked for now, to go on from it", path_, graph_, key,
         logged == known->second.end() ? "missing" : text_of(*logged), text_of(value));
  }
}

std::optional<oracle::Measurement> TuneLog::recall(std::int64_t trial, const walk::Plan& plan) {
  const auto entry = entries_.find({graph_, trial});
  if (entry == entries_.end()) return std::nullopt;
  if (entry->second.plan != plan)
    fail(
        "{}: graph {}: trial {} is of another plan than this version proposes; expected a log of this "
        "version, or a new one",
        path_, graph_, trial);
  ++recalled_;
  return entry->second.measured;
}

void TuneLog::add(const oracle::Trial& trial) {
  if (fd_ >= 0) append(line_of(graph_, trial));
}

void TuneLog::append(const std::string& line) {
  const std::string text = line + "\n";
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("--log: {} cannot be written: {}", path_, std::generic_category().message(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace fuselage::cli
