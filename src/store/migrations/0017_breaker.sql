-- The breaker: what is known of each engine's health. One row for each engine and role, because a judge's calls
-- have a breaker of their own. The pure form of these rules is src/domain/breaker.ts.
create table engine_health (
  engine_id text collate "C" not null,
  -- agent, judge
  role text collate "C" not null,
  -- Latest sign of life; it counts for two minutes.
  alive_at timestamptz,
  -- Down since then; null = not tripped.
  tripped_at timestamptz,
  reason text,
  message text,
  -- From when on one call finds out whether it is back; null while tripped = only once somebody says so.
  half_open_at timestamptz,
  -- Trips of one outage.
  trips int not null default 0,
  recovered_at timestamptz,
  -- Calls in a row whose retries were used up.
  exhausted int not null default 0,
  -- The one call that finds out, and until when the others wait for it.
  probe text,
  probe_until timestamptz,
  primary key (engine_id, role)
) with (fillfactor = 50);

create index engine_events_run on engine_events (run_id, id) where run_id is not null;

create function call_role(p_purpose text) returns text
language sql immutable as $$ select case when p_purpose like 'judge/%' then 'judge' else 'agent' end $$;

create function is_alive(p_health engine_health) returns boolean
language sql volatile as $$
  select p_health.tripped_at is null and coalesce(p_health.alive_at > clock_timestamp() - interval '2 minutes', false)
$$;

-- Calls of one engine are begun under the shared lock, trips made under the exclusive one: once a trip is there,
-- no call is being begun that has not seen it.
create function lock_engine(p_engine text, p_role text) returns void
language sql as $$ select pg_advisory_xact_lock(hashtextextended('assay/engine/' || p_role || '/' || p_engine, 0)) $$;

create function share_engine(p_engine text, p_role text) returns void
language sql as $$
  select pg_advisory_xact_lock_shared(hashtextextended('assay/engine/' || p_role || '/' || p_engine, 0))
$$;

-- Makes a call the one that finds out about its engine. False = another is it, or there is nothing to find out.
create function take_probe(p_engine text, p_role text, p_call text) returns boolean
language plpgsql as $$
begin
  update engine_health h set probe = p_call, probe_until = clock_timestamp() + interval '75 seconds'
  where h.engine_id = p_engine and h.role = p_role and not is_alive(h)
    and (h.tripped_at is null or h.half_open_at <= clock_timestamp())
    and (h.probe is null or h.probe = p_call or h.probe_until <= clock_timestamp());
  return found;
end $$;

-- Notes a sign of life. One that is no news costs one read. True = the engine's other calls may start now.
create function note_life(p_engine text, p_role text, p_run text) returns boolean
language plpgsql as $$
declare
  health engine_health;
begin
  select * into health from engine_health where engine_id = p_engine and role = p_role;
  if not found or (health.tripped_at is not null and coalesce(health.half_open_at > clock_timestamp(), true))
    or (is_alive(health) and health.alive_at > clock_timestamp() - interval '20 seconds'
      and health.exhausted = 0 and health.probe is null) then
    return false;
  end if;
  update engine_health set
    alive_at = clock_timestamp(), exhausted = 0, probe = null, probe_until = null,
    recovered_at = case when tripped_at is not null then clock_timestamp() else recovered_at end,
    tripped_at = null, reason = null, message = null, half_open_at = null
  where engine_id = p_engine and role = p_role
    and (tripped_at is null or half_open_at <= clock_timestamp());
  if found and health.tripped_at is not null then
    insert into engine_events (engine_id, run_id, kind, reason, detail)
    select p_engine, run_id, 'recovered', health.reason, health.message from runs_of_engine(p_engine);
  end if;
  if found and not is_alive(health) then
    perform pg_notify('assay_run', p_run);
    return true;
  end if;
  return false;
end $$;

-- Engines that have no queue of calls: programs of external agents.
alter table runs add column watched_engines text[] not null default '{}';

-- The open runs that call an engine.
create function runs_of_engine(p_engine text) returns table (run_id text)
language sql stable as $$
  select r.run_id from runs r where r.finished_at is null and p_engine = any (r.engine_ids || r.watched_engines) order by r.run_id
$$;

-- Opens the breaker of an engine, unless it is open. p_stays: only somebody's word closes it. Else one call finds
-- out after p_reset_ms, which the provider said, or after a time that doubles with each trip of one outage; the
-- fifth trip stays, and so does one that would last longer than a quarter of an hour.
create function trip_engine(
  p_engine text, p_role text, p_reason text, p_message text, p_stays boolean, p_reset_ms float8, p_first_hold_ms float8
) returns boolean language plpgsql as $$
declare
  health engine_health;
  number int;
  hold_ms float8;
begin
  perform lock_engine(p_engine, p_role);
  select * into health from engine_health where engine_id = p_engine and role = p_role for update;
  if not found or (health.tripped_at is not null and health.half_open_at is null)
    or (health.half_open_at > clock_timestamp() and not p_stays) then
    return false;
  end if;
  number := case when health.tripped_at is not null
      or health.recovered_at > clock_timestamp() - interval '10 minutes' then health.trips + 1 else 1 end;
  hold_ms := coalesce(p_reset_ms, case when not p_stays then p_first_hold_ms * 2 ^ (number - 1) end);
  if number > 4 or hold_ms > 900000 then hold_ms := null; end if;
  update engine_health set
    tripped_at = clock_timestamp(), reason = p_reason, message = p_message, trips = number,
    half_open_at = clock_timestamp() + hold_ms * interval '1 millisecond',
    alive_at = null, exhausted = 0, probe = null, probe_until = null
  where engine_id = p_engine and role = p_role;
  insert into engine_events (engine_id, run_id, kind, reason, detail)
  select p_engine, run_id, case when hold_ms is null then 'tripped' else 'held' end, p_reason,
    json_build_object('role', p_role, 'message', p_message, 'holdMs', hold_ms)::text
  from runs_of_engine(p_engine);
  perform pg_notify('assay_run', '');
  return true;
