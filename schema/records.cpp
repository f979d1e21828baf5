#include "schema/records.h"

namespace warpmeter::schema {

const char* to_string(Grade grade) {
  switch (grade) {
    case Grade::measured:
      return "measured";
    case Grade::exact:
      return "exact";
    case Grade::modelled:
      return "modelled";
    case Grade::ptx:
      return "ptx";
    case Grade::unavailable:
      return "unavailable";
  }
  return "";
}

}  // namespace warpmeter::schema
