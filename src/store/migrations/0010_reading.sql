-- What live displays and reports read.

-- Live counts by request and model. A call whose worst case costs nothing costs nothing, whatever became of it.
-- Hash joins whatever the statistics say: a loop over tables that have just been filled is what made it quadratic.
create function count_progress(p_run text) returns table (
  request_index int, request_name text, model_id text, planned int, done int, scored int, pass int,
  mean_score float8, errors int, unscored int, not_run int, skipped int, cost_usd float8, in_flight int, waiting int
) language sql stable set enable_nestloop = off as $$
  with cells as (
    select t.request_index, t.model_id, min(t.task) as first_task, count(*) as planned, count(a.outcome) as done,
      count(*) filter (where a.outcome = 'scored') as scored, count(*) filter (where a.pass) as pass,
      avg(a.score) filter (where a.outcome = 'scored') as mean_score,
      count(*) filter (where a.outcome in ('error', 'infra', 'interrupted', 'refused')) as errors,
      count(*) filter (where a.outcome = 'unscored') as unscored,
      count(*) filter (where a.outcome = 'not_run') as not_run,
      count(*) filter (where a.outcome = 'skipped') as skipped
    from latest_attempts a join tasks t on t.run_id = p_run and t.task = a.task
    where a.run_id = p_run
    group by t.request_index, t.model_id
  ), calls as (
    select t.request_index, t.model_id, sum(coalesce(c.cost_usd, case when c.worst_usd = 0 then 0 end)) as cost_usd,
      count(*) filter (where c.state = 'started') as in_flight,
      count(*) filter (where c.state = 'failed' and c.retry_at > now()) as waiting
    from model_calls c join tasks t on t.run_id = p_run and t.task = c.task
    where c.run_id = p_run
    group by t.request_index, t.model_id
  ), booked as (
    select t.request_index, t.model_id, count(*) as waiting
    from booked_starts b join tasks t on t.run_id = p_run and t.task = b.task
    where b.run_id = p_run
    group by t.request_index, t.model_id
  )
  select c.request_index, r.name, c.model_id, c.planned, c.done, c.scored, c.pass, c.mean_score, c.errors, c.unscored,
    c.not_run, c.skipped, k.cost_usd, coalesce(k.in_flight, 0),
    coalesce(k.waiting, 0) + coalesce(b.waiting, 0)
  from cells c
  join requests r on r.run_id = p_run and r.request_index = c.request_index
  left join calls k on k.request_index = c.request_index and k.model_id = c.model_id
  left join booked b on b.request_index = c.request_index and b.model_id = c.model_id
  order by c.request_index, c.first_task
$$;

-- The cells of a report with the names and the case facts that belong to them.
create function list_report_cells(p_run text) returns table (
  task int, request_index int, request_name text, model_id text, case_id text, attempt int, generation int,
  try_number int, detail text, answer_preview text, weight float8, cluster text, tags text,
  origin_run text, origin_task int, origin_attempt int, origin_generation int, mismatch boolean
) language sql stable set enable_nestloop = off as $$
  select t.task, t.request_index, r.name, t.model_id, t.case_id, a.attempt, a.generation, a.try_number, a.detail,
    a.answer_preview, c.weight, c.cluster, c.tags, a.origin_run, a.origin_task, a.origin_attempt,
    a.origin_generation, a.mismatch
  from latest_attempts a
  join tasks t on t.run_id = p_run and t.task = a.task
  join requests r on r.run_id = p_run and r.request_index = t.request_index
  join cases c on c.run_id = p_run and c.suite_key = r.suite_key and c.case_id = t.case_id
  where a.run_id = p_run
  order by a.task, a.attempt
$$;