end $$;

-- Notes a call whose retries are used up: the fifth in a row trips, and the first one does while it is being found
-- out whether the engine is back.
create function note_exhausted(
  p_engine text, p_role text, p_message text, p_reset_ms float8, p_first_hold_ms float8
) returns boolean language plpgsql as $$
declare
  health engine_health;
begin
  perform lock_engine(p_engine, p_role);
  update engine_health set exhausted = exhausted + 1, probe = null, probe_until = null
  where engine_id = p_engine and role = p_role
  returning * into health;
  if not found then return false; end if;
  if health.exhausted < 5 and health.tripped_at is null then return false; end if;
  return trip_engine(p_engine, p_role, 'exhausted', p_message, false, p_reset_ms, p_first_hold_ms);
end $$;

-- A call that was to find out has ended without a sign: the next one finds out.
create function release_probe(p_engine text, p_role text, p_call text) returns void
language sql as $$
  update engine_health set probe = null, probe_until = null
  where engine_id = p_engine and role = p_role and probe = p_call
$$;

-- Somebody starts or resumes a run: engines that are down are asked once more.
create function reset_engines(p_run text, p_engines text[]) returns int
language sql as $$
  with watched as (
    update runs set watched_engines = p_engines where run_id = p_run
  ), known as (
    insert into engine_health (engine_id, role) select engine, 'agent' from unnest(p_engines) engine
    on conflict do nothing
  ), down as (
    select * from engine_health
    where engine_id = any (p_engines) and (tripped_at is not null or exhausted > 0) order by engine_id, role for update
  ), closed as (
    update engine_health h set alive_at = null, tripped_at = null, reason = null, message = null, half_open_at = null,
      trips = 0, recovered_at = null, exhausted = 0, probe = null, probe_until = null
    from down where h.engine_id = down.engine_id and h.role = down.role
    returning h.engine_id, down.reason, down.message, down.tripped_at
  ), noted as (
    insert into engine_events (engine_id, run_id, kind, reason, detail)
    select engine_id, p_run, 'reset', reason, message from closed where tripped_at is not null
  )
  select count(*)::int from closed
$$;

-- Engines that a run is found to call while it goes on: those that it did not know are asked once more. The others stay
-- as they are: nobody has said that what was down is mended.
create function watch_engines(p_run text, p_engines text[]) returns void language plpgsql as $$
declare
  known text[];
  added text[];
begin
  select watched_engines into known from runs where run_id = p_run;
  added := array(select unnest(p_engines) except select unnest(known));
  if added = '{}' then return; end if;
  perform reset_engines(p_run, added);
  update runs set watched_engines = known || added where run_id = p_run;
end $$;

-- Gives each cell of these models that has not started its outcome: not run, zero tries. Cells that are just being
-- recorded are passed over. Under the lock of the engine no call of it is being begun; one that somebody has asked
-- for again meanwhile keeps its cells.
create function block_cells(
  p_run text, p_generation int, p_engine text, p_models text[], p_requests int[], p_detail text
) returns int language plpgsql set enable_nestloop = off as $$
declare
  cells int;
begin
  perform lock_engine(p_engine, 'agent');
  if not exists (select from engine_health where engine_id = p_engine and role = 'agent' and tripped_at is not null) then
    return 0;
  end if;
  with blocked as (
    select a.task, a.attempt from attempts a join tasks t on t.run_id = p_run and t.task = a.task
    where a.run_id = p_run and a.generation = p_generation and a.planned and a.outcome is null
      -- What is only graded needs no engine.
      and a.origin_run is null
      and t.model_id = any (p_models) and t.request_index = any (p_requests)
      and not exists (select from model_calls c where c.run_id = p_run and c.task = a.task
        and c.attempt = a.attempt and c.generation = p_generation)
      -- One whose session is closed had opened it for nothing, or waits to be tried again.
      and not exists (select from environment_sessions s where s.run_id = p_run and s.task = a.task
        and s.attempt = a.attempt and s.generation = p_generation and s.state <> 'closed')
      and not exists (select from tries d where d.run_id = p_run and d.task = a.task
        and d.attempt = a.attempt and d.generation = p_generation)
    for update of a skip locked
  )
  update attempts a set outcome = 'not_run', detail = p_detail, reason_code = 'engine_down', try_number = 0,
    settled = true, recorded_at = clock_timestamp()
  from blocked b
  where a.run_id = p_run and a.task = b.task and a.attempt = b.attempt and a.generation = p_generation;
  get diagnostics cells = row_count;
  if cells > 0 then
    insert into engine_events (engine_id, run_id, kind, reason, detail)
    values (p_engine, p_run, 'blocked', 'engine_down', cells::text);
    perform pg_notify('assay_run', p_run);
  end if;
  return cells;
end $$;
