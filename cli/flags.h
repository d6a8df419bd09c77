// The flags of one subcommand: declared with a target each, then filled from the command line.
//
// Forms: --name=value, --name value, and for booleans --name and --noname. Names are snake_case. `--` ends
// the flags; what does not start with a dash is a positional argument and may stand anywhere between flags. A
// flag that is not declared, a value that does not parse and a value out of its bounds are errors that name
// what was expected and what came. Abseil's flags are global to a process and have no notion of subcommands
// with a help text of their own, hence this small parser.
//
// Thread safety: as a plain object. The targets must outlive the set.

#ifndef PROOFMILL_CLI_FLAGS_H_
#define PROOFMILL_CLI_FLAGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace proofmill::cli {

class FlagSet {
 public:
  FlagSet() = default;
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // Each declares a flag whose default is what `target` holds now; the help text shows it.
  void String(absl::string_view name, absl::string_view value_name, std::string* target,
              absl::string_view help);
  void Bool(absl::string_view name, bool* target, absl::string_view help);
  // Decimal, from `min` to `max` inclusive.
  struct Range {
    uint64_t min;
    uint64_t max;
  };
  void Uint(absl::string_view name, uint64_t* target, Range range, absl::string_view help);
  // A size as in the configuration file: 1073741824, 1GiB.
  void Bytes(absl::string_view name, uint64_t* target, absl::string_view help);
  // A positive time with a unit: 500ms, 30s, 2m.
  void Duration(absl::string_view name, absl::Duration* target, absl::string_view help);
  // One of `choices`.
  void Choice(absl::string_view name, std::string* target, std::vector<std::string> choices,
              absl::string_view help);
  // A flag whose text is handed to `set`, which judges it without naming the flag. An empty `value_name`
  // makes a boolean.
  void Custom(absl::string_view name, absl::string_view value_name, absl::string_view default_text,
              absl::string_view help, std::function<absl::Status(absl::string_view text)> set);

  // Sets the targets of the flags found in `args` and returns the positional arguments in order.
  //   INVALID_ARGUMENT  an unknown flag, a missing or unexpected value, or a value that its flag refuses.
  absl::StatusOr<std::vector<std::string>> Parse(const std::vector<std::string>& args) const;

  // True when `name` was given in the last Parse().
  bool WasGiven(absl::string_view name) const;

  // One entry per flag: its form, what it does and its default. Empty without flags.
  std::string HelpText() const;

 private:
  struct Flag {
    std::string name;
    std::string value_name;  // empty: a boolean, whose values are "true" and "false"
    std::string help;
    std::string default_text;
    std::function<absl::Status(absl::string_view value)> set;
    bool is_boolean() const { return value_name.empty(); }
  };

  const Flag* Find(absl::string_view name) const;
  // Handles one argument that starts with "--"; may consume the following one.
  absl::Status ParseFlag(const std::vector<std::string>& args, size_t& position) const;

  std::vector<Flag> flags_;
  mutable std::vector<std::string> given_;
};

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_FLAGS_H_
