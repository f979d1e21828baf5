#include "tests/collector/model/scalar_reference.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace warpmeter::model {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
using Words = std::vector<std::string>;

struct Type {
  char kind = 'u';  ///< u, s, b, f or p
  int bits = 32;
};

Type type_of(const std::string& name) {
  if (name == "pred") return {'p', 1};
  return {name[0], std::stoi(name.substr(1))};
}
bool is_type(const std::string& word) {
  return word == "pred" || (word.size() > 1 && word.find_first_of("usbf") == 0 &&
                            word.find_first_not_of("0123456789", 1) == std::string::npos);
}

UnsignedWide cut(UnsignedWide value, int bits) {
  return bits >= 128 ? value : value & ((UnsignedWide{1} << bits) - 1);
}
/// A register's number, as its type says.
Wide number(std::uint64_t bits, Type type) {
  const auto low = static_cast<Wide>(cut(bits, type.bits));
  const bool is_negative = type.kind == 's' && (bits >> (type.bits - 1) & 1) != 0;
  return is_negative ? low - (Wide{1} << type.bits) : low;
}
/// Saturated; in a wider register, extended as the type says.
std::uint64_t clamped(Wide value, Type type) {
  const Wide least = type.kind == 's' ? -(Wide{1} << (type.bits - 1)) : 0;
  const Wide most = (Wide{1} << (type.kind == 's' ? type.bits - 1 : type.bits)) - 1;
  return static_cast<std::uint64_t>(static_cast<UnsignedWide>(std::clamp(value, least, most)));
}

float f32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
template <class F>
F real(std::uint64_t bits) {
  if constexpr (sizeof(F) == 4) return f32(bits);
  return static_cast<F>(f64(bits));
}
template <class F>
F flushed(F value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(F{0}, value) : value;
}
template <class F>
F saturated(F value) {
  return std::isnan(value) || value <= 0 ? F{0} : std::min(value, F{1});
}

struct Rounded {
  explicit Rounded(const Words& words) {
    for (const std::string& word : words) {
      if (word == "rz" || word == "rzi") std::fesetround(FE_TOWARDZERO);
      if (word == "rm" || word == "rmi") std::fesetround(FE_DOWNWARD);
      if (word == "rp" || word == "rpi") std::fesetround(FE_UPWARD);
    }
  }
  ~Rounded() { std::fesetround(FE_TONEAREST); }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
};

