-- SPDX-License-Identifier: MIT
-- The most that a card of one run was measured to do of one thing, by `doctor --peaks` before or after the run.
--
-- run_id: the run
-- device_id: number of the device in this database, as in devices
-- device: its title, as in devices
-- name: device_memory_copy and device_memory_read, l2_read, l1_read and shared_read (bandwidths); fp64, fp32 and fp16
--   (fused multiply-adds outside the tensor cores), tensor_fp64, tensor_tf32, tensor_bf16, tensor_fp16, tensor_fp8 and
--   tensor_int8 (products of dense matrices)
-- value: the peak; NULL when it could not be measured
-- unit: GB/s (10⁹ bytes), TFLOP/s or TOP/s (10¹² operations; a fused multiply-add is two)
-- sm_clock_mhz: the multiprocessors' clock right after; NULL when it was not measured
-- measured: UTC, ISO 8601 with milliseconds
-- reason: why it could not be measured; NULL when it could
CREATE VIEW peaks AS
SELECT
  rd.run_id,
  d.device_id,
  d.title AS device,
  p.name,
  p.value,
  p.unit,
  p.sm_clock_mhz,
  p.measured,
  p.reason
FROM t_run_device rd
  JOIN v_device d ON d.device_id = rd.device_id
  -- A card with another driver or number is another device.
  JOIN t_device same ON same.uuid = d.uuid
  JOIN t_peak p ON p.device_id = same.device_id
WHERE d.uuid <> '' AND NOT EXISTS (
  SELECT 1 FROM t_device other JOIN t_peak later ON later.device_id = other.device_id
  WHERE other.uuid = d.uuid AND later.name = p.name AND later.measured > p.measured
);
