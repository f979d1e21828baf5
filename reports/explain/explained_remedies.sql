SELECT launch_id, finding_rank, rank, name, change, words, also_amounts, is_advised, transactions, other_transactions, shared_bytes,
       blocks, iif(:lanes, lanes, NULL) AS lanes
FROM remedies
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND finding_rank <= :top AND (is_advised OR :all)
ORDER BY launch_id, finding_rank, rank
