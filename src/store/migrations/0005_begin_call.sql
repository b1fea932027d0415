-- Freezes a run unless it is frozen already: the first terminal state wins.
create function freeze_run(p_run text, p_state text, p_reason text) returns text
language plpgsql as $$
declare
  frozen text;
begin
  update runs set
    frozen_state = p_state, frozen_reason = p_reason, stop_reason = p_state,
    state = case when finished_at is null then 'finalizing' else state end
  where run_id = p_run and frozen_state is null and finished_at is null;
  if found then
    perform pg_notify('assay_run', p_run);
    return p_state;
  end if;
  select coalesce(frozen_state, state) into frozen from runs where run_id = p_run;
  return frozen;
end $$;

-- Reserves in both scopes or in neither, and stops what has used up its cap. Null kind = reserved.
create function reserve_call(
  p_run text, p_model text, p_tokens bigint, p_usd numeric, p_warn boolean,
  out kind text, out scope text, out cap numeric, out needed numeric, out unit text
) language plpgsql as $$
declare
  answer record;
begin
  scope := 'run';
  select * into answer from reserve_scope(p_run, 'run', p_tokens, p_usd, p_warn);
  if answer.refusal is null then
    scope := 'model';
    select * into answer from reserve_scope(p_run, 'model/' || p_model, p_tokens, p_usd, p_warn);
    if answer.refusal is null then return; end if;
    perform unreserve_scope(p_run, 'run', p_tokens, p_usd);
  end if;
  cap := answer.cap;
  needed := answer.needed;
  unit := answer.unit;
  kind := case answer.refusal when 'wait' then 'wait' else 'over_budget' end;
  if kind = 'wait' then return; end if;
  if scope = 'model' then
    update reservations r set stop_reason = 'budget'
    where r.run_id = p_run and r.scope = 'model/' || p_model and r.stop_reason is null;
  else
    perform freeze_run(p_run, 'stopped_budget', format(
      'The budget of the run, %s %s, does not allow another call: it could bring the sum to %s.',
      trim_scale(cap), case unit when 'usd' then 'USD' else unit end, trim_scale(needed)));
  end if;
end $$;

-- Gives back what reserve_call took in both scopes.
create function unreserve_call(p_run text, p_model text, p_tokens bigint, p_usd numeric) returns void
language plpgsql as $$
begin
  perform unreserve_scope(p_run, 'run', p_tokens, p_usd);
  perform unreserve_scope(p_run, 'model/' || p_model, p_tokens, p_usd);
end $$;

-- The only owner of stop, breaker, pause, budget, rate and retry count: decides about one call and, when it is
-- granted, writes its row. One round trip; without caps and rates one row read, one joined read and one insert.
create function begin_call(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_purpose text, p_step int,
  p_model text, p_engine text, p_worst_tokens bigint, p_worst_usd numeric, p_max_retries int, p_waited_ms float8,
  out kind text, out request_number int, out failures int,
  out reason text, out scope text, out cap numeric, out needed numeric, out unit text, out wait_ms float8,
  out answer_digest text, out finish_reason text, out notes text, out cost_usd numeric, out latency_ms float8,
  out input_tokens bigint, out output_tokens bigint, out reasoning_tokens bigint,
  out cache_read_tokens bigint, out cache_write_tokens bigint, out failure_class text, out failure_message text,
  out probe boolean
) language plpgsql as $$
#variable_conflict use_column
declare
  call model_calls;
  state record;
  fits record;
  start record;
  limited boolean := false;
  taken_tokens bigint;
  own_role text := call_role(p_purpose);
  own_key text := concat_ws('/', p_run, p_task, p_attempt, p_generation, p_try, p_purpose, p_step);
