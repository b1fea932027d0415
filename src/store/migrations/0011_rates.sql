-- Requests and tokens a minute of an engine: who may start now, and who comes back when (tables: 0003). The pure
-- form of these rules is src/domain/rate-line.ts.
create function clock_ms() returns double precision
language sql volatile as $$ select (extract(epoch from clock_timestamp()) * 1000)::float8 $$;

-- How long a request holds the line. 62 s and not 60: a start may be 1.5 s late, and half a second passes on the
-- way, so that no 60 s of the provider hold more than the limit.
create function request_ms(p_per_minute int) returns double precision
language sql immutable as $$ select 62000.0::float8 / p_per_minute $$;

-- The same for tokens; a request that is a large part of the limit leaves room for the next one of its size.
create function token_ms(p_tokens bigint, p_per_minute bigint) returns double precision
language sql immutable as $$
  select case when p_per_minute is not null then 62000.0::float8 * least(
    p_tokens::float8 / greatest(p_per_minute - p_tokens, 1), greatest(1.0, p_tokens::float8 / p_per_minute)) end
$$;

-- How long one more request of these tokens holds the line.
create function hold_ms(p_requests int, p_tokens_limit bigint, p_tokens bigint) returns double precision
language sql immutable as $$ select greatest(request_ms(p_requests), token_ms(p_tokens, p_tokens_limit)) $$;

-- Moves one clock of a run (null = that one stays): a run that shares the engine with n - 1 others takes every
-- n-th place.
create function move_run_clock(
  p_engine text, p_run text, p_now float8, p_hold float8, p_taken_from float8, p_next_from float8
) returns void language sql as $$
  insert into engine_rate_runs as own (engine_id, run_id, taken_ms, next_ms)
  select p_engine, p_run, coalesce(p_taken_from + p_hold * (1 + count(*)), 0),
    coalesce(p_next_from + p_hold * (1 + count(*)), 0)
  from engine_rate_runs
  where engine_id = p_engine and run_id <> p_run and greatest(taken_ms, next_ms) > p_now
  on conflict (engine_id, run_id) do update set
    taken_ms = case when p_taken_from is null then own.taken_ms else excluded.taken_ms end,
    next_ms = case when p_next_from is null then own.next_ms else excluded.next_ms end
$$;

-- Whether a call may start now (wait_ms null), or for when it has booked its start. Locks the engine's row; what
-- a start takes is written by take_start in the same transaction.
create function look_start(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_purpose text, p_step int,
  p_engine text, p_requests int, p_tokens_limit bigint, p_worst_tokens bigint,
  out wait_ms float8, out tokens bigint, out now_ms float8
) language plpgsql as $$
#variable_conflict use_column
declare
  line engine_rates;
  booking booked_starts;
  own engine_rate_runs;
  hold float8;
  free_ms float8;
  horizon float8;
  start_ms float8;
  is_paid boolean;
