-- Records the outcome of a planned cell: the first write wins, a redelivery of the same try gets the stored
-- row, a result after the run was settled is kept as a late try, anything else is an error.
create function record_attempt(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int,
  p_outcome text, p_score float8, p_pass boolean, p_reason_code text, p_detail text,
  p_answer_digest text, p_answer_preview text,
  p_scores jsonb,
  out recorded boolean, out stored_detail text
) language plpgsql as $$
declare
  cell attempts;
begin
  update attempts set
    outcome = p_outcome, score = p_score, pass = p_pass, reason_code = p_reason_code, detail = p_detail,
    try_number = p_try, answer_digest = p_answer_digest, answer_preview = p_answer_preview,
    recorded_at = clock_timestamp()
  where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation
    and planned and outcome is null;
  recorded := found;
  if not recorded then
    select * into cell from attempts
    where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation;
    if not found or not cell.planned then
      raise exception 'Task %, attempt %, generation % is not in the plan of run %.', p_task, p_attempt,
        p_generation, p_run using errcode = 'AS003';
    elsif cell.settled and p_outcome = 'not_run' and cell.outcome = 'not_run' then
      -- A cell that the breaker has blocked says so itself.
      null;
    elsif cell.settled then
      insert into tries (run_id, task, attempt, generation, try_number, late, detail)
      values (p_run, p_task, p_attempt, p_generation, p_try, true, p_detail) on conflict do nothing;
    elsif cell.try_number <> p_try then
      raise exception 'Task %, attempt %, generation % of run % was recorded by try %, not by try %.', p_task,
        p_attempt, p_generation, p_run, cell.try_number, p_try using errcode = 'AS004';
    end if;
    stored_detail := cell.detail;
    return;
  end if;
  stored_detail := p_detail;
  insert into scores (run_id, task, attempt, generation, score_version, scorer, position, kind, weight, required,
    value, pass, code, explanation, metrics)
  select p_run, p_task, p_attempt, p_generation,
    case when p_generation = 1 then 1 else score_version(p_run, p_generation) end, s.scorer, s.position, s.kind,
    s.weight, s.required, s.value, s.pass, s.code, s.explanation, s.metrics
  from rows from (jsonb_to_recordset(p_scores) as (scorer text, kind text, weight float8, required boolean,
      value float8, pass boolean, code text, explanation text, metrics text))
    with ordinality as s(scorer, kind, weight, required, value, pass, code, explanation, metrics, position);
  if p_outcome = 'scored' and p_pass then
    update attempts a set planned = false
    from tasks t join requests r on r.run_id = t.run_id and r.request_index = t.request_index
    where t.run_id = p_run and t.task = p_task and r.strategy = 'pass'
      and a.run_id = p_run and a.task = p_task and a.generation = p_generation and a.attempt > p_attempt
      and (a.outcome is null or (a.settled and a.reason_code = 'engine_down'));
  end if;
  perform lose_open_calls(p_run, p_task, p_attempt, p_generation);
  if p_outcome in ('error', 'infra') and (select fail_fast from runs where run_id = p_run) then
    perform freeze_run(p_run, 'aborted', format('Task %s ended as %s and the run stops at the first failure.',
      p_task, p_outcome));
  end if;
end $$;

-- Records several cells of a run in one transaction, in the order of the lock order: by task and attempt.
-- Answers carry the position of their record. One that is refused refuses all: they are then sent one by one.
create function record_attempts(p_run text, p_records jsonb)
returns table (ordinal bigint, recorded boolean, stored_detail text)
language plpgsql as $$
declare
  one record;
begin
  for one in
    select r.* from rows from (jsonb_to_recordset(p_records) as (task int, attempt int, generation int, try int,
        outcome text, score float8, pass boolean, reason_code text, detail text, answer_digest text,
        answer_preview text, scores jsonb))
      with ordinality as r(task, attempt, generation, try, outcome, score, pass, reason_code, detail,
        answer_digest, answer_preview, scores, ordinal)
    order by r.task, r.attempt, r.generation
  loop
    ordinal := one.ordinal;
    select a.recorded, a.stored_detail into recorded, stored_detail
    from record_attempt(p_run, one.task, one.attempt, one.generation, one.try, one.outcome, one.score, one.pass,
      one.reason_code, one.detail, one.answer_digest, one.answer_preview, one.scores) a;
    return next;
  end loop;
end $$;

-- Gives every planned cell up to a generation that is still open its outcome: interrupted when tokens were
-- (or may have been) spent on it, else not_run with zero tries. Then nothing of the run is reserved any more.
create function settle_unrecorded(
  p_run text, p_generation int, p_code text, p_interrupted_detail text, p_not_run_detail text,
  out interrupted int, out not_run int
) language plpgsql as $$
#variable_conflict use_column
declare
  open_attempt record;
begin
  -- What is complete before anything is cut off stays so.
  perform finish_requests(p_run, null);
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
  perform end_requests(p_run, (select frozen_state from runs where run_id = p_run));
end $$;
