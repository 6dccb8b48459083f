// What the server says of itself: texts that don't change while it runs.
#pragma once

#include <string>

namespace fuselage::serve {

struct Documents {
  std::string root;      // GET /: status, environment, version, tasks, action format
  std::string tasks;     // GET /tasks: of both families, by name
  std::string metadata;  // OpenEnv's EnvironmentMetadata
  std::string schema;    // JSON Schemas of action, observation and state
  std::string openapi;   // OpenAPI 3.1
};
Documents documents(const std::string& version, bool oracle);

// The page of GET /web, whole: it loads nothing else.
std::string_view web_page();

}  // namespace fuselage::serve
