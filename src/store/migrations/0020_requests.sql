-- Requests of a run: prepared one after the other, final one by one.

-- Ends those of these requests (null = all) whose every planned cell has a result, as completed.
create function finish_requests(p_run text, p_requests int[]) returns void language sql as $$
  update requests r set state = case when r.failure is null then 'completed' else 'failed' end,
    finished_at = clock_timestamp()
  where r.run_id = p_run and r.state is null and (p_requests is null or r.request_index = any (p_requests))
    and not exists (
      select from attempts a join tasks t on t.run_id = p_run and t.task = a.task
      where a.run_id = p_run and a.latest and a.planned and a.outcome is null
        and t.request_index = r.request_index)
$$;

-- Ends the others as their run ends.
create function end_requests(p_run text, p_state text) returns void language sql as $$
  update requests set state = case when failure is null then p_state else 'failed' end, finished_at = clock_timestamp()
  where run_id = p_run and state is null and p_state is not null
$$;

-- Those with cells in a new generation go on; one that could not be prepared is prepared again.
create function reopen_requests(p_run text, p_generation int) returns void language sql as $$
  update requests r set state = null, finished_at = null, failure = null,
    prepared_at = case when r.failure is null then r.prepared_at end
  where r.run_id = p_run and exists (
    select from attempts a join tasks t on t.run_id = p_run and t.task = a.task
    where a.run_id = p_run and a.generation = p_generation and t.request_index = r.request_index)
$$;

-- A request that cannot be prepared is over: its open cells are never run. Others go on. What a generation that is over
-- says late changes nothing.
create function fail_request(p_run text, p_generation int, p_request int, p_failure text, p_detail text)
returns void language plpgsql as $$
begin
  update requests set failure = p_failure, prepared_at = clock_timestamp()
  where run_id = p_run and request_index = p_request and prepared_at is null and state is null
    and p_generation = (select generation from runs where run_id = p_run);
  if not found then return; end if;
  update attempts a set outcome = 'not_run', reason_code = 'preparation', detail = p_detail, settled = true,
    recorded_at = clock_timestamp()
  from tasks t
  where t.run_id = p_run and t.request_index = p_request and a.run_id = p_run and a.task = t.task
    and a.generation = p_generation and a.planned and a.outcome is null;
  perform pg_notify('assay_run', p_run);
end $$;

-- One sentence for each request that could not be prepared; null = there is none.
create function explain_unprepared(p_run text) returns text language sql stable as $$
  select string_agg(format('Request %s could not be prepared: %s.', name, rtrim(failure, '.')), ' '
    order by request_index)
  from requests where run_id = p_run and failure is not null
$$;
