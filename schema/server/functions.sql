-- SPDX-License-Identifier: MIT
-- The functions of the server itself: numbers and tables for a month, and the rule that a run, once added,
-- stays as it is. Executed by `push --migrate`, each time; `warpmeter` is the schema of all private things.
--
-- A run's number is YYYYMM and nine digits, a launch's YYYYMM and ten: the tables of a run lie in parts by
-- month, and its number says in which, so that a key remains what it is in SQLite.

CREATE TABLE IF NOT EXISTS warpmeter.t_month (
  month bigint PRIMARY KEY,
  runs bigint NOT NULL DEFAULT 0,
  launches bigint NOT NULL DEFAULT 0
);

-- A question about many months has many small parts, and compiling each of them takes seconds where the answer takes
-- tenths. For sessions from now on, where the database belongs to who prepares it.
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;

-- Pages that lie scattered are asked of the disk side by side: one family from a cold disk 0.2 s instead of 0.3. Some
-- systems cannot, and refuse the setting.
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET effective_io_concurrency = 64', current_database());
EXCEPTION WHEN insufficient_privilege OR invalid_parameter_value THEN NULL;
END $$;

-- Numbers that were given out and not used yet.
CREATE TABLE IF NOT EXISTS warpmeter.t_reserved (
  run_id bigint PRIMARY KEY,
  first_launch bigint NOT NULL,
  launches bigint NOT NULL,
  since timestamptz NOT NULL DEFAULT now()
);