begin
  select * into line from engine_rates where engine_id = p_engine for update;
  now_ms := clock_ms();
  select * into booking from booked_starts b
  where b.run_id = p_run and b.task = p_task and b.attempt = p_attempt and b.generation = p_generation
    and b.try_number = p_try and b.purpose = p_purpose and b.step = p_step;
  if booking.paid and booking.start_ms > now_ms then
    wait_ms := booking.start_ms - now_ms;
    return;
  elsif booking.paid and booking.start_ms > now_ms - 1500 then
    tokens := booking.tokens;
    return;
  elsif booking.paid then
    -- Too late: its place is gone, it asks like a new one.
    booking := null;
  end if;
  tokens := ceil(p_worst_tokens * line.token_share);
  free_ms := greatest(line.requests_ms, line.tokens_ms);
  if free_ms <= now_ms then return; end if;

  hold := hold_ms(p_requests, p_tokens_limit, tokens);
  horizon := now_ms + 3000 + hold;
  select * into own from engine_rate_runs r where r.engine_id = p_engine and r.run_id = p_run;
  is_paid := free_ms <= horizon and coalesce(own.taken_ms, 0) <= horizon
    and coalesce(booking.start_ms, 0) <= now_ms;
  if is_paid then
    start_ms := free_ms;
    update engine_rates set
      requests_ms = free_ms + coalesce(request_ms(p_requests), 0),
      tokens_ms = free_ms + coalesce(token_ms(look_start.tokens, p_tokens_limit), 0)
    where engine_id = p_engine;
    perform move_run_clock(p_engine, p_run, now_ms, hold, greatest(own.taken_ms, now_ms), null);
  elsif booking.start_ms > now_ms then
    start_ms := booking.start_ms;
  elsif own.taken_ms > horizon then
    -- The run has had its share for now.
    start_ms := greatest(own.next_ms, now_ms + own.taken_ms - horizon);
    perform move_run_clock(p_engine, p_run, now_ms, hold, null, start_ms);
  else
    -- Others fill the line; that this run waits, too, lets them take less.
    start_ms := now_ms + free_ms - horizon;
    insert into engine_rate_runs as r (engine_id, run_id, next_ms) values (p_engine, p_run, start_ms + hold)
    on conflict (engine_id, run_id) do update set next_ms = greatest(r.next_ms, excluded.next_ms);
  end if;
  insert into booked_starts as b values (p_run, p_task, p_attempt, p_generation, p_try, p_purpose, p_step, p_engine,
    start_ms, is_paid, look_start.tokens)
  on conflict (run_id, task, attempt, generation, try_number, purpose, step) do update set
    engine_id = excluded.engine_id, start_ms = excluded.start_ms, paid = excluded.paid, tokens = excluded.tokens;
  wait_ms := start_ms - now_ms;
  -- A long sleeper looks again meanwhile: other runs may have ended, and their share is free.
  if not is_paid then wait_ms := least(wait_ms, greatest(wait_ms / 2, 20000 + 10000 * random())); end if;
end $$;

-- Takes what look_start has allowed. An engine's row is locked by it.
create function take_start(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_purpose text, p_step int,
  p_engine text, p_requests int, p_tokens_limit bigint, p_tokens bigint, p_now float8
) returns void language plpgsql as $$
declare
  booking booked_starts;
  own float8;
begin
  delete from booked_starts b
  where b.run_id = p_run and b.task = p_task and b.attempt = p_attempt and b.generation = p_generation
    and b.try_number = p_try and b.purpose = p_purpose and b.step = p_step
  returning * into booking;
  if booking.paid and booking.start_ms > p_now - 1500 then return; end if;
  update engine_rates set
    requests_ms = p_now + coalesce(request_ms(p_requests), 0),
    tokens_ms = p_now + coalesce(token_ms(p_tokens, p_tokens_limit), 0)
  where engine_id = p_engine;
  select r.taken_ms into own from engine_rate_runs r where r.engine_id = p_engine and r.run_id = p_run;
  perform move_run_clock(p_engine, p_run, p_now, hold_ms(p_requests, p_tokens_limit, p_tokens),
    greatest(own, p_now), null);
end $$;

-- Replaces the tokens that were taken before a request by those that it really used. Null = nobody knows.
create function correct_tokens(p_call model_calls, p_real bigint, p_answered boolean) returns void
language sql as $$
  update engine_rates r set
    tokens_ms = r.tokens_ms + coalesce(
      token_ms(p_real, e.tokens_per_minute) - token_ms(p_call.rate_tokens, e.tokens_per_minute), 0),
    token_share = case when p_answered then r.token_share + (least(10, p_real::float8 / greatest(p_call.worst_tokens, 1))
      - r.token_share) * greatest(1.0 / (r.token_samples + 1), 0.05) else r.token_share end,
    token_samples = r.token_samples + p_answered::int
  from engines e
  where r.engine_id = p_call.engine_id and e.engine_id = p_call.engine_id and p_real is not null
$$;

-- What a run that has ended leaves in the lines of its engines.
create function leave_lines(p_run text) returns void
language sql as $$
  delete from booked_starts where run_id = p_run;
  delete from engine_rate_runs where run_id = p_run;
$$;
