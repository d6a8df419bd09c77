// Whether a program was built with the address or the thread sanitizer, of which the first keeps what was
// freed for a while and both take their time. GCC and clang say so in different ways.

#ifndef PROOFMILL_TESTS_SANITIZED_H_
#define PROOFMILL_TESTS_SANITIZED_H_

namespace proofmill {

#if defined(__has_feature)
#define PROOFMILL_HAS_FEATURE(feature) __has_feature(feature)
#else
#define PROOFMILL_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || PROOFMILL_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitized = true;
#else
inline constexpr bool kAddressSanitized = false;
#endif

#if defined(__SANITIZE_THREAD__) || PROOFMILL_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

#undef PROOFMILL_HAS_FEATURE

inline constexpr bool kSanitized = kAddressSanitized || kThreadSanitized;

}  // namespace proofmill

#endif  // PROOFMILL_TESTS_SANITIZED_H_
