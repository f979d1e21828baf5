SELECT launch_id, finding_rank, rank, name, change, words, is_advised, transactions, other_transactions, shared_bytes,
       blocks, iif(:lanes, lanes, NULL) AS lanes,
       -- "vector 4" takes four requests at once; other remedies leave them as they are. (The launch's own counters need
       -- not be there: who names metrics gets those.)
       iif(name LIKE 'vector %',
           (SELECT f.requests - (f.requests + CAST(substr(r.name, 8) AS INTEGER) - 1) / CAST(substr(r.name, 8) AS INTEGER)
            FROM findings f WHERE f.launch_id = r.launch_id AND f.rank = r.finding_rank), 0) AS spared_requests
FROM remedies r
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND finding_rank <= :top AND (is_advised OR :all)
ORDER BY launch_id, finding_rank, rank
