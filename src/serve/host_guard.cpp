#include "fuselage/serve/host_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::serve {
namespace {

namespace ip = boost::asio::ip;
using boost::system::error_code;

constexpr std::size_t longest_name = 253;

// Of ASCII, whatever the locale.
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

// The text after "http://" or "https://"; none without either.
std::optional<std::string_view> after_scheme(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (lower(url.substr(0, scheme.size())) == scheme) return url.substr(scheme.size());
  return std::nullopt;
}

std::optional<Authority> parse_ipv6(std::string_view text) {
  error_code error;
  const ip::address_v6 address = ip::make_address_v6(std::string(text), error);
  if (error || text.find('%') != std::string_view::npos) return std::nullopt;
  return Authority{.host = "[" + address.to_string() + "]",
                   .port = {},
                   .is_address = true,
                   .is_loopback = address.is_loopback()};
}

std::optional<Authority> parse_name(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  Authority result{.host = lower(text), .port = {}};
  if (!is_name(result.host) || result.host.ends_with('.')) return std::nullopt;
  error_code error;
  const ip::address_v4 address = ip::make_address_v4(result.host, error);
  result.is_address = !error;
  result.is_loopback = error ? result.host == "localhost" : address.is_loopback();
  return result;
}

bool is_port(std::string_view text) {
  constexpr std::size_t most_digits = 5;
  constexpr int largest = 65'535;
  return text.size() <= most_digits && std::all_of(text.begin(), text.end(), is_digit) &&
         (text.empty() || std::stoi(std::string(text)) <= largest);
}

std::string parse_allowed(const std::string& name) {
  std::optional<Authority> authority = parse_ipv6(name);
  if (!authority && !name.ends_with(':')) authority = parse_authority(name);
  if (!authority || !authority->port.empty())
    fail("--allow-host: {} is no name; expected one such as game.example, without scheme, port and path",
         quote(name));
  return authority->host;
}

}  // namespace

std::optional<Authority> parse_authority(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end = bracketed ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return std::nullopt;
  auto result = bracketed ? parse_ipv6(text.substr(1, end - 1)) : parse_name(text.substr(0, end));
  std::string_view rest = text.substr(bracketed ? end + 1 : end);
  if (!result || rest.empty()) return result;
  if (!rest.starts_with(':') || !is_port(rest.substr(1))) return std::nullopt;
  result->port = rest.substr(1);
  return result;
}

std::string_view target_path(std::string_view target) {
  const auto rest = after_scheme(target);
  if (!rest) return target;
  const std::size_t end = std::min(rest->find_first_of("/?#"), rest->size());
  return end < rest->size() && (*rest)[end] == '/' ? rest->substr(end) : "/";
}

HostGuard::HostGuard(const Options& options) : reachable_(options.reachable) {
  for (const std::string& name : options.names) names_.insert(parse_allowed(name));
  any_name_ = reachable_ && options.has_token && names_.empty();
}

bool HostGuard::is_listed(const Authority& authority) const {
  return authority.is_loopback || names_.contains(authority.host);
}

bool HostGuard::allows_host(const Authority& host) const {
  return is_listed(host) || any_name_ || (reachable_ && host.is_address);
}

// A page that this server itself gave out comes from where its requests go.
bool HostGuard::allows_origin(std::string_view origin, const std::optional<Authority>& host) const {
  const auto rest = after_scheme(origin);
  const auto authority = rest ? parse_authority(*rest) : std::nullopt;
  return authority && (is_listed(*authority) || (reachable_ && authority == host));
}

std::optional<std::string> HostGuard::fault(const RequestNames& names) const {
  const std::string expected = names_.empty()
                                   ? "localhost, its addresses, or a name of --allow-host"
                                   : fmt::format("localhost, its addresses, or {}", fmt::join(names_, ", "));
  if (names.hosts.empty() && !any_name_) return fmt::format("Host: is missing; expected {}", expected);
  if (names.hosts.size() > 1) return "Host: is given more than once; expected it once";
  std::optional<Authority> host;
  if (!names.hosts.empty()) {
    host = parse_authority(names.hosts.front());
    if (!host || !allows_host(*host))
      return fmt::format("Host: {} is not allowed here; expected {}", quote(names.hosts.front()), expected);
  }
  if (const auto rest = after_scheme(names.target)) {
    const auto authority = parse_authority(rest->substr(0, rest->find_first_of("/?#")));
    if (!authority || !allows_host(*authority))
      return fmt::format("the request's target is not allowed here; expected {}", expected);
  }
  for (const std::string_view origin : names.origins)
    if (!allows_origin(origin, host))
      return fmt::format("Origin: {} is another site's page; expected one of {}", quote(origin), expected);
  return std::nullopt;
}

}  // namespace fuselage::serve
