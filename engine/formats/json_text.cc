#include "engine/formats/json_text.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

using Json = nlohmann::json;

// Walks the text without building anything; a false answer ends the walk.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  const std::string& fault() const { return fault_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(size_t /*size*/) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t /*size*/) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    fault_ = "expected each key once, got one twice in one object";
    return false;
  }
  bool parse_error(size_t position, const std::string& /*token*/, const Json::exception& /*error*/) override {
    fault_ = absl::StrCat("not JSON: syntax error at byte ", position);
    return false;
  }

 private:
  bool Enter() {
    if (keys_.size() == kJsonDepthMax) {
      fault_ = absl::StrCat("expected at most ", kJsonDepthMax, " levels of nesting, got more");
      return false;
    }
    keys_.emplace_back();
    return true;
  }
  bool Leave() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of the open objects; empty sets for arrays
  std::string fault_;
};

absl::Status WrongType(const std::string& place, absl::string_view expected, const Json& got) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": expected ", expected, ", got ", got.type_name()));
}

}  // namespace

absl::StatusOr<Json> ParseJsonText(absl::string_view what, std::string_view text, size_t bytes_max) {
  if (text.size() > bytes_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": expected at most ", bytes_max, " bytes of JSON, got ", text.size()));
  }
  if (text.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": not JSON: got a zero byte"));
  }
  Checker checker;
  if (!Json::sax_parse(text, &checker)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", checker.fault()));
  }
  return Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
}

absl::Status ExpectJsonObject(const Json& value, const std::string& place) {
  return value.is_object() ? absl::OkStatus() : WrongType(place, "an object", value);
}

absl::Status ExpectJsonArray(const Json& value, size_t size, const std::string& place) {
  if (!value.is_array()) return WrongType(place, "an array", value);
  if (value.size() == size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": expected an array of ", size, ", got one of ", value.size()));
}

absl::StatusOr<const std::string*> ExpectJsonString(const Json& value, const std::string& place) {
  if (!value.is_string()) return WrongType(place, "a string", value);
  return value.get_ptr<const std::string*>();
}

absl::StatusOr<const Json*> ExpectJsonMember(const Json& object, const char* key, const std::string& place) {
  const auto member = object.find(key);
  if (member == object.end()) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": \"", key, "\" is missing"));
  }
  return &*member;
}

}  // namespace proofmill::engine
