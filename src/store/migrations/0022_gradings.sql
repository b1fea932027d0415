-- Gradings of a whole run after the first one. Each opened a generation, and holds until the next.
create table gradings (
  run_id text collate "C" not null,
  generation int not null,
  -- Scorers of every case, as JSON; null = those of the suites and cases.
  scorers text,
  primary key (run_id, generation)
);

-- Whether a cell has an answer to grade: one of its own, or, where a grading was stopped, that of its origin.
create function is_answered(p_outcome text, p_origin_run text) returns boolean language sql immutable as $$
  select coalesce(p_outcome in ('scored', 'unscored'), false) or p_origin_run is not null
$$;

-- Whether a cell that is asked for again has an answer that is there: it is graded, and nothing is run. Of an attempt
-- that was cut off before its grade this is known where it is one call or one external agent (p_one_step). A score was
-- asked for by name: such a cell runs.
create function has_answer(p_cell attempts, p_gradable boolean, p_one_step boolean) returns boolean
language sql stable as $$
  select p_gradable and p_cell.planned and p_cell.outcome is distinct from 'scored' and (
    p_cell.origin_run is not null or p_cell.outcome = 'unscored'
    or (p_cell.outcome = 'interrupted' and p_one_step and coalesce((
      select r.answered from command_runs r where r.run_id = p_cell.run_id and r.task = p_cell.task
        and r.attempt = p_cell.attempt and r.generation = p_cell.generation and r.try_number = p_cell.try_number
    ), exists (
      select from model_calls c where c.run_id = p_cell.run_id and c.task = p_cell.task
        and c.attempt = p_cell.attempt and c.generation = p_cell.generation and c.try_number = p_cell.try_number
        and c.purpose = 'agent' and c.step = 1 and c.state = 'completed')))) is true
$$;

-- Opens a generation in which every answer of a run that has ended is graded again and nothing is run. p_tasks,
-- p_digests, p_gradable: the fingerprints of the new scores, and which answers can be graded now. The others get
-- p_detail: no score of this version. With none that can, nothing changes. The run ends as it had ended before.
-- The same token again answers what it answered before.
create function plan_grading(
  p_run text, p_token text, p_scorers text, p_budgets jsonb, p_tasks int[], p_digests text[], p_gradable boolean[],
  p_code text, p_detail text, out generation int, out cells int, out ungradable int
) language plpgsql set enable_nestloop = off as $$
#variable_conflict use_column
declare
  run runs;
begin
  perform pg_advisory_xact_lock(hashtext('assay/generation/' || p_run));
  select * into run from runs where run_id = p_run;
  if not found then
    raise exception 'There is no run %.', p_run using errcode = 'AS001';
  elsif run.generation_token is distinct from p_token and run.finished_at is null then
    raise exception 'Run % has not ended (it is %): wait for its end, or cancel it first.', p_run, run.state
      using errcode = 'AS005';
  end if;
  generation := run.generation;
  if run.generation_token = p_token then
    select count(*) filter (where reason_code is distinct from p_code), count(*) filter (where reason_code = p_code)
    into cells, ungradable from attempts where run_id = p_run and generation = run.generation;
    return;
  end if;
  select count(*) filter (where n.gradable), count(*) filter (where not n.gradable) into cells, ungradable
  from latest_attempts a join unnest(p_tasks, p_gradable) as n(task, gradable) on n.task = a.task
  where a.run_id = p_run and is_answered(a.outcome, a.origin_run);
  if cells = 0 then return; end if;
  generation := run.generation + 1;
  update tasks t set grading_digest = n.digest, gradable = n.gradable
  from unnest(p_tasks, p_digests, p_gradable) as n(task, digest, gradable)
  where t.run_id = p_run and t.task = n.task;
  insert into attempts (run_id, task, attempt, generation, origin_run, origin_task, origin_attempt, origin_generation,
    mismatch, outcome, reason_code, detail, settled, recorded_at, try_number, answer_digest, answer_preview, plan_digest)
  select p_run, a.task, a.attempt, plan_grading.generation, coalesce(a.origin_run, p_run),
    coalesce(a.origin_task, a.task), coalesce(a.origin_attempt, a.attempt),
    coalesce(a.origin_generation, a.generation), a.mismatch,
    case when not t.gradable then 'unscored' end, case when not t.gradable then p_code end,
    case when not t.gradable then p_detail end, not t.gradable, case when not t.gradable then clock_timestamp() end,
    case when t.gradable then 0 else a.try_number end, case when not t.gradable then a.answer_digest end,
    case when not t.gradable then a.answer_preview end, a.plan_digest
  from latest_attempts a join tasks t on t.run_id = p_run and t.task = a.task
  where a.run_id = p_run and is_answered(a.outcome, a.origin_run);
  update attempts a set latest = false from attempts n
  where n.run_id = p_run and n.generation = run.generation + 1
    and a.run_id = p_run and a.task = n.task and a.attempt = n.attempt and a.generation <= run.generation and a.latest;
  insert into gradings (run_id, generation, scorers) values (p_run, run.generation + 1, p_scorers);
  perform reopen_requests(p_run, run.generation + 1);
  perform set_caps(p_run, p_budgets);
  update runs set
    generation = plan_grading.generation, generation_token = p_token, state = 'running',
    kept_state = run.state, kept_reason = run.frozen_reason,
    frozen_state = null, frozen_reason = null, stop_reason = null, finished_at = null
  where run_id = p_run;
  perform pg_notify('assay_run', p_run);
end $$;

-- How often the answers of a run had been graded when a generation was open; 1 = once.
create function score_version(p_run text, p_generation int) returns int language sql stable as $$
  select 1 + count(*)::int from gradings where run_id = p_run and generation <= p_generation
$$;
