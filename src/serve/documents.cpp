#include "fuselage/serve/documents.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "fuselage/grid/fusionops.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::serve {
namespace {

using nlohmann::ordered_json;

ordered_json task_list() {
  ordered_json tasks = ordered_json::object();
  for (const walk::TaskSpec& task : walk::tasks())
    tasks[std::string(task.name)] = {{"description", task.description},
                                     {"num_ops", task.options.num_ops},
                                     {"difficulty", walk::name(task.options.difficulty)},
                                     {"max_steps", task.max_steps},
                                     {"family", "walk"}};
  for (const grid::FusionopsTask& task : grid::fusionops_tasks())
    tasks[std::string(task.name)] = {{"description", task.summary},
                                     {"num_ops", task.instance.op_count()},
                                     {"difficulty", "-"},
                                     {"max_steps", task.max_steps},
                                     {"family", "grid"}};
  return tasks;
}

ordered_json typed(const std::string& type, const std::string& description) {
  return {{"type", type}, {"description", description}};
}

ordered_json action_schema() {
  return {{"title", "Action"},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"fuse_with_prev",
             {{"type", "boolean"}, {"default", false}, {"description", "join the kernel that is open"}}},
            {"tile", {{"type", "integer"}, {"enum", {32, 64, 128, 256}}, {"default", 128}}},
            {"retain",
             {{"type", "array"},
              {"items", {{"type", "integer"}}},
              {"default", ordered_json::array()},
              {"description", "ids of tensors to keep in fast memory"}}},
            {"command",
             typed("string", "the action as text, instead of the fields; the only way in grid episodes")},
            {"metadata", {{"type", "object"}}}}}};
}

ordered_json observation_schema() {
  return {
      {"title", "Observation"},
      {"type", "object"},
      {"properties",
       {{"text", typed("string", "the environment's observation: JSON in walk episodes, prose in grid ones")},
        {"family", {{"type", "string"}, {"enum", {"walk", "grid"}}}}}},
      {"required", {"text", "family"}}};
}

ordered_json state_schema() {
  return {{"title", "State"},
          {"type", "object"},
          {"additionalProperties", true},
          {"properties",
           {{"episode_id", typed("string", "of reset")},
            {"step_count", {{"type", "integer"}, {"minimum", 0}}},
            {"name", typed("string", "of the task or graph")},
            {"seed", typed("integer", "draws the same graph again")},
            {"total_latency", typed("number", "cycles so far")},
            {"score", typed("number", "the environment's")}}}};
}

ordered_json reset_schema() {
  return {
      {"title", "Reset"},
      {"type", "object"},
      {"properties",
       {{"task", typed("string", "a name of GET /tasks; default task1_chain")},
        {"random", typed("boolean", "draw a graph")},
        {"curriculum_level", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}, {"default", 0.5}}},
        {"num_ops", {{"type", "integer"}, {"minimum", 1}}},
        {"difficulty", {{"type", "string"}, {"enum", {"easy", "medium", "hard", "expert"}}}},
        {"seed", {{"type", "integer"}, {"minimum", 0}}},
        {"episode_id", {{"type", "string"}, {"maxLength", 255}}},
        {"family", {{"type", "string"}, {"enum", {"walk", "grid"}}}},
        {"rules", {{"type", "string"}, {"enum", {"seed", "seed-honest", "fusionops", "fusionops-honest"}}}},
        {"graph",
         {{"type", "object"}, {"description", "a graph of yours: nodes and hardware, or a grid problem"}}},
        {"max_steps", {{"type", "integer"}, {"minimum", 1}}},
        {"lookahead", {{"type", "integer"}, {"minimum", 0}, {"default", 2}}},
        {"retention_cost", {{"type", "number"}, {"minimum", 0}, {"default", 0}}}}}};
}

struct Path {
  const char* path;
  const char* method;
  const char* summary;
  const char* body;  // name of a schema; empty: none
};

