// SPDX-License-Identifier: MIT
// How far a value is to be trusted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace warpmeter::schema {

/// How a value came to be, from the strongest to the weakest. A derived value has its weakest
/// input's. The table below has their meanings; no other list of them is written anywhere: the
/// database's table, the SQL that needs a grade's number and the documentation follow this one.
enum class Grade { measured, exact, modelled, sampled, ptx, unavailable };

struct GradeInfo {
  Grade grade;
  const char* name;
  const char* meaning;    ///< as docs/accuracy.md has it
  const char* mark = "";  ///< the mark behind a value where only one is in doubt
};
inline constexpr std::array<GradeInfo, 6> grades = {{
    {Grade::measured, "measured", "a hardware counter or clock"},
    {Grade::exact, "exact",
     "the model, from the machine code, by rules measured on that architecture (so far sm_90)"},
    {Grade::modelled, "modelled",
     "the model's approximation (contended atomics), or sm_90's rules on an architecture that was "
     "not measured; or a hardware counter known to miss or to add something",
     "ᵐ"},
    {Grade::sampled, "sampled",
     "the model, estimated from some blocks of the launch, with a bound on the error", "ˢ"},
    {Grade::ptx, "ptx",
     "the model, counted from PTX: the machine code was not read (no ptxas, no cubin), or not "
     "understood there",
     "ᵖ"},
    {Grade::unavailable, "unavailable", "no value, and the reason why"},
}};

const char* to_string(Grade grade);
/// By its name in the database; Error{file} for a name that is none.
Grade grade_named(std::string_view name);
/// By its number there.
Grade grade_numbered(std::int64_t number);

}  // namespace warpmeter::schema
