// SPDX-License-Identifier: MIT
// WARPMETER_HAS_ADDRESS_SANITIZER is defined in builds with AddressSanitizer, as both compilers
// tell it.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WARPMETER_HAS_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WARPMETER_HAS_ADDRESS_SANITIZER
#endif