-- Every run that was ever added, also when its month was dropped: who has it will not push it again.
CREATE TABLE IF NOT EXISTS warpmeter.t_pushed (
  uuid text COLLATE "C" PRIMARY KEY,
  run_id bigint NOT NULL UNIQUE,
  first_launch bigint NOT NULL,
  launches bigint NOT NULL,
  digest text NOT NULL,
  writer name NOT NULL DEFAULT session_user,
  pushed timestamptz NOT NULL DEFAULT now(),
  transaction xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX IF NOT EXISTS t_pushed_transaction ON warpmeter.t_pushed (transaction);

-- Words of SQLite's that the views use.
CREATE OR REPLACE FUNCTION warpmeter.max(double precision, double precision) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN $1 >= $2 THEN $1 WHEN $2 > $1 THEN $2 END';
CREATE OR REPLACE FUNCTION warpmeter.max(bigint, bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN $1 >= $2 THEN $1 WHEN $2 > $1 THEN $2 END';
CREATE OR REPLACE FUNCTION warpmeter.min(bigint, bigint, bigint, bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN $1 + $2 + $3 + $4 IS NOT NULL THEN least($1, $2, $3, $4) END';

-- Arithmetic as SQLite does it: what is too large is infinite and what is too small 0, where PostgreSQL's own ends the
-- whole question with an error; a quotient by 0, and what is no number, is NULL. The views are made with these before
-- PostgreSQL's own (server_schema.cpp).
CREATE OR REPLACE FUNCTION warpmeter.times(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1 AS $$
BEGIN
  RETURN CASE
    WHEN abs(a) OPERATOR(pg_catalog.>) 1 AND abs(b) OPERATOR(pg_catalog.>) (1.797693134862315e308::float8 OPERATOR(pg_catalog./) abs(a))
      THEN CASE WHEN (a OPERATOR(pg_catalog.<) 0) = (b OPERATOR(pg_catalog.<) 0) THEN 'Infinity' ELSE '-Infinity' END::float8
    WHEN abs(a) OPERATOR(pg_catalog.<) 1 AND a <> 0 AND abs(b) OPERATOR(pg_catalog.<) (5e-324::float8 OPERATOR(pg_catalog./) abs(a)) THEN 0
    ELSE nullif(a OPERATOR(pg_catalog.*) b, 'NaN')
  END;
END $$;
CREATE OR REPLACE FUNCTION warpmeter.over(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1 AS $$
BEGIN
  RETURN CASE
    WHEN b = 0 THEN NULL
    WHEN abs(b) OPERATOR(pg_catalog.<) 1 AND abs(a) OPERATOR(pg_catalog.>) (1.797693134862315e308::float8 OPERATOR(pg_catalog.*) abs(b))
      THEN CASE WHEN (a OPERATOR(pg_catalog.<) 0) = (b OPERATOR(pg_catalog.<) 0) THEN 'Infinity' ELSE '-Infinity' END::float8
    WHEN abs(b) OPERATOR(pg_catalog.>) 1 AND abs(a) OPERATOR(pg_catalog.<) (5e-324::float8 OPERATOR(pg_catalog.*) abs(b)) THEN 0
    ELSE nullif(a OPERATOR(pg_catalog./) b, 'NaN')
  END;
END $$;
CREATE OR REPLACE FUNCTION warpmeter.plus(a double precision, b double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1 AS $$
BEGIN
  RETURN CASE
    WHEN abs(a) OPERATOR(pg_catalog.>) 8e307 AND abs(b) OPERATOR(pg_catalog.>) 8e307 AND abs(a) <> 'Infinity' AND abs(b) <> 'Infinity'
        AND abs((a OPERATOR(pg_catalog./) 2) OPERATOR(pg_catalog.+) (b OPERATOR(pg_catalog./) 2)) OPERATOR(pg_catalog.>) 8.98846567431157e307
      THEN CASE WHEN a OPERATOR(pg_catalog.<) 0 THEN '-Infinity' ELSE 'Infinity' END::float8
    ELSE nullif(a OPERATOR(pg_catalog.+) b, 'NaN')
  END;
END $$;
CREATE OR REPLACE FUNCTION warpmeter.minus(a double precision, b double precision) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT warpmeter.plus($1, OPERATOR(pg_catalog.-) $2)';
DO $$
DECLARE
  operators constant text[] := ARRAY['*', 'times', '/', 'over', '+', 'plus', '-', 'minus'];
BEGIN
  FOR i IN 1 .. 4 LOOP
    CONTINUE WHEN to_regoperator(format('warpmeter.%s(float8,float8)', operators[2 * i - 1])) IS NOT NULL;
    EXECUTE format('CREATE OPERATOR warpmeter.%s (LEFTARG = float8, RIGHTARG = float8, FUNCTION = warpmeter.%I)',
                   operators[2 * i - 1], operators[2 * i]);
  END LOOP;
END $$;
CREATE OR REPLACE AGGREGATE warpmeter.total(double precision) (
  SFUNC = warpmeter.plus, STYPE = double precision, INITCOND = '0', PARALLEL = SAFE
);

-- The parts of a month. A part is made beside its table and attached, which nobody who reads or adds waits for.
CREATE OR REPLACE FUNCTION warpmeter.make_month(the_month bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
DECLARE
  parent record;
  part text;
  width bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('warpmeter.make_month'));
  FOR parent IN
    SELECT c.relname AS name, pg_get_partkeydef(c.oid) AS key
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'warpmeter' AND c.relkind = 'p' ORDER BY c.relname
  LOOP
    part := parent.name || '_' || the_month;
    CONTINUE WHEN to_regclass('warpmeter.' || part) IS NOT NULL;
    width := CASE WHEN parent.key LIKE '%launch_id%' THEN 10000000000 ELSE 1000000000 END;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent.name);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
                   parent.name, part, the_month * width, (the_month + 1) * width);
  END LOOP;
  INSERT INTO t_month (month) VALUES (the_month) ON CONFLICT DO NOTHING;
END $$;

-- Numbers for a run and its launches, in a transaction of its own: those of a run that is never added are lost.
CREATE OR REPLACE FUNCTION warpmeter.reserve(started text, launches bigint, OUT run_id bigint, OUT first_launch bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
DECLARE
  the_month bigint;
BEGIN
  IF started !~ '^2[01][0-9][0-9]-(0[1-9]|1[0-2])-[0-9][0-9]T' OR launches < 0 OR launches > 1000000000 THEN
    RAISE EXCEPTION 'a run cannot have begun at % with % launches: the clock of its machine may be wrong',
      left(started, 40), launches USING ERRCODE = '22023';
  END IF;
  the_month := left(started, 4)::bigint * 100 + substr(started, 6, 2)::bigint;
  IF to_regclass('warpmeter.t_run_' || the_month) IS NULL THEN
    PERFORM make_month(the_month);
  ELSE
    -- Whoever made it may have committed and not yet told the others' caches, which would then know no part to add a
    -- row to; it is told before the lock is given up.
    PERFORM pg_advisory_xact_lock_shared(hashtext('warpmeter.make_month'));
  END IF;
  UPDATE t_month m SET runs = m.runs + 1, launches = m.launches + reserve.launches WHERE m.month = the_month
    RETURNING the_month * 1000000000 + m.runs, the_month * 10000000000 + m.launches - reserve.launches + 1
    INTO run_id, first_launch;
  INSERT INTO t_reserved (run_id, first_launch, launches)
    VALUES (reserve.run_id, reserve.first_launch, reserve.launches);
  DELETE FROM t_reserved r WHERE r.since < now() - interval '7 days';
END $$;

-- Begins to add a run under numbers that were reserved. False when the server has it; where somebody is adding it
-- at this moment, waits for that to end.
CREATE OR REPLACE FUNCTION warpmeter.begin_run(the_uuid text, the_run bigint, the_digest text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
DECLARE
  given t_reserved;
BEGIN
  DELETE FROM t_reserved r WHERE r.run_id = the_run RETURNING r.* INTO given;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the number % was not reserved', the_run USING ERRCODE = '42501';
  END IF;
  INSERT INTO t_pushed (uuid, run_id, first_launch, launches, digest)
    VALUES (the_uuid, given.run_id, given.first_launch, given.launches, the_digest) ON CONFLICT (uuid) DO NOTHING;
  RETURN FOUND;
END $$;

-- Rows are added to the run that the same transaction began, and to no other: whoever may add runs can change none.
CREATE OR REPLACE FUNCTION warpmeter.only_own_run() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
DECLARE
  mine t_pushed;
  is_foreign boolean;
BEGIN
  SELECT * INTO mine FROM t_pushed p WHERE p.transaction = pg_current_xact_id();
  IF TG_ARGV[0] = 'run_id' THEN
    SELECT EXISTS (SELECT FROM added a WHERE a.run_id IS DISTINCT FROM mine.run_id) INTO is_foreign;
  ELSE
    SELECT EXISTS (SELECT FROM added a WHERE mine.run_id IS NULL OR a.launch_id < mine.first_launch
                   OR a.launch_id >= mine.first_launch + mine.launches) INTO is_foreign;
  END IF;
  IF is_foreign THEN
    RAISE EXCEPTION 'rows of a run are added with the run, and never after' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION warpmeter.only_own_explanation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
BEGIN
  IF EXISTS (
    SELECT FROM (SELECT DISTINCT explanation_id FROM added) a
      LEFT JOIN t_explanation e ON e.explanation_id = a.explanation_id
    WHERE e.explanation_id IS NULL OR e.xmin <> pg_current_xact_id()::xid
  ) THEN
    RAISE EXCEPTION 'rows of an explanation are added with it, and never after' USING ERRCODE = '42501';
  END IF;
  RETURN NULL;
END $$;

-- The view `comparison` of a launch follows from rows that never change, and is therefore computed once, when the run
-- is added: 10,000 launches of a family have their values and times on 5,000 pages, and on 1,400 what is made of
-- them. The server does so by itself at the end of the transaction: whoever pushes, with whatever build of warpmeter,
-- need not know.
CREATE OR REPLACE FUNCTION warpmeter.add_comparison(first_launch bigint, launches bigint) RETURNS void
LANGUAGE plpgsql SET search_path = warpmeter, pg_temp SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  INSERT INTO t_comparison (
      run_id, launch_id, device_id, family, variant, size, grid, block, duration_ns,
      shared_load_transactions_per_request, shared_store_transactions_per_request, gld_efficiency, gst_efficiency,
      gld_transactions, gst_transactions, achieved_bandwidth, outcome, reason)
    SELECT
      run_id, launch_id, device_id, family, variant, size, grid, block, duration_ns,
      shared_load_transactions_per_request, shared_store_transactions_per_request, gld_efficiency, gst_efficiency,
      gld_transactions, gst_transactions, achieved_bandwidth, outcome, reason
    FROM v_comparison c
    WHERE c.launch_id >= add_comparison.first_launch AND c.launch_id < add_comparison.first_launch + add_comparison.launches
    ORDER BY c.family, c.variant, c.launch_id;
END $$;

-- Where an older build has put its own views in the place of these, it is left for the next `--migrate`.
CREATE OR REPLACE FUNCTION warpmeter.keep_comparison() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
BEGIN
  IF to_regclass('warpmeter.v_comparison') IS NULL THEN
    DELETE FROM t_meta WHERE name = 'comparison';
  ELSE
    PERFORM add_comparison(NEW.first_launch, NEW.launches);
  END IF;
  RETURN NULL;
END $$;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'warpmeter.t_pushed'::regclass AND tgname = 'keep_comparison') THEN
    CREATE CONSTRAINT TRIGGER keep_comparison AFTER INSERT ON warpmeter.t_pushed DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION warpmeter.keep_comparison();
  END IF;
END $$;

-- By `push --migrate`, between the private views and the public ones: all of it anew where it was computed by other
-- formulas, or not at all.
CREATE OR REPLACE FUNCTION warpmeter.make_comparison() RETURNS void
LANGUAGE plpgsql SET search_path = warpmeter, pg_temp AS $$
DECLARE
  formulas constant text := md5(pg_get_viewdef('v_comparison'::regclass) || (
    SELECT string_agg(p.prosrc, ' ' ORDER BY p.proname) FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
    WHERE o.oprnamespace = 'warpmeter'::regnamespace));
BEGIN
  IF EXISTS (SELECT FROM t_meta WHERE name = 'comparison' AND value = formulas) THEN
    RETURN;
  END IF;
  DROP TABLE IF EXISTS t_comparison;
  CREATE TABLE t_comparison (LIKE v_comparison, PRIMARY KEY (launch_id)) PARTITION BY RANGE (launch_id);
  CREATE INDEX t_comparison_run ON t_comparison (run_id);
  CREATE INDEX t_comparison_variant ON t_comparison (family, variant);
  PERFORM make_month(month), add_comparison(month * 10000000000, 10000000000)
    FROM t_month WHERE to_regclass('t_run_' || month) IS NOT NULL ORDER BY month;
  ANALYZE t_comparison;
  INSERT INTO t_meta (name, value) VALUES ('comparison', formulas) ON CONFLICT (name) DO UPDATE SET value = excluded.value;
END $$;

-- The statistics of a month for the planner, after very many rows; nobody tells it of a table in parts by
-- himself.
CREATE OR REPLACE FUNCTION warpmeter.refresh_statistics(the_month bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = warpmeter, pg_temp AS $$
DECLARE
  each_table record;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('warpmeter.refresh_statistics')) THEN
    RETURN;  -- somebody is at it
  END IF;
  FOR each_table IN
    SELECT c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE n.nspname = 'warpmeter'
      AND (c.relkind = 'r' AND (NOT c.relispartition OR c.relname LIKE '%\_' || the_month)
        OR c.relkind = 'p' AND coalesce(s.last_analyze, '-infinity') < now() - interval '7 days')
    ORDER BY c.relname
  LOOP
    EXECUTE format('ANALYZE %I', each_table.name);
  END LOOP;
END $$;

-- Takes a month off the server; t_pushed remembers its runs. For the owner.
CREATE OR REPLACE FUNCTION warpmeter.drop_month(the_month bigint) RETURNS void
LANGUAGE plpgsql SET search_path = warpmeter, pg_temp AS $$
DECLARE
  each_part record;
BEGIN
  IF to_regclass('warpmeter.t_run_' || the_month) IS NULL THEN
    RAISE EXCEPTION 'there is no month % here: the months are %', the_month,
      coalesce((SELECT string_agg(month::text, ', ' ORDER BY month) FROM t_month
                WHERE to_regclass('warpmeter.t_run_' || month) IS NOT NULL), 'none')
      USING ERRCODE = '22023';
  END IF;
  FOR each_part IN
    SELECT c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'warpmeter' AND c.relispartition AND c.relkind = 'r' AND c.relname LIKE '%\_' || the_month
    ORDER BY c.relname
  LOOP
    EXECUTE format('DROP TABLE %I', each_part.name);
  END LOOP;
END $$;

-- The rights of the two roles, where there are such roles (schema/server/roles.sql).
CREATE OR REPLACE FUNCTION warpmeter.grant_access() RETURNS void
LANGUAGE plpgsql SET search_path = warpmeter, pg_temp AS $$
DECLARE
  role_name text;
  each_object record;
BEGIN
  FOR role_name IN SELECT rolname FROM pg_roles WHERE rolname IN ('warpmeter_reader', 'warpmeter_writer') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA warpmeter, public TO %I', role_name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA warpmeter TO %I', role_name);
    FOR each_object IN SELECT name FROM t_view WHERE name NOT LIKE 'v\_%' LOOP
      EXECUTE format('GRANT SELECT ON public.%I TO %I', each_object.name, role_name);
    END LOOP;
    CONTINUE WHEN role_name = 'warpmeter_reader';
    FOR each_object IN
      -- Tables with a guard take what their guard lets through; new names, reasons and devices change nothing.
      SELECT c.relname AS name
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'warpmeter' AND (
        EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname LIKE 'only\_own%')
        OR c.relname IN ('t_counter', 't_reason', 't_device', 't_explanation'))
    LOOP
      EXECUTE format('GRANT INSERT ON %I TO %I', each_object.name, role_name);
    END LOOP;
    EXECUTE format('GRANT EXECUTE ON FUNCTION reserve(text, bigint), begin_run(text, bigint, text), '
                   'refresh_statistics(bigint) TO %I', role_name);
  END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION warpmeter.make_month(bigint), warpmeter.reserve(text, bigint),
  warpmeter.begin_run(text, bigint, text), warpmeter.refresh_statistics(bigint), warpmeter.drop_month(bigint),
  warpmeter.grant_access(), warpmeter.add_comparison(bigint, bigint), warpmeter.keep_comparison(),
  warpmeter.make_comparison() FROM PUBLIC;
