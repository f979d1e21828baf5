// SPDX-License-Identifier: MIT
// Arithmetic with a directed rounding, one value at a time. Compiled
// once, for every processor: the units of execute/ call it (see operation.h).
#pragma once

#include <cstdint>

namespace warpmeter::model {

enum Rounding { rz, rm, rp };  ///< towards zero, minus infinity, plus infinity

float rounded_add(float a, float b, Rounding rounding);
double rounded_add(double a, double b, Rounding rounding);
float rounded_sub(float a, float b, Rounding rounding);
double rounded_sub(double a, double b, Rounding rounding);
float rounded_mul(float a, float b, Rounding rounding);
double rounded_mul(double a, double b, Rounding rounding);
float rounded_div(float a, float b, Rounding rounding);
double rounded_div(double a, double b, Rounding rounding);
float rounded_fma(float a, float b, float c, Rounding rounding);
double rounded_fma(double a, double b, double c, Rounding rounding);
float rounded_sqrt(float a, Rounding rounding);
double rounded_sqrt(double a, Rounding rounding);
float rounded_to_f32(std::uint64_t value, Rounding rounding);
float rounded_to_f32(std::int64_t value, Rounding rounding);
float rounded_to_f32(double value, Rounding rounding);
double rounded_to_f64(std::uint64_t value, Rounding rounding);
double rounded_to_f64(std::int64_t value, Rounding rounding);

}  // namespace warpmeter::model
