-- SPDX-License-Identifier: MIT
-- A card while a launch is repeated to measure its energy, at each move of NVML's energy counter.
CREATE TABLE t_power_sample (
  launch_id INTEGER NOT NULL REFERENCES t_launch ON DELETE CASCADE,
  sample INTEGER NOT NULL,
  time_s REAL NOT NULL,
  power_w REAL NOT NULL,
  sm_clock_mhz REAL,
  temperature_c REAL,
  PRIMARY KEY (launch_id, sample)
) STRICT, WITHOUT ROWID;
