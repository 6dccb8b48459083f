// Connections as they come: every one begins with HTTP, and may become a WebSocket.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "worker.h"

namespace fuselage::serve {

// Of a connection that has been counted; gives its place back when it ends.
void serve_http(Worker& worker, boost::asio::ip::tcp::socket socket, std::string client);

}  // namespace fuselage::serve
