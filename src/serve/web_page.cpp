#include <string_view>

#include "fuselage/serve/documents.h"

namespace fuselage::serve {

std::string_view web_page() {
  return "<!doctype html><html lang=\"en\"><title>Fuselage</title><p>GET /openapi.json lists what this "
         "server answers.";
}

}  // namespace fuselage::serve
