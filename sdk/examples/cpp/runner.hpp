// A runner: claims tasks, keeps their lease, and reports how they end.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "json.hpp"
#include "platform.hpp"

// Reasons and messages hold at most 4,000 characters, phases 255.
constexpr size_t textBytes = 4'000, phaseBytes = 255;

struct Limits {
  long long outputBytes = 0;
  long long partBytes = 0;
};

struct Input {
  long long outputId;
  std::string outputIdentifier;
  // All that the platform lists of it: nodeName, contentType, sizeBytes, metadata and so on.
  Json fields;
  // Stays the same when its node makes it again.
  std::string sourceKey() const;
};

// The input is wrong: it is rejected, and the task continues.
struct InvalidInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The work must end now: its results no longer count, or the process stops.
struct Abandoned : std::runtime_error {
  enum class Why { cancelled, lost, unauthorized, stopping };
  Why why;
  explicit Abandoned(Why why);
};

// Sends heartbeats and log lines of one task from a separate thread, so that work of any length keeps its lease.
class Keeper {
 public:
  Keeper(const Settings& settings, const Json& claim);
  ~Keeper();

  void log(const std::string& level, const std::string& message);
  void noteProgress(const std::string& phase, const std::string& message);
  // The reason to end the work, if there is one.
  bool isOver() const;
  void end(Abandoned::Why why);
  void throwIfOver() const;
  // Stops the heartbeats and sends the last log lines. Returns those that could not be sent.
  std::string finish();

 private:
  void run();
  bool sendHeartbeat();
  void sendLog();
  bool hasLog();
  bool isLost() const;
  void refused(const Refused& error);

  Platform platform_;
  const std::string path_;
  const int intervalMs_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool isDone_ = false;
  bool isAbandoned_ = false;
  Abandoned::Why why_ = Abandoned::Why::lost;
  std::string progress_ = "{}";
  std::vector<std::string> lines_;
  std::string tail_;
  // Sent again unchanged until it is answered: the platform stores the lines of one sequence once.
  std::string logBody_;
  long long sequence_ = 0;
  std::chrono::steady_clock::time_point logNotBefore_{};
  std::thread thread_;
};

// A held task, for the code that works on it.
class Task {
 public:
  Task(Platform& platform, Keeper& keeper, const Json& claim, const Limits& limits);

  const Json& claim;
  std::string id() const { return claim["taskId"].text; }
  std::string runId() const { return claim["runId"].text; }
  // The inputs above the watermark, oldest first, up to the platform's cap for one task.
  std::vector<Input> newInputs();
  std::string read(const Input& input);
  // Writes the last output of an input. Output and watermark move together. An identifier that the node already has
  // finds its output, so a repeat does no harm.
  void write(const Input& input, const std::string& identifier, const std::string& contentType,
             const std::string& bytes);
  // Rejects an input, with the reason for operators.
  void reject(const Input& input, const std::string& reason);
  void log(const std::string& level, const std::string& message) { keeper_.log(level, message); }
  // Shown to operators. Throws Abandoned when the work must end, as every call does: long work calls it often.
  void progress(const std::string& phase, const std::string& message) {
    keeper_.throwIfOver();
    keeper_.noteProgress(phase, message);
  }
  bool hasWritten() const { return hasWritten_; }
  // Whether inputs are left for a follow-up.
  bool hasMore() const { return pendingInputs_ > consumed_; }

 private:
  Answer call(const std::string& method, const std::string& path, const std::string& body = "",
              const Headers& headers = {});
  void writeParts(const std::string& bytes, const Headers& headers);

  Platform& platform_;
  Keeper& keeper_;
  const Limits limits_;
  bool hasWritten_ = false;
  long long pendingInputs_ = 0;
  long long consumed_ = 0;
};

// Works until SIGTERM or SIGINT. Returns the process's exit code.
int runRunner(const Settings& settings, const std::function<void(Task&)>& work);
