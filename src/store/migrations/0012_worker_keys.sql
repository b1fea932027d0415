-- Which workers have a value for which named variable: names only, never a value. A row counts while it is fresh.
create table worker_keys (
  worker_id text collate "C" not null,
  key_name text collate "C" not null,
  held boolean not null,
  seen_at timestamptz not null,
  primary key (worker_id, key_name)
);

-- Variables that an open run waits for: no worker has a value. Shown to people; nothing is decided by it.
alter table runs add column missing_keys text[] not null default '{}';

-- Writes what one worker has and misses.
create function say_worker_keys(p_worker text, p_held text[], p_missed text[]) returns void language sql as $$
  delete from worker_keys where seen_at < now() - interval '1 hour';
  insert into worker_keys (worker_id, key_name, held, seen_at)
  select p_worker, n.name, n.held, clock_timestamp() from (
    select unnest(p_held) as name, true as held union all select unnest(p_missed), false) n
  on conflict (worker_id, key_name) do update set held = excluded.held, seen_at = excluded.seen_at;
$$;

-- Open runs that have been planned and whose recorded waits differ from what workers say now.
create function list_changed_waits() returns table (run_id text, workflow_id text, missing text[])
language sql stable as $$
  with fresh as (
    select key_name, bool_or(held) as held from worker_keys
    where seen_at > clock_timestamp() - interval '20 seconds' group by key_name
  ), waits as (
    select r.run_id, r.workflow_id, r.missing_keys, coalesce((
      select array_agg(distinct e.key_name order by e.key_name) from engines e
      join fresh f on f.key_name = e.key_name and not f.held
      where e.engine_id = any (r.engine_ids)), '{}') as missing
    from runs r where r.finished_at is null and r.plan_digest is not null
  )
  select run_id, workflow_id, missing from waits where missing is distinct from missing_keys
$$;
