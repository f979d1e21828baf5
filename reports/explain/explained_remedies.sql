SELECT launch_id, finding_rank, rank, name, change, words, is_advised, transactions, other_transactions, shared_bytes,
       blocks, iif(:lanes, lanes, NULL) AS lanes,
       -- A vector's: other remedies leave the requests as they are.
       iif(name LIKE 'vector%',
           (SELECT measured - predicted FROM predictions p
            WHERE p.launch_id = r.launch_id AND p.finding_rank = r.finding_rank AND p.remedy_rank = r.rank
              AND p.counter LIKE '%_requests'), 0) AS spared_requests
FROM remedies r
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND finding_rank <= :top AND (is_advised OR :all)
ORDER BY launch_id, finding_rank, rank
