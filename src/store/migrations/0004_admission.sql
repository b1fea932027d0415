-- Admission of model calls. Lock order everywhere: call row, lock of the engine (0017), reservation of the run,
-- reservation of the model, rates of the engine, health of the engine, run row. The pure form of these rules is src/domain/admission.ts.

-- Moves a call's worst case out of the reserve and books what it is charged.
create function settle_reservation(p_call model_calls, p_tokens bigint, p_usd numeric) returns void
language plpgsql as $$
begin
  if not p_call.reserved then return; end if;
  update reservations set
    reserved_tokens = reserved_tokens - p_call.worst_tokens,
    reserved_usd = reserved_usd - coalesce(p_call.worst_usd, 0),
    spent_tokens = spent_tokens + p_tokens,
    spent_usd = spent_usd + coalesce(p_usd, 0),
    open_calls = open_calls - 1
  where run_id = p_call.run_id and scope = 'run';
  update reservations set
    reserved_tokens = reserved_tokens - p_call.worst_tokens,
    reserved_usd = reserved_usd - coalesce(p_call.worst_usd, 0),
    spent_tokens = spent_tokens + p_tokens,
    spent_usd = spent_usd + coalesce(p_usd, 0),
    open_calls = open_calls - 1
  where run_id = p_call.run_id and scope = 'model/' || p_call.model_id;
end $$;

-- Settles a started call of which nobody knows the end: charged at the worst case, and says so.
create function lose_call(p_call model_calls) returns void
language plpgsql as $$
begin
  update model_calls set
    state = 'lost', estimated = true, finished_at = clock_timestamp(),
    charged_tokens = p_call.worst_tokens, charged_usd = p_call.worst_usd
  where run_id = p_call.run_id and task = p_call.task and attempt = p_call.attempt
    and generation = p_call.generation and try_number = p_call.try_number
    and purpose = p_call.purpose and step = p_call.step and request_number = p_call.request_number
    and state = 'started';
  if found then
    perform settle_reservation(p_call, p_call.worst_tokens, p_call.worst_usd);
  end if;
end $$;

-- Settles every started call of one attempt, so that a recorded attempt leaves nothing reserved.
create function lose_open_calls(p_run text, p_task int, p_attempt int, p_generation int) returns void
language plpgsql as $$
declare
  open_calls model_calls[];
  open_call model_calls;
begin
  -- All rows are locked before the first reservation is: see the lock order above.
  select array_agg(c) into open_calls from (
    select * from model_calls m
    where m.run_id = p_run and m.task = p_task and m.attempt = p_attempt and m.generation = p_generation
      and m.state = 'started'
    order by m.try_number, m.purpose, m.step, m.request_number
    for update
  ) c;
  if open_calls is null then return; end if;
  foreach open_call in array open_calls loop
    perform lose_call(open_call);
  end loop;
end $$;

-- Takes a call's worst case from one scope. Null = taken (or no cap); else why not. What fits is taken by one
-- update: the reservation of a run is the one row that all of its calls share, and every touch of it makes the
-- others wait.
create function reserve_scope(
  p_run text, p_scope text, p_tokens bigint, p_usd numeric, p_warn boolean,
  out refusal text, out cap numeric, out needed numeric, out unit text
) language plpgsql as $$
declare
  held reservations;
  usd numeric := coalesce(p_usd, 0);
  over_usd boolean;
  over_tokens boolean;
begin
  loop
    update reservations set
      reserved_tokens = reserved_tokens + p_tokens,
      reserved_usd = reserved_usd + usd,
      open_calls = open_calls + 1,
      exceeded_at = case
        when coalesce(spent_usd + usd > cap_usd, false) or coalesce(spent_tokens + p_tokens > cap_tokens, false)
        then coalesce(exceeded_at, clock_timestamp()) else exceeded_at end
    where run_id = p_run and scope = p_scope and (p_warn or (stop_reason is null
      and coalesce(spent_usd + reserved_usd + usd <= cap_usd, true)
      and coalesce(spent_tokens + reserved_tokens + p_tokens <= cap_tokens, true)));
    if found then return; end if;

    select * into held from reservations where run_id = p_run and scope = p_scope for update;
    if not found then return; end if;
    over_usd := coalesce(held.spent_usd + held.reserved_usd + usd > held.cap_usd, false);
    over_tokens := coalesce(held.spent_tokens + held.reserved_tokens + p_tokens > held.cap_tokens, false);
    if over_usd or over_tokens or held.stop_reason is not null then
      unit := case when over_usd or held.cap_tokens is null then 'usd' else 'tokens' end;
      cap := case unit when 'usd' then held.cap_usd else held.cap_tokens end;
      needed := case unit when 'usd' then held.spent_usd + usd else held.spent_tokens + p_tokens end;
      refusal := case when held.stop_reason is not null then 'over'
        -- Every call of a model holds tokens; an external agent's process is open and holds none.
        when held.reserved_tokens > 0 then 'wait' else 'over' end;
      return;
    end if;
    -- Room was made between the two statements: take it now, the row is locked.
  end loop;
end $$;

-- Gives back what reserve_scope took, for a call that was not made after all.
create function unreserve_scope(p_run text, p_scope text, p_tokens bigint, p_usd numeric) returns void
language sql as $$
  update reservations set
    reserved_tokens = reserved_tokens - p_tokens,
    reserved_usd = reserved_usd - coalesce(p_usd, 0),
    open_calls = open_calls - 1
  where run_id = p_run and scope = p_scope
$$;
