-- SPDX-License-Identifier: MIT
-- Two roles for a server of warpmeter's. The owner of the database, who also says `warpmeter push --migrate`,
-- executes this once as somebody who may make roles:  warpmeter push --roles | psql postgresql://lab/warpmeter
-- Then:  CREATE ROLE lab7 LOGIN PASSWORD '…' IN ROLE warpmeter_writer;
--        CREATE ROLE grafana LOGIN PASSWORD '…' IN ROLE warpmeter_reader;
--
-- warpmeter_writer  adds runs (`push`), and changes and removes none, not even its own
-- warpmeter_reader  reads everything that was measured (views, `pull`)
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'warpmeter_reader') THEN
    CREATE ROLE warpmeter_reader NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'warpmeter_writer') THEN
    CREATE ROLE warpmeter_writer NOLOGIN;
  END IF;
END $$;
SELECT warpmeter.grant_access();
