// Calls of the runner routes: one try each, or repeated while the platform cannot be reached.
#pragma once
#include <curl/curl.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

using Headers = std::map<std::string, std::string>;

struct Settings {
  std::string url;
  std::string token;
  // Unique to the process: a claim ends the claim of the same id.
  std::string instanceId;
  std::string nodeTemplate;
  // Name and version of the program, which operators see beside its instance.
  std::string program;
};

struct Call {
  std::string method;
  // Below /api/v2/runner.
  std::string path;
  std::string body;
  Headers headers;
  // No answer within this time is a failure. 0: the call may take as long as bytes arrive, or go out; a large input
  // on a slow line takes its time.
  long timeoutMs = 0;
  // True ends the call, and the waits between its repeats.
  std::function<bool()> isOver = [] { return false; };
};

struct Answer {
  long status = 0;
  std::string body;
  long retryAfterSeconds = 0;
};

// No answer came, or the platform has a temporary fault: the call may succeed later.
struct Unavailable : std::runtime_error {
  long retryAfterSeconds;
  explicit Unavailable(const std::string& why, long seconds = 0)
      : std::runtime_error(why), retryAfterSeconds(seconds) {}
};

// A definite refusal.
struct Refused : std::runtime_error {
  long status;
  std::string code;
  Refused(long status, std::string code, const std::string& message)
      : std::runtime_error(message), status(status), code(std::move(code)) {}
  bool isUnauthorized() const { return status == 401 || status == 403; }
  bool isLost() const { return code == "task_not_found"; }
  // The platform is older than the route.
  bool isUnknownRoute() const { return code == "not_found" || status == 405; }
};

// `isOver` of the call ended it.
struct Over : std::runtime_error {
  Over() : std::runtime_error("The call was ended.") {}
};

// One connection; each thread has its own.
class Platform {
 public:
  explicit Platform(const Settings& settings);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  // One try. Throws Unavailable, Refused or Over.
  Answer once(const Call& call);
  // Repeats the call until its answer is definite: it does no harm when it arrives twice. Throws Refused or Over.
  Answer repeat(const Call& call);

 private:
  CURL* curl_;
  const Settings settings_;
};
