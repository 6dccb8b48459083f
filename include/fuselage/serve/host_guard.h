// By which names a server may be asked for. A page of any site can make its reader's browser send requests to
// this machine, and where the site's name is made to stand for 127.0.0.1 for a moment (DNS rebinding) the
// browser takes the answers for the site's own. What gives it away are the names that it sends: the site's,
// as Host and as Origin. An address can't be made to stand for another one, so those of a server that listens
// on more than loopback are allowed; which names such a server has can't be known.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage::serve {

// "host[:port]" as Host, Origin and URLs have it. The host in lower case, without the dot at its end, an
// address in its shortest form, IPv6 in brackets.
struct Authority {
  std::string host;
  std::string port;  // digits; empty if there is none
  bool is_address = false;
  bool is_loopback = false;  // localhost, 127.0.0.0/8, [::1]

  bool operator==(const Authority&) const = default;
};

// None if it is anything else: empty, with a user ("localhost@evil.example"), a path, or a port that is none.
std::optional<Authority> parse_authority(std::string_view text);

// What a request says of where it is meant to go and where it comes from.
struct RequestNames {
  std::vector<std::string_view> hosts;    // values of all fields Host
  std::vector<std::string_view> origins;  // and Origin
  std::string_view target;
};

// "/path?query" of "http://authority/path?query", which HTTP allows in a request; any other target as it is.
std::string_view target_path(std::string_view target);

class HostGuard {
 public:
  struct Options {
    bool reachable = false;  // listens on more than loopback
    bool has_token = false;  // which a page of another site doesn't know
    std::vector<std::string> names =
        {};  // allowed beside loopback; if there are none, and a token, any name is
  };

  // Error, as of --allow-host, for what is no name and no address.
  explicit HostGuard(const Options& options);

  // What is wrong, and what would be right; none: the request is allowed.
  std::optional<std::string> fault(const RequestNames& names) const;

 private:
  bool is_listed(const Authority& authority) const;
  bool allows_host(const Authority& host) const;
  bool allows_origin(std::string_view origin, const std::optional<Authority>& host) const;

  bool reachable_;
  bool any_name_;
  std::set<std::string> names_;
};

}  // namespace fuselage::serve
