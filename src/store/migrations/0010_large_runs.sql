-- A run of 100,000 cells stays quick, also before its tables were ever analysed: which row counts for a cell is
-- a column and not a sort, and no statement joins two sets that the planner cannot estimate.
alter table attempts add column latest boolean not null default true;
update attempts a set latest = false
where exists (select from attempts b where b.run_id = a.run_id and b.task = a.task and b.attempt = a.attempt
  and b.generation > a.generation);

-- The row that counts for each cell: its latest generation, unless strategy `pass` took it out of the plan.
drop view latest_attempts;
create view latest_attempts as select * from attempts where latest and planned;

-- Live counts by request and model. Hash joins whatever the statistics say: a loop over tables that have just
-- been filled is what made it quadratic.
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
    select t.request_index, t.model_id, sum(c.cost_usd) as cost_usd,
      count(*) filter (where c.state = 'started') as in_flight,
      count(*) filter (where c.state = 'failed' and c.retry_at > now()) as waiting
    from model_calls c join tasks t on t.run_id = p_run and t.task = c.task
    where c.run_id = p_run
    group by t.request_index, t.model_id
  )
  select c.request_index, r.name, c.model_id, c.planned, c.done, c.scored, c.pass, c.mean_score, c.errors, c.unscored,
    c.not_run, c.skipped, k.cost_usd, coalesce(k.in_flight, 0), coalesce(k.waiting, 0)
  from cells c
  join requests r on r.run_id = p_run and r.request_index = c.request_index
  left join calls k on k.request_index = c.request_index and k.model_id = c.model_id
  order by c.request_index, c.first_task
$$;

-- The cells of a report with the names and the case facts that belong to them.
create function list_report_cells(p_run text) returns table (
  task int, request_index int, request_name text, model_id text, case_id text, attempt int, generation int,
  try_number int, detail text, answer_preview text, weight float8, cluster text, tags text
) language sql stable set enable_nestloop = off as $$
  select t.task, t.request_index, r.name, t.model_id, t.case_id, a.attempt, a.generation, a.try_number, a.detail,
    a.answer_preview, c.weight, c.cluster, c.tags
  from latest_attempts a
  join tasks t on t.run_id = p_run and t.task = a.task
  join requests r on r.run_id = p_run and r.request_index = t.request_index
  join cases c on c.run_id = p_run and c.suite_key = r.suite_key and c.case_id = t.case_id
  where a.run_id = p_run
  order by a.task, a.attempt
$$;

-- As in 0007.
create or replace function settle_unrecorded(
  p_run text, p_generation int, p_code text, p_interrupted_detail text, p_not_run_detail text,
  out interrupted int, out not_run int
) language plpgsql as $$
#variable_conflict use_column
declare
  open_attempt record;
begin
  perform 1 from attempts
  where run_id = p_run and generation <= p_generation and planned and outcome is null
  order by task, attempt, generation for update;
  with settled as (
    update attempts a set
      (outcome, detail, try_number) = (
        select case when max(c.try_number) is null then 'not_run' else 'interrupted' end,
          case when max(c.try_number) is null then p_not_run_detail else p_interrupted_detail end,
          coalesce(max(c.try_number), 0)
        from model_calls c
        where c.run_id = p_run and c.task = a.task and c.attempt = a.attempt and c.generation = a.generation
          and (c.state in ('started', 'lost', 'late', 'completed') or c.input_tokens > 0 or c.output_tokens > 0)
      ),
      reason_code = p_code, settled = true, recorded_at = clock_timestamp()
    where a.run_id = p_run and a.generation <= p_generation and a.planned and a.outcome is null
    returning a.outcome
  )
  select count(*) filter (where outcome = 'interrupted'), count(*) filter (where outcome = 'not_run')
  into interrupted, not_run from settled;
  -- All call rows before the first reservation: the lock order of 0004.
  perform 1 from model_calls
  where run_id = p_run and generation <= p_generation and state = 'started'
  order by task, attempt, generation, try_number, purpose, step, request_number for update;
  for open_attempt in
    select distinct task, attempt, generation from model_calls
    where run_id = p_run and generation <= p_generation and state = 'started'
  loop
    perform lose_open_calls(p_run, open_attempt.task, open_attempt.attempt, open_attempt.generation);
  end loop;
end $$;

-- As in 0008.
create or replace function plan_generation(
  p_run text, p_token text, p_outcomes text[], p_budgets jsonb, p_interrupted_detail text, p_not_run_detail text,
  out generation int, out cells int
) language plpgsql set enable_nestloop = off as $$
#variable_conflict use_column
declare
  run runs;
begin
  perform pg_advisory_xact_lock(hashtext('assay/generation/' || p_run));
  select * into run from runs where run_id = p_run;
  if not found then
    raise exception 'There is no run %.', p_run using errcode = 'AS001';
  end if;
  generation := run.generation;
  if run.generation_token = p_token then
    select count(*) into cells from attempts where run_id = p_run and generation = run.generation;
    return;
  end if;
  if run.finished_at is null then
    raise exception 'Run % has not ended (it is %): wait for its end, or cancel it first.', p_run, run.state
      using errcode = 'AS005';
  end if;
  generation := run.generation + 1;
  insert into attempts (run_id, task, attempt, generation)
  select p_run, task, attempt, plan_generation.generation from (
    select task, attempt, planned, chosen,
      min(attempt) filter (where chosen) over (partition by task) as first_chosen
    from (
      select task, attempt, planned, planned and (outcome is null or outcome = any (p_outcomes)) as chosen
      from attempts where run_id = p_run and latest
    ) latest
  ) cells
  -- A cell that runs again under `pass` brings back the later ones that a pass had taken out.
  where chosen or (not planned and attempt > first_chosen);
  get diagnostics cells = row_count;
  if cells = 0 then
    generation := run.generation;
    return;
  end if;
  update attempts a set latest = false from attempts n
  where n.run_id = p_run and n.generation = run.generation + 1
    and a.run_id = p_run and a.task = n.task and a.attempt = n.attempt and a.generation <= run.generation and a.latest;
  perform settle_unrecorded(p_run, run.generation, 'unrecorded', p_interrupted_detail, p_not_run_detail);
  perform set_caps(p_run, p_budgets);
  update runs set
    generation = plan_generation.generation, generation_token = p_token, state = 'running',
    frozen_state = null, frozen_reason = null, stop_reason = null, finished_at = null
  where run_id = p_run;
  perform pg_notify('assay_run', p_run);
end $$;
