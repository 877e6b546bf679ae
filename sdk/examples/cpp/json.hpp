// As much JSON as the runner routes need.
#pragma once
#include <map>
#include <string>
#include <vector>

struct Json {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<Json> list;
  std::map<std::string, Json> object;

  // The field of an object; null where there is none.
  const Json& operator[](const std::string& name) const;
  bool isNull() const { return kind == Kind::null; }
  // Ids are whole numbers below 2^53.
  long long id() const { return static_cast<long long>(number); }

  // Throws std::runtime_error for text that is not JSON.
  static Json parse(const std::string& text);
};

// A string as JSON text, with its quotes. Bytes that the platform does not store (invalid UTF-8, or NUL) become `?`.
// What is longer than `maxBytes` is cut: the platform refuses a call whose texts are too long.
std::string quoted(const std::string& text, size_t maxBytes = std::string::npos);
