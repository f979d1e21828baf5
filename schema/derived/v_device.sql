-- SPDX-License-Identifier: MIT
-- Private. The devices with what they are called: two cards of one name are two devices. `title` is the name where the database has
-- one card of it, else name and slot; where even these are alike (two machines), the beginning of the UUID too.
CREATE VIEW v_device AS
SELECT
  d.device_id,
  d.backend,
  d.ordinal,
  d.name,
  d.name || CASE
    WHEN d.uuid = '' OR NOT EXISTS (
      SELECT 1 FROM t_device o WHERE o.name = d.name AND o.uuid NOT IN ('', d.uuid)
    ) THEN ''
    WHEN EXISTS (
      SELECT 1 FROM t_device o
      WHERE o.name = d.name AND o.uuid NOT IN ('', d.uuid) AND o.ordinal = d.ordinal
    ) THEN ' #' || d.ordinal || ' (' || substr(d.uuid, 1, 12) || ')'
    ELSE ' #' || d.ordinal
  END AS title,
  d.chip,
  d.compute_capability,
  d.uuid,
  d.driver,
  d.multiprocessors,
  d.memory_bytes,
  d.l2_bytes
FROM t_device d;