bool has(const Words& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <class F>
F float_result(const Words& words, F a, F b, F c) {
  const Rounded rounding(words);
  const volatile F x = a, y = b, z = c;  // nothing is computed before the rounding is set
  volatile F result = 0;
  const std::string& name = words[0];
  if (name == "add") {
    result = x + y;
  } else if (name == "sub") {
    result = x - y;
  } else if (name == "mul") {
    result = x * y;
  } else if (name == "div") {
    result = x / y;
  } else if (name == "fma" || name == "mad") {
    result = std::fma(x, y, z);
  } else if (name == "rcp") {
    result = 1 / x;
  } else if (name == "sqrt") {
    result = std::sqrt(x);
  } else if (name == "abs") {
    result = std::abs(x);
  } else if (name == "neg") {
    result = -x;
  } else if (name == "copysign") {
    result = std::copysign(y, x);
  } else if (name == "min" || name == "max") {
    const bool wants_less = name == "min";
    if (std::isnan(a) || std::isnan(b)) {
      result = std::isnan(a) ? b : a;
      if (has(words, "NaN")) result = std::numeric_limits<F>::quiet_NaN();
    } else if (a == b) {  // -0 is less than +0
      result = std::signbit(a) == wants_less ? a : b;
    } else {
      result = (a < b) == wants_less ? a : b;
    }
  } else {
    throw std::invalid_argument("no float instruction " + name);
  }
  return result;
}

template <class F>
std::uint64_t float_instruction(const Words& words, const std::array<std::uint64_t, 4>& in) {
  const bool flushes = has(words, "ftz");
  const auto read = [&](std::size_t i) {
    return flushes ? flushed(real<F>(in[i])) : real<F>(in[i]);
  };
  F result = float_result<F>(words, read(0), read(1), read(2));
  if (flushes) result = flushed(result);
  if (has(words, "sat")) result = saturated(result);
  return bits_of(result);
}

template <class T>
bool compares(const std::string& how, T a, T b) {
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  return a >= b;
}
bool comparison(std::string how, Type type, std::uint64_t a, std::uint64_t b) {
  if (type.kind != 'f') return compares(how, number(a, type), number(b, type));
  const double x = type.bits == 32 ? f32(a) : f64(a), y = type.bits == 32 ? f32(b) : f64(b);
  const bool is_unordered = std::isnan(x) || std::isnan(y);
  if (how == "num" || how == "nan") return is_unordered == (how == "nan");
  if (how.size() == 3) {
    how.pop_back();
    return is_unordered || compares(how, x, y);
  }
  return !is_unordered && compares(how, x, y);
}

std::uint64_t convert(const Words& words, std::uint64_t in) {
  const Type from = type_of(words.back()), to = type_of(words[words.size() - 2]);
  const bool saturates = has(words, "sat"), flushes = has(words, "ftz");
  const Rounded rounding(words);
  if (from.kind == 'f') {
    volatile double value = from.bits == 32 ? f32(in) : f64(in);
    if (flushes && from.bits == 32) value = flushed(f32(in));
    if (has(words, "rni") || has(words, "rzi") || has(words, "rmi") || has(words, "rpi")) {
      value = std::nearbyint(value);
    }
    if (to.kind != 'f') {
      if (std::isnan(value)) {  // of f32 zero; of f64, and always to 64 bits, the highest bit
        const bool is_zero = from.bits == 32 && to.bits < 64;
        return is_zero ? 0 : std::uint64_t{1} << (to.bits - 1);
      }
      const double most = std::ldexp(1.0, 100);
      return clamped(static_cast<Wide>(std::clamp(double{value}, -most, most)), to);
    }
    if (to.bits == 64) return bits_of(saturates ? saturated<double>(value) : double{value});
    volatile float narrow = static_cast<float>(value);
    if (flushes) narrow = flushed<float>(narrow);
    return bits_of(saturates ? saturated<float>(narrow) : float{narrow});
  }
  const Wide value = number(in, from);
  if (to.kind == 'f') {
    const volatile auto small = static_cast<std::int64_t>(value);
    const volatile auto large = static_cast<std::uint64_t>(value);
    if (to.bits == 32) {
      const volatile float result =
          value < 0 ? static_cast<float>(small) : static_cast<float>(large);
      return bits_of(float{result});
    }
    const volatile double result =
        value < 0 ? static_cast<double>(small) : static_cast<double>(large);
    return bits_of(double{result});
  }
  if (saturates) return clamped(value, to);
  // What a narrow number becomes in a wider register: its own type's extension.
  return static_cast<std::uint64_t>(
      cut(static_cast<UnsignedWide>(number(static_cast<std::uint64_t>(value), to)), 64));
}

int leading_zeros(std::uint64_t bits, int width) { return std::countl_zero(bits) - (64 - width); }

std::uint64_t bit_instruction(const Words& words, Type type,
                              const std::array<std::uint64_t, 4>& in) {
  const std::string& name = words[0];
  const std::uint64_t a = static_cast<std::uint64_t>(cut(in[0], type.bits)), b = in[1], c = in[2];
  const auto word = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  if (name == "and") return a & b;
  if (name == "or") return a | b;
  if (name == "xor") return a ^ b;
  if (name == "not") return ~a;
  if (name == "cnot") return a == 0 ? 1 : 0;
  if (name == "popc") return static_cast<std::uint64_t>(std::popcount(a));
  if (name == "clz") return static_cast<std::uint64_t>(leading_zeros(a, type.bits));
  if (name == "brev") {
    std::uint64_t result = 0;
    for (int i = 0; i < type.bits; ++i) result |= (a >> i & 1) << (type.bits - 1 - i);
    return result;
  }
  if (name == "bfind") {
    const Wide signed_a = number(a, type);
    const std::uint64_t searched = static_cast<std::uint64_t>(
        cut(static_cast<UnsignedWide>(signed_a < 0 ? ~signed_a : signed_a), type.bits));
    if (searched == 0) return 0xffffffff;
    const int zeros = leading_zeros(searched, type.bits);
    return static_cast<std::uint64_t>(has(words, "shiftamt") ? zeros : type.bits - 1 - zeros);
  }
  if (name == "shl") {
    return word(b) >= 64 ? 0 : static_cast<std::uint64_t>(UnsignedWide{a} << word(b));
  }
  if (name == "shr") {
    const std::uint32_t amount = std::min(word(b), std::uint32_t{64});
    return static_cast<std::uint64_t>(number(a, type) >> amount);
  }
  if (name == "shf") {
    std::uint32_t amount = word(c);
    amount = has(words, "wrap") ? amount & 31 : std::min(amount, std::uint32_t{32});
    const std::uint64_t both = std::uint64_t{word(b)} << 32 | word(a);
    return has(words, "l") ? both << amount >> 32 : both >> amount;
  }
  // An H200 takes the low 8 bits of a position in 32 bits, and no more than 255 in 64.
  const auto place = [&](std::uint64_t value) {
    return static_cast<int>(type.bits == 32 ? value & 255
                                            : std::min<std::uint64_t>(word(value), 255));
  };
  if (name == "bfe") {
    const int position = place(b), length = place(c);
    const int sign_at = std::min(position + length - 1, type.bits - 1);
    const bool sign = type.kind == 's' && length != 0 && (a >> sign_at & 1) != 0;
    std::uint64_t result = 0;
    for (int i = 0; i < type.bits; ++i) {
      const bool bit =
          i < length && position + i < type.bits ? (a >> (position + i) & 1) != 0 : sign;
      result |= std::uint64_t{bit} << i;
    }
    return result;
  }
  if (name == "bfi") {
    const int position = place(c), length = place(in[3]);
    std::uint64_t result = b;
    for (int i = 0; i < length && position + i < type.bits; ++i) {
      const std::uint64_t at = std::uint64_t{1} << (position + i);
      result = (a >> i & 1) != 0 ? result | at : result & ~at;
    }
    return result;
  }
  if (name == "prmt") {
    const std::uint64_t bytes = std::uint64_t{word(b)} << 32 | word(a);
    std::uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t chosen = c >> 4 * i & 15;
      std::uint64_t byte = bytes >> 8 * (chosen & 7) & 255;
      if ((chosen & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      result |= byte << 8 * i;
    }
    return result;
  }
  if (name == "lop3") {
    std::uint64_t result = 0;
    for (int i = 0; i < 32; ++i) {
      const std::uint64_t index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
      result |= (in[3] >> index & 1) << i;
    }
    return result;
  }
  throw std::invalid_argument("no instruction " + name);
}

std::uint64_t integer_instruction(const Words& words, Type type,
                                  const std::array<std::uint64_t, 4>& in, ScalarLane& lane) {
  const std::string& name = words[0];
  const Wide a = number(in[0], type), b = number(in[1], type), c = number(in[2], type);
  const auto product = [&] { return static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b); };
  const auto part = [&] {  // of the product: .lo, .hi
    if (!has(words, "hi")) return product();
    return static_cast<UnsignedWide>(type.kind == 's' ? static_cast<Wide>(product()) >> type.bits
                                                      : static_cast<Wide>(product() >> type.bits));
  };
  const auto low = [](UnsignedWide value) { return static_cast<std::uint64_t>(value); };
  if (has(words, "cc") || name == "addc" || name == "subc") {
    const bool subtracts = name.starts_with("sub"), reads = name.back() == 'c';
    const UnsignedWide x = cut(in[0], type.bits);
    const UnsignedWide y = cut(subtracts ? ~in[1] : in[1], type.bits);
    const UnsignedWide sum = x + y + (reads ? UnsignedWide{lane.carry} : UnsignedWide{subtracts});
    if (has(words, "cc")) lane.carry = (sum >> type.bits) != 0;
    return low(sum);
  }
  if (name == "add")
    return has(words, "sat") ? clamped(a + b, type) : low(static_cast<UnsignedWide>(a + b));
  if (name == "sub")
    return has(words, "sat") ? clamped(a - b, type) : low(static_cast<UnsignedWide>(a - b));
  if (name == "mul") return low(has(words, "wide") ? product() : part());
  if (name == "mad" && has(words, "wide")) return low(product() + in[2]);
  if (name == "mad") return low(part() + static_cast<UnsignedWide>(c));
  if (name == "div") return b == 0 ? ~std::uint64_t{0} : low(static_cast<UnsignedWide>(a / b));
  if (name == "rem") return b == 0 ? ~std::uint64_t{0} : low(static_cast<UnsignedWide>(a % b));
  if (name == "min") return low(static_cast<UnsignedWide>(std::min(a, b)));
  if (name == "max") return low(static_cast<UnsignedWide>(std::max(a, b)));
  if (name == "abs") return low(static_cast<UnsignedWide>(a < 0 ? -a : a));
  if (name == "neg") return low(static_cast<UnsignedWide>(-a));
  if (name == "sad") return low(static_cast<UnsignedWide>(c + (a < b ? b - a : a - b)));
  if (name == "mul24" || name == "mad24") {
    const Type narrow{type.kind, 24};
    const Wide whole = number(in[0], narrow) * number(in[1], narrow);
    const Wide half = has(words, "hi") ? whole >> 16 : whole;
    return low(static_cast<UnsignedWide>(half + (name == "mad24" ? c : 0)));
  }
  return bit_instruction(words, type, in);
}

Words split(const std::string& text, const std::string& separators) {
  Words words;
  std::string word;
  for (const char c : text + separators[0]) {
    if (separators.find(c) == std::string::npos) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

std::uint64_t value_of(const std::string& operand, ScalarLane& lane) {
  if (operand[0] == '!') return lane.registers.at(operand.substr(1)) ^ 1;
  if (operand[0] == '%') return lane.registers.at(operand);
  return std::stoull(operand, nullptr, 0);
}

int register_bits(const std::string& name) {
  switch (name[1]) {
    case 'h':
      return 16;
    case 'p':
      return 1;
    case 'd':
    case 'g':
      return 64;
    default:
      return 32;
  }
}
void write(ScalarLane& lane, const std::string& name, std::uint64_t bits) {
  lane.registers.at(name) = static_cast<std::uint64_t>(cut(bits, register_bits(name)));
}

void access(const Words& words, Words operands, ScalarLane& lane) {
  const bool is_load = words[0] == "ld";
  if (!is_load) std::rotate(operands.begin(), operands.begin() + 1, operands.end());
  const std::string& address = operands.back();
  const auto at = std::stoul(address.substr(address.find('+') + 1));
  const Type type = type_of(words.back());
  const auto bytes = static_cast<std::size_t>(type.bits / 8);
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    std::uint8_t* const place = lane.memory.data() + at + i * bytes;
    std::uint64_t bits = is_load ? 0 : lane.registers.at(operands[i]);
    if (!is_load) {
      std::memcpy(place, &bits, bytes);
      continue;
    }
    std::memcpy(&bits, place, bytes);
    write(lane, operands[i], static_cast<std::uint64_t>(number(bits, type)));
  }
}

}  // namespace

void execute(const std::string& line, ScalarLane& lane) {
  Words parts = split(line, " ,;{}[]");
  if (parts[0][0] == '@') {
    if (value_of(parts[0].substr(1), lane) == 0) return;
    parts.erase(parts.begin());
  }
  const Words words = split(parts[0], ".");
  Words operands(parts.begin() + 1, parts.end());
  if (words[0] == "ld" || words[0] == "st") return access(words, operands, lane);
  std::array<std::uint64_t, 4> in{};
  for (std::size_t i = 1; i < operands.size() && i <= in.size(); ++i) {
    in[i - 1] = value_of(operands[i], lane);
  }
  const auto type_word = std::find_if(words.rbegin(), words.rend(), is_type);
  if (type_word == words.rend()) throw std::invalid_argument(line);
  const Type type = type_of(*type_word);
  const std::string& name = words[0];
  std::uint64_t result = 0;
  if (name == "mov") {
    result = in[0];
  } else if (name == "selp") {
    result = in[2] != 0 ? in[0] : in[1];
  } else if (name == "slct") {
    const bool is_float = type.kind == 'f';
    result = (is_float ? f32(in[2]) >= 0 : number(in[2], type) >= 0) ? in[0] : in[1];
  } else if (name == "setp" || name == "set") {
    bool holds = comparison(words[1], type, in[0], in[1]);
    if (has(words, "and")) holds = holds && in[2] != 0;
    if (has(words, "or")) holds = holds || in[2] != 0;
    if (has(words, "xor")) holds = holds != (in[2] != 0);
    result = name == "setp" ? holds : holds ? ~std::uint64_t{0} : 0;
  } else if (name == "cvt") {
    result = convert(words, in[0]);
  } else if (type.kind == 'f') {
    result = type.bits == 32 ? float_instruction<float>(words, in)
                             : float_instruction<double>(words, in);
  } else {
    result = integer_instruction(words, type, in, lane);
  }
  write(lane, operands[0], result);
}

}  // namespace warpmeter::model
