#include "runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr int claimWaitSeconds = 20;
// After SIGTERM: how long calls may go on.
constexpr milliseconds leaveTime{8'000};

std::atomic<bool> isStopping{false};
std::atomic<Clock::rep> stoppedAt{0};

bool mustLeave() {
  return isStopping && Clock::now().time_since_epoch().count() - stoppedAt > Clock::duration(leaveTime).count();
}

// Waits for a signal in a separate thread. The sign-off answers the waiting claim, so no task is lost on its way.
void watchSignals(const Settings settings, sigset_t signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  stoppedAt = Clock::now().time_since_epoch().count();
  isStopping = true;
  try {
    Call call{"DELETE", "/instances/" + settings.instanceId, "", {}};
    call.timeoutMs = 2'000;
    Platform(settings).once(call);
  } catch (const std::runtime_error&) {
    // An older platform, or none: the claim ends with its connection.
  }
  sigwait(&signals, &signal);
  _exit(1);
}

class Runner {
 public:
  Runner(const Settings& settings, const std::function<void(Task&)>& work)
      : settings_(settings), work_(work), platform_(settings) {}

  void run() {
    readLimits();
    std::optional<Json> task;
    while (!isStopping) {
      if (!task) task = claim();
      if (!task) continue;
      const Json current = *task;
      task = isStopping ? release(current) : perform(current);
    }
    if (task) release(*task);
  }

 private:
  const Settings& settings_;
  const std::function<void(Task&)>& work_;
  Platform platform_;
  Limits limits_;

  void readLimits() {
    Call call{"GET", "/whoami", "", {}};
    call.isOver = [] { return isStopping.load(); };
    const Json limits = Json::parse(platform_.repeat(call).body)["limits"];
    const long long wanted = std::max(limits["upload"]["minPartBytes"].id(), 8ll * 1024 * 1024);
    limits_ = {limits["maxOutputBytes"].id(), std::min(wanted, limits["upload"]["maxPartBytes"].id())};
  }

  std::string templates() const { return "[" + quoted(settings_.nodeTemplate) + "]"; }

  std::optional<Json> claim() {
    Call call{"POST", "/tasks/claim", "", {}};
    call.body = "{\"instanceId\":" + quoted(settings_.instanceId) + ",\"templates\":" + templates() +
                ",\"waitSeconds\":" + std::to_string(claimWaitSeconds) + "}";
    call.timeoutMs = (claimWaitSeconds + 15) * 1'000;
    // The sign-off answers it.
    call.isOver = [] {
      return isStopping && Clock::now().time_since_epoch().count() - stoppedAt >
                               Clock::duration(milliseconds(2'500)).count();
    };
    const auto began = Clock::now();
    const Answer answer = platform_.repeat(call);
    if (answer.status == 200) return Json::parse(answer.body);
    // A claim that did not wait must not be repeated at once.
    if (!isStopping && Clock::now() - began < milliseconds(1'000)) std::this_thread::sleep_for(milliseconds(700));
    return std::nullopt;
  }

  std::optional<Json> release(const Json& task) {
    end(task, "release", "{\"reason\":\"The runner is shutting down.\"}");
    return std::nullopt;
  }

  // Returns the task that was claimed with the end of this one.
  std::optional<Json> perform(const Json& claim) {
    Keeper keeper(settings_, claim);
    std::thread watcher;
    std::atomic<bool> isDone{false};
    watcher = std::thread([&] {
      while (!isDone && !isStopping) std::this_thread::sleep_for(milliseconds(20));
      if (isStopping) keeper.end(Abandoned::Why::stopping);
    });
    std::string how = "complete", body;
    try {
      Task task(platform_, keeper, claim, limits_);
      work_(task);
      keeper.throwIfOver();
      body = std::string("{\"outcome\":\"") + (task.hasWritten() ? "completed" : "no-output") + "\"" +
             (task.hasMore() ? ",\"hasMore\":true" : "");
    } catch (const Abandoned& error) {
      const bool isMine = error.why == Abandoned::Why::cancelled || error.why == Abandoned::Why::stopping;
      how = !isMine ? "" : error.why == Abandoned::Why::stopping ? "release" : "fail";
      body = how == "fail" ? "{\"category\":\"error\",\"reason\":\"cancelled\"" : "{\"reason\":" + quoted(error.what(), textBytes);
      if (error.why == Abandoned::Why::unauthorized) {
        isDone = true;
        watcher.join();
        throw Refused(401, "unauthorized", error.what());
      }
    } catch (const std::exception& error) {
      const bool isInvalid = dynamic_cast<const InvalidInput*>(&error) != nullptr;
      keeper.log("error", error.what());
      how = "fail";
      body = std::string("{\"category\":\"") + (isInvalid ? "validation" : "error") +
             "\",\"reason\":" + quoted(error.what(), textBytes);
    }
    isDone = true;
    watcher.join();
    const std::string tail = keeper.finish();
    if (how.empty()) return std::nullopt;
    if (how != "complete" && !tail.empty()) body += ",\"logTail\":" + quoted(tail);
    // The end of one task claims the next; an older platform ignores that.
    if (!isStopping) body += ",\"next\":{\"waitSeconds\":0,\"templates\":" + templates() + "}";
    return end(claim, how, body + "}");
  }

  // Repeated until the answer is definite: the platform repeats its answer to the same end for ten minutes.
  std::optional<Json> end(const Json& claim, const std::string& how, const std::string& body) {
    Call call{"PUT", "/tasks/" + claim["taskId"].text + "/" + how, body, {}};
    call.isOver = mustLeave;
    try {
      const Json reply = Json::parse(platform_.repeat(call).body);
      if (!reply["next"].isNull()) return reply["next"];
    } catch (const Refused& error) {
      if (error.status == 401) throw;
      std::cerr << how << " was refused: " << error.what() << std::endl;
    } catch (const Over&) {
      std::cerr << "The platform does not answer " << how << "." << std::endl;
    }
    return std::nullopt;
  }
};

}  // namespace

int runRunner(const Settings& settings, const std::function<void(Task&)>& work) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  // Before the first thread, so that all inherit it.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  std::thread(watchSignals, settings, signals).detach();
  try {
    Runner(settings, work).run();
  } catch (const Over&) {
    // The process got a signal to stop.
  } catch (const std::exception& error) {
    if (isStopping) return 0;
    std::cerr << "The platform refuses the runner: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
