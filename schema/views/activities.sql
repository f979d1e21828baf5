-- SPDX-License-Identifier: MIT
-- One activity of a program that was traced (profile --trace, --trace-api): a kernel, copy, set, API call or NVTX range, a
-- page fault or migration of managed memory, an allocation (nvprof --track-memory-allocations on).
--
-- run_id: the run
-- activity_id: its place in the order in which it was reported, from 1; start_ns has the order of time
-- process_id: the process
-- thread_id: the thread that called or opened the range; NULL for what a GPU did
-- kind: kernel, copy, set, call, range, page fault, migration, thrashing, throttling, remote map or allocation
-- name: the kernel with its parameters, [CUDA memcpy HtoD], the function, the range's text
-- start_ns: when it began, ns since the run's clock began (a range may begin before); NULL for what the model did as a GPU: it has no clock
-- duration_ns: how long it took, or was allocated, ns; NULL where start_ns is, and where it was never freed
-- device: title of the device, as in devices; NULL for calls and ranges
-- device_ordinal: the device's number
-- context: number of its context in the process; NULL for calls and ranges
-- stream: number of its stream in the process; NULL for calls and ranges
-- correlation: number that a call and what it gave the GPU share; NULL when not known
-- grid_x: blocks of a kernel in x; NULL for others, as the next ones
-- grid_y: blocks in y
-- grid_z: blocks in z
-- block_x: threads of a block in x
-- block_y: threads in y
-- block_z: threads in z
-- registers: registers of a thread; NULL when not known
-- static_shared_bytes: shared memory that the kernel declares, bytes; NULL when not known
-- dynamic_shared_bytes: shared memory that the launch asked for, bytes
-- bytes: size of a copy, set, migration, allocation or region of managed memory; NULL for others
-- faults: page faults of one group; NULL for others
-- address: first address of a page fault, migration or allocation; NULL for others
-- source_memory: memory that a copy or migration reads: Pageable, Pinned, Device, Array, Managed, …; NULL for others
-- target_memory: memory that a copy, set or migration writes, or that is allocated; NULL for others
-- source_device: number of the device that a peer copy or migration reads; NULL for others
-- source_context: number of the context that a peer copy reads; NULL for others
-- target_device: number of the device that a peer copy or migration writes; NULL for others
-- target_context: number of the context that a peer copy writes; NULL for others
-- symbol: the kernel's name as the machine code has it; NULL for others
-- shape: number of what it has in common with others of the run: all but id, times, correlation, bytes, faults, address
CREATE VIEW activities AS
SELECT
  a.run_id,
  a.activity_id,
  s.process_id,
  s.thread_id,
  s.kind,
  s.name,
  a.start_ns,
  a.duration_ns,
  (SELECT d.title FROM v_device d WHERE d.device_id = s.device_id) AS device,
  (SELECT d.ordinal FROM t_device d WHERE d.device_id = s.device_id) AS device_ordinal,
  s.context,
  s.stream,
  a.correlation,
  s.grid_x,
  s.grid_y,
  s.grid_z,
  s.block_x,
  s.block_y,
  s.block_z,
  s.registers,
  s.static_shared_bytes,
  s.dynamic_shared_bytes,
  a.bytes,
  a.faults,
  a.address,
  s.source_memory,
  s.target_memory,
  s.source_device,
  s.source_context,
  s.target_device,
  s.target_context,
  s.symbol,
  a.shape
-- SQLite leaves a single LEFT JOIN out where a query reads none of its columns.
FROM t_activity a
  LEFT JOIN t_activity_shape s ON s.run_id = a.run_id AND s.shape = a.shape;
