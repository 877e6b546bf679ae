#include <algorithm>

#include "runner.hpp"

Task::Task(Platform& platform, Keeper& keeper, const Json& claim, const Limits& limits)
    : claim(claim), platform_(platform), keeper_(keeper), limits_(limits) {}

Answer Task::call(const std::string& method, const std::string& path, const std::string& body,
                  const Headers& headers) {
  keeper_.throwIfOver();
  Call call{method, "/tasks/" + id() + path, body, headers};
  call.isOver = [this] { return keeper_.isOver(); };
  try {
    return platform_.repeat(call);
  } catch (const Over&) {
    keeper_.throwIfOver();
    throw;
  } catch (const Refused& error) {
    if (error.isLost()) keeper_.end(Abandoned::Why::lost);
    if (error.isUnauthorized()) keeper_.end(Abandoned::Why::unauthorized);
    keeper_.throwIfOver();
    throw;
  }
}

std::vector<Input> Task::newInputs() {
  std::vector<Input> inputs;
  std::string cursor;
  do {
    const Json page = Json::parse(call("GET", "/inputs?mode=since-watermark" + cursor).body);
    for (const Json& item : page["inputs"].list)
      inputs.push_back({item["outputId"].id(), item["outputIdentifier"].text, item});
    pendingInputs_ = page["incremental"]["pendingInputs"].id();
    cursor = page["nextCursor"].isNull() ? "" : "&cursor=" + page["nextCursor"].text;
  } while (!cursor.empty());
  return inputs;
}

std::string Input::sourceKey() const {
  const Json& metadata = fields["metadata"];
  const std::string key = metadata["sourceKey"].text, original = metadata["$copyOf"]["outputIdentifier"].text;
  return !key.empty() ? key : !original.empty() ? original : outputIdentifier;
}

std::string Task::read(const Input& input) {
  // The platform decodes stored gzip for callers that do not ask for it.
  return call("GET", "/inputs/" + std::to_string(input.outputId) + "/data").body;
}

void Task::write(const Input& input, const std::string& identifier, const std::string& contentType,
                 const std::string& bytes) {
  const Headers headers{{"Content-Type", contentType},
                        {"X-Platform-Output-Identifier", identifier},
                        // What a reprocess writes takes the place of this in dashboards.
                        {"X-Platform-Output-Metadata", "{\"sourceKey\":" + quoted(input.sourceKey()) + "}"},
                        {"X-Platform-Watermark", std::to_string(input.outputId)}};
  if (static_cast<long long>(bytes.size()) > limits_.outputBytes) writeParts(bytes, headers);
  else call("POST", "/outputs", bytes, headers);
  hasWritten_ = true;
  consumed_ += 1;
}

void Task::writeParts(const std::string& bytes, const Headers& headers) {
  const Json upload = Json::parse(call("POST", "/outputs/uploads", "", headers).body);
  // The node has an output of this identifier already.
  if (upload["handle"].isNull()) return;
  const std::string path = "/outputs/uploads/" + upload["handle"].text;
  const auto partBytes = static_cast<size_t>(limits_.partBytes);
  const Headers partHeaders{{"Content-Type", "application/octet-stream"}};
  for (size_t at = 0, number = 1; at < bytes.size(); at += partBytes, ++number)
    call("PUT", path + "/parts/" + std::to_string(number), bytes.substr(at, partBytes), partHeaders);
  call("POST", path + "/complete");
}

void Task::reject(const Input& input, const std::string& reason) {
  const std::string body = "{\"category\":\"validation\",\"reason\":" + quoted(reason, textBytes) + "}";
  call("PUT", "/rejections/" + std::to_string(input.outputId), body);
  log("warning", input.outputIdentifier + " was rejected: " + reason);
  consumed_ += 1;
}
