-- What was and was not looked for in the launches, each once.
SELECT kind, words, reason, count(*) AS launches, min(launch_id) AS launch_id FROM looked_for
WHERE launch_id IN (SELECT value FROM json_each(:launches))
GROUP BY kind, words, reason
