// Adds the distance to recordings of time and speed. Its only library is libcurl.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>

#include "runner.hpp"

namespace {

// A cell as an error shows it.
std::string shown(const std::string& cell) {
  std::string text = cell.substr(0, 100);
  std::replace(text.begin(), text.end(), '\0', '?');
  return "'" + text + "'";
}

double numberOf(const std::string& cell, size_t row) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || end != cell.c_str() + cell.size() || !std::isfinite(value))
    throw InvalidInput("row " + std::to_string(row) + ": " + shown(cell) + " is not a number");
  return value;
}

// `time,speed` in seconds and metres a second, with the trapezoidal rule.
std::string withDistance(const std::string& table) {
  std::istringstream lines(table);
  std::ostringstream result;
  // Of six digits, as a stream writes by itself, none is left for the metres of a long drive.
  result.precision(15);
  std::string line;
  double distance = 0, timeBefore = 0, speedBefore = 0;
  if (table.empty()) throw InvalidInput("it is empty");
  for (size_t row = 0; std::getline(lines, line); ++row) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (row == 0) {
      // Spreadsheets begin a table with a byte order mark.
      if (line.rfind("\xef\xbb\xbf", 0) == 0) line.erase(0, 3);
      if (line != "time,speed") throw InvalidInput("the header is " + shown(line) + ", not 'time,speed'");
      result << line << ",distance\n";
      continue;
    }
    const size_t comma = line.find(',');
    if (comma == std::string::npos) throw InvalidInput("row " + std::to_string(row) + " does not have two cells");
    const double time = numberOf(line.substr(0, comma), row), speed = numberOf(line.substr(comma + 1), row);
    if (row > 1) distance += (time - timeBefore) * (speed + speedBefore) / 2;
    result << line << ',' << distance << '\n';
    timeBefore = time;
    speedBefore = speed;
  }
  return result.str();
}

void work(Task& task) {
  for (const Input& input : task.newInputs()) {
    task.progress("integrating", input.outputIdentifier);
    try {
      const std::string result = withDistance(task.read(input));
      // Includes the run, so that a reprocess writes again, and the input, so that a repeat does not.
      const std::string identifier = "distance-" + std::to_string(input.outputId) + "-" + task.runId();
      task.write(input, identifier, "text/csv", result);
      task.log("info", "integrated " + input.outputIdentifier);
    } catch (const InvalidInput& error) {
      try {
        task.reject(input, error.what());
      } catch (const Refused& refusal) {
        // A platform that is older than rejected inputs: the task fails instead.
        if (refusal.isUnknownRoute()) throw error;
        throw;
      }
    }
  }
}

std::string setting(const char* name, const std::string& initial = "") {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? initial : value;
}

std::string ownInstanceId() {
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  std::ostringstream id;
  id << "speed-to-distance:" << host << ':' << getpid() << ':' << std::hex << std::random_device{}();
  return id.str();
}

}  // namespace

int main() {
  Settings settings{setting("SDP_URL"), setting("SDP_RUNNER_TOKEN"), setting("SDP_RUNNER_INSTANCE", ownInstanceId()),
                    "speed-to-distance", "speed-to-distance/1.0.0"};
  while (!settings.url.empty() && settings.url.back() == '/') settings.url.pop_back();
  if (settings.url.empty() || settings.token.empty()) {
    std::cerr << "Set SDP_URL to the platform's base address and SDP_RUNNER_TOKEN to a runner token." << std::endl;
    return 1;
  }
  return runRunner(settings, work);
}
