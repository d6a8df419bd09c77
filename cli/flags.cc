#include "cli/flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engine/base/status_macros.h"
#include "server/text_values.h"

namespace proofmill::cli {
namespace {

constexpr size_t kHelpWidth = 100;
constexpr size_t kHelpIndent = 6;
constexpr size_t kShownMax = 80;  // of a value that is quoted back in an error

// `value` as it can stand in a one-line error: printable and short.
std::string Quoted(absl::string_view value) {
  std::string out = "'";
  for (const char c : value.substr(0, kShownMax)) {
    out += absl::ascii_isprint(static_cast<unsigned char>(c)) ? c : '?';
  }
  if (value.size() > kShownMax) out += "...";
  return out + "'";
}

std::string Wrapped(absl::string_view text) {
  std::string out;
  std::string line(kHelpIndent, ' ');
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (line.size() > kHelpIndent && line.size() + 1 + word.size() > kHelpWidth) {
      absl::StrAppend(&out, line, "\n");
      line.assign(kHelpIndent, ' ');
    }
    absl::StrAppend(&line, line.size() > kHelpIndent ? " " : "", word);
  }
  return absl::StrCat(out, line, "\n");
}

absl::Status BadValue(absl::string_view name, absl::string_view expected, absl::string_view got) {
  return absl::InvalidArgumentError(absl::StrCat("--", name, ": expected ", expected, ", got ", Quoted(got)));
}

}  // namespace

void FlagSet::String(absl::string_view name, absl::string_view value_name, std::string* target,
                     absl::string_view help) {
  flags_.push_back({.name = std::string(name),
                    .value_name = std::string(value_name),
                    .help = std::string(help),
                    .default_text = *target,
                    .set = [target](absl::string_view value) {
                      *target = std::string(value);
                      return absl::OkStatus();
                    }});
}

void FlagSet::Bool(absl::string_view name, bool* target, absl::string_view help) {
  const std::string flag_name(name);
  auto set = [target, flag_name](absl::string_view value) {
    if (value != "true" && value != "false") return BadValue(flag_name, "true or false", value);
    *target = value == "true";
    return absl::OkStatus();
  };
  flags_.push_back({.name = flag_name,
                    .value_name = "",
                    .help = std::string(help),
                    .default_text = *target ? "true" : "",
                    .set = std::move(set)});
}

void FlagSet::Custom(absl::string_view name, absl::string_view value_name, absl::string_view default_text,
                     absl::string_view help, std::function<absl::Status(absl::string_view text)> set) {
  const std::string flag_name(name);
  auto named_set = [set = std::move(set), flag_name](absl::string_view value) {
    const absl::Status status = set(value);
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat("--", flag_name, ": ", status.message()));
  };
  flags_.push_back({.name = flag_name,
                    .value_name = std::string(value_name),
                    .help = std::string(help),
                    .default_text = std::string(default_text),
                    .set = std::move(named_set)});
}

void FlagSet::Uint(absl::string_view name, uint64_t* target, Range range, absl::string_view help) {
  const std::string flag_name(name);
  auto set = [target, flag_name, range](absl::string_view value) {
    uint64_t number = 0;
    const bool digits_only = !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) {
      return absl::ascii_isdigit(c);
    });
    if (!digits_only || !absl::SimpleAtoi(value, &number) || number < range.min || number > range.max) {
      return BadValue(flag_name, absl::StrCat("a number from ", range.min, " to ", range.max), value);
    }
    *target = number;
    return absl::OkStatus();
  };
  flags_.push_back({.name = flag_name,
                    .value_name = "N",
                    .help = std::string(help),
                    .default_text = absl::StrCat(*target),
                    .set = std::move(set)});
}

void FlagSet::Bytes(absl::string_view name, uint64_t* target, absl::string_view help) {
  const auto set = [target](absl::string_view value) -> absl::Status {
    PROOFMILL_ASSIGN_OR_RETURN(*target, server::ParseBytes(value));
    return absl::OkStatus();
  };
  Custom(name, "SIZE", server::BytesText(*target), help, set);
}

