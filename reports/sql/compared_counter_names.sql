SELECT counter_id, counter FROM counters WHERE launch_id = :launch
