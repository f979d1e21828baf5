-- SPDX-License-Identifier: MIT
-- The most that a card was measured to do, by kernels of ours: of the device, not of a run. Measuring again replaces it.
CREATE TABLE t_peak (
  device_id INTEGER NOT NULL REFERENCES t_device,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  value REAL,
  sm_clock_mhz REAL,
  reason TEXT,
  measured TEXT NOT NULL, -- UTC, ISO 8601 with milliseconds
  PRIMARY KEY (device_id, name)
) STRICT, WITHOUT ROWID;