begin
  probe := false;
  select * into call from model_calls c
  where c.run_id = p_run and c.task = p_task and c.attempt = p_attempt and c.generation = p_generation
    and c.try_number = p_try and c.purpose = p_purpose and c.step = p_step
  order by c.request_number desc limit 1 for update;

  request_number := coalesce(call.request_number, 0);
  failures := coalesce(call.failures, 0);
  if call.state = 'completed' then
    kind := 'recorded';
    answer_digest := call.answer_digest; finish_reason := call.finish_reason; notes := call.notes;
    cost_usd := call.cost_usd; latency_ms := call.latency_ms;
    input_tokens := call.input_tokens; output_tokens := call.output_tokens;
    reasoning_tokens := call.reasoning_tokens;
    cache_read_tokens := call.cache_read_tokens; cache_write_tokens := call.cache_write_tokens;
    return;
  elsif call.state = 'failed' and (call.retry_at is null or call.failures > p_max_retries) then
    kind := 'failed'; failure_class := call.failure_class; failure_message := call.failure_message;
    return;
  elsif call.state = 'started' then
    perform share_engine(p_engine, own_role);
    perform lose_call(call);
    call.finished_at := clock_timestamp();
  end if;

  perform share_engine(p_engine, own_role);
  select r.stop_reason, r.generation, r.has_caps, r.on_exceed, e.paused_until, e.requests_per_minute,
    e.tokens_per_minute, h.tripped_at, h.half_open_at, h.reason as trip_reason, h.message as trip_message,
    h.engine_id is not null and not is_alive(h) as watched,
    h.probe is not null and h.probe <> own_key and h.probe_until > clock_timestamp() as held
  into state
  from runs r
  left join engines e on e.engine_id = p_engine
  left join engine_health h on h.engine_id = p_engine and h.role = own_role
  where r.run_id = p_run;
  if not found then
    raise exception 'There is no run %.', p_run using errcode = 'AS001';
  end if;
  if state.stop_reason is not null or state.generation <> p_generation then
    kind := 'stopped'; reason := coalesce(state.stop_reason, 'superseded');
    return;
  end if;
  if state.tripped_at is not null and state.half_open_at is null then
    kind := 'engine_down'; reason := state.trip_reason; failure_message := state.trip_message;
    return;
  end if;
  wait_ms := extract(epoch from greatest(state.half_open_at, state.paused_until, call.retry_at) - clock_timestamp())
    * 1000;
  if wait_ms > 0 then
    kind := 'wait';
    reason := case when state.half_open_at > clock_timestamp() then 'engine_down'
      when state.paused_until > clock_timestamp() then 'engine_paused' else 'retry' end;
    return;
  end if;
  if state.watched and state.held then
    kind := 'wait'; reason := 'probe'; wait_ms := 1000;
    return;
  end if;
  if state.has_caps then
    select * into fits from reserve_call(p_run, p_model, p_worst_tokens, p_worst_usd, state.on_exceed = 'warn');
    if fits.kind is not null then
      kind := fits.kind; scope := fits.scope; cap := fits.cap; needed := fits.needed; unit := fits.unit;
      reason := 'reservation'; wait_ms := 500;
      return;
    end if;
  end if;

  if state.requests_per_minute is not null or state.tokens_per_minute is not null then
    select * into start from look_start(p_run, p_task, p_attempt, p_generation, p_try, p_purpose, p_step,
      p_engine, state.requests_per_minute, state.tokens_per_minute, p_worst_tokens);
    if start.wait_ms is not null then
      kind := 'wait'; reason := 'rate'; wait_ms := start.wait_ms;
      if state.has_caps then
        perform unreserve_call(p_run, p_model, p_worst_tokens, p_worst_usd);
      end if;
      return;
    end if;
    taken_tokens := case when state.tokens_per_minute is not null then start.tokens end;
    limited := true;
  end if;

  if state.watched then
    probe := take_probe(p_engine, own_role, own_key);
    -- Another call was quicker, or the engine has been found alive meanwhile.
    if not probe then
      kind := 'wait'; reason := 'probe'; wait_ms := 50;
      if state.has_caps then
        perform unreserve_call(p_run, p_model, p_worst_tokens, p_worst_usd);
      end if;
      return;
    end if;
  end if;

  request_number := begin_call.request_number + 1;
  insert into model_calls (
    run_id, task, attempt, generation, try_number, purpose, step, request_number, model_id, engine_id,
    failures, worst_tokens, worst_usd, rate_tokens, reserved, waited_ms
  ) values (
    p_run, p_task, p_attempt, p_generation, p_try, p_purpose, p_step, begin_call.request_number, p_model,
    p_engine, begin_call.failures, p_worst_tokens, p_worst_usd, taken_tokens, state.has_caps,
    case when call.finished_at is null then p_waited_ms
      else greatest(0, extract(epoch from clock_timestamp() - call.finished_at) * 1000) end
  ) on conflict do nothing;
  if found then
    kind := 'granted';
    if limited then
      perform take_start(p_run, p_task, p_attempt, p_generation, p_try, p_purpose, p_step, p_engine,
        state.requests_per_minute, state.tokens_per_minute, start.tokens, start.now_ms);
    end if;
    return;
  end if;
  -- Another delivery of the same call was quicker. Asked again in a new transaction, because taking the
  -- call row now, after the reservations, would break the lock order.
  kind := 'again';
  if state.has_caps then
    perform unreserve_call(p_run, p_model, p_worst_tokens, p_worst_usd);
  end if;
end $$;
