// Whether a program was built with the address sanitizer, which keeps what was freed for a while and takes
// its time. GCC and clang say so in different ways.

#ifndef PROOFMILL_TESTS_SANITIZED_H_
#define PROOFMILL_TESTS_SANITIZED_H_

namespace proofmill {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitized = true;
#else
inline constexpr bool kAddressSanitized = false;
#endif
#else
inline constexpr bool kAddressSanitized = false;
#endif

}  // namespace proofmill

#endif  // PROOFMILL_TESTS_SANITIZED_H_
