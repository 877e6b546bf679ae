#include "json.hpp"

#include <cstdlib>
#include <stdexcept>

namespace {

// Reads one value after the other from a text.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Json whole() {
    Json value = next();
    skipSpace();
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  const std::string& text_;
  size_t at_ = 0;

  [[noreturn]] void fail() const { throw std::runtime_error("The answer is not JSON."); }

  void skipSpace() {
    while (at_ < text_.size() && std::string(" \t\r\n").find(text_[at_]) != std::string::npos) ++at_;
  }

  bool skip(char character) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != character) return false;
    ++at_;
    return true;
  }

  bool skipWord(const std::string& word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  Json next() {
    skipSpace();
    Json value;
    if (at_ >= text_.size()) fail();
    const char first = text_[at_];
    if (first == '{') return object();
    if (first == '[') return list();
    if (first == '"') {
      value.kind = Json::Kind::text;
      value.text = string();
    } else if (first == 't' || first == 'f') {
      value.kind = Json::Kind::boolean;
      value.boolean = first == 't';
      if (!skipWord(value.boolean ? "true" : "false")) fail();
    } else if (first == 'n') {
      if (!skipWord("null")) fail();
    } else {
      value.kind = Json::Kind::number;
      const char* begin = text_.c_str() + at_;
      char* end = nullptr;
      value.number = std::strtod(begin, &end);
      if (end == begin) fail();
      at_ += static_cast<size_t>(end - begin);
    }
    return value;
  }

  Json object() {
    Json value;
    value.kind = Json::Kind::object;
    ++at_;
    if (skip('}')) return value;
    do {
      skipSpace();
      std::string name = string();
      if (!skip(':')) fail();
      value.object.emplace(std::move(name), next());
    } while (skip(','));
    if (!skip('}')) fail();
    return value;
  }

  Json list() {
    Json value;
    value.kind = Json::Kind::list;
    ++at_;
    if (skip(']')) return value;
    do value.list.push_back(next());
    while (skip(','));
    if (!skip(']')) fail();
    return value;
  }

  std::string string() {
    if (at_ >= text_.size() || text_[at_++] != '"') fail();
    std::string result;
    for (;;) {
      if (at_ >= text_.size()) fail();
      const char character = text_[at_++];
      if (character == '"') return result;
      if (character != '\\') {
        result += character;
        continue;
      }
      if (at_ >= text_.size()) fail();
      const char escaped = text_[at_++];
      const std::string from = "bfnrt", to = "\b\f\n\r\t";
      const size_t place = from.find(escaped);
      if (escaped == 'u') appendUtf8(result, unicode());
      else result += place == std::string::npos ? escaped : to[place];
    }
  }

  unsigned unicode() {
    unsigned code = hexadecimal();
    const bool isHigh = code >= 0xD800 && code < 0xDC00;
    if (isHigh && skipWord("\\u")) code = 0x10000 + ((code - 0xD800) << 10) + (hexadecimal() - 0xDC00);
    return code;
  }

  unsigned hexadecimal() {
    if (at_ + 4 > text_.size()) fail();
    const std::string digits = text_.substr(at_, 4);
    at_ += 4;
    return static_cast<unsigned>(std::strtoul(digits.c_str(), nullptr, 16));
  }

  static void appendUtf8(std::string& text, unsigned code) {
    const auto byte = [&text](unsigned value) { text += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xC0 | (code >> 6));
      byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      byte(0xE0 | (code >> 12));
      byte(0x80 | ((code >> 6) & 0x3F));
      byte(0x80 | (code & 0x3F));
    } else {
      byte(0xF0 | (code >> 18));
      byte(0x80 | ((code >> 12) & 0x3F));
      byte(0x80 | ((code >> 6) & 0x3F));
      byte(0x80 | (code & 0x3F));
    }
  }
};

}  // namespace

const Json& Json::operator[](const std::string& name) const {
  static const Json none;
  const auto found = object.find(name);
  return found == object.end() ? none : found->second;
}

Json Json::parse(const std::string& text) { return Reader(text).whole(); }

namespace {

// How many bytes the character at this place has; 0 when it is not UTF-8.
size_t characterBytes(const std::string& text, size_t at) {
  const auto byte = [&text](size_t place) { return static_cast<unsigned char>(text[place]); };
  const unsigned first = byte(at);
  const size_t length = first < 0x80 ? 1 : first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || at + length > text.size()) return 0;
  for (size_t place = at + 1; place < at + length; ++place)
    if ((byte(place) & 0xC0) != 0x80) return 0;
  const bool isSurrogate = first == 0xED && byte(at + 1) >= 0xA0;
  const bool isTooLong = (first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xF0 && byte(at + 1) < 0x90);
  const bool isTooLarge = first == 0xF4 && byte(at + 1) >= 0x90;
  return isSurrogate || isTooLong || isTooLarge ? 0 : length;
}

}  // namespace

std::string quoted(const std::string& text, size_t maxBytes) {
  static const char* digits = "0123456789abcdef";
  std::string result = "\"";
  for (size_t at = 0; at < text.size();) {
    const char character = text[at];
    const auto byte = static_cast<unsigned char>(character);
    const size_t length = characterBytes(text, at);
    if (at + length > maxBytes) {
      result += "…";
      break;
    }
    if (length == 0 || byte == 0) result += '?';
    else if (character == '"' || character == '\\') result += std::string("\\") + character;
    else if (byte < 0x20) result += std::string("\\u00") + digits[byte >> 4] + digits[byte & 15];
    else result += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return result + "\"";
}