void FlagSet::Duration(absl::string_view name, absl::Duration* target, absl::string_view help) {
  const std::string flag_name(name);
  auto set = [target, flag_name](absl::string_view value) {
    absl::Duration duration;
    if (!absl::ParseDuration(value, &duration) || duration <= absl::ZeroDuration() ||
        duration == absl::InfiniteDuration()) {
      return BadValue(flag_name, "a positive time with a unit, such as 500ms, 30s or 2m", value);
    }
    *target = duration;
    return absl::OkStatus();
  };
  flags_.push_back({.name = flag_name,
                    .value_name = "TIME",
                    .help = std::string(help),
                    .default_text = absl::FormatDuration(*target),
                    .set = std::move(set)});
}

void FlagSet::Choice(absl::string_view name, std::string* target, std::vector<std::string> choices,
                     absl::string_view help) {
  const std::string flag_name(name);
  const std::string value_name = absl::StrJoin(choices, "|");
  auto set = [target, flag_name, choices = std::move(choices)](absl::string_view value) {
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      return BadValue(flag_name, absl::StrCat("one of ", absl::StrJoin(choices, ", ")), value);
    }
    *target = std::string(value);
    return absl::OkStatus();
  };
  flags_.push_back({.name = flag_name,
                    .value_name = value_name,
                    .help = std::string(help),
                    .default_text = *target,
                    .set = std::move(set)});
}

const FlagSet::Flag* FlagSet::Find(absl::string_view name) const {
  const auto it = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == name; });
  return it == flags_.end() ? nullptr : &*it;
}

bool FlagSet::WasGiven(absl::string_view name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

absl::Status FlagSet::ParseFlag(const std::vector<std::string>& args, size_t& position) const {
  absl::string_view text = args[position];
  absl::ConsumePrefix(&text, "--");
  const size_t equals = text.find('=');
  const absl::string_view name = text.substr(0, equals);

  if (equals == absl::string_view::npos && Find(name) == nullptr) {
    absl::string_view positive = name;
    const Flag* flag = absl::ConsumePrefix(&positive, "no") ? Find(positive) : nullptr;
    if (flag != nullptr && flag->is_boolean()) {
      given_.push_back(flag->name);
      return flag->set("false");
    }
  }
  const Flag* flag = Find(name);
  if (flag == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown flag ", Quoted(absl::StrCat("--", name)), ", --help lists the known ones"));
  }
  given_.push_back(flag->name);
  if (equals != absl::string_view::npos) return flag->set(text.substr(equals + 1));
  if (flag->is_boolean()) return flag->set("true");
  if (position + 1 >= args.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": expected a value (", flag->value_name, "), got the end of the line"));
  }
  return flag->set(args[++position]);
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(const std::vector<std::string>& args) const {
  given_.clear();
  std::vector<std::string> positional;
  bool flags_ended = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& argument = args[i];
    if (flags_ended || argument.size() < 2 || argument[0] != '-') {
      positional.push_back(argument);
      continue;
    }
    if (argument == "--") {
      flags_ended = true;
      continue;
    }
    if (argument[1] != '-') {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag ", Quoted(argument), ", flags start with two dashes"));
    }
    PROOFMILL_RETURN_IF_ERROR(ParseFlag(args, i));
  }
  return positional;
}

std::string FlagSet::HelpText() const {
  std::string out;
  for (const Flag& flag : flags_) {
    absl::StrAppend(&out, "  --", flag.is_boolean() && flag.default_text == "true" ? "[no]" : "", flag.name,
                    flag.value_name.empty() ? "" : "=", flag.value_name, "\n");
    std::string help = flag.help;
    if (!flag.default_text.empty()) absl::StrAppend(&help, " (default: ", flag.default_text, ")");
    absl::StrAppend(&out, Wrapped(help));
  }
  return out;
}

}  // namespace proofmill::cli
