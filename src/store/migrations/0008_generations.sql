-- The row that counts for each cell: its latest generation, unless strategy `pass` took it out of the plan.
create view latest_attempts as select * from attempts where latest and planned;

-- Ends a run. Completion is exact: every planned cell is recorded, else the run is not completed and up to
-- twenty missing cells are named. A frozen state stays whatever is missing. p_note: what a completed run left out.
create function finish_run(
  p_run text, p_generation int, p_note text, out state text, out planned int, out recorded int, out missing json
) language plpgsql as $$
#variable_conflict use_column
declare
  run runs;
  unprepared text;
begin
  select * into run from runs where run_id = p_run for update;
  if not found then
    raise exception 'There is no run %.', p_run using errcode = 'AS001';
  end if;
  unprepared := explain_unprepared(p_run);
  select count(*), count(outcome) into planned, recorded from latest_attempts where run_id = p_run;
  select coalesce(json_agg(json_build_object('task', task, 'attempt', attempt, 'generation', generation,
    'requestIndex', request_index, 'modelId', model_id, 'caseId', case_id)), '[]') into missing
  from (
    select * from latest_attempts a join tasks t using (run_id, task)
    where a.run_id = p_run and a.outcome is null order by a.task, a.attempt limit 20
  ) cells;
  state := run.state;
  if run.finished_at is not null or run.generation <> p_generation then return; end if;
  state := coalesce(run.frozen_state, case
    when planned > 0 and planned = recorded and unprepared is null then coalesce(run.kept_state, 'completed')
    else 'failed' end);
  perform finish_requests(p_run, null);
  perform end_requests(p_run, state);
  update runs set
    state = finish_run.state, frozen_state = finish_run.state, stop_reason = finish_run.state,
    finished_at = clock_timestamp(),
    frozen_reason = case
      when run.frozen_state is not null then run.frozen_reason
      when planned = 0 then 'Nothing was planned.'
      when recorded < planned then format('%s of %s planned cells have no result.', planned - recorded, planned)
      when run.kept_state <> 'completed' then run.kept_reason
      when unprepared is not null then concat_ws(' ', unprepared, p_note)
      else p_note
    end
  where run_id = p_run;
  perform leave_lines(p_run);
  perform pg_notify('assay_run', p_run);
end $$;

-- Brings caps up to date and the reservations to what was really charged. Nothing may be open.
create function set_caps(p_run text, p_budgets jsonb) returns void
language plpgsql as $$
declare
  run runs;
begin
  update runs set
    max_run_usd = case when p_budgets ? 'maxRunUsd' then (p_budgets ->> 'maxRunUsd')::numeric else max_run_usd end,
    max_model_usd = case when p_budgets ? 'maxModelUsd' then (p_budgets ->> 'maxModelUsd')::numeric
      else max_model_usd end,
    max_run_tokens = case when p_budgets ? 'maxRunTokens' then (p_budgets ->> 'maxRunTokens')::bigint
      else max_run_tokens end
  where run_id = p_run returning * into run;
  update runs set has_caps = num_nonnulls(max_run_usd, max_model_usd, max_run_tokens) > 0 where run_id = p_run;
  delete from reservations where run_id = p_run;
  if num_nonnulls(run.max_run_usd, run.max_run_tokens) > 0 then
    insert into reservations (run_id, scope, cap_usd, cap_tokens, spent_usd, spent_tokens)
    select p_run, 'run', run.max_run_usd, run.max_run_tokens, coalesce(sum(charged_usd), 0),
      coalesce(sum(charged_tokens), 0)
    from model_calls where run_id = p_run;
  end if;
  if run.max_model_usd is not null then
    insert into reservations (run_id, scope, cap_usd, spent_usd, spent_tokens)
    select p_run, 'model/' || m.model_id, run.max_model_usd, coalesce(sum(c.charged_usd), 0),
      coalesce(sum(c.charged_tokens), 0)
    from (select distinct model_id from tasks where run_id = p_run) m
    left join model_calls c on c.run_id = p_run and c.model_id = m.model_id
    group by m.model_id;
  end if;
end $$;

-- Opens the next generation with the cells whose latest outcome is named, and those never recorded. Models that
-- would be skipped again keep their skipped cells. p_one_step: requests whose attempts are one step each.
-- The same token again answers what it answered before.
create function plan_generation(
  p_run text, p_token text, p_outcomes text[], p_budgets jsonb, p_interrupted_detail text, p_not_run_detail text,
  p_skipped_models text[], p_one_step int[], out generation int, out cells int
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
  insert into attempts (run_id, task, attempt, generation, origin_run, origin_task, origin_attempt, origin_generation,
    mismatch)
  select p_run, task, attempt, plan_generation.generation, case when answered then coalesce(origin_run, p_run) end,
    case when answered then coalesce(origin_task, task) end,
    case when answered then coalesce(origin_attempt, attempt) end,
    case when answered then coalesce(origin_generation, cells.generation) end, answered and mismatch
  from (
    select latest.*, min(attempt) filter (where chosen) over (partition by task) as first_chosen,
      coalesce(bool_or(planned and pass and not chosen) over (partition by task), false) as solved
    from (
      -- An answer that is there is graded again, and nothing is run, where that can be.
      select a.task, a.attempt, a.generation, a.planned, a.pass, a.origin_run, a.origin_task, a.origin_attempt,
        a.origin_generation, a.mismatch, has_answer(a, t.gradable, t.request_index = any (p_one_step)) as answered,
        a.planned and (a.outcome is null or a.outcome = any (p_outcomes))
        and not (a.outcome = 'skipped' and t.model_id = any (p_skipped_models)) is true as chosen
      from attempts a join tasks t on t.run_id = p_run and t.task = a.task
      where a.run_id = p_run and a.latest
    ) latest
  ) cells
  -- A pass that runs again brings back the later ones that it had taken out; one that stays keeps them out.
  where chosen or (not planned and attempt > first_chosen and not solved);
  get diagnostics cells = row_count;
  if cells = 0 then
    generation := run.generation;
    return;
  end if;
  update attempts a set latest = false from attempts n
  where n.run_id = p_run and n.generation = run.generation + 1
    and a.run_id = p_run and a.task = n.task and a.attempt = n.attempt and a.generation <= run.generation and a.latest;
  perform settle_unrecorded(p_run, run.generation, 'unrecorded', p_interrupted_detail, p_not_run_detail);
  perform reopen_requests(p_run, run.generation + 1);
  perform set_caps(p_run, p_budgets);
  update runs set
    generation = plan_generation.generation, generation_token = p_token, state = 'running',
    kept_state = null, kept_reason = null,
    frozen_state = null, frozen_reason = null, stop_reason = null, finished_at = null
  where run_id = p_run;
  perform pg_notify('assay_run', p_run);
end $$;
