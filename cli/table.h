// A small text table with aligned columns, for results that people read. Programs read --json instead.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_CLI_TABLE_H_
#define PROOFMILL_CLI_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace proofmill::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header);

  // REQUIRES: as many cells as the header has.
  void AddRow(std::vector<std::string> cells);

  // One line per row. The first column is aligned left, the others right; text keeps no trailing blanks.
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
};

// A time as people read it: "850 us", "12.3 ms", "4.56 s".
std::string FormatSeconds(double seconds);
// A size as people read it: "512 B", "1.5 MiB".
std::string FormatBytes(uint64_t bytes);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_TABLE_H_