std::string openapi(const std::string& version, bool oracle) {
  std::vector<Path> paths = {
      {"/", "get", "Status, tasks and the format of actions", ""},
      {"/health", "get", "Is the server well?", ""},
      {"/tasks", "get", "The fixed tasks of both families", ""},
      {"/reset", "post", "Begin an episode", "Reset"},
      {"/step", "post", "An action of the latest session, or of session_id", "OpenEnvStep"},
      {"/step/{session_id}", "post", "An action", "Step"},
      {"/state", "get", "State of the latest session, or of ?session_id=", ""},
      {"/state/{session_id}", "get", "State", ""},
      {"/clone/{session_id}", "post", "Another session that goes on from here", ""},
      {"/session/{session_id}", "delete", "Free a session", ""},
      {"/schema", "get", "JSON Schemas of action, observation and state", ""},
      {"/metadata", "get", "Name, description and version", ""},
      {"/metrics", "get", "Counts, as Prometheus reads them", ""},
      {"/mcp", "post", "Model Context Protocol, JSON-RPC 2.0", "JsonRpc"},
      {"/ws", "get", "A WebSocket: reset, step, steps, state, clone, hint, close, mcp", ""},
      {"/web", "get", "A page to play and watch an episode", ""}};
  if (oracle)
    paths.push_back({"/hint/{session_id}", "get", "Optimal actions, and what each action is worth", ""});
  ordered_json document = {{"openapi", "3.1.0"},
                           {"info", {{"title", "Fuselage"}, {"version", version}}},
                           // With --token all but /health ask for it; otherwise none is needed.
                           {"security", {ordered_json::object(), {{"bearer", ordered_json::array()}}}},
                           {"paths", ordered_json::object()}};
  for (const Path& path : paths) {
    ordered_json operation = {{"summary", path.summary}, {"responses", {{"200", {{"description", "OK"}}}}}};
    if (std::string(path.path).find("{session_id}") != std::string::npos) {
      operation["parameters"] = ordered_json::array(
          {{{"name", "session_id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
      operation["responses"]["404"] = {{"description", "no such session"}};
    }
    if (*path.body != '\0') {
      const std::string schema = std::string("#/components/schemas/") + path.body;
      operation["requestBody"] = {{"content", {{"application/json", {{"schema", {{"$ref", schema}}}}}}}};
      operation["responses"]["400"] = {{"description", "what is wrong, and what would be right"}};
    }
    document["paths"][path.path][path.method] = std::move(operation);
  }
  document["components"]["securitySchemes"]["bearer"] = {{"type", "http"}, {"scheme", "bearer"}};
  document["components"]["schemas"] = {
      {"Reset", reset_schema()},
      {"Action", action_schema()},
      {"Observation", observation_schema()},
      {"State", state_schema()},
      {"Step", {{"type", "object"}, {"properties", {{"command", typed("string", "the action as text")}}}}},
      {"OpenEnvStep",
       {{"type", "object"},
        {"properties",
         {{"action", {{"$ref", "#/components/schemas/Action"}}}, {"session_id", {{"type", "string"}}}}}}},
      {"JsonRpc", {{"type", "object"}}}};
  return document.dump();
}

}  // namespace

Documents documents(const std::string& version, bool oracle) {
  const ordered_json tasks = task_list();
  ordered_json names = ordered_json::array();
  for (const auto& [name, task] : tasks.items()) names.push_back(name);
  Documents all;
  all.root =
      ordered_json{
          {"status", "ok"},
          {"environment", "fuselage"},
          {"version", version},
          {"tasks", names},
          {"action_format",
           {{"fuse_with_prev", "bool"}, {"tile", "int (32|64|128|256)"}, {"retain", "list[int] (node IDs)"}}}}
          .dump();
  all.tasks = tasks.dump();
  all.metadata = ordered_json{
      {"name", "fuselage"},
      {"description",
       "Scheduling of tensor graphs, op by op: what to fuse, how to tile, what to keep in "
       "fast memory. Two families of problems, exact values of every action."},
      {"version",
       version}}.dump();
  all.schema =
      ordered_json{
          {"action", action_schema()}, {"observation", observation_schema()}, {"state", state_schema()}}
          .dump();
  all.openapi = openapi(version, oracle);
  return all;
}

}  // namespace fuselage::serve
