// A small text file that is read anew when it changes while the service runs, and taken over only when it is
// good.
//
// Whoever writes a file in place leaves it half written for a moment, and half a file of lines can look like
// a whole one. So a new text counts once two looks in a row have found the same, and then only if it parses;
// otherwise what was good stays in use.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_RELOADED_FILE_H_
#define PROOFMILL_SERVER_RELOADED_FILE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "server/idle_reaper.h"
#include "server/line_file.h"

namespace proofmill::server {

template <typename T>
class ReloadedFile final : public Idler {
 public:
  using Parse = absl::StatusOr<T> (*)(std::string_view name, std::string_view text);
  // Told of each change, with no lock held: OK and what is in use now, or why the file was refused. The same
  // reason is told once in a row.
  using Listener = std::function<void(const absl::Status&, const T& in_use)>;

  // Errors: those of ReadLineFile() and of `parse`.
  static absl::StatusOr<std::shared_ptr<ReloadedFile>> Open(const std::string& path, Parse parse,
                                                            Listener listener) {
    PROOFMILL_ASSIGN_OR_RETURN(std::string text, ReadLineFile(path));
    PROOFMILL_ASSIGN_OR_RETURN(T value, parse(path, text));
    return std::make_shared<ReloadedFile>(path, parse, std::move(listener), std::move(text),
                                          std::move(value));
  }
  // Open() makes it.
  ReloadedFile(std::string path, Parse parse, Listener listener, std::string text, T value)
      : path_(std::move(path)),
        parse_(parse),
        listener_(std::move(listener)),
        text_(std::move(text)),
        current_(std::make_shared<const T>(std::move(value))) {}

  std::shared_ptr<const T> current() const {
    engine::MutexLock lock(mu_);
    return current_;
  }

  // Looks at the file.
  void EndIdle(engine::Clock::time_point) override {
    absl::StatusOr<std::string> text = ReadLineFile(path_);
    std::shared_ptr<const T> in_use;
    absl::Status status;
    {
      engine::MutexLock lock(mu_);
      if (text.ok() && !IsNewsLocked(*text)) return;
      status = text.ok() ? TakeLocked(*std::move(text)) : text.status();
      if (!status.ok() && refusal_ == status.message()) return;
      refusal_ = std::string(status.message());
      in_use = current_;
    }
    listener_(status, *in_use);
  }

 private:
  // Whether `text` is another one than what is in use, seen for at least the second time.
  bool IsNewsLocked(const std::string& text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (text == text_) {
      seen_ = text;
      refusal_.clear();
      return false;
    }
    if (text == seen_) return true;
    seen_ = text;
    return false;
  }
  absl::Status TakeLocked(std::string text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    PROOFMILL_ASSIGN_OR_RETURN(T value, parse_(path_, text));
    current_ = std::make_shared<const T>(std::move(value));
    text_ = std::move(text);
    return absl::OkStatus();
  }

  const std::string path_;
  const Parse parse_;
  const Listener listener_;
  mutable engine::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);     // what is in use
  std::string seen_ ABSL_GUARDED_BY(mu_);     // at the last look
  std::string refusal_ ABSL_GUARDED_BY(mu_);  // the last one since the file was good
  std::shared_ptr<const T> current_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RELOADED_FILE_H_
