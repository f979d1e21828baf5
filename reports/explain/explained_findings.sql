-- :launches is a JSON array. The nth and later ones of a launch are only counted.
SELECT * FROM findings
WHERE launch_id IN (SELECT value FROM json_each(:launches)) AND rank <= :top
ORDER BY launch_id, rank
