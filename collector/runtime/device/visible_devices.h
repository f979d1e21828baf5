// SPDX-License-Identifier: MIT
// Which devices a program sees and in which order: CUDA_VISIBLE_DEVICES, as NVIDIA's programming
// guide has it. It is read at the first question, so that a program may set it itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::runtime {

/// Numbers of the machine's devices, of `count`: those that the list names, by index or by the
/// beginning of a UUID that no other device has, up to the first that there is not. A list that
/// names one twice names none. An index ends where its digits do.
std::vector<int> visible_devices(std::string_view list, int count);

/// The UUID of a device of the machine, "GPU-" and the hexadecimal digits of its 16 bytes in five
/// groups.
std::string uuid_text(int number);
/// Its second and its last byte are the device's number, the first says whose it is.
inline constexpr unsigned char uuid_first_byte = 'w';

}  // namespace warpmeter::runtime
