// One WebSocket, after the request that asked for it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>

#include "fuselage/serve/session.h"
#include "worker.h"

namespace fuselage::serve {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

void serve_websocket(Worker& worker, boost::asio::ip::tcp::socket socket, std::string client,
                     HttpMessage request, std::optional<Dialect> dialect);

}  // namespace fuselage::serve
