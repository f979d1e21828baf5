#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds the model to the hardware: every kernel of tests/device/model on both, on the same input. One line a
# kernel, the count at the end.
#
#   tests/device/model_check.sh [BUILD [FOLDER]]   BUILD: where model_check is; build/gpu when not given
#                                                  FOLDER: gets h200_model_kernels.csv (what the hardware
#                                                  answered) and model_agreement.md; tests/golden when not given
#
# Exit code: 0 when all agree, 1 when not, 2 when not built, 4 without a GPU.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" model_check
folder=${2:-$root/tests/golden}
mkdir -p "$folder"
"$build/model_check" --golden "$folder/h200_model_kernels.csv.new" --table "$folder/model_agreement.md.new" &&
  status=0 || status=$?
# Nothing is overwritten by a run that had no GPU.
if [ $status -le 1 ]; then
  mv "$folder/h200_model_kernels.csv.new" "$folder/h200_model_kernels.csv"
  mv "$folder/model_agreement.md.new" "$folder/model_agreement.md"
else
  rm -f "$folder"/*.new
fi
exit $status
