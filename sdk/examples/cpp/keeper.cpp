#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "runner.hpp"

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds logPause{500};
constexpr milliseconds flushTime{1'500};
constexpr size_t linesACall = 500;
// Well below the 8 KB of a line.
constexpr size_t messageBytes = 2'000;
constexpr size_t keptLines = 5'000;
constexpr size_t tailBytes = 16'000;

// False once the platform has shown that it is older than run logs.
std::atomic<bool> hasLogs{true};

std::string now() {
  const auto time = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  const auto ms = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(ms));
  return text;
}

}  // namespace

Abandoned::Abandoned(Why why)
    : std::runtime_error(why == Why::cancelled  ? "The run was cancelled."
                         : why == Why::lost     ? "The task is no longer held."
                         : why == Why::stopping ? "The runner is shutting down."
                                                : "The token is no longer valid."),
      why(why) {}

Keeper::Keeper(const Settings& settings, const Json& claim)
    : platform_(settings),
      path_("/tasks/" + claim["taskId"].text),
      intervalMs_(static_cast<int>(claim["heartbeatIntervalSeconds"].number * 1000)),
      thread_([this] { run(); }) {}

Keeper::~Keeper() {
  if (thread_.joinable()) finish();
}

void Keeper::log(const std::string& level, const std::string& message) {
  std::cerr << level << "  " << message << std::endl;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lines_.size() >= keptLines) return;
  lines_.push_back("{\"at\":\"" + now() + "\",\"level\":\"" + level + "\",\"message\":" + quoted(message, messageBytes) + "}");
  tail_ += level + " " + message.substr(0, messageBytes) + "\n";
  if (tail_.size() > tailBytes) tail_.erase(0, tail_.find('\n', tail_.size() - tailBytes) + 1);
  wake_.notify_one();
}

void Keeper::noteProgress(const std::string& phase, const std::string& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  progress_ = "{\"phase\":" + quoted(phase, phaseBytes) + ",\"message\":" + quoted(message, textBytes) + "}";
}

bool Keeper::isOver() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return isAbandoned_;
}

void Keeper::end(Abandoned::Why why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!isAbandoned_) why_ = why;
  isAbandoned_ = true;
}

void Keeper::throwIfOver() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (isAbandoned_) throw Abandoned(why_);
}

bool Keeper::isLost() const {
  return isAbandoned_ && (why_ == Abandoned::Why::lost || why_ == Abandoned::Why::unauthorized);
}

void Keeper::run() {
  auto heartbeatAt = Clock::now() + milliseconds(intervalMs_);
  auto logAt = Clock::now();
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      // The platform refuses every further call for a task that is lost.
      if (isLost()) wake_.wait(lock, [this] { return isDone_; });
      const bool isLogging = hasLogs && (!lines_.empty() || !logBody_.empty());
      const auto until = isLogging ? std::min(heartbeatAt, std::max(logAt, logNotBefore_)) : heartbeatAt;
      // The end may have come while a call was under way, which hears no notification.
      if (!isDone_) wake_.wait_until(lock, until);
      if (isDone_) return;
    }
    if (Clock::now() >= heartbeatAt) {
      const bool isHeard = sendHeartbeat();
      heartbeatAt = Clock::now() + milliseconds(isHeard ? intervalMs_ * 9 / 10 : intervalMs_ / 3);
    }
    if (Clock::now() >= std::max(logAt, logNotBefore_) && hasLog()) {
      sendLog();
      logAt = Clock::now() + logPause;
    }
  }
}

bool Keeper::sendHeartbeat() {
  Call call{"PUT", path_ + "/heartbeat", "", {}};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    call.body = progress_;
  }
  // A lease is three intervals: two heartbeats may fail before the third must succeed.
  call.timeoutMs = std::max(1'000, intervalMs_ * 8 / 10);
  try {
    if (Json::parse(platform_.once(call).body)["cancelRequested"].boolean) end(Abandoned::Why::cancelled);
    return true;
  } catch (const Refused& error) {
    refused(error);
  } catch (const std::runtime_error&) {
    // The next one comes soon.
  }
  return false;
}

void Keeper::refused(const Refused& error) {
  if (error.isLost()) end(Abandoned::Why::lost);
  if (error.isUnauthorized()) end(Abandoned::Why::unauthorized);
}

bool Keeper::hasLog() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return hasLogs && (!lines_.empty() || !logBody_.empty());
}

void Keeper::sendLog() {
  Call call{"POST", path_ + "/logs", "", {}};
  call.timeoutMs = 1'500;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (logBody_.empty()) {
      const size_t count = std::min(lines_.size(), linesACall);
      size_t bytes = 0, taken = 0;
      while (taken < count && (bytes += lines_[taken].size() + 1) < 200'000) ++taken;
      std::string entries;
      for (size_t at = 0; at < taken; ++at) entries += (at == 0 ? "" : ",") + lines_[at];
      lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(taken));
      logBody_ = "{\"sequence\":" + std::to_string(++sequence_) + ",\"entries\":[" + entries + "]}";
    }
    call.body = logBody_;
  }
  try {
    platform_.once(call);
  } catch (const Refused& error) {
    if (error.status >= 500) {
      logNotBefore_ = Clock::now() + milliseconds(200);
      return;
    }
    refused(error);
    if (error.isUnknownRoute()) hasLogs = false;
  } catch (const Unavailable& error) {
    logNotBefore_ = Clock::now() + std::max(milliseconds(200), milliseconds(1'000 * error.retryAfterSeconds));
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  logBody_.clear();
}

std::string Keeper::finish() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    isDone_ = true;
    wake_.notify_one();
  }
  thread_.join();
  const auto until = Clock::now() + flushTime;
  while (!isLost() && hasLog() && Clock::now() < until) {
    if (Clock::now() >= logNotBefore_) sendLog();
    else std::this_thread::sleep_for(milliseconds(20));
  }
  return hasLog() ? tail_ : "";
}
