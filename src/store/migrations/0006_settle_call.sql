-- Corrects a lost call when the truth about it comes late: its usage counts, its answer does not.
create function settle_late_call(
  p_call model_calls, p_tokens bigint, p_usd numeric, p_usage bigint[], p_latency_ms float8
) returns void language plpgsql as $$
begin
  update model_calls set
    state = 'late', estimated = p_tokens is null or (p_usd is null and worst_usd is not null),
    input_tokens = p_usage[1], output_tokens = p_usage[2], reasoning_tokens = p_usage[3],
    cache_read_tokens = p_usage[4], cache_write_tokens = p_usage[5],
    cost_usd = p_usd, latency_ms = p_latency_ms,
    charged_tokens = coalesce(p_tokens, charged_tokens), charged_usd = coalesce(p_usd, charged_usd)
  where run_id = p_call.run_id and task = p_call.task and attempt = p_call.attempt
    and generation = p_call.generation and try_number = p_call.try_number
    and purpose = p_call.purpose and step = p_call.step and request_number = p_call.request_number;
  if not p_call.reserved then return; end if;
  update reservations set
    spent_tokens = spent_tokens + coalesce(p_tokens - p_call.charged_tokens, 0),
    spent_usd = spent_usd + coalesce(p_usd - p_call.charged_usd, 0)
  where run_id = p_call.run_id and scope = 'run';
  update reservations set
    spent_tokens = spent_tokens + coalesce(p_tokens - p_call.charged_tokens, 0),
    spent_usd = spent_usd + coalesce(p_usd - p_call.charged_usd, 0)
  where run_id = p_call.run_id and scope = 'model/' || p_call.model_id;
end $$;

-- Settles a started call as completed or failed. Answers settled, repeated (the same end again) or late
-- (the row had been given up: only the usage is kept). An answer is a sign of life of its engine; `news`: the
-- engine's other calls may start now.
-- p_spent: known = usage and cost as given, unknown parts at the worst case; none = nothing was spent;
-- unknown = charged at the worst case. p_usage: input, output, reasoning, cache read, cache write.
create function settle_call(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_purpose text, p_step int,
  p_request int, p_state text, p_spent text, p_usage bigint[], p_cost_usd numeric, p_latency_ms float8,
  p_finish_reason text, p_answer_digest text, p_notes text,
  p_class text, p_message text, p_retry_in_ms float8, p_counts boolean, out settled text, out news boolean
) language plpgsql as $$
declare
  call model_calls;
  known_tokens bigint := case p_spent when 'none' then 0 when 'known' then
    case when p_usage[1] is null then p_usage[2] else p_usage[1] + coalesce(p_usage[2], 0) end end;
  known_usd numeric := case p_spent when 'none' then 0 when 'known' then p_cost_usd end;
begin
  news := false;
  update model_calls set
    state = p_state, finished_at = clock_timestamp(), latency_ms = p_latency_ms,
    charged_tokens = coalesce(known_tokens, worst_tokens), charged_usd = coalesce(known_usd, worst_usd),
    estimated = known_tokens is null or (known_usd is null and worst_usd is not null),
    input_tokens = p_usage[1], output_tokens = p_usage[2], reasoning_tokens = p_usage[3],
    cache_read_tokens = p_usage[4], cache_write_tokens = p_usage[5], cost_usd = p_cost_usd,
    finish_reason = p_finish_reason, answer_digest = p_answer_digest, notes = p_notes,
    failure_class = p_class, failure_message = p_message,
    failures = failures + case when p_state = 'failed' and p_counts then 1 else 0 end,
    retry_at = clock_timestamp() + p_retry_in_ms * interval '1 millisecond'
  where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation
    and try_number = p_try and purpose = p_purpose and step = p_step and request_number = p_request
    and state = 'started'
  returning * into call;
  if found then
    perform settle_reservation(call, call.charged_tokens, call.charged_usd);
    if call.rate_tokens is not null then
      perform correct_tokens(call, known_tokens, p_state = 'completed');
    end if;
    -- What the end of an external agent says, only its caller knows.
    if p_state = 'completed' and p_purpose <> 'command' then
      news := note_life(call.engine_id, call_role(p_purpose), p_run);
    end if;
    settled := 'settled';
    return;
  end if;
  select * into call from model_calls
  where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation
    and try_number = p_try and purpose = p_purpose and step = p_step and request_number = p_request
  for update;
  if not found then
    raise exception 'Request % of this call was never begun.', p_request using errcode = 'AS002';
  end if;
  settled := case when call.state = p_state then 'repeated' else 'late' end;
  if call.state = 'lost' and p_spent <> 'unknown' then
    perform settle_late_call(call, known_tokens, known_usd, p_usage, p_latency_ms);
  end if;
end $$;

-- Completes a call and, in the same round trip, keeps its answer and the transcript row of an agent's step.
create function complete_call(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_purpose text, p_step int,
  p_request int, p_usage bigint[], p_cost_usd numeric, p_latency_ms float8, p_finish_reason text,
  p_answer_digest text, p_answer bytea, p_sequence int, p_notes text,
  out settled text, out news boolean
) language plpgsql as $$
begin
  select s.settled, s.news into settled, news from settle_call(p_run, p_task, p_attempt, p_generation, p_try, p_purpose, p_step, p_request,
    'completed', 'known', p_usage, p_cost_usd, p_latency_ms, p_finish_reason, p_answer_digest, p_notes,
    null, null, null, false) s;
  if settled = 'settled' then
    perform keep_blob(p_answer_digest, p_answer);
    if p_sequence is not null then
      insert into steps (run_id, task, attempt, generation, try_number, sequence, role, digest)
      values (p_run, p_task, p_attempt, p_generation, p_try, p_sequence, 'assistant', p_answer_digest)
      on conflict do nothing;
    end if;
  end if;
end $$;
