#include "platform.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "json.hpp"

namespace {

constexpr int serverErrorsInARow = 10;
// Without a byte for so long, a call has failed.
constexpr long silenceSeconds = 60, connectSeconds = 30;
// Leases do not wait for a longer Retry-After; one that is a date is measured by the clock of this machine.
constexpr curl_off_t longestRetryAfterSeconds = 60;

size_t append(char* bytes, size_t size, size_t count, void* target) {
  static_cast<std::string*>(target)->append(bytes, size * count);
  return size * count;
}

// curl calls this about once a second, also while it waits.
int isOverNow(void* call, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Call*>(call)->isOver() ? 1 : 0;
}

class HeaderList {
 public:
  ~HeaderList() { curl_slist_free_all(list_); }
  void add(const std::string& line) { list_ = curl_slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

Refused refusal(const Answer& answer) {
  std::string code, message;
  try {
    const Json body = Json::parse(answer.body);
    code = body["code"].text;
    message = body["message"].text;
  } catch (const std::runtime_error&) {
    // Not the platform's own answer.
  }
  return {answer.status, code, message.empty() ? "HTTP " + std::to_string(answer.status) : message};
}

bool isOutage(const Refused& error) {
  const long passing[] = {408, 429, 502, 503, 504};
  const bool isPassing = std::find(std::begin(passing), std::end(passing), error.status) != std::end(passing);
  // A 404 without a code comes from a gateway that has no platform behind it.
  return isPassing || (error.status == 404 && error.code.empty());
}

double random01() {
  static thread_local std::mt19937 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

}  // namespace

Platform::Platform(const Settings& settings) : curl_(curl_easy_init()), settings_(settings) {
  if (curl_ == nullptr) throw std::runtime_error("libcurl does not start.");
}

Platform::~Platform() { curl_easy_cleanup(curl_); }

Answer Platform::once(const Call& call) {
  Answer answer;
  HeaderList headers;
  headers.add("Authorization: Bearer " + settings_.token);
  headers.add("X-Platform-Runner-Instance: " + settings_.instanceId);
  // Without it curl waits for a 100 before it sends a larger body.
  headers.add("Expect:");
  if (call.headers.count("Content-Type") == 0) headers.add("Content-Type: application/json");
  for (const auto& [name, value] : call.headers) headers.add(name + ": " + value);
  curl_easy_reset(curl_);
  const std::string address = settings_.url + "/api/v2/runner" + call.path;
  const std::string agent = settings_.program + " libcurl";
  curl_easy_setopt(curl_, CURLOPT_URL, address.c_str());
  curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl_, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl_, CURLOPT_TIMEOUT_MS, call.timeoutMs);
  curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT, connectSeconds);
  curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_TIME, silenceSeconds);
  curl_easy_setopt(curl_, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl_, CURLOPT_XFERINFOFUNCTION, isOverNow);
  curl_easy_setopt(curl_, CURLOPT_XFERINFODATA, &call);
  curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &answer.body);
  if (call.method != "GET") {
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, call.body.data());
    curl_easy_setopt(curl_, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  }
  // A body that ends before its Content-Length is an error here, so that half an input is never used.
  const CURLcode result = curl_easy_perform(curl_);
  if (result == CURLE_ABORTED_BY_CALLBACK) throw Over();
  if (result != CURLE_OK) throw Unavailable(curl_easy_strerror(result));
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_off_t retryAfter = 0;
  curl_easy_getinfo(curl_, CURLINFO_RETRY_AFTER, &retryAfter);
  answer.retryAfterSeconds = static_cast<long>(std::min(retryAfter, longestRetryAfterSeconds));
  if (answer.status < 300) return answer;
  const Refused error = refusal(answer);
  if (isOutage(error)) throw Unavailable(error.what(), answer.retryAfterSeconds);
  throw error;
}

Answer Platform::repeat(const Call& call) {
  double waitSeconds = 0.2;
  int serverErrors = 0;
  for (;;) {
    long retryAfterSeconds = 0;
    try {
      return once(call);
    } catch (const Unavailable& error) {
      serverErrors = 0;
      retryAfterSeconds = error.retryAfterSeconds;
    } catch (const Refused& error) {
      if (error.status < 500 || ++serverErrors >= serverErrorsInARow) throw;
    }
    const double seconds = std::max(waitSeconds * (0.5 + random01() / 2), static_cast<double>(retryAfterSeconds));
    waitSeconds = std::min(waitSeconds * 2, 5.0);
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
      if (call.isOver()) throw Over();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}
